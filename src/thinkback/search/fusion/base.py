"""The fusion protocol: a pure function from runs to a ledger of candidates."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from thinkback.model import Column, Floats, Ledger, Run, Scored
from thinkback.values import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Fused:
    """Candidates in first-seen order, each with one contribution per leg.

    `values` keeps each leg's value as the fusion used it (0 where the leg did not find the candidate); `by_score` is False for
    fusions that keep the order of the runs instead of comparing scores.
    """

    ledger: Ledger
    values: Mapping[str, Floats]
    by_score: bool = True


class Fusion(Protocol):
    """Joins runs; a leg missing from `weights` weighs 1."""

    name: ClassVar[str]

    def fuse(self, runs: Sequence[Run], weights: Mapping[str, float]) -> Fused: ...


@dataclass(frozen=True, slots=True, eq=False)
class Board:
    """Runs laid side by side: for every leg the score of every candidate (NaN = absent), and whether the leg found it.

    A score that was filled in was not found. `places` are those of the hits in the table, run by run, and `counts` how many each
    run has.
    """

    ids: tuple[str, ...]
    legs: tuple[str, ...]
    scores: Floats
    found: NDArray[np.bool_]
    places: Sequence[int]
    counts: Sequence[int]

    @property
    def ranks(self) -> NDArray[np.int64]:
        """The rank of every candidate in every leg, from 1; 0 = absent."""
        ranks = np.zeros(self.scores.shape, dtype=np.int64)
        ranks.ravel()[self.places] = [rank for count in self.counts for rank in range(1, count + 1)]
        return ranks


def lay_out(runs: Sequence[Run]) -> Board:
    """Candidates in first-seen order; a duplicate inside one run counts once, at its best rank."""
    hits = [_scores(run.hits) for run in runs]
    filled = [(leg, run.filled) for leg, run in enumerate(runs) if run.filled]
    seen = dict.fromkeys(chain.from_iterable(hits))
    for _, some in filled:
        seen |= dict.fromkeys(hit.id for hit in some)
    size = len(seen)
    row = dict(zip(seen, range(size), strict=True)).__getitem__
    places = [leg * size + at for leg, one in enumerate(hits) for at in map(row, one)]
    scores = np.full((len(runs), size), np.nan)
    found = np.zeros((len(runs), size), dtype=np.bool_)
    scores.ravel()[places] = list(chain.from_iterable(one.values() for one in hits))
    found.ravel()[places] = True
    for leg, some in filled:
        for hit in some:
            if hit.id not in hits[leg]:
                scores[leg, row(hit.id)] = hit.score
    return Board(tuple(seen), tuple(run.leg for run in runs), scores, found, places, [len(one) for one in hits])


def _scores(hits: Sequence[Scored]) -> dict[str, float]:
    """The scores by id, in order; of an id that is there twice, the first."""
    scores = {hit.id: hit.score for hit in hits}
    return scores if len(scores) == len(hits) else scores | {hit.id: hit.score for hit in reversed(hits)}


def weigh(board: Board, values: Floats, weights: Mapping[str, float], formula: str) -> Fused:
    """Post weight × value for every leg; `values` is legs × candidates, 0 where absent."""
    shares = [weights.get(leg, 1.0) for leg in board.legs]
    deltas = np.array(shares)[:, None] * values
    columns = [
        Column("leg", leg, delta, row, _worded(formula, share))
        for leg, delta, row, share in zip(board.legs, deltas, values, shares, strict=True)
    ]
    return Fused(Ledger.of(board.ids, columns), dict(zip(board.legs, values, strict=True)))


@lru_cache(maxsize=256)
def _worded(formula: str, weight: float) -> str:
    return formula.format(weight=weight)


def keep(fused: Fused, cut: int) -> Fused:
    """The best `cut` candidates, still in first-seen order; a cut of 0 or less keeps all."""
    if cut <= 0 or cut >= len(fused.ledger.ids):
        return fused
    order = fused.ledger.order() if fused.by_score else np.arange(len(fused.ledger.ids))
    return _rows(fused, np.sort(order[:cut]))


def by_id(fused: Fused) -> Fused:
    """The candidates in the order of their ids, so that ties go by id."""
    return _rows(fused, np.array(sorted(range(len(fused.ledger.ids)), key=fused.ledger.ids.__getitem__), dtype=np.intp))


def _rows(fused: Fused, rows: NDArray[np.intp]) -> Fused:
    columns = [Column(c.step, c.name, c.deltas[rows], c.values[rows], c.formula) for c in fused.ledger.columns]
    ledger = Ledger.of([fused.ledger.ids[row] for row in rows], columns)
    return Fused(ledger, {leg: values[rows] for leg, values in fused.values.items()}, fused.by_score)
