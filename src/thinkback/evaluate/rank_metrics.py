"""Metrics of many questions at once, straight from the ranks of their gold."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thinkback.errors import InvalidInput
from thinkback.evaluate.datasets.base import Question
from thinkback.evaluate.metrics import Metric, relevant

Rows = NDArray[np.intp]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class GoldRanks:
    """Where the gold of every question lies among flat candidates; `row` −1 is gold that is no candidate.

    `rivals` and `of` are pairs: every candidate of a question beside every piece of gold of that question.
    """

    owner: Rows
    row: Rows
    grade: Floats
    rivals: Rows
    of: Rows
    ideals: tuple[tuple[float, ...], ...]

    @classmethod
    def of_questions(
        cls, questions: Sequence[Question], candidates: Sequence[tuple[int, Sequence[str]]]
    ) -> "GoldRanks":
        """`candidates` gives for each question where its stretch begins, and the ids in it."""
        owner: list[int] = []
        row: list[int] = []
        grade: list[float] = []
        rivals, of, ideals = [], [], []
        for number, (question, (start, ids)) in enumerate(zip(questions, candidates, strict=True)):
            places = {document_id: start + place for place, document_id in enumerate(ids)}
            for document_id in sorted(relevant(question.gold)):
                if document_id in places:
                    rivals.append(np.arange(start, start + len(ids)))
                    of.append(np.full(len(ids), len(row)))
                owner.append(number)
                row.append(places.get(document_id, -1))
                grade.append(question.gold[document_id])
            ideals.append(tuple(sorted((g for g in question.gold.values() if g > 0), reverse=True)))
        empty = [np.zeros(0, dtype=np.intp)]
        return cls(
            owner=np.array(owner, dtype=np.intp),
            row=np.array(row, dtype=np.intp),
            grade=np.array(grade, dtype=np.float64),
            rivals=np.concatenate(rivals or empty),
            of=np.concatenate(of or empty),
            ideals=tuple(ideals),
        )

    def ranks(self, totals: Floats, depth: int) -> Rows:
        """Each gold's rank from 1, ties to the earlier candidate; 0 where it is absent, dropped or beyond the depth."""
        own = np.where(self.row >= 0, totals[self.row], -np.inf)
        scores, mine = totals[self.rivals], own[self.of]
        ahead = (scores > mine) | ((scores == mine) & (self.rivals < self.row[self.of]))
        ranks = 1 + np.bincount(self.of, ahead, minlength=len(self.row)).astype(np.intp)
        return np.where(np.isfinite(own) & (ranks <= depth), ranks, 0)

    def values(self, metric: Metric, ranks: Rows) -> Floats:
        """The metric of every question."""
        n = len(self.ideals)
        hit = (ranks > 0) & (ranks <= (metric.k or np.iinfo(np.intp).max))
        found = np.bincount(self.owner, hit, minlength=n)
        golds = np.array([max(len(ideal), 1) for ideal in self.ideals])
        if metric.measure == "any":
            return np.asarray(found > 0, dtype=np.float64)
        if metric.measure == "all":
            return np.asarray((found == golds) & (found > 0), dtype=np.float64)
        if metric.measure == "recall":
            return np.asarray(found / golds, dtype=np.float64)
        if metric.measure == "mrr":
            first = np.full(n, np.inf)
            np.minimum.at(first, self.owner[hit], ranks[hit].astype(np.float64))
            return np.asarray(1.0 / first, dtype=np.float64)
        if metric.measure == "ndcg":
            gained = np.where(hit, self.grade / np.log2(np.maximum(ranks, 1) + 1.0), 0.0)
            return np.bincount(self.owner, gained, minlength=n) / self._ideal(metric.k)
        raise InvalidInput(f"{metric.name} cannot be replayed; choose any, all, recall, mrr or ndcg")

    def _ideal(self, k: int | None) -> Floats:
        sums = [math.fsum(g / math.log2(rank + 1) for rank, g in enumerate(ideal[:k], 1)) for ideal in self.ideals]
        return np.array([total or 1.0 for total in sums])
