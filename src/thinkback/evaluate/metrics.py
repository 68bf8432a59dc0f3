"""Retrieval metrics of one ranking against its gold.

Gold maps a document id to its grade; a grade above 0 is relevant. Ranks count from 1. A list shorter than k is scored
as it stands, and a document that appears twice counts at its first place only. Every value lies in [0, 1].
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from thinkback.errors import InvalidInput, did_you_mean

Gold = Mapping[str, float]


def relevant(gold: Gold) -> frozenset[str]:
    """The ids with a grade above 0."""
    return frozenset(document_id for document_id, grade in gold.items() if grade > 0)


def found_at(gold: Gold, ranked: Sequence[str], k: int | None = None) -> int:
    """How many relevant documents stand in the first k."""
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

    Järvelin & Kekäläinen 2002, the linear gain of trec_eval. The ideal never comes from what was retrieved.
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
        raise InvalidInput(f"no metric {name!r}; write one of {', '.join(_MEASURES)}, as in 'any@5'.{hint}")
    return Metric(match[1], int(match[2]) if match[2] else None)


STANDARD = tuple(
    metric(name) for name in ("any@1", "any@5", "any@10", "all@5", "all@10", "recall@10", "mrr", "ndcg@10")
)
