"""Memory for coding agents: hooks, a resident helper, capture of transcripts, and the configuration of the agents."""
