"""Searching a store's files for bytes: thousands of needles in one pass."""

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import apsw
import numpy as np
from numpy.typing import NDArray

from thinkback.stores.base import SHORTEST_TRACE, FileScan

_WINDOW = 1 << 24  # bytes read at once
_SLOT_BITS = 20  # size of the table that says which four bytes may start a needle
_MULTIPLIER = np.uint32(2654435761)  # of Knuth's multiplicative hash


def scan_files(path: Path, needles: Iterable[bytes], empty: Callable[[Path], None]) -> list[FileScan]:
    """The live files of a store, each with the needles in it that an empty store does not hold.

    `empty` writes an empty store to a path; the names of its tables and columns are no traces. Other processes may write the index
    meanwhile, so what is new is searched too, until nothing is.
    """
    wanted = set(needles)
    searched: dict[Path, tuple[int, set[bytes]] | None] = {}
    while new := [file for file in live_files(path) if file not in searched]:
        searched |= {file: _searched(file, wanted) for file in new}
    found = {file: one for file, one in sorted(searched.items()) if one is not None}
    present = set().union(*(hits for _, hits in found.values()))
    if present:
        present -= _found_in_empty_store(present, empty)
    return [FileScan(file.name, size, frozenset(hits & present)) for file, (size, hits) in found.items()]


def _searched(file: Path, wanted: Iterable[bytes]) -> tuple[int, set[bytes]] | None:
    """The size of a file and the needles in it; None if it is gone."""
    try:
        return file.stat().st_size, found_in(file, wanted)
    except FileNotFoundError:
        return None


def live_files(path: Path) -> list[Path]:
    """The database, its log, other files whose names start with its name, and its derived index; none for a store in memory.

    The shared-memory file is left out: it holds page numbers, no text, and the locks of every reader.
    """
    if not path.is_file():
        return []
    beside = (file for file in path.parent.iterdir() if file.name.startswith(path.name) and file.is_file())
    index = path.with_name(f"{path.name}-index")
    derived = (file for file in index.iterdir() if file.is_file()) if index.is_dir() else ()
    return sorted([*(file for file in beside if file.name != f"{path.name}-shm"), *derived])


def _found_in_empty_store(needles: set[bytes], empty: Callable[[Path], None]) -> set[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "empty.db"
        empty(path)
        whole = b"".join(file.read_bytes() for file in live_files(path))
    whole += whole.lower()
    return {needle for needle in needles if needle in whole}


def found_in(path: Path, needles: Iterable[bytes]) -> set[bytes]:
    """The needles that occur in a file; each must have at least 8 bytes."""
    wanted = sorted(set(needles))
    if not wanted or not path.exists():
        return set()
    prefixes = _Prefixes(wanted)
    missing = set(wanted)
    for window in _windows(path, max(map(len, wanted))):
        for offset, prefix in prefixes.matches(window):
            for size in prefixes.sizes[prefix]:
                missing.discard(window[offset : offset + size])
    return set(wanted) - missing


def _windows(path: Path, overlap: int) -> Iterator[bytes]:
    rest = b""
    for block in _blocks(path):
        yield rest + block
        rest = (rest + block)[-(overlap - 1) :]


def _blocks(path: Path) -> Iterator[bytes]:
    """The file in order, read through SQLite: closing a plain file descriptor drops every POSIX lock of this process on it."""
    try:
        file = apsw.VFSFile("", os.path.abspath(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
    except apsw.CantOpenError:
        path.stat()  # FileNotFoundError if it is gone by now
        raise
    try:
        size = file.xFileSize()
        for start in range(0, size, _WINDOW):
            yield file.xRead(min(_WINDOW, size - start), start)
    finally:
        file.xClose()


class _Prefixes:
    """The first eight bytes of every needle, tested in two steps: a hash table over four bytes, then the exact eight."""

    def __init__(self, needles: Sequence[bytes]) -> None:
        self.sizes: dict[int, set[int]] = {}
        for needle in needles:
            self.sizes.setdefault(int.from_bytes(needle[:SHORTEST_TRACE], "little"), set()).add(len(needle))
        self._exact = np.array(sorted(self.sizes), dtype=np.uint64)
        self._table = np.zeros(1 << _SLOT_BITS, dtype=bool)
        self._table[_slot((self._exact & np.uint64(0xFFFFFFFF)).astype(np.uint32))] = True

    def matches(self, window: bytes) -> Iterator[tuple[int, int]]:
        """Offsets where a needle may start, with the eight bytes there as a number."""
        data = np.frombuffer(window, dtype=np.uint8)
        last = len(window) - SHORTEST_TRACE
        for shift in range(4):
            count = (len(window) - shift) // 4
            if count <= 0:
                continue
            fours = np.frombuffer(window, dtype="<u4", offset=shift, count=count)
            maybe = np.flatnonzero(self._table[_slot(fours)]) * 4 + shift
            maybe = maybe[maybe <= last]
            if not len(maybe):
                continue
            eights = data[maybe[:, None] + np.arange(SHORTEST_TRACE)].copy().view("<u8")[:, 0]
            at = np.searchsorted(self._exact, eights).clip(max=len(self._exact) - 1)
            hits = self._exact[at] == eights
            yield from zip(maybe[hits].tolist(), eights[hits].tolist(), strict=True)


def _slot(fours: NDArray[np.uint32]) -> NDArray[np.uint32]:
    return (fours * _MULTIPLIER) >> np.uint32(32 - _SLOT_BITS)
