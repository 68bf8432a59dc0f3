"""Looking for bytes in files: thousands of needles in one pass."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import apsw
import numpy as np
from numpy.typing import NDArray

SHORTEST = 8  # bytes; anything shorter stands in every file by chance
_WINDOW = 1 << 24
_SLOTS = 20  # bits of the table that says which four bytes may begin a needle
_MIX = np.uint32(2654435761)


def found_in(path: Path, needles: Iterable[bytes]) -> set[bytes]:
    """The needles that stand in a file; each must be of 8 bytes at least."""
    wanted = sorted(set(needles))
    if not wanted or not path.exists():
        return set()
    begun = _Beginnings(wanted)
    left = set(wanted)
    for window in _windows(path, max(map(len, wanted))):
        for place, beginning in begun.places(window):
            for size in begun.sizes[beginning]:
                left.discard(window[place : place + size])
    return set(wanted) - left


def _windows(path: Path, overlap: int) -> Iterator[bytes]:
    rest = b""
    for part in _parts(path):
        yield rest + part
        rest = (rest + part)[-(overlap - 1) :]


def _parts(path: Path) -> Iterator[bytes]:
    """The file in order, read through SQLite: closing a file of our own would let go of every lock this process has on it."""
    file = apsw.VFSFile("", os.path.abspath(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
    try:
        size = file.xFileSize()
        for start in range(0, size, _WINDOW):
            yield file.xRead(min(_WINDOW, size - start), start)
    finally:
        file.xClose()


class _Beginnings:
    """The first eight bytes of every needle, in two sieves: a table over four bytes, then the exact eight."""

    def __init__(self, needles: Sequence[bytes]) -> None:
        self.sizes: dict[int, set[int]] = {}
        for needle in needles:
            self.sizes.setdefault(int.from_bytes(needle[:SHORTEST], "little"), set()).add(len(needle))
        self._exact = np.array(sorted(self.sizes), dtype=np.uint64)
        self._table = np.zeros(1 << _SLOTS, dtype=bool)
        self._table[_slot((self._exact & np.uint64(0xFFFFFFFF)).astype(np.uint32))] = True

    def places(self, window: bytes) -> Iterator[tuple[int, int]]:
        """Where a needle may begin, with its first eight bytes as a number."""
        data = np.frombuffer(window, dtype=np.uint8)
        last = len(window) - SHORTEST
        for shift in range(4):
            count = (len(window) - shift) // 4
            if count <= 0:
                continue
            fours = np.frombuffer(window, dtype="<u4", offset=shift, count=count)
            maybe = np.flatnonzero(self._table[_slot(fours)]) * 4 + shift
            maybe = maybe[maybe <= last]
            if not len(maybe):
                continue
            eights = data[maybe[:, None] + np.arange(SHORTEST)].copy().view("<u8")[:, 0]
            at = np.searchsorted(self._exact, eights).clip(max=len(self._exact) - 1)
            hits = self._exact[at] == eights
            yield from zip(maybe[hits].tolist(), eights[hits].tolist(), strict=True)


def _slot(fours: NDArray[np.uint32]) -> NDArray[np.uint32]:
    return (fours * _MIX) >> np.uint32(32 - _SLOTS)
