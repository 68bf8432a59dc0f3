"""Memories leaving and entering as plain data."""
