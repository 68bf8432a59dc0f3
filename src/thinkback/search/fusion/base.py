"""The fusion protocol: a pure function from runs to a ledger of candidates."""

from collections.abc import Mapping, Sequence
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
    """Runs laid side by side: for every leg the rank (from 1, 0 = absent) and score (NaN = absent) of every candidate.

    A score that was filled in has no rank.
    """

    ids: tuple[str, ...]
    legs: tuple[str, ...]
    ranks: NDArray[np.int64]
    scores: Floats

    @property
    def found(self) -> NDArray[np.bool_]:
        return self.ranks > 0


def lay_out(runs: Sequence[Run]) -> Board:
    """Candidates in first-seen order; a duplicate inside one run counts once, at its best rank."""
    found = [_scores(run.hits) for run in runs]
    seen: dict[str, float] = {}
    for one in found:
        seen |= one
    for run in runs:
        seen |= _scores(run.filled)
    rows = dict(zip(seen, range(len(seen)), strict=True))
    ranks = np.zeros((len(runs), len(rows)), dtype=np.int64)
    scores = np.full((len(runs), len(rows)), np.nan)
    legs = np.repeat(np.arange(len(runs)), [len(one) for one in found])
    columns = [rows[id] for one in found for id in one]
    ranks[legs, columns] = [rank for one in found for rank in range(1, len(one) + 1)]
    scores[legs, columns] = [score for one in found for score in one.values()]
    for leg, (run, one) in enumerate(zip(runs, found, strict=True)):
        for hit in run.filled:
            if hit.id not in one:
                scores[leg, rows[hit.id]] = hit.score
    return Board(tuple(rows), tuple(run.leg for run in runs), ranks, scores)


def _scores(hits: Sequence[Scored]) -> dict[str, float]:
    """The scores by id, in order; of an id that is there twice, the first."""
    scores = {hit.id: hit.score for hit in hits}
    return scores if len(scores) == len(hits) else scores | {hit.id: hit.score for hit in reversed(hits)}


def weigh(board: Board, values: Floats, weights: Mapping[str, float], formula: str) -> Fused:
    """Post weight × value for every leg; `values` is legs × candidates, 0 where absent."""
    columns = [
        Column("leg", leg, weights.get(leg, 1.0) * row, row, formula.format(weight=weights.get(leg, 1.0)))
        for leg, row in zip(board.legs, values, strict=True)
    ]
    return Fused(Ledger.of(board.ids, columns), dict(zip(board.legs, values, strict=True)))


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
