"""Columns and ids of a catalogue: those of mapped segments are read where they lie when asked for, later ones are in memory."""

from bisect import bisect
from collections.abc import Mapping, Sequence
from itertools import accumulate, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thinkback.fields import KINDS, PRIORITIES, TIERS
from thinkback.stores.sqlite.carried import NEVER
from thinkback.stores.sqlite.threads import number_of

Rows = NDArray[np.intp]

NUMBERED = {"kind": KINDS, "tier": TIERS, "priority": PRIORITIES}
_COLUMNS = (
    ("date", np.int64),
    ("valid_to", np.int64),
    ("expires_at", np.int64),
    ("archived", np.bool_),
    ("trust", np.float64),
    ("recorded", np.int64),
    ("thread", np.int64),  # the number of the thread
    ("position", np.int64),
)
_CODED = tuple((name, np.uint8) for name in NUMBERED)
COLUMNS = (*_COLUMNS, *_CODED)
_IDS_KEPT, _DROPPED_AT_ONCE = 20_000, 1000
_SPELLING = ("utf-8", "surrogatepass")  # of ids in files


class Columns(dict[str, NDArray[Any]]):
    """Columns in mapped segments, each put together when it is first asked for; few filters ask for more than some."""

    def __init__(
        self, segments: Sequence[Mapping[str, NDArray[Any]]], later: Mapping[str, NDArray[Any]] | None = None
    ) -> None:
        super().__init__()
        self._segments = segments
        self._later = later or {}  # of rows that follow those of the segments

    def __missing__(self, name: str) -> NDArray[Any]:
        parts = [arrays[name] for arrays in (*self._segments, self._later) if name in arrays]
        self[name] = found = joined(parts, dict(COLUMNS)[name])
        return found

    def over(self, segments: Sequence[Mapping[str, NDArray[Any]]]) -> "Columns":
        """With the same later rows behind other segments."""
        return Columns(segments, self._later)

    def appended(self, size: int, values: Mapping[str, NDArray[Any]]) -> "Columns":
        """With rows after the first `size`; columns that nobody asked for stay where they are."""
        later = {name: joined([self._later[name], tail], tail.dtype) for name, tail in values.items() if self._later}
        found = Columns(self._segments, later or values)
        known = list(self.items())  # at once, as other threads ask for columns meanwhile
        found.update({name: extended(column, size, values[name]) for name, column in known})
        return found


def joined(parts: Sequence[NDArray[Any]], kind: Any) -> NDArray[Any]:
    """One array of several."""
    return np.concatenate([np.zeros(0, dtype=kind), *(part.astype(kind, copy=False) for part in parts)])


class Ids:
    """The id of every row: those of mapped segments are read where they lie, later ones are a list."""

    def __init__(self, mapped: Sequence[tuple[NDArray[np.uint8], NDArray[np.uint32]]] = ()) -> None:
        self._mapped = [(spelled.data, ends.data) for spelled, ends in mapped]
        self._firsts = [0, *accumulate(len(ends) for _, ends in mapped)]
        self._later: list[str] = []
        self._read: dict[int, str] = {}  # of rows that were asked for
        self._rows: dict[str, int] = {}  # the other way round

    def over(self, mapped: Sequence[tuple[NDArray[np.uint8], NDArray[np.uint32]]]) -> "Ids":
        """With the same later ids behind those of other segments."""
        found = Ids(mapped)
        found._later = self._later.copy()
        return found

    def __getitem__(self, row: int) -> str:
        found = self._read.get(row)
        if found is None:
            if len(self._read) >= _IDS_KEPT:
                self._drop_earliest()
            first = self._firsts[-1]
            found = self._read[row] = self._later[row - first] if row >= first else self._spelled(row)
            self._rows[found] = row
        return found

    def _drop_earliest(self) -> None:
        """Make room; a search under way still asks for the rows of what it found."""
        for row in list(islice(self._read, _DROPPED_AT_ONCE)):  # listed at once, as other threads add to it
            id = self._read.pop(row, None)
            if id is not None and self._rows.get(id) == row:
                self._rows.pop(id, None)

    def known(self, ids: Sequence[str], size: int) -> dict[str, int]:
        """The rows below `size` of memories that were asked for, each the last one; a memory may have another one by now."""
        rows = self._rows
        return {id: row for id in ids if (row := rows.get(id)) is not None and row < size}

    def of(self, rows: Rows) -> list[str]:
        """The ids of several rows."""
        wanted = rows.tolist()
        found = list(map(self._read.get, wanted))
        if None in found:
            found = [self[row] if id is None else id for row, id in zip(wanted, found, strict=True)]
        return found  # type: ignore[return-value]

    def encoded(self, rows: Rows) -> list[bytes]:
        """The ids of rows as files hold them; nothing of it is kept, as who writes an index reads them all."""
        first = self._firsts[-1]
        return [
            bytes(self._stored(row)) if row < first else self._later[row - first].encode(*_SPELLING)
            for row in rows.tolist()
        ]

    def _spelled(self, row: int) -> str:
        return str(self._stored(row), *_SPELLING)

    def _stored(self, row: int) -> memoryview:
        segment = bisect(self._firsts, row) - 1
        spelled, ends = self._mapped[segment]
        place = row - self._firsts[segment]
        return spelled[ends[place - 1] if place else 0 : ends[place]]

    def put(self, size: int, ids: Sequence[str]) -> None:
        """Set the ids of the rows from `size` on; an interrupted refresh may have left others there."""
        if len(self._later) > size - self._firsts[-1]:
            self._read, self._rows = {}, {}
        self._later[size - self._firsts[-1] :] = ids


def values_of(rows: Sequence[tuple[Any, ...]]) -> dict[str, NDArray[Any]]:
    """The columns of rows as the catalogue selects them."""
    _, _, date, valid_to, expires_at, archived, trust, recorded, thread, position, *coded = zip(*rows, strict=True)
    never = [[NEVER if moment is None else moment for moment in moments] for moments in (valid_to, expires_at)]
    threads = [number_of(name, at is not None) for name, at in zip(thread, position, strict=True)]
    places = [at or 0 for at in position]
    columns = (date, *never, archived, trust, recorded, threads, places)
    values = dict(zip((name for name, _ in _COLUMNS), columns, strict=True))
    for (name, names), words in zip(NUMBERED.items(), coded, strict=True):
        numbers = {word: number for number, word in enumerate(names)}
        values[name] = [numbers[word] for word in words]
    return {name: np.asarray(values[name], dtype=kind) for name, kind in COLUMNS}


def extended(buffer: NDArray[Any], size: int, tail: NDArray[Any]) -> NDArray[Any]:
    """Append a tail after the first `size` entries, in place if the buffer has room."""
    needed = size + len(tail)
    if needed > len(buffer):
        roomier = np.zeros((max(needed, len(buffer) * 3 // 2), *buffer.shape[1:]), dtype=buffer.dtype)
        roomier[:size] = buffer[:size]
        buffer = roomier
    buffer[size:needed] = tail
    return buffer
