"""What HTTP and MCP take alike."""

TEXT_LIMIT = 200_000  # characters: in any script they fit into a request of a megabyte
