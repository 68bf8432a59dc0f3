"""Which of many estimates may be among the best so many, found in few passes over them."""

from collections.abc import Callable, Sequence

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

    def best(self, count: int) -> tuple[Rows, Vector]:
        """The rows of the largest `count` estimates with ties, and the estimates."""
        places = foremost(self.values, self.passing, count)
        return self._named(places), self.values[places]

    def within(self, floor: float) -> Rows:
        """The rows that may reach a floor."""
        places = np.flatnonzero(self.values >= np.float32(floor - self.most - _ROUNDING))
        if self.passing is not None:
            places = places[self.passing[places]]
        return self._named(places[self.values[places] + self.errors(places) >= np.float32(floor - _ROUNDING)])

    def _named(self, places: Rows) -> Rows:
        rows = places if self.rows is None else self.rows[places]
        return ~rows if self.flipped else rows


def most_promising(parts: Sequence[Part], limit: int) -> Rows:
    """The rows of the largest `limit` estimates, some more where estimates are equal, in order; all if there are fewer."""
    found = [part.best(limit) for part in parts]
    if len(found) == 1:
        return np.sort(found[0][0]) if parts[0].flipped else found[0][0]
    rows, values = np.concatenate([rows for rows, _ in found]), np.concatenate([values for _, values in found])
    return np.sort(rows[_with_ties(values, np.arange(len(rows)), limit)])


def others_in_reach(parts: Sequence[Part], floor: float, known: Rows) -> Rows:
    """The rows that may reach a floor, without those that are known, which are in order."""
    found = [part.within(floor) for part in parts]
    rows = found[0] if len(found) == 1 else np.concatenate(found)
    places = np.searchsorted(known, rows)
    places[places == len(known)] = 0
    others: Rows = rows[known[places] != rows]
    return others


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
