"""Connections to one file: one writer behind a lock, and a pool of readers."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from itertools import count

import apsw

from thinkback.errors import StoreError, StoreReadOnly
from thinkback.stores.sqlite import damage
from thinkback.stores.sqlite.errors import not_opened, translated
from thinkback.stores.sqlite.files import MEMORY, Patience, connect, open_first
from thinkback.stores.sqlite.fork import gate
from thinkback.stores.sqlite.group_commit import MOST, PAUSE_S, Group, Queue, lost
from thinkback.stores.sqlite.schema import Progress

_CHECKPOINT_MS = 20
# Errors that prevent a checkpoint or VACUUM; the store is unchanged, so it can be tried again later.
_PREVENTED = (
    apsw.BusyError,
    apsw.LockedError,
    apsw.FullError,
    apsw.IOError,
    apsw.CantOpenError,
    apsw.CorruptError,
    apsw.ReadOnlyError,
)


class Connections:
    """Hands out connections inside transactions and raises SQLite's errors as Thinkback's."""

    def __init__(self, path: str, *, read_only: bool, busy_timeout_s: float, progress: Progress | None = None) -> None:
        self.path = path
        self.read_only = read_only
        self._patience = Patience(busy_timeout_s)
        self._lock = threading.RLock()
        self._open: list[int] = []  # the numbers of the transaction and of the parts inside it
        self._numbers = count()
        self._owner: int | None = None
        self._idle: list[apsw.Connection] = []
        self._closed = False
        self._process = os.getpid()
        self._after_commit: list[Callable[[], None]] = []
        self._group: Group | None = None  # whose transaction is open, while nobody or one more of its writes runs
        self._queue = Queue()
        self.after_write: Callable[[], None] = lambda: None  # called outside the transaction
        with not_opened(path):
            self._writer = open_first(path, read_only, self._patience, progress)

    @property
    def in_transaction(self) -> bool:
        """Whether this thread is inside a write transaction."""
        return self._owner == threading.get_ident()

    @property
    def in_memory(self) -> bool:
        """Whether there is no file at all."""
        return self.path == MEMORY

    @property
    def usable(self) -> bool:
        """Whether it is open and was opened by this process."""
        return not self._closed and self._process == os.getpid()

    @property
    def lasting(self) -> "Connections":
        """The connections for work that goes on when a search is over."""
        return self

    @property
    def shared(self) -> bool:
        """Whether readers use the writer's connection: in memory, or inside this thread's transaction."""
        return self.in_memory or self.in_transaction

    @contextmanager
    def write(self, foreign: bool = False, joins: bool = False) -> Iterator[apsw.Connection]:
        """A write transaction; inside another one, a savepoint.

        `foreign`: a caller's code runs inside, whose own errors say nothing about the file. `joins`: it is short, and may be
        committed together with writes of other threads; see `group_commit`.
        """
        if self.read_only:
            raise StoreReadOnly(f"{self.path} was opened with read_only=True and cannot be changed")
        group: Group | None = None
        ticket = object()
        try:
            if joins := joins and not self.shared:
                self._queue.enter(ticket)
            with self._lock, translated(self.path):
                self._queue.leave(ticket)
                self._check_open()
                number, outer = next(self._numbers), not self._open
                # An interrupt may come between any two instructions, so the transaction begins where it is sure to end.
                try:
                    self._begin(number, outer, joins)
                    with nullcontext() if foreign else damage.named(self.path, self._writer):
                        yield self._writer
                    group = self._commit(number, outer)
                except BaseException:
                    self._roll_back(number, outer)
                    raise
                finally:
                    if number in self._open:  # an interrupted part may end after the whole
                        del self._open[self._open.index(number) :]
                    if not self._open:
                        self._owner = None
        finally:
            self._queue.leave(ticket)
        if group is not None:
            self._wait(group)
        if not self.in_transaction:
            self.after_write()

    def read(self) -> AbstractContextManager[apsw.Connection]:
        """A read transaction; inside this thread's write transaction, the same connection."""
        return self._read_shared() if self.shared else _Lent(self)

    def glance(self) -> AbstractContextManager[apsw.Connection]:
        """Like `read`, for a single statement, which needs no transaction around it."""
        return self._read_shared() if self.shared else _Lent(self, "")

    @contextmanager
    def _read_shared(self) -> Iterator[apsw.Connection]:
        self._check_open()
        with self._lock, translated(self.path), damage.named(self.path, self._writer):
            self._check_open()  # another thread may have closed it while this one waited
            yield self._writer

    @contextmanager
    def fresh(self) -> Iterator[apsw.Connection]:
        """Like `read`, on a new connection with an empty page cache."""
        self._check_open()
        if self.shared:
            with self.read() as connection:
                yield connection
            return
        with translated(self.path), closing(connect(self.path, True, self._patience)) as connection:
            connection.execute("BEGIN")
            yield connection

    def when_committed(self, task: Callable[[], None]) -> None:
        """Run a task once the present write transaction is committed."""
        self._after_commit.append(task)

    def checkpoint(self) -> bool:
        """Checkpoint and truncate the WAL; False if that is not possible now."""
        with self._lock:
            self._check_open()
            if self.in_memory:
                return True
            if self._open:
                return False
            self._commit_group()
            # Writers are blocked while it waits for readers, so the timeout is short.
            self._writer.set_busy_timeout(_CHECKPOINT_MS)
            try:
                self._writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            except _PREVENTED:
                return False
            finally:
                self._writer.set_busy_handler(self._patience)
            return True

    def rebuild(self) -> bool:
        """VACUUM; False if that is not possible now."""
        with self._lock:
            self._check_open()
            if self._open:
                return False
            self._commit_group()
            try:
                with closing(connect(self.path, self.read_only, self._patience)) as connection:
                    connection.set_busy_timeout(_CHECKPOINT_MS)
                    # The copy is as large as the file and may not fit into memory.
                    connection.execute("PRAGMA temp_store = FILE")
                    connection.execute("VACUUM")
            except _PREVENTED:
                return False
            return True

    def size(self) -> int:
        """The length of the file in bytes."""
        return os.path.getsize(self.path)

    def close(self) -> None:
        """Close idle connections now, and those in use when they are returned."""
        with self._lock, gate:
            if self.usable:  # a forked child has no part in what its parent writes
                self._commit_group()
            self._closed = True
            self._close_idle()
            self._writer.close()

    def _begin(self, number: int, outer: bool, joins: bool) -> None:
        self._open.append(number)
        if not outer:
            self._writer.execute(f"SAVEPOINT part{number}")
            return
        if self._group is not None and (not joins or self._group.size >= MOST or self._group.part is not None):
            self._commit_group()
        self._owner = threading.get_ident()
        if self._group is None:
            if self._writer.in_transaction:  # an interrupted rollback left it open
                self._writer.execute("ROLLBACK")
            self._patience.insist(self._writer, "BEGIN IMMEDIATE")
        if joins:
            self._group = self._group or Group()
            self._group.part = number
            self._writer.execute(f"SAVEPOINT part{number}")

    def _commit(self, number: int, outer: bool) -> Group | None:
        """Commit, or leave it to the last of the group that is returned."""
        group = self._group if outer else None
        if self._writer.in_transaction:  # SQLite itself rolls back when the disk is full
            self._writer.execute("COMMIT" if outer and group is None else f"RELEASE part{number}")
        if group is not None:
            group.add(self._after_commit)
            if not self._queue or group.size >= MOST:
                self._commit_group()
        elif outer:
            _run(self._after_commit)
        return group

    def _commit_group(self) -> None:
        """Commit what joined writes left open, and let them return or raise; the lock is held."""
        group = self._group
        if group is None:
            return
        error: Exception | None = None
        try:
            self._undo_part(group)
            if self._writer.in_transaction:
                group.committing = True
                self._writer.execute("COMMIT" if group.size else "ROLLBACK")
            elif not group.committing:  # else an interrupt came after the commit
                error = lost(self.path)
        except apsw.Error as failed:
            error = failed
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
        try:
            if error is None:
                _run(group.tasks)
        finally:
            self._group = None
            group.end(error)

    def _undo_part(self, group: Group) -> None:
        """Take back the write of a group that failed or was interrupted, if one did."""
        if group.part is not None:
            with suppress(apsw.SQLError):  # interrupted before the savepoint was made, or the whole is gone
                self._writer.execute(f"ROLLBACK TO part{group.part}; RELEASE part{group.part}")
            group.part = None

    def _wait(self, group: Group) -> None:
        """Return once a group is committed."""
        while not group.done.wait(PAUSE_S):
            with self._lock:
                self._queue.clear()
                if self._group is group:
                    self._commit_group()
        with translated(self.path):
            group.check()

    def _roll_back(self, number: int, outer: bool) -> None:
        self._after_commit.clear()
        group = self._group
        if group is not None and (outer or not self._writer.in_transaction):
            self._undo_part(group)
            if not group.size or not self._queue or not self._writer.in_transaction:
                self._commit_group()
        elif outer and self._writer.in_transaction:
            self._writer.execute("ROLLBACK")
        elif self._writer.in_transaction:
            with suppress(apsw.SQLError):  # interrupted before the savepoint was made
                self._writer.execute(f"ROLLBACK TO part{number}; RELEASE part{number}")

    def _take(self) -> apsw.Connection:
        try:
            return self._idle.pop()
        except IndexError:
            with gate:
                connection = connect(self.path, True, self._patience)
                connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()  # maps the shared memory
            return connection

    def _give_back(self, connection: apsw.Connection) -> None:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        self._idle.append(connection)
        if self._closed:  # checked after the append, so that a concurrent close cannot miss it
            self._close_idle()

    def _close_idle(self) -> None:
        with suppress(IndexError):  # two threads may close at once
            while True:
                self._idle.pop().close()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"{self.path} is closed; open it again", code="store_closed")
        if self._process != os.getpid():
            raise StoreError(f"{self.path} was opened before this process was forked; open it again here")


