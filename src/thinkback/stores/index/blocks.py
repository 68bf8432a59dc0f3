"""The coded rows of all segments as one: rows that lie all over them are gathered first and multiplied together."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from thinkback.model import Floats, Vector
from thinkback.stores.index.codes import ROUNDING, Block, CodedQuery, Codes, estimated

Rows = NDArray[np.intp]
_NONE = np.zeros(0, dtype=np.float32)


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

    def estimates(self, query: CodedQuery) -> Vector:
        """The cosine of every row with the query, nearly."""
        if len(self._blocks) == 1:
            return self._blocks[0].estimates(query)
        found = np.empty(len(self), dtype=np.float32)
        for first, block in zip(self._firsts, self._blocks, strict=False):
            found[first : first + len(block)] = block.estimates(query)
        return found

    def estimates_of(self, query: CodedQuery, rows: Rows) -> Vector:
        """The same of some rows."""
        some = list(self._split(rows))
        return estimated(query, _codes(some), _of(some, "scales"), self._centres(query, rows).astype(np.float32))

    def off(self, query: CodedQuery, rows: Rows) -> Vector:
        """How far off the estimates of these rows may be."""
        some = list(self._split(rows))
        return _of(some, "lengths") * np.float32(query.error) + _of(some, "errors") + np.float32(ROUNDING)

    def most_off(self, query: CodedQuery) -> float:
        """No row's estimate is further off."""
        return max((block.most_off(query) for block in self._blocks), default=0.0)

    def reaching(self, query: CodedQuery, rows: Rows, floor: float) -> NDArray[np.bool_]:
        """Which of a few rows may have a cosine of at least `floor`: of q · s·c the error of the query's codes is no part."""
        nearly, off = self._closely(query, rows)
        found: NDArray[np.bool_] = nearly + off >= floor
        return found

    def foremost(self, query: CodedQuery, rows: Rows, count: int) -> Rows:
        """Those of a few rows that may be among the nearest `count` of them, by the same closer look."""
        if len(rows) <= count:
            return rows
        nearly, off = self._closely(query, rows)
        floor = np.partition(nearly - off, len(rows) - count)[len(rows) - count]
        found: Rows = rows[nearly + off >= floor]
        return found

    def _closely(self, query: CodedQuery, rows: Rows) -> tuple[Floats, Floats]:
        """The cosines of rows with the query, nearly, and how far off each may be."""
        some = list(self._split(rows))
        # vecdot runs on one thread; a threaded product would keep another core busy with waiting.
        products = np.vecdot(_codes(some).astype(np.float64), query.wide)
        off = _of(some, "errors").astype(np.float64) + ROUNDING
        return _of(some, "scales") * products + self._centres(query, rows), off

    def _centres(self, query: CodedQuery, rows: Rows) -> Floats:
        """q·μ of the block of each row."""
        centres: Floats = np.vecdot(self._means, query.wide)
        return centres[np.searchsorted(self._ends, rows, side="right")]

    def _split(self, rows: Rows) -> Iterator[tuple[Block, Rows]]:
        """The blocks that hold rows of these, each with its rows, counted from its first."""
        if len(self._blocks) == 1:
            yield self._blocks[0], rows
            return
        ends = np.searchsorted(rows, self._ends).tolist()
        for block, first, start, end in zip(self._blocks, self._firsts, [0, *ends], ends, strict=False):
            if start < end:
                yield block, rows[start:end] - first


def _codes(some: Sequence[tuple[Block, Rows]]) -> Codes:
    return np.concatenate([block.codes[rows] for block, rows in some])


def _of(some: Sequence[tuple[Block, Rows]], name: str) -> Vector:
    return np.concatenate([*(getattr(block, name)[rows] for block, rows in some), _NONE])
