"""Finding likely secrets in stored text."""
