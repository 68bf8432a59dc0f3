"""The ways in: command line, MCP, HTTP. They translate, they never decide."""
