"""The best rows by BM25, found by the rarest terms of a query; the postings of frequent terms are looked up, not read.

Terms are read from the rarest on. A row that has none of those read so far scores at most what all the others can add; once so
many rows score more than that, the best are among them, as in MaxScore. Their scores are summed in the order of the terms, so they
stay the same to the last bit.
"""

from collections.abc import Sequence
from dataclasses import field
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from thinkback.model import Floats
from thinkback.stores.index.reach import foremost
from thinkback.values import dataclass

Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]
Term = TypeVar("Term", contravariant=True)
_PAYS_FROM = 100_000  # postings of all terms; fewer are summed as they are
_MOST_READ = 200_000  # postings of one term
_LOOKED_UP_AT_ONCE = 150  # rows beyond those wanted, in which all other terms are looked up
_ROUNDING = 1 + 1e-9


class Index(Protocol[Term]):
    """What is known of the terms."""

    def hits(self, term: Term) -> int:
        """How many postings it has."""

    def most(self, term: Term) -> float:
        """No row gains more from it."""

    def gains(self, term: Term) -> tuple[Rows, Floats]:
        """What it adds to its rows, which are in order."""

    def add(self, scores: Floats, rows: Rows, term: Term) -> None:
        """Add what it adds to these rows, which are in order."""


def best(index: Index[Term], terms: Sequence[Term], passing: Mask | None, limit: int) -> tuple[Rows, Floats] | None:
    """The best rows with ties of the last one, in order, and their scores; None if all have to be summed."""
    hits = [index.hits(term) for term in terms]
    if sum(hits) < _PAYS_FROM or limit <= 0:
        return None
    order = sorted((place for place in range(len(terms)) if hits[place]), key=hits.__getitem__)
    found, floor = _Candidates(), -np.inf
    most = {place: index.most(terms[place]) for place in order}
    for place in order:
        if floor > sum(most.values()) * _ROUNDING:  # what the terms not read yet may add
            break
        if hits[place] > _MOST_READ:
            return None
        del most[place]
        found = found.joined(*_passing(*index.gains(terms[place]), passing), floor - sum(most.values()) * _ROUNDING)
        floor = found.floor(limit)
    rows = _promising(index, [(terms[place], gain) for place, gain in most.items()], found, limit)
    scores = scored(index, terms, rows)
    places = foremost(scores, None, limit)
    return rows[places], scores[places]


def _promising(index: Index[Term], others: Sequence[tuple[Term, float]], found: "_Candidates", limit: int) -> Rows:
    """The rows that may be among the best, given the other terms, the rarest first, and what each adds at most.

    Of many rows, these are looked up one after the other: each leaves fewer rows for the next, which is more frequent.
    """
    for place in range(len(others) + 1):
        rest = sum(most for _, most in others[place:])
        keep = (found.sums + rest) * _ROUNDING >= found.floor(limit)
        rows, sums = found.rows[keep], found.sums[keep]
        if place == len(others) or len(rows) <= limit + _LOOKED_UP_AT_ONCE:
            break
        index.add(sums, rows, others[place][0])
        found = _Candidates(rows, sums)
    return rows


@dataclass(frozen=True, slots=True, eq=False)
class _Candidates:
    """Rows, in order, and what the terms that were read add to them."""

    rows: Rows = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    sums: Floats = field(default_factory=lambda: np.zeros(0))

    def floor(self, limit: int) -> float:
        """What so many of them reach."""
        count = len(self.sums)
        return -np.inf if count < limit else float(np.partition(self.sums, count - limit)[count - limit])

    def joined(self, rows: Rows, gains: Floats, least: float) -> "_Candidates":
        """With another term; rows that have none of the others join only if it adds so much."""
        if not len(self.rows):
            return _Candidates(rows, gains)
        if not len(rows):
            return self
        places = np.searchsorted(rows, self.rows)
        places[places == len(rows)] = 0
        sums = self.sums + np.where(rows[places] == self.rows, gains[places], 0.0)
        new = gains * _ROUNDING >= least
        new[places[rows[places] == self.rows]] = False
        if not new.any():
            return _Candidates(self.rows, sums)
        together, values = np.concatenate([self.rows, rows[new]]), np.concatenate([sums, gains[new]])
        order = np.argsort(together, kind="stable")
        return _Candidates(together[order], values[order])


def _passing(rows: Rows, gains: Floats, passing: Mask | None) -> tuple[Rows, Floats]:
    if passing is None:
        return rows, gains
    here = passing[rows]
    return rows[here], gains[here]


def scored(index: Index[Term], terms: Sequence[Term], rows: Rows) -> Floats:
    """The scores of some rows, which are in order: term by term, as for all rows."""
    scores = np.zeros(len(rows))
    for term in terms:
        index.add(scores, rows, term)
    return scores
