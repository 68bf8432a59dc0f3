"""Single terms of a query: where their postings are, and what each adds to the BM25 scores of its rows."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thinkback.model import Floats
from thinkback.stores.index.postings import MappedPostings
from thinkback.stores.sqlite.segments import Segment
from thinkback.values import dataclass

Rows = NDArray[np.intp]
Term = bytes | tuple[bytes, ...]  # a term, or the forms of a word
Part = tuple[Segment | MappedPostings, int, int]  # where in a segment postings begin and end
MOST_GAINS = 2_000_000  # of terms that are kept; each takes 16 bytes
_FEW = 8  # rows for every part, which are looked up one by one


@dataclass(frozen=True, eq=False)
class Found:
    """Where the postings of a term are: the segments with their ranges, in the order of the rows; and how many rows live."""

    parts: tuple[Part, ...]
    living: int

    def read(self) -> tuple[Rows, Floats]:
        """The rows that hold the term, and its occurrences."""
        if not self.parts:
            return np.zeros(0, dtype=np.intp), np.zeros(0)
        rows = np.concatenate([part.rows[start:end] for part, start, end in self.parts]).astype(np.intp)
        rows += np.repeat([part.first for part, _, _ in self.parts], [end - start for _, start, end in self.parts])
        found = np.concatenate([part.frequencies[start:end] for part, start, end in self.parts])
        return rows, found.astype(np.float64, copy=False)

    @cached_property
    def most(self) -> float:
        """The most occurrences in one row."""
        return float(np.concatenate([part.frequencies[start:end] for part, start, end in self.parts]).max())

    @cached_property
    def _lows(self) -> list[int]:
        """The first row of every part."""
        return [part.first + int(part.rows[start]) for part, start, _ in self.parts]

    @cached_property
    def _highs(self) -> list[int]:
        """The last row of every part, plus one."""
        return [part.first + int(part.rows[end - 1]) + 1 for part, _, end in self.parts]

    def at(self, rows: Rows) -> Iterator[tuple[Rows, Floats]]:
        """The places of those rows, given in order, that hold the term, and its occurrences there."""
        if len(rows) < _FEW * len(self.parts):
            yield self._at_each(rows)
            return
        bounds = zip(
            np.searchsorted(rows, self._lows).tolist(), np.searchsorted(rows, self._highs).tolist(), strict=True
        )
        for (part, start, end), (low, high) in zip(self.parts, bounds, strict=True):
            if low < high:
                held = part.rows[start:end]
                wanted = (rows[low:high] - part.first).astype(held.dtype)
                found = np.searchsorted(held, wanted)
                places = np.flatnonzero(held[found] == wanted)
                if len(places):
                    yield places + low, part.frequencies[start + found[places]].astype(np.float64, copy=False)

    def _at_each(self, rows: Rows) -> tuple[Rows, Floats]:
        """The same, row by row, which costs less than a few calls for every part."""
        places, found = [], []
        lows = self._lows
        for place, row in enumerate(rows.tolist()):
            which = bisect_right(lows, row) - 1
            if which < 0:
                continue
            part, start, end = self.parts[which]
            wanted, held = row - part.first, part.rows.data
            at = bisect_left(held, wanted, start, end)
            if at < end and held[at] == wanted:
                places.append(place)
                found.append(part.frequencies[at])
        return np.array(places, dtype=np.intp), np.array(found, dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Gain:
    """What a term adds to the scores of its rows; a row stands once, in order, unless forms of a word share it."""

    rows: Rows
    gains: Floats
    in_order: bool

    @classmethod
    def of(cls, parts: Sequence[tuple[NDArray[Any], Floats]]) -> "Gain":
        rows = np.concatenate([np.zeros(0, dtype=np.intp), *(rows for rows, _ in parts)])
        return cls(
            rows, np.concatenate([np.zeros(0), *(gains for _, gains in parts)]), bool((rows[1:] > rows[:-1]).all())
        )

    def at(self, rows: Rows) -> Floats:
        """What it adds to the scores of these rows."""
        if not len(self.rows):
            return np.zeros(len(rows))
        places = np.searchsorted(self.rows, rows)
        places[places == len(self.rows)] = 0
        return np.where(self.rows[places] == rows, self.gains[places], 0.0)


class Gains:
    """The terms that were asked for, at one state of the index."""

    def __init__(self, most: int = MOST_GAINS) -> None:
        self._found: dict[Term, Gain] = {}
        self._size = 0
        self._most = most

    def get(self, term: Term) -> Gain | None:
        return self._found.get(term)

    def put(self, term: Term, parts: Sequence[tuple[NDArray[Any], Floats]]) -> Gain:
        found = Gain.of(parts)
        if self._size + len(found.rows) > self._most:
            self._found, self._size = {}, 0
        self._found[term] = found
        self._size += len(found.rows) + 1
        return found
