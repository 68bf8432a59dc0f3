"""Opening a store file; any other file is rejected unchanged."""

import os
import struct
import sys
import threading
import time
from pathlib import Path
from urllib.parse import quote

import apsw

from thinkback.errors import Action, NotAStore, Remedy, StoreDamaged, StoreError, StoreReadOnly, StoreTooNew
from thinkback.stores.sqlite import damage, filters, schema
from thinkback.stores.sqlite.bm25 import BY_FORMS, Bm25
from thinkback.stores.sqlite.fork import gate

MEMORY = ":memory:"
_MAGIC = b"SQLite format 3\0"
_HEADER = 100
_STATEMENTS_KEPT = 256
# Readers map the file, as SQLite maps its shared memory and we the index: a page costs no copy and no room in a cache. SQLite
# lowers this to what it was built for, 2 GB, and reads what lies beyond. On Windows a mapped file cannot shrink.
_MAPPED = 0 if sys.platform == "win32" else 1 << 40
_LEAST_PAUSE_S, _LONGEST_PAUSE_S = 0.0005, 0.004
# One thread at a time: closing a new file would release the POSIX locks that another thread holds on it. `gate` keeps a fork
# away meanwhile, so that a child finds the lock free.
_looking = threading.Lock()


class Patience:
    """A busy handler that retries every few milliseconds until a timeout.

    SQLite's own handler backs off to 100 ms, so a writer beside busy writers may wait for minutes.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._until = threading.local()

    def __call__(self, asked: int) -> bool:
        if asked == 0:
            self._until.time = time.monotonic() + self.seconds
        if time.monotonic() >= self._until.time:
            return False
        self._pause()
        return True

    def insist(self, connection: apsw.Connection, sql: str) -> None:
        """Run a statement for which SQLite does not call the busy handler, retrying until the timeout."""
        until = time.monotonic() + self.seconds
        while True:
            try:
                connection.execute(sql).fetchall()
            except apsw.BusyError:
                if time.monotonic() >= until:
                    raise
                self._pause()
            else:
                return

    @staticmethod
    def _pause() -> None:
        from random import uniform

        time.sleep(uniform(_LEAST_PAUSE_S, _LONGEST_PAUSE_S))


def open_first(
    path: str, read_only: bool, patience: Patience, progress: schema.Progress | None = None
) -> apsw.Connection:
    """Open the first connection: check the file, create or migrate it, and switch it to WAL mode."""
    with gate:
        return _open_first(path, read_only, patience, progress)


def _open_first(path: str, read_only: bool, patience: Patience, progress: schema.Progress | None) -> apsw.Connection:
    if path != MEMORY:
        _check_name(path)
        with _looking:
            _inspect(Path(path), read_only)
    connection = connect(path, read_only, patience)
    try:
        _check_version(connection, path)
        if read_only:
            if schema.version(connection) < schema.VERSION:
                raise StoreReadOnly(
                    f"{path} was written by an older version and must be migrated; open it once for writing",
                    code="needs_migration",
                )
        else:
            if schema.version(connection) == 0:
                connection.execute(f"PRAGMA page_size = {schema.PAGE_SIZE}")
            with damage.named(path, connection):
                schema.migrate(connection, progress)
            patience.insist(connection, "PRAGMA journal_mode = WAL")
        if connection.execute("SELECT store_id FROM counters").get is None:
            raise StoreDamaged(f"{path} has lost its counters", code="no_counters", remedy=Remedy(Action.SALVAGE, path))
    except BaseException:
        connection.close()
        raise
    return connection


def connect(path: str, read_only: bool, patience: Patience) -> apsw.Connection:
    """A connection with the store's pragmas."""
    flags = apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    name = path
    if read_only and _is_frozen(path):
        name, flags = f"file:{quote(os.path.abspath(path))}?immutable=1", flags | apsw.SQLITE_OPEN_URI
    with gate:
        connection = apsw.Connection(name, flags=flags, statementcachesize=_STATEMENTS_KEPT)
    connection.set_busy_handler(patience)
    connection.execute(
        "PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY;"
        "PRAGMA cache_size = -32768; PRAGMA journal_size_limit = 67108864; PRAGMA trusted_schema = OFF;"
        f"PRAGMA mmap_size = {_MAPPED if read_only else 0}"
    ).fetchall()
    filters.install(connection)
    connection.register_fts5_function(BY_FORMS, Bm25())
    return connection


