"""Exact nearest neighbours among unit vectors, in blocks of matrix products; the result does not depend on the block sizes.

The last digits of a float32 product depend on the shape of its block, so products only select candidates: every pair within their
rounding error of the best is computed again in float64. Ties go to the smaller row.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from thinkback.model import Floats, Vector

Rows = NDArray[np.intp]
Pairs = tuple[Rows, Rows]

BLOCK_ROWS, BLOCK_COLUMNS = 1024, 4096
PAIRS = 1 << 18  # candidate pairs compared at a time
_DIGITS = 12  # of a cosine; float64 rounding errors are far smaller


class Neighbourhood:
    """The nearest other row of every row, among those compared so far, at a cosine of at least `at`; −1 if there is none."""

    def __init__(self, matrix: Vector, at: float) -> None:
        self.matrix = matrix
        self.at = at
        self.nearest = np.full(len(matrix), -1, dtype=np.intp)
        self.cosine = np.full(len(matrix), -np.inf)
        self._error = 2.0 * matrix.shape[1] * 2.0**-24 if matrix.ndim == 2 else 0.0

    def set_nearest(self, rows: Rows, nearest: Rows) -> None:
        """Set neighbours that an earlier run found."""
        self.nearest[rows] = nearest
        self.cosine[rows] = cosines(self.matrix, rows, nearest)

    def clear(self, rows: Rows) -> None:
        """Treat rows as not compared yet."""
        self.nearest[rows] = -1
        self.cosine[rows] = -np.inf

    def compare(self, rows: Rows, others: Rows) -> None:
        """Compare rows with others, in both directions; the two must not overlap."""
        for mine in _cut(rows, BLOCK_ROWS):
            for theirs in _cut(others, BLOCK_COLUMNS):
                self._compare_blocks(mine, theirs)

    def compare_all(self, rows: Rows) -> None:
        """Compare all pairs of these rows."""
        blocks = list(_cut(rows, BLOCK_ROWS))
        for place, mine in enumerate(blocks):
            self._compare_blocks(mine, mine)
            for theirs in blocks[place + 1 :]:
                self._compare_blocks(mine, theirs)

    def compare_pairs(self, rows: Rows, others: Rows) -> None:
        """Compare each row with the other at the same place, in both directions."""
        for start in range(0, len(rows), PAIRS):
            one, other = rows[start : start + PAIRS], others[start : start + PAIRS]
            self._keep_better(one, other)
            self._keep_better(other, one)

    def _compare_blocks(self, mine: Rows, theirs: Rows) -> None:
        products = self.matrix[mine] @ self.matrix[theirs].T
        if mine is theirs:
            np.fill_diagonal(products, -np.inf)
        row, other = self._candidates(products, mine, axis=1)
        self._keep_better(mine[row], theirs[other])
        if mine is not theirs:
            row, other = self._candidates(products, theirs, axis=0)
            self._keep_better(theirs[row], mine[other])

    def _candidates(self, products: Vector, whose: Rows, axis: int) -> Pairs:
        """Pairs (place in `whose`, place in the other block) that may be nearer than what `whose` has so far."""
        best = np.maximum(products.max(axis=axis), np.maximum(self.cosine[whose], self.at))
        bar = (best - self._error).astype(np.float32)
        reached = products.max(axis=axis) >= bar
        if axis == 1:
            rows = np.flatnonzero(reached)
            at, other = np.nonzero(products[rows] >= bar[rows, None])
            return rows[at], other
        columns = np.flatnonzero(reached)
        other, at = np.nonzero(products[:, columns] >= bar[None, columns])
        return columns[at], other

    def _keep_better(self, row: Rows, other: Rows) -> None:
        """For each row, keep the other at the same place if it is nearer."""
        if not len(row):
            return
        cosine = cosines(self.matrix, row, other)
        order = np.lexsort((other, -cosine, row))
        first = np.ones(len(order), dtype=bool)
        first[1:] = row[order][1:] != row[order][:-1]
        chosen = order[first]
        row, other, cosine = row[chosen], other[chosen], cosine[chosen]
        known, near = self.cosine[row], self.nearest[row]
        better = (cosine >= self.at) & ((cosine > known) | ((cosine == known) & (other < near)))
        self.nearest[row[better]] = other[better]
        self.cosine[row[better]] = cosine[better]


def cosines(matrix: Vector, rows: Rows, others: Rows) -> Floats:
    """The cosine of each pair, independent of its direction and of the other pairs."""
    found = np.empty(len(rows))
    for start in range(0, len(rows), BLOCK_COLUMNS):
        part = slice(start, start + BLOCK_COLUMNS)
        products = matrix[rows[part]].astype(np.float64) * matrix[others[part]]
        found[part] = np.round(products.sum(axis=1), _DIGITS)
    return found


def _cut(rows: Rows, size: int) -> Iterator[Rows]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]
