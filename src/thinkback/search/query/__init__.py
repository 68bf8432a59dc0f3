"""Understanding a query: its words, the time it names and the tags it suggests, each a pure function."""
