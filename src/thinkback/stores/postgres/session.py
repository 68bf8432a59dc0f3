"""Transactions of one space: views that read one moment, and writes that take their turn."""

import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from threading import Lock, local
from typing import Any, TypeVar

import psycopg
from psycopg import pq

from thinkback.errors import NotFound, StoreConflict, StoreError, StoreReadOnly, StoreUnreachable
from thinkback.stores.base import StoreState
from thinkback.stores.postgres import errors, messages
from thinkback.stores.postgres.filters import Params
from thinkback.stores.postgres.messages import COUNTERS
from thinkback.stores.postgres.server import Connection, Server
from thinkback.values import dataclass

T = TypeVar("T")
Token = tuple[str, int, int]
_LOCK = "SELECT s.changes FROM thinkback.spaces s WHERE s.space = %(space)s FOR UPDATE"
_PAUSE_S = 0.05  # before a second try, doubled with each


@dataclass(frozen=True, slots=True)
class Counters:
    """A row of `spaces`."""

    store_id: str
    changes: int
    touches: int
    contents: int
    last_seq: int
    last_entry: int
    last_generation: int
    live: int | None
    documents: int
    tokens: int
    themes: int
    theme_tokens: int
    exact_tokens: int
    passages: int
    mark: int  # drawn anew with every change, so that a restored backup is never taken for what was written after it

    @property
    def state(self) -> StoreState:
        return StoreState(self.store_id, self.changes, self.touches, str(self.contents))

    @property
    def token(self) -> Token:
        """The same as long as nothing but access counts has changed."""
        return self.store_id, self.changes, self.mark


