"""The order of memories in their threads, from the columns of the catalogue: nothing is read from the file.

A thread is known by a number, a hash of its name. The rows of a catalogue are sorted by that number once; later catalogues share
this, and look through the few rows that were appended since.
"""

from collections.abc import Callable, Sequence
from dataclasses import field
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from thinkback.model import SEQUENCE, StoredEdge
from thinkback.values import copier, dataclass

NO_THREAD, UNPLACED = 0, 1  # of memories in no thread, and of those without a position in theirs
_LONG = 128  # memories; SQL looks around those of a longer thread, as few of it are asked for
_MOST_APPENDED = 1024  # rows, and at most one in so many, that are not sorted
_SHARE = 8

_STEP = StoredEdge(from_id="", to_id="", kind=SEQUENCE)
_edge_between = copier(StoredEdge, ("from_id", "to_id", "created_at"))  # the rest is that of a step

Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]
Numbers = NDArray[np.int64]


@lru_cache(maxsize=65_536)
def number_of(thread: str | None, placed: bool) -> int:
    """The number of a thread, in all processes the same."""
    if thread is None:
        return NO_THREAD
    if not placed:
        return UNPLACED
    digest = blake2b(thread.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    number = int.from_bytes(digest, "little", signed=True)
    return number if number not in (NO_THREAD, UNPLACED) else UNPLACED + 1


@dataclass(frozen=True, eq=False)
class Line:
    """The rows of a thread's present memories, in the order of the thread."""

    rows: Rows
    edges: dict[tuple[int, int, bool], StoredEdge] = field(default_factory=dict)
    last: list[tuple[Mask, list[bool]]] = field(default_factory=list)  # the last mask, and which of these pass it

    @cached_property
    def order(self) -> list[int]:
        """The rows as a list, whose numbers are read faster; most lines are short and asked for once."""
        found: list[int] = self.rows.tolist()
        return found

    def passes(self, mask: Mask) -> list[bool]:
        """Which memories pass a mask over the rows of the catalogue, which nobody writes to."""
        last = self.last[0] if self.last else None
        if last is None or last[0] is not mask:
            last = (mask, mask[self.rows].tolist())
            self.last[:] = [last]
        return last[1]

    def beside(self, place: int, mask: Mask) -> tuple[int | None, int | None]:
        """The places before and after one, among those that pass."""
        order, before, after = self.order, place - 1, place + 1
        end = len(order)
        if (before < 0 or mask[order[before]]) and (after == end or mask[order[after]]):  # as most do
            return before if before >= 0 else None, after if after < end else None
        passes = self.passes(mask)
        while before >= 0 and not passes[before]:
            before -= 1
        while after < end and not passes[after]:
            after += 1
        return before if before >= 0 else None, after if after < end else None

    def around(self, place: int, mask: Mask, id_of: Callable[[int], str], created: int) -> list[StoredEdge]:
        """The edges from the memory before and to the memory after, among those that pass; by the id of the other end.

        `created` is when the memory at this place was made, which counts for its edges.
        """
        before, after = self.beside(place, mask)
        found = [] if before is None else [self._edge(before, place, False, id_of, created)]
        if after is not None:
            found.append(self._edge(place, after, True, id_of, created))
        if len(found) == 2 and found[0].from_id > found[1].to_id:
            found.reverse()
        return found

    def _edge(self, before: int, after: int, away: bool, id_of: Callable[[int], str], created: int) -> StoredEdge:
        """The edge between two memories, as the first (`away`) or the second of them has it."""
        edge = self.edges.get((before, after, away))
        if edge is None:
            edge = _edge_between(_STEP, id_of(self.order[before]), id_of(self.order[after]), created)
            self.edges[before, after, away] = edge
        return edge


@dataclass(frozen=True, slots=True, eq=False)
class _Runs:
    """Neighbouring rows of the same thread, sorted by thread; most threads are written in one go and have one run."""

    size: int  # how many rows they are of
    threads: Numbers
    starts: Rows
    lengths: Rows

    @classmethod
    def of(cls, column: Numbers) -> "_Runs":
        starts = np.flatnonzero(np.diff(column, prepend=~column[:1]))
        lengths, threads = np.diff(starts, append=len(column)), column[starts]
        order = np.argsort(threads, kind="stable")
        return cls(len(column), threads[order], starts[order], lengths[order])

    def rows(self, threads: Numbers) -> tuple[Rows, Rows]:
        """The rows of these threads, and for each row the place of its thread."""
        first = np.searchsorted(self.threads, threads)
        counts = np.searchsorted(self.threads, threads, side="right") - first
        chosen = _spread(first, counts)
        starts, lengths = self.starts[chosen], self.lengths[chosen]
        return _spread(starts, lengths), np.repeat(np.repeat(np.arange(len(threads)), counts), lengths)

    def without(self, gone: Rows) -> "_Runs":
        """Those of the rows that are left, which moved up to close the gaps."""
        before = np.searchsorted(gone, self.starts)
        lengths = self.lengths - (np.searchsorted(gone, self.starts + self.lengths) - before)
        left = lengths > 0
        size = self.size - int(np.searchsorted(gone, self.size))
        return _Runs(size, self.threads[left], (self.starts - before)[left], lengths[left])


def _spread(starts: Rows, lengths: Rows) -> Rows:
    """The numbers from each start on, so many of each."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))


class Threads:
    """Rows sorted by thread, for catalogues that follow from each other while no row of them changes its place."""

    def __init__(self) -> None:
        self._runs = _Runs.of(np.zeros(0, dtype=np.int64))

    def rows(self, threads: Sequence[int], column: Numbers) -> tuple[Rows, Rows]:
        """The rows of threads, given in order, and for each row the place of its thread; `column` has the thread of every row."""
        runs, wanted = self._known(column), np.array(threads, dtype=np.int64)
        rows, which = runs.rows(wanted)
        if runs.size > len(column):  # of a catalogue that came later
            here = rows < len(column)
            return rows[here], which[here]
        if runs.size < len(column):
            tail = np.flatnonzero(np.isin(column[runs.size :], wanted)) + runs.size
            rows, which = np.append(rows, tail), np.append(which, np.searchsorted(wanted, column[tail]))
        return rows, which

    def without(self, gone: Rows) -> "Threads":
        """For catalogues without these rows, which are given in order."""
        found = Threads()
        found._runs = self._runs.without(gone)
        return found

    def _known(self, column: Numbers) -> _Runs:
        runs = self._runs
        if len(column) - runs.size > max(_MOST_APPENDED, runs.size // _SHARE):
            runs = self._runs = _Runs.of(column)
        return runs


def lines(rows: Rows, which: Rows, count: int, positions: Numbers, id_of: Callable[[int], str]) -> list[Line | None]:
    """The rows of `count` threads, each in the order of the positions, ties by id; None for a long thread."""
    order = np.lexsort((positions, which))
    rows, which, positions = rows[order], which[order], positions[order]
    bounds = np.searchsorted(which, np.arange(count + 1)).tolist()
    tied = (which[1:] == which[:-1]) & (positions[1:] == positions[:-1])
    if tied.any():
        for thread in np.unique(which[1:][tied]).tolist():
            some = slice(bounds[thread], bounds[thread + 1])
            by_id = sorted(
                zip(positions[some].tolist(), map(id_of, rows[some].tolist()), rows[some].tolist(), strict=True)
            )
            rows[some] = [row for _, _, row in by_id]
    return [Line(rows[start:end]) if end - start <= _LONG else None for start, end in pairwise(bounds)]
