"""Retrieval metrics of one ranking against its gold, and of many questions at once.

Gold maps a document id to its grade; a grade above 0 is relevant. Ranks count from 1. A list shorter than k is scored
as it is, and a document that appears twice counts at its first rank only. Every value lies in [0, 1].
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from thinkback.errors import InvalidInput, did_you_mean
from thinkback.evaluate.datasets.base import Question
from thinkback.values import dataclass

Rows = NDArray[np.intp]
Floats = NDArray[np.float64]
Gold = Mapping[str, float]


def relevant(gold: Gold) -> frozenset[str]:
    """The ids with a grade above 0."""
    return frozenset(document_id for document_id, grade in gold.items() if grade > 0)


def found_at(gold: Gold, ranked: Sequence[str], k: int | None = None) -> int:
    """The number of relevant documents in the first k."""
    return len(relevant(gold).intersection(ranked[:k]))


def first_rank(gold: Gold, ranked: Sequence[str]) -> int | None:
    """The rank of the first relevant document, or None where there is none."""
    wanted = relevant(gold)
    return next((rank for rank, document_id in enumerate(ranked, start=1) if document_id in wanted), None)


def any_at(gold: Gold, ranked: Sequence[str], k: int | None = None) -> float:
    """1 if any relevant document is in the first k (also called hit rate or success)."""
    return float(found_at(gold, ranked, k) > 0)


def all_at(gold: Gold, ranked: Sequence[str], k: int | None = None) -> float:
    """1 if every relevant document is in the first k; more gold than k can therefore never score."""
    wanted = relevant(gold)
    return float(bool(wanted) and wanted.issubset(ranked[:k]))


def recall_at(gold: Gold, ranked: Sequence[str], k: int | None = None) -> float:
    """The share of all relevant documents that are in the first k."""
    wanted = relevant(gold)
    return found_at(gold, ranked, k) / len(wanted) if wanted else 0.0


def precision_at(gold: Gold, ranked: Sequence[str], k: int | None = None) -> float:
    """The share of k that is relevant; a list shorter than k is not forgiven."""
    places = len(ranked) if k is None else k
    return found_at(gold, ranked, k) / places if places else 0.0


def reciprocal_rank(gold: Gold, ranked: Sequence[str], k: int | None = None) -> float:
    """1 / rank of the first relevant document, 0 where there is none."""
    rank = first_rank(gold, ranked[:k])
    return 0.0 if rank is None else 1.0 / rank


def ndcg_at(gold: Gold, ranked: Sequence[str], k: int | None = None) -> float:
    """Discounted gain over its ideal: Σ grade / log2(rank + 1), divided by the same sum of the best k of *all* gold.

    Järvelin & Kekäläinen 2002, the linear gain of trec_eval. The ideal never depends on the retrieved documents.
    """
    ideal = _dcg(sorted((grade for grade in gold.values() if grade > 0), reverse=True)[:k])
    if ideal == 0:
        return 0.0
    seen: set[str] = set()
    gained = []
    for document_id in ranked[:k]:
        gained.append(0.0 if document_id in seen else max(gold.get(document_id, 0.0), 0.0))
        seen.add(document_id)
    return _dcg(gained) / ideal


def _dcg(grades: Sequence[float]) -> float:
    return math.fsum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, start=1))


_MEASURES: Mapping[str, Callable[[Gold, Sequence[str], int | None], float]] = {
    "any": any_at,
    "all": all_at,
    "recall": recall_at,
    "precision": precision_at,
    "mrr": reciprocal_rank,
    "ndcg": ndcg_at,
}


@dataclass(frozen=True, slots=True)
class Metric:
    """A measure with its cut-off, such as `any@5`; without a cut-off the whole ranking counts."""

    measure: str
    k: int | None = None

    @property
    def name(self) -> str:
        return self.measure if self.k is None else f"{self.measure}@{self.k}"

    def __call__(self, gold: Gold, ranked: Sequence[str]) -> float:
        return _MEASURES[self.measure](gold, ranked, self.k)


def metric(name: str) -> Metric:
    """The metric of a name such as 'any@5', 'ndcg@10' or 'mrr'."""
    match = re.fullmatch(r"([a-z]+)(?:@([1-9]\d*))?", name)
    if match is None or match[1] not in _MEASURES:
        hint = did_you_mean(name.partition("@")[0], _MEASURES)
        message = f"no metric {name!r}; write one of {', '.join(_MEASURES)}, as in 'any@5'.{hint}"
        raise InvalidInput(message, code="unknown_metric")
    return Metric(match[1], int(match[2]) if match[2] else None)


STANDARD = tuple(
    metric(name) for name in ("any@1", "any@5", "any@10", "all@5", "all@10", "recall@10", "mrr", "ndcg@10")
)


# -- many questions at once --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class GoldRanks:
    """The places of every question's gold among the candidates of all questions; `row` is −1 where gold is not a candidate.

    `rivals` and `of` are pairs: every candidate of a question with every gold document of that question.
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
        """`candidates` has for each question the place of its first candidate, and the ids of all."""
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
        raise InvalidInput(
            f"{metric.name} cannot be replayed; choose any, all, recall, mrr or ndcg", code="not_replayable"
        )

    def _ideal(self, k: int | None) -> Floats:
        sums = [math.fsum(g / math.log2(rank + 1) for rank, g in enumerate(ideal[:k], 1)) for ideal in self.ideals]
        return np.array([total or 1.0 for total in sums])