class Tx:
    """One transaction of one space on one connection; threads may share it, statements run one after another."""

    def __init__(
        self, connection: Connection, space: int, counters: Counters | None = None, linked: bool = True
    ) -> None:
        self._connection = connection
        self.space = space
        self.linked = linked  # whether there may be stored links
        self.tags: Mapping[str, int] | None = None  # if they were read with the counters
        self.when_committed: list[Callable[[], None]] = []
        self._counters: Counters | None = counters

    @property
    def connection(self) -> Connection:
        return self._connection

    def params(self, **more: Any) -> Params:
        return Params(self.space, **more)

    def rows(self, sql: str, params: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """The rows of a statement."""
        return execute(self.connection, sql, params or self.params()).fetchall()

    def value(self, sql: str, params: Mapping[str, Any] | None = None) -> Any:
        """The first column of the first row, or None."""
        row = execute(self.connection, sql, params or self.params()).fetchone()
        return None if row is None else row[0]

    def run(self, sql: str, params: Mapping[str, Any] | None = None) -> int:
        """Runs a statement that returns nothing; how many rows it changed."""
        return execute(self.connection, sql, params or self.params()).rowcount

    def copy(self, table: str, columns: Sequence[str], types: Sequence[str], rows: Iterator[Sequence[Any]]) -> None:
        """Writes many rows at once; `space` is put before each."""
        quoted = ", ".join(f'"{column}"' for column in columns)
        sql = f"COPY thinkback.{table} (space, {quoted}) FROM STDIN (FORMAT BINARY)"
        with self.connection.cursor() as cursor, cursor.copy(sql) as copy:
            copy.set_types(["int4", *types])
            for row in rows:
                copy.write_row((self.space, *row))

    @property
    def counters(self) -> Counters:
        """The counters of the space; read once in a view, and after every write that moves them."""
        if self._counters is None:
            sql = f"SELECT {COUNTERS} FROM thinkback.spaces s WHERE s.space = %(space)s"
            self._counters = counters_of(self.rows(sql))
        return self._counters

    def bump(self, **moved: int) -> Counters:
        """Counts one change; `moved` is added to other counters. The row is locked already."""
        params = self.params()
        steps = "".join(f", {name} = {name} + {params.add(by, '::bigint')}" for name, by in moved.items() if by)
        sql = f"UPDATE thinkback.spaces s SET {changed(params)}{steps} WHERE s.space = %(space)s RETURNING {COUNTERS}"
        self._counters = counters_of(self.rows(sql, params))
        return self._counters

    def moved(self, to: Counters | None = None) -> None:
        """Forgets the counters, because a statement moved them, or learns where they stand."""
        self._counters = to


class Later(Tx):
    """A transaction that reads, and begins with its first statement; until then only its counters are known.

    StoreConflict if the space has changed between the two.
    """

    def __init__(self, space: int, counters: Counters, begin: Callable[[], Tx]) -> None:
        self.space, self.linked, self.tags = space, True, None
        self.when_committed = []
        self._counters = counters
        self._begin = begin
        self._begun: Tx | None = None
        self._lock = Lock()

    @property
    def connection(self) -> Connection:
        with self._lock:
            if self._begun is None:
                begun = self._begin()
                if self._counters is None or begun.counters.token != self._counters.token:
                    raise StoreConflict("the space was changed while it was read")
                self._begun, self.linked = begun, begun.linked
        return self._begun.connection


def execute(connection: Connection, sql: str, params: Mapping[str, Any] | None) -> psycopg.Cursor[Any]:
    """Every statement of a store passes here."""
    return connection.execute(sql, params, binary=True)


def changed(params: Params) -> str:
    """The assignments that count one change of a space."""
    return f"changes = changes + 1, mark = {params.add(secrets.randbits(63), '::bigint')}"


def counters_of(rows: list[tuple[Any, ...]]) -> Counters:
    if not rows:
        raise NotFound("the space was dropped meanwhile", code="unknown_space")
    return Counters(*rows[0])


class Sessions:
    """Hands out transactions; each thread has at most one that writes."""

    def __init__(self, server: Server, space: int) -> None:
        self.server = server
        self.space = space
        self._local = local()

    @property
    def current(self) -> Tx | None:
        """This thread's write transaction."""
        return getattr(self._local, "tx", None)

    @contextmanager
    def view(self, tags_known: int | None = None) -> Iterator[Tx]:
        """Reads of one moment; inside this thread's write transaction, that one's.

        With `tags_known`, the count of contents at which the caller read the tags, changed ones are read in the same message.
        """
        current = self.current
        if current is not None:
            yield current
            return
        with self._sent(messages.viewing(self.space, tags_known)) as (connection, rows), errors.translated():
            try:
                tx = Tx(connection, self.space, counters_of([row[:-2] for row in rows]), rows[0][-2])
                tx.tags = rows[0][-1]
                yield tx
            finally:
                _end(connection, "COMMIT")

    def counters(self) -> Counters:
        """The counters of the space at this moment: one small message, which is a transaction of its own."""
        with self._sent(messages.counting(self.space)) as (_, rows):
            return counters_of(rows)

    @contextmanager
    def view_later(self, counters: Counters) -> Iterator[Tx]:
        """A view of the moment at which the counters were read, for those who may need nothing else of the server."""
        with ExitStack() as ended:
            yield Later(self.space, counters, lambda: ended.enter_context(self.view()))

    def read(self, work: Callable[[Tx], T]) -> T:
        """Reads in a view of its own; a lost connection is tried again, because nothing was written."""
        if self.current is not None:
            with errors.translated():
                return work(self.current)

        def once() -> T:
            with self.view() as tx:
                return work(tx)

        return self.repeated(once)

    def in_view(self, tx: Tx, work: Callable[[Tx], T]) -> T:
        """Reads in a view that was opened before."""
        with errors.translated():
            return work(tx)

    def write(self, work: Callable[[Tx], T]) -> T:
        """One transaction; inside another one, a part of it that can fail by itself.

        Tried again after a conflict, and after a connection was lost before the commit was sent.
        """
        if self.current is not None:
            with self._nested(self.current) as tx:
                return work(tx)

        def once() -> T:
            with self.transaction() as tx:
                return work(tx)

        return self.repeated(once)

    @contextmanager
    def transaction(self) -> Iterator[Tx]:
        """A write transaction that holds the row of its space, so that writers of one space take turns."""
        if self.current is not None:
            with self._nested(self.current) as tx:
                yield tx
            return
        if self.server.read_only:
            raise StoreReadOnly(f"{self.server.name} was opened with read_only=True and cannot be changed")
        with self._sent(messages.writing(self.space)) as (connection, rows):
            try:
                with errors.translated():
                    tx = self._local.tx = Tx(connection, self.space, counters_of(rows))
                    yield tx
            except BaseException:
                _end(connection, "ROLLBACK")
                raise
            finally:
                self._local.tx = None
            _commit(connection)
            for task in tx.when_committed:
                task()

    def at_once(self, sql: str, params: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """A write transaction of one statement in one round trip; no rows if a name is taken.

        The row of the space is locked by a statement of its own, so that the one after it sees what the last writer wrote. If the
        connection is lost, StoreUnreachable, and the write may have been kept.
        """
        with self.server.connection() as connection:
            try:
                with errors.translated(), connection.pipeline():
                    connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
                    connection.execute("SELECT set_config('thinkback.space', %s, true)", (str(self.space),))
                    execute(connection, _LOCK, params)
                    cursor = execute(connection, sql, params)
                    connection.execute("COMMIT")
                return cursor.fetchall()
            except StoreError as error:
                _end(connection, "ROLLBACK")
                if isinstance(error.__cause__, psycopg.errors.UniqueViolation):
                    return []
                raise

    @contextmanager
    def _nested(self, tx: Tx) -> Iterator[Tx]:
        with errors.translated():
            tx.connection.execute("SAVEPOINT inner_write")
            before = len(tx.when_committed)
            try:
                yield tx
            except BaseException:
                tx.moved()
                del tx.when_committed[before:]
                _end(tx.connection, "ROLLBACK TO SAVEPOINT inner_write; RELEASE SAVEPOINT inner_write")
                raise
            tx.connection.execute("RELEASE SAVEPOINT inner_write")

    @contextmanager
    def _sent(self, message: messages.Message) -> Iterator[tuple[Connection, list[tuple[Any, ...]]]]:
        """A connection to which a first message was sent, and the rows it gave; a broken connection is replaced."""
        for attempt in range(errors.TRIES):
            with self.server.connection() as connection:
                try:
                    rows = _first_rows(connection, message)
                except psycopg.OperationalError as error:
                    if attempt + 1 == errors.TRIES or not isinstance(errors.of(error), StoreUnreachable):
                        raise
                else:
                    yield connection, rows
                    return
            time.sleep(_PAUSE_S * 2**attempt)
            self.server.discard_broken()

    def repeated(self, once: Callable[[], T]) -> T:
        """Tries again after a conflict or a lost connection, a few times; for work of which nothing was kept then."""
        for attempt in range(errors.TRIES - 1):
            try:
                return once()
            except (StoreConflict, StoreUnreachable) as error:
                if error.code in ("commit_unknown", "cannot_connect"):
                    raise
                time.sleep(_PAUSE_S * 2**attempt)
        return once()


def _first_rows(connection: Connection, message: messages.Message) -> list[tuple[Any, ...]]:
    try:
        return begin(connection, message.on(connection))
    except psycopg.errors.InvalidSqlStatementName:  # after a rollback psycopg forgets all that was prepared
        _end(connection, "ROLLBACK")
        messages.prepare(connection)
        return begin(connection, message.on(connection))


def begin(connection: Connection, message: str) -> list[tuple[Any, ...]]:
    """Sends several statements in one message; the rows of the last."""
    cursor = connection.execute(message, prepare=False)
    while cursor.nextset():
        pass
    return cursor.fetchall()


def _commit(connection: Connection) -> None:
    try:
        connection.execute("COMMIT")
    except psycopg.OperationalError as error:
        found = errors.of(error)
        if isinstance(found, StoreUnreachable):
            raise StoreUnreachable(
                "the connection was lost during the commit; the write may or may not have been kept",
                code="commit_unknown",
            ) from error
        raise found from error
    except psycopg.Error as error:
        raise errors.of(error) from error


def _end(connection: Connection, sql: str) -> None:
    if connection.info.transaction_status != pq.TransactionStatus.UNKNOWN and not connection.closed:
        connection.execute(sql)
