"""One database: what is checked when it is first reached, and its pool of connections.

The pool may stand behind pgbouncer in transaction mode: what is set for a session or prepared there would reach others. So both are
done only on connections that lead to one process of the server; on all others `SET LOCAL` and its like end with the transaction.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg import adapt, conninfo, postgres, pq
from psycopg.types import TypeInfo
from psycopg_pool import ConnectionPool, PoolTimeout

from thinkback.errors import InvalidInput, StoreError, StoreUnreachable
from thinkback.stores.postgres import errors, messages, schema

OLDEST_SERVER = 140000
OLDEST_PGVECTOR = (0, 7)
POOL_SIZE = 8
CONNECT_S = 10
WAIT_S = 30.0
_SOON_S = 1.0  # so long a request waits before it asks why the pool has no connection
BIGINT, BIGINTS = 20, 1016  # the numbers of types
PREPARED_FROM = 3  # times that a connection has seen a statement

Connection = psycopg.Connection[Any]


class Half(bytes):
    """A half-precision vector in pgvector's binary form."""


class HalfDumper(adapt.Dumper):
    """Writes a `Half` as it is; `oid` is set once the server has told it."""

    format = pq.Format.BINARY

    def dump(self, obj: Any) -> bytes:
        return bytes(obj)


class Numbers(bytes):
    """Integers as an array of bigint in its binary form."""

    @classmethod
    def of(cls, values: NDArray[np.int64]) -> "Numbers":
        packed = np.empty(len(values), dtype=[("size", ">i4"), ("value", ">i8")])
        packed["size"], packed["value"] = 8, values
        head = np.array([1, 0, BIGINT, len(values), 1], dtype=">i4")  # dimensions, nulls, type, length, first index
        return cls(head.tobytes() + packed.tobytes())


class NumbersDumper(HalfDumper):
    """Writes `Numbers` as they are."""

    oid = BIGINTS


class Server:
    """A database that is ours, of a version we know, and the connections to it."""

    def __init__(
        self,
        url: str,
        *,
        pool_size: int = POOL_SIZE,
        wait_s: float = WAIT_S,
        read_only: bool = False,
        create: bool = True,
    ) -> None:
        self.url = url
        self.name = shown(url)
        self.read_only = read_only
        self._wait_s = wait_s
        self._lent = 0  # connections of the pool in use
        self._beside: set[Connection] = set()  # connections outside the pool
        self._lock = Lock()
        self._process = os.getpid()
        first = connect(url)
        try:
            with errors.translated():
                self.version = check_server(first)
                self.standby = bool(_value(first, "SELECT pg_is_in_recovery()"))
                _prepare(first, migrate=not read_only and not self.standby, create=create)
                context = self._context = _context(first)
        finally:
            first.close()
        self.pool: ConnectionPool[Connection] = ConnectionPool(
            url,
            kwargs={"autocommit": True, "prepare_threshold": None, "connect_timeout": CONNECT_S, "context": context},
            min_size=1,
            max_size=pool_size,
            timeout=wait_s,
            name="thinkback",
            configure=_prepares,
            open=True,
        )

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """A connection of the pool, outside any transaction."""
        if self._process != os.getpid():
            raise StoreError("the store was opened before this process was forked; open it again here", code="forked")
        with errors.translated():
            connection = self._taken()
            try:
                yield connection
            finally:
                self._returned(connection)

    def _taken(self) -> Connection:
        """A connection of the pool, or one made beside it.

        If the pool has none soon, and not all are lent, it waits for a server that is away or has just come back, longer each
        time. A connection beside it fails at once if the server is away, and serves one request if it is back.
        """
        try:
            connection = self.pool.getconn(timeout=min(_SOON_S, self._wait_s))
        except PoolTimeout:
            if self._lent < self.pool.max_size:
                connection = connect(self.url, self._context)
                _prepares(connection)
                self._beside.add(connection)
                return connection
            connection = self.pool.getconn(timeout=max(self._wait_s - _SOON_S, 0.0))
        with self._lock:
            self._lent += 1
        return connection

    def _returned(self, connection: Connection) -> None:
        if connection in self._beside:
            self._beside.discard(connection)
            connection.close()
            return
        with self._lock:
            self._lent -= 1
        self.pool.putconn(connection)

    def discard_broken(self) -> None:
        """Replaces the idle connections that a restart of the server has left broken."""
        with errors.translated():
            self.pool.check()

    def facts(self) -> dict[str, Any]:
        """The server and its pool, for statistics and metrics."""
        stats = self.pool.get_stats()
        return {
            "name": "postgresql",
            "server": self.name,
            "version": self.version,
            "standby": self.standby,
            "pool_size": stats.get("pool_size", 0),
            "pool_max": stats.get("pool_max", 0),
            "pool_available": stats.get("pool_available", 0),
            "pool_waiting": stats.get("requests_waiting", 0),
        }

    def close(self) -> None:
        self.pool.close()


