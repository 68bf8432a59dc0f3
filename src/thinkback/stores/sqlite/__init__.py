"""The store in one SQLite file."""

from thinkback.stores.sqlite.store import SqliteSpaces, SqliteStore

__all__ = ["SqliteSpaces", "SqliteStore"]
