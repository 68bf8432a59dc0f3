"""The store on a PostgreSQL server: the same memory, for those who outgrow one machine."""

from thinkback.stores.postgres import admin, hnsw
from thinkback.stores.postgres.spaces import PostgresSpaces, open_store
from thinkback.stores.postgres.store import PostgresStore

__all__ = ["PostgresSpaces", "PostgresStore", "admin", "hnsw", "open_store"]
