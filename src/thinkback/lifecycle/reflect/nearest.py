"""Nearest neighbours among unit vectors: exact, in blocks of matrix products, the same to the last bit however the work is cut.

A product in float32 only proposes: it depends on the shape of the block in its last digits. All proposals within its rounding error
of the best are compared again, pair by pair, in float64. Ties go to the smaller row.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from thinkback.model import Floats, Vector

Rows = NDArray[np.intp]
Pairs = tuple[Rows, Rows]

BLOCK_ROWS, BLOCK_COLUMNS = 1024, 4096
PAIRS = 1 << 18  # settled at a time when they are proposed one by one
_DIGITS = 12  # of a cosine; float64 rounding stays far below


class Neighbourhood:
    """For every row of a matrix its nearest other row at a cosine of at least `at`, or −1, as far as rows were compared."""

    def __init__(self, matrix: Vector, at: float) -> None:
        self.matrix = matrix
        self.at = at
        self.nearest = np.full(len(matrix), -1, dtype=np.intp)
        self.cosine = np.full(len(matrix), -np.inf)
        self._error = 2.0 * matrix.shape[1] * 2.0**-24 if matrix.ndim == 2 else 0.0

    def know(self, rows: Rows, nearest: Rows) -> None:
        """Takes over neighbours found earlier."""
        self.nearest[rows] = nearest
        self.cosine[rows] = cosines(self.matrix, rows, nearest)

    def forget(self, rows: Rows) -> None:
        """Makes rows as if they had never been compared."""
        self.nearest[rows] = -1
        self.cosine[rows] = -np.inf

    def meet(self, rows: Rows, others: Rows) -> None:
        """Lets rows and others see each other; either side may find someone nearer. The two must not overlap."""
        for mine in _cut(rows, BLOCK_ROWS):
            for theirs in _cut(others, BLOCK_COLUMNS):
                self._compare(mine, theirs)

    def meet_each_other(self, rows: Rows) -> None:
        """Lets every one of the rows see every other."""
        blocks = list(_cut(rows, BLOCK_ROWS))
        for place, mine in enumerate(blocks):
            self._compare(mine, mine)
            for theirs in blocks[place + 1 :]:
                self._compare(mine, theirs)

    def introduce(self, rows: Rows, others: Rows) -> None:
        """Lets each row and the other beside it see each other; pairs that somebody proposed."""
        for start in range(0, len(rows), PAIRS):
            one, other = rows[start : start + PAIRS], others[start : start + PAIRS]
            self._settle(one, other)
            self._settle(other, one)

    def _compare(self, mine: Rows, theirs: Rows) -> None:
        products = self.matrix[mine] @ self.matrix[theirs].T
        if mine is theirs:
            np.fill_diagonal(products, -np.inf)
        row, other = self._promising(products, mine, axis=1)
        self._settle(mine[row], theirs[other])
        if mine is not theirs:
            row, other = self._promising(products, theirs, axis=0)
            self._settle(theirs[row], mine[other])

    def _promising(self, products: Vector, whose: Rows, axis: int) -> Pairs:
        """Pairs (place in `whose`, place in the other block) that may be the best of `whose` so far."""
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

    def _settle(self, row: Rows, other: Rows) -> None:
        """Lets each row know of the other beside it."""
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
    """The cosine of each pair, the same in either direction and in any company."""
    found = np.empty(len(rows))
    for start in range(0, len(rows), BLOCK_COLUMNS):
        part = slice(start, start + BLOCK_COLUMNS)
        products = matrix[rows[part]].astype(np.float64) * matrix[others[part]]
        found[part] = np.round(products.sum(axis=1), _DIGITS)
    return found


def _cut(rows: Rows, size: int) -> Iterator[Rows]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]
