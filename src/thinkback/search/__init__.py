"""The one path of a search, and its parts."""
