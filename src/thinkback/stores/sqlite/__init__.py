"""The embedded store: one SQLite file holds a space's memories, their full text, vectors and edges."""

from thinkback.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
