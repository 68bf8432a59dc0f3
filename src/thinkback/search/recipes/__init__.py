"""Recipes: what they are, the named ones, and their TOML form."""
