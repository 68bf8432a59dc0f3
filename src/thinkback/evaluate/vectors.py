"""Vectors kept across runs: a text is embedded once for each embedding space, in whatever benchmark it appears.

One SQLite file, keyed by the embedder's fingerprint and the SHA-256 of the text. It is a cache and nothing but:
several processes may share it, a damaged file is set aside and begun anew, and a file that cannot be written or stays
locked costs time, never the run.
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

from thinkback.models.embedders.base import Embedder

Vectors = NDArray[np.float32]

_TABLE = """
CREATE TABLE IF NOT EXISTS vectors(
    space TEXT NOT NULL, key BLOB NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (space, key)
) WITHOUT ROWID
"""
_DAMAGED = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError, apsw.SQLError, apsw.SchemaChangeError)
_AT_ONCE = 500
_BUSY_MS = 5000
BATCH = 256


class VectorCache:
    """The file, opened on first use."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._opened: apsw.Connection | None = None

    def get(self, space: str, dimensions: int, texts: Sequence[str]) -> dict[str, Vectors]:
        """The vectors known, by text; one that is not a finite row of this size counts as unknown."""
        wanted = {_key(text): text for text in texts}
        found: dict[str, Vectors] = {}
        for keys in _chunks(list(wanted)):
            for key, blob in self._read(space, keys):
                row = _unsealed(blob)
                if row is not None and row.size == dimensions and np.isfinite(row).all():
                    found[wanted[key]] = row
        return found

    def put(self, space: str, texts: Sequence[str], vectors: Vectors) -> None:
        """Keep these vectors."""
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
        """Do the work; on a damaged file begin a new one and try once more; give up quietly on any other trouble."""
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
            self.path.parent.mkdir(parents=True, exist_ok=True)
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


class CachedEmbedder:
    """An embedder that remembers its passages on disk; queries are embedded live, so that their time is measured.

    New vectors are written batch by batch, so an interrupted run keeps what it made. `progress` hears how many of the
    unknown texts are done.
    """

    def __init__(
        self, embedder: Embedder, cache: VectorCache, progress: Callable[[int, int], None] | None = None
    ) -> None:
        self._embedder = embedder
        self._cache = cache
        self._progress = progress

    @property
    def fingerprint(self) -> str:
        return self._embedder.fingerprint

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        known = self._cache.get(self.fingerprint, self.dimensions, texts)
        unknown = [text for text in dict.fromkeys(texts) if text not in known]
        for start in range(0, len(unknown), BATCH):
            batch = unknown[start : start + BATCH]
            made = self._embedder.embed_passages(batch)
            self._cache.put(self.fingerprint, batch, made)
            known.update(zip(batch, made, strict=True))
            if self._progress is not None:
                self._progress(start + len(batch), len(unknown))
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        return np.stack([known[text] for text in texts])

    def embed_query(self, text: str) -> Vectors:
        return self._embedder.embed_query(text)


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