def shown(url: str) -> str:
    """The address without user and password."""
    parts = _parts(url)
    host, port, database = parts.get("host", ""), parts.get("port", ""), parts.get("dbname", "")
    return f"postgresql://{host}{f':{port}' if port else ''}/{database}"


def _parts(url: str) -> dict[str, Any]:
    try:
        return conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise InvalidInput(
            "not the address of a PostgreSQL database; write it as postgresql://user@host:5432/database",
            code="store_url",
        ) from None


def connect(url: str, context: adapt.AdaptersMap | None = None) -> Connection:
    """A connection outside the pool."""
    where = shown(url)
    try:
        return psycopg.connect(url, autocommit=True, prepare_threshold=None, connect_timeout=CONNECT_S, context=context)
    except psycopg.OperationalError as error:
        said = " ".join(str(error).split())[:300]
        raise StoreUnreachable(f"cannot connect to {where}: {said}", code="cannot_connect") from None


@contextmanager
def administered(url: str) -> Iterator[Connection]:
    """A connection to a database that holds a store."""
    with connect(url) as connection, errors.translated():
        schema.require(connection)
        yield connection


def _prepares(connection: Connection) -> None:
    """Lets a connection prepare statements, unless something stands between that may hand it from process to process.

    A connection pooler answers with a process number of its own, because it cannot know which process will answer.
    """
    if _value(connection, "SELECT pg_backend_pid()") == connection.info.backend_pid:
        connection.execute(f"{messages.PLANS}; SET plan_cache_mode = force_generic_plan")
        messages.prepare(connection)
        connection.prepare_threshold = PREPARED_FROM


def check_server(connection: Connection) -> str:
    """The version of the server; StoreError if it cannot hold a store."""
    number = connection.info.server_version
    found = f"{number // 10000}.{number % 10000}"
    if number < OLDEST_SERVER:
        raise StoreError(
            f"the server is PostgreSQL {found}; Thinkback needs {OLDEST_SERVER // 10000} or newer",
            code="server_too_old",
        )
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise StoreError(f"the database is encoded in {encoding}; create one in UTF8", code="encoding")
    return found


def _prepare(connection: Connection, migrate: bool, create: bool) -> None:
    """Migrates the schema, or refuses one that is not up to date; `create` is whether it may be made."""
    found = schema.version(connection)
    if migrate and found < schema.VERSION and (found or create):
        need_pgvector(connection)
        schema.migrate(connection)
    schema.require(connection)


def need_pgvector(connection: Connection) -> None:
    """StoreError if the database has no pgvector, or one too old, and can get none."""
    sql = "SELECT coalesce(installed_version, default_version) FROM pg_available_extensions WHERE name = 'vector'"
    found = _value(connection, sql)
    if not found:
        major = connection.info.server_version // 10000
        raise StoreError(
            f"the server lacks the extension pgvector; install it on the server (package postgresql-{major}-pgvector)",
            code="pgvector_missing",
        )
    if tuple(int(part) for part in re.findall(r"\d+", found)[:2]) < OLDEST_PGVECTOR:
        oldest = ".".join(map(str, OLDEST_PGVECTOR))
        raise StoreError(
            f"the extension vector is {found}; Thinkback needs {oldest} or newer. Install a newer pgvector on the server, and "
            "if the database has the old one, run: ALTER EXTENSION vector UPDATE",
            code="pgvector_old",
        )


def _context(connection: Connection) -> adapt.AdaptersMap:
    info = TypeInfo.fetch(connection, "halfvec")
    if info is None:
        need_pgvector(connection)
        raise StoreError(
            "the role does not see the type halfvec; put the schema of the extension vector on its search_path",
            code="pgvector_hidden",
        )
    adapters = adapt.AdaptersMap(postgres.adapters)
    info.register(_Holder(adapters))
    dumper = type("HalfDumper", (HalfDumper,), {"oid": info.oid})
    adapters.register_dumper(Half, dumper)
    adapters.register_dumper(Numbers, NumbersDumper)
    return adapters


class _Holder:
    """The little that psycopg asks of something with adapters."""

    def __init__(self, adapters: adapt.AdaptersMap) -> None:
        self.adapters = adapters
        self.connection = None


def _value(connection: Connection, sql: str) -> Any:
    row = connection.execute(sql).fetchone()
    return row[0] if row else None
