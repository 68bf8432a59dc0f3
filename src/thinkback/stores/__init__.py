"""Where memories are kept: one protocol, one conformance suite, an engine a file."""
