"""The coded rows of all segments as one: rows that lie all over them are gathered first and multiplied together."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thinkback.model import Floats, Vector
from thinkback.stores.index.codes import ROUNDING, Block, CodedQuery, Codes, bound, estimated

Rows = NDArray[np.intp]
_MANY = 128  # rows; of so many the worst are left out by their estimates before the others are looked at closely


class Blocks:
    """The blocks of segments, one after the other from row 0 on. Rows are given in ascending order."""

    def __init__(self, blocks: Sequence[Block] = ()) -> None:
        self._blocks = tuple(blocks)
        self._ends = np.cumsum([len(block) for block in blocks], dtype=np.intp)
        self._firsts: list[int] = [0, *self._ends.tolist()]
        self._means = np.array([block.mean for block in blocks], dtype=np.float64)

    def __len__(self) -> int:
        return self._firsts[-1]

    def __iter__(self) -> Iterator[Block]:
        return iter(self._blocks)

    def beginning_at(self, row: int) -> Block | None:
        """The block whose first row this is."""
        first = bisect_left(self._firsts, row)
        return self._blocks[first] if first < len(self._blocks) and self._firsts[first] == row else None

    def estimates(self, query: CodedQuery) -> Vector:
        """The cosine of every row with the query, nearly."""
        if len(self._blocks) == 1:
            return self._blocks[0].estimates(query)
        found = np.empty(len(self), dtype=np.float32)
        for first, block in zip(self._firsts, self._blocks, strict=False):
            found[first : first + len(block)] = block.estimates(query)
        return found

    def off(self, query: CodedQuery, rows: Rows) -> Vector:
        """How far off the estimates of these rows may be."""
        return bound(query, *self.of_rows(rows, "lengths", "errors"))

    def most_off(self, query: CodedQuery) -> float:
        """No row's estimate is further off."""
        return max((block.most_off(query) for block in self._blocks), default=0.0)

    def some(self, rows: Rows) -> "Some":
        """Some of the rows."""
        return Some(self, rows)

    def centres(self, query: CodedQuery, rows: Rows) -> Floats:
        """q·μ of the block of each row."""
        centres: Floats = np.vecdot(self._means, query.wide)
        return centres[np.searchsorted(self._ends, rows, side="right")]

    def of_rows(self, rows: Rows, *names: str) -> Sequence[NDArray[Any]]:
        """These arrays of some rows."""
        some = list(self._split(rows)) if len(rows) else [(block, rows) for block in self._blocks[:1]]
        if len(some) == 1:
            return [getattr(some[0][0], name)[some[0][1]] for name in names]
        return [np.concatenate([getattr(block, name)[here] for block, here in some]) for name in names]

    def _split(self, rows: Rows) -> Iterator[tuple[Block, Rows]]:
        """The blocks that hold rows of these, each with its rows, counted from its first."""
        if len(self._blocks) == 1:
            yield self._blocks[0], rows
            return
        ends = np.searchsorted(rows, self._ends).tolist()
        for block, first, start, end in zip(self._blocks, self._firsts, [0, *ends], ends, strict=False):
            if start < end:
                yield block, rows[start:end] - first


class Some:
    """Some rows of blocks; their codes are gathered when they are first compared, and can be compared with several queries."""

    def __init__(self, blocks: Blocks, rows: Rows) -> None:
        self._blocks, self.rows = blocks, rows

    @cached_property
    def _gathered(self) -> tuple[Codes, Vector, Vector]:
        codes, scales, errors = self._blocks.of_rows(self.rows, "codes", "scales", "errors")
        return codes, scales, errors

    @cached_property
    def _lengths(self) -> Vector:
        return self._blocks.of_rows(self.rows, "lengths")[0]

    def estimates(self, query: CodedQuery) -> Vector:
        """The cosine of each row with the query, nearly."""
        codes, scales, _ = self._gathered
        return estimated(query, codes, scales, self._blocks.centres(query, self.rows).astype(np.float32))

    def reaching(self, query: CodedQuery, floor: float) -> Rows:
        """The rows that may have a cosine of at least `floor`, by a closer look: of q · s·c the error of q's codes is no part."""
        nearly, off = self._closely(query, slice(None))
        found: Rows = self.rows[nearly + off >= floor]
        return found

    def foremost(self, query: CodedQuery, count: int) -> Rows:
        """The rows that may be among the nearest `count` of these, by their estimates, and those by the same closer look."""
        if len(self.rows) <= count:
            return self.rows
        places = np.arange(len(self.rows))
        if len(places) > _MANY:
            places = _foremost(self.estimates(query), bound(query, self._lengths, self._gathered[2]), count)
        nearly, off = self._closely(query, places)
        found: Rows = self.rows[places[_foremost(nearly, off, count)]]
        return found

    def _closely(self, query: CodedQuery, places: Rows | slice) -> tuple[Floats, Floats]:
        """The cosines of rows with the query, nearly, and how far off each may be."""
        codes, scales, errors = self._gathered
        # vecdot runs on one thread; a threaded product would keep another core busy with waiting.
        products = np.vecdot(codes[places].astype(np.float64), query.wide)
        centres = self._blocks.centres(query, self.rows[places])
        return scales[places] * products + centres, errors[places].astype(np.float64) + ROUNDING


def _foremost(nearly: Floats | Vector, off: Floats | Vector, count: int) -> Rows:
    """The places of those that may be among the largest `count`."""
    floor = np.partition(nearly - off, len(nearly) - count)[len(nearly) - count]
    return np.flatnonzero(nearly + off >= floor)