class _Lent:
    """A connection of its own, inside a transaction; a class, as generators around each other take several times as long."""

    __slots__ = ("_begin", "_connection", "_connections")

    def __init__(self, connections: Connections, begin: str = "BEGIN") -> None:
        self._connections, self._begin = connections, begin

    def __enter__(self) -> apsw.Connection:
        self._connections._check_open()
        try:
            self._connection = self._connections._take()
            try:
                if self._begin:
                    self._connection.execute(self._begin)
            except BaseException:
                self._connections._give_back(self._connection)
                raise
        except apsw.Error as error:
            with translated(self._connections.path):
                raise error
        return self._connection

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        path = self._connections.path
        try:
            if isinstance(error, Exception):
                with translated(path), damage.named(path, self._connection):
                    raise error
        finally:
            self._connections._give_back(self._connection)


class PinnedConnection(Connections):
    """The same file through one connection inside one transaction; it only reads."""

    def __init__(self, parent: Connections, connection: apsw.Connection) -> None:
        self.__dict__.update(parent.__dict__)
        self._parent = parent
        self._lock = threading.RLock()
        self._reading = _Reading(self.path, connection, self._lock)

    @property
    def lasting(self) -> Connections:
        return self._parent

    def end(self) -> None:
        """The connection is somebody else's from now on; a thread that is reading is waited for."""
        self._reading.end()

    def read(self) -> AbstractContextManager[apsw.Connection]:
        return self._reading

    glance = read

    @contextmanager
    def write(self, foreign: bool = False, joins: bool = False) -> Iterator[apsw.Connection]:
        raise StoreReadOnly("a view of a store cannot be changed", code="view")
        yield


class _Reading:
    """Lends a connection to one thread at a time; a recall reads some twenty times, so nothing is made anew for each."""

    __slots__ = ("_connection", "_lock", "_path")

    def __init__(self, path: str, connection: apsw.Connection, lock: threading.RLock) -> None:
        self._path, self._lock = path, lock
        self._connection: apsw.Connection | None = connection

    def __enter__(self) -> apsw.Connection:
        self._lock.acquire()
        connection = self._connection
        if connection is None:
            self._lock.release()
            raise StoreError(f"this view of {self._path} is over; ask the store for another", code="view_over")
        return connection

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        try:
            if isinstance(error, Exception) and self._connection is not None:
                with translated(self._path), damage.named(self._path, self._connection):
                    raise error
        finally:
            self._lock.release()

    def end(self) -> None:
        with self._lock:
            self._connection = None


def _run(tasks: list[Callable[[], None]]) -> None:
    while tasks:
        tasks.pop(0)()