def _check_name(path: str) -> None:
    """Refuses a path that no file can have."""
    try:
        os.stat(path)
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise StoreError(f"not a path of a store: {path[:200]!r} ({reason})", code="bad_path") from None


def _inspect(path: Path, read_only: bool) -> None:
    """Reject a file that is not a store, by its header."""
    if path.is_dir():
        raise NotAStore(f"{path} is a folder; name a file in it, like {path / 'memory.db'}", code="is_a_folder")
    if not path.exists():
        _refuse_lone_log(path)
        _check_place(path, read_only)
        _create(path)
        return
    if not read_only and not _may_write(path):
        raise StoreReadOnly(f"{path} cannot be written; make it writable or open it with read_only=True")
    header = _header(path)
    if header == bytes(_HEADER):
        # Another process is creating the store, or crashed while doing so: SQLite waits or rolls back.
        if Path(f"{path}-journal").exists():
            return
        header = _header(path)
    if not header and _log_size(path):
        header = _header(path)  # another process may have made the store since
        if not header:
            _refuse_lone_log(path)
    if not header:
        if read_only:
            raise NotAStore(f"{path} is empty; open it once for writing to make it a store", code="empty_file")
        return
    if not header.startswith(_MAGIC):
        raise NotAStore(f"{path} is not a Thinkback store (it begins with {header[:16]!r}); it was left alone")
    if len(header) < _HEADER:
        message = f"{path} is cut off after {len(header)} bytes; it was left alone"
        raise StoreDamaged(message, code="cut_off", remedy=Remedy(Action.SALVAGE, str(path)))
    (application,) = struct.unpack_from(">I", header, 68)
    if application != schema.APPLICATION_ID:
        raise NotAStore(
            f"{path} is an SQLite database of another program (application id {application:#x}); it was left alone",
            code="foreign_database",
        )


def _refuse_lone_log(path: Path) -> None:
    """A log without its file holds the only copy of what was written; SQLite would delete it as left over."""
    if size := _log_size(path):
        raise StoreDamaged(
            f"{path} is missing or empty, but its log {path}-wal holds {size} bytes; both were left alone. "
            "Move the log away to begin anew",
            code="lone_log",
            remedy=Remedy(Action.SALVAGE, str(path)),
        )


def _log_size(path: Path) -> int:
    log = Path(f"{path}-wal")
    return log.stat().st_size if log.exists() else 0


def _header(path: Path) -> bytes:
    """The first bytes, read through SQLite: closing an own descriptor would release this process's POSIX locks on the file."""
    file = apsw.VFSFile("", os.path.abspath(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
    try:
        return file.xRead(min(_HEADER, file.xFileSize()), 0)
    finally:
        file.xClose()


def _create(path: Path) -> None:
    """Create an empty file with mode 0600; SQLite gives the WAL and the shared memory the same mode."""
    try:
        os.close(os.open(os.path.realpath(path), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return  # another process created it
    except OSError as error:
        raise StoreError(f"cannot create {path}: {error.strerror or error}", code="cannot_create") from None


def _check_place(path: Path, read_only: bool) -> None:
    if read_only:
        raise StoreError(f"there is no store at {path}; open it without read_only=True to create it", code="no_store")
    if not path.parent.is_dir():
        raise StoreError(
            f"cannot create {path}: the folder {path.parent} does not exist; create it first", code="no_folder"
        )
    if not os.access(path.parent, os.W_OK):
        raise StoreReadOnly(f"cannot create {path}: the folder {path.parent} cannot be written")


def _may_write(path: Path) -> bool:
    # root may write every file; a file without write permission is still treated as read-only.
    return os.access(path, os.W_OK) and bool(path.stat().st_mode & 0o222)


def _is_frozen(path: str) -> bool:
    """Whether a closed store is in a folder that cannot be written, so that SQLite cannot create its shared memory."""
    log = Path(f"{path}-wal")
    return not os.access(Path(path).parent, os.W_OK) and not (log.exists() and log.stat().st_size)


def _check_version(connection: apsw.Connection, path: str) -> None:
    # In this order: a process that is creating the store commits tables and version together.
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").get
    found = schema.version(connection)
    if found > schema.VERSION:
        raise StoreTooNew(
            f"{path} has schema version {found}, this Thinkback knows {schema.VERSION}; install a newer Thinkback"
        )
    if found == 0 and tables:
        raise NotAStore(f"{path} holds tables of another program; it was left alone", code="foreign_database")
