"""Which of many estimates may be among the best so many, found in few passes over them."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from thinkback.model import Vector
from thinkback.values import dataclass

Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]
_GROUPS = 8  # groups for every value wanted
_WORTHWHILE = 8  # values a group, at least; fewer values are sorted as they are
_ROUNDING = 1e-6  # of a bound, far below the errors


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Estimates and how far off they may be: `errors` gives that of some places, none is larger than `most`.

    `rows` names the places if they are not the first rows; with `flipped` each stands for its complement. `passing` says which
    places count.
    """

    values: Vector
    errors: Callable[[Rows], Vector]
    most: float
    rows: Rows | None = None
    passing: Mask | None = None
    flipped: bool = False

    def lows(self, count: int) -> Vector:
        """The least that the best `count` can be, or all if there are fewer."""
        places = foremost(self.values, self.passing, count)
        return self.values[places] - self.errors(places)

    def within(self, floor: float) -> tuple[Rows, Vector]:
        """The rows that may reach a floor, and how near each may be at most."""
        places = np.flatnonzero(self.values >= np.float32(floor - self.most - _ROUNDING))
        if self.passing is not None:
            places = places[self.passing[places]]
        upper = self.values[places] + self.errors(places)
        here = upper >= np.float32(floor)
        places, upper = places[here], upper[here]
        rows = places if self.rows is None else self.rows[places]
        return ~rows if self.flipped else rows, upper


def within_reach(parts: list[Part], limit: int) -> tuple[Rows, Vector]:
    """The rows that may be among the best `limit`, and how near each may be at most."""
    found = [part.lows(limit) for part in parts]
    lows = found[0] if len(found) == 1 else np.concatenate(found)
    floor = float(np.partition(lows, len(lows) - limit)[len(lows) - limit]) if len(lows) >= limit else -np.inf
    near = [part.within(floor) for part in parts]
    if len(near) == 1:
        return near[0]
    return np.concatenate([rows for rows, _ in near]), np.concatenate([upper for _, upper in near])


def foremost(values: NDArray[np.floating], passing: Mask | None, count: int) -> Rows:
    """The places of the largest `count` of the values that pass, with all ties of the last one; in order of the places.

    As many groups as hold a value above some line have as many values above it. So a line through the peaks of strided groups
    leaves few values to sort.
    """
    groups = _GROUPS * count
    if len(values) >= groups * _WORTHWHILE:
        near = _above_line(values, passing, count, groups)
        if len(near) >= count:
            return _with_ties(values, near, count)
    places = np.arange(len(values)) if passing is None else np.flatnonzero(passing)
    return _with_ties(values, places, count)


def _above_line(values: NDArray[np.floating], passing: Mask | None, count: int, groups: int) -> Rows:
    peaks = values[: len(values) // groups * groups].reshape(-1, groups).max(axis=0)
    share = 1.0 if passing is None else np.count_nonzero(passing) / len(values)
    wanted = int(1.5 * count / share) + 1 if share else groups  # some of those above do not pass
    if wanted >= groups:
        return np.zeros(0, dtype=np.intp)
    near = np.flatnonzero(values >= np.partition(peaks, groups - wanted)[groups - wanted])
    return near if passing is None else near[passing[near]]


def _with_ties(values: NDArray[np.floating], places: Rows, count: int) -> Rows:
    if len(places) <= count:
        return places
    some = values[places]
    found: Rows = places[some >= np.partition(some, len(some) - count)[len(some) - count]]
    return found
