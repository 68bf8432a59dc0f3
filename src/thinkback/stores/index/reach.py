"""Which of many estimates may be among the best so many, found in few passes over them."""

import numpy as np
from numpy.typing import NDArray

from thinkback.model import Vector
from thinkback.values import dataclass

Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]
_GROUPS = 8  # groups for every value wanted
_WORTHWHILE = 64  # values a group, at least; fewer values are sorted as they are


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Estimates with their bounds; `rows` names them if they are not the first rows, `passing` says which of them count."""

    lower: Vector
    upper: Vector
    rows: Rows | None = None
    passing: Mask | None = None

    def within(self, floor: float) -> tuple[Rows, Vector]:
        """Those that may reach a floor, and how near each may be at most."""
        places = np.flatnonzero(self.upper >= np.float32(floor))
        if self.passing is not None:
            places = places[self.passing[places]]
        return places if self.rows is None else self.rows[places], self.upper[places]


def within_reach(parts: list[Part], limit: int) -> tuple[Rows, Vector]:
    """The rows that may be among the best `limit`, and how near each may be at most."""
    best = [largest(part.lower, part.passing, limit) for part in parts]
    lows = best[0] if len(best) == 1 else np.concatenate(best)
    if len(lows) > limit:
        lows = np.partition(lows, len(lows) - limit)[len(lows) - limit :]
    floor = float(lows.min()) if len(lows) == limit else -np.inf
    near = [part.within(floor) for part in parts]
    if len(near) == 1:
        return near[0]
    return np.concatenate([rows for rows, _ in near]), np.concatenate([upper for _, upper in near])


def largest(values: NDArray[np.floating], passing: Mask | None, count: int) -> NDArray[np.floating]:
    """The largest `count` of the values that pass, unordered.

    As many groups as hold a value above some line have as many values above it. So a line through the peaks of strided groups
    leaves few values to sort.
    """
    groups = _GROUPS * count
    if len(values) >= groups * _WORTHWHILE:
        some = _above_line(values, passing, count, groups)
        if len(some) >= count:
            return _sorted_out(some, count)
    return _sorted_out(values if passing is None else values[passing], count)


def _above_line(values: NDArray[np.floating], passing: Mask | None, count: int, groups: int) -> NDArray[np.floating]:
    peaks = values[: len(values) // groups * groups].reshape(-1, groups).max(axis=0)
    share = 1.0 if passing is None else np.count_nonzero(passing) / len(values)
    wanted = int(1.5 * count / share) + 1 if share else groups  # some of those above do not pass
    if wanted >= groups:
        return values[:0]
    near = np.flatnonzero(values >= np.partition(peaks, groups - wanted)[groups - wanted])
    return values[near if passing is None else near[passing[near]]]


def _sorted_out(values: NDArray[np.floating], count: int) -> NDArray[np.floating]:
    return values if len(values) <= count else np.partition(values, len(values) - count)[len(values) - count :]
