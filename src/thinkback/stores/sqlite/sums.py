"""What the terms of a query add up to in every row, and the best rows by that.

A new array for every search would be taken from the system and given back, page by page, which costs more than the sums. So one
is kept, all zeros, and lent to one search at a time; searches beside it make their own.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from thinkback.model import Floats
from thinkback.stores.index.reach import foremost
from thinkback.stores.sqlite.term_gains import Gain

Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]
_FEW = 8  # rows for every posting, from which on only the rows that have one are looked at


class Sums:
    """Sums over the rows of one state of the index, so always as many; terms are added in the order given."""

    def __init__(self) -> None:
        self._idle: list[Floats] = []

    def best(self, found: Sequence[Gain], size: int, passing: Mask | None, limit: int) -> tuple[Rows, Floats]:
        """The rows below `size` with the highest positive sums, including ties with the last one, in no order, and their sums."""
        try:
            sums = self._idle.pop()
        except IndexError:
            sums = np.zeros(size)
        few = sum([len(gain.rows) for gain in found]) * _FEW <= size and all(gain.in_order for gain in found)
        chosen = _best_of_touched(sums, found, passing, limit) if few else _best_of_all(sums, found, passing, limit)
        self._idle[:] = [sums]  # zeros again; after an error it is gone
        return chosen


def _best_of_touched(sums: Floats, found: Sequence[Gain], passing: Mask | None, limit: int) -> tuple[Rows, Floats]:
    touched = [np.zeros(0, dtype=np.intp)]
    for gain in found:
        before = sums[gain.rows]
        sums[gain.rows] = before + gain.gains
        touched.append(gain.rows[before == 0.0])
    rows = np.concatenate(touched)
    values = sums[rows]
    sums[rows] = 0.0
    if passing is not None:
        here = passing[rows]
        rows, values = rows[here], values[here]
    places = foremost(values, None, limit)
    return rows[places], values[places]


def _best_of_all(sums: Floats, found: Sequence[Gain], passing: Mask | None, limit: int) -> tuple[Rows, Floats]:
    for gain in found:
        np.add.at(sums, gain.rows, gain.gains)
    rows = foremost(sums, passing, limit)
    values = sums[rows]
    sums.fill(0.0)
    positive = values > 0.0
    return rows[positive], values[positive]
