"""A cache of vectors in one SQLite file, keyed by the embedder's fingerprint and the SHA-256 of the text.

Several processes may share it. A damaged file is renamed and a new one begun; a file that cannot be written or stays locked costs
time, but never fails. Only its owner may read it: vectors tell much about the text they were made from.
"""

import hashlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self
from zlib import crc32

import apsw
import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

_TABLE = """
CREATE TABLE IF NOT EXISTS vectors(
    space TEXT NOT NULL, key BLOB NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (space, key)
) WITHOUT ROWID
"""
_DAMAGED = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError, apsw.SQLError, apsw.SchemaChangeError)
_AT_ONCE = 500
_BUSY_MS = 5000


class VectorCache:
    """The file, opened on first use."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._opened: apsw.Connection | None = None

    def get(self, space: str, dimensions: int, texts: Sequence[str]) -> dict[str, Vectors]:
        """Known vectors by text; one that is not finite or not of this size counts as unknown."""
        wanted = {_key(text): text for text in texts}
        found: dict[str, Vectors] = {}
        for keys in _chunks(list(wanted)):
            for key, blob in self._read(space, keys):
                row = _unsealed(blob)
                if row is not None and row.size == dimensions and np.isfinite(row).all():
                    found[wanted[key]] = row
        return found

    def put(self, space: str, texts: Sequence[str], vectors: Vectors) -> None:
        """Store vectors."""
        rows = [(space, _key(text), _sealed(row)) for text, row in zip(texts, vectors, strict=True)]

        def write(connection: apsw.Connection) -> None:
            with connection:
                connection.executemany("INSERT OR REPLACE INTO vectors VALUES(?, ?, ?)", rows)

        self._attempt(write)

    def _read(self, space: str, keys: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
        marks = ",".join("?" * len(keys))
        sql = f"SELECT key, vector FROM vectors WHERE space = ? AND key IN ({marks})"
        found: list[tuple[bytes, bytes]] = []
        self._attempt(lambda connection: found.extend(connection.execute(sql, (space, *keys))))
        return found

    def _attempt(self, work: Callable[[apsw.Connection], None]) -> None:
        """Do the work; a damaged file is replaced and the work done once more, any other failure is ignored."""
        with self._lock:
            try:
                work(self._connection())
            except _DAMAGED:
                self._set_aside()
                with suppress(apsw.Error, OSError):
                    work(self._connection())
            except (apsw.Error, OSError):
                return

    def _connection(self) -> apsw.Connection:
        if self._opened is None:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            with suppress(PermissionError):  # not ours
                self.path.chmod(0o600)
            connection = apsw.Connection(str(self.path))
            try:
                connection.set_busy_timeout(_BUSY_MS)
                connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
                connection.execute(_TABLE)
            except apsw.Error:
                connection.close(force=True)
                raise
            self._opened = connection
        return self._opened

    def _set_aside(self) -> None:
        self._close()
        with suppress(OSError):
            os.replace(self.path, self.path.with_name(self.path.name + ".damaged"))
        for suffix in ("-wal", "-shm"):
            with suppress(OSError):
                self.path.with_name(self.path.name + suffix).unlink()

    def _close(self) -> None:
        if self._opened is not None:
            self._opened.close(force=True)
            self._opened = None

    def close(self) -> None:
        with self._lock:
            self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _sealed(row: Vectors) -> bytes:
    """The row with its checksum, because SQLite does not notice a flipped bit inside a value."""
    content = row.astype("<f4").tobytes()
    return content + crc32(content).to_bytes(4, "little")


def _unsealed(blob: bytes) -> Vectors | None:
    content, seal = blob[:-4], blob[-4:]
    if len(content) % 4 or crc32(content).to_bytes(4, "little") != seal:
        return None
    return np.frombuffer(content, dtype="<f4").astype(np.float32)


def _chunks(keys: list[bytes]) -> Iterator[list[bytes]]:
    for start in range(0, len(keys), _AT_ONCE):
        yield keys[start : start + _AT_ONCE]
