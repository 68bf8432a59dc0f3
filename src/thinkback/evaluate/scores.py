"""Every question's value in every metric, and what they come to with their intervals."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thinkback.errors import InvalidInput
from thinkback.evaluate.datasets.base import Question
from thinkback.evaluate.intervals import DEFAULT, Bootstrap, Interval, mean_intervals
from thinkback.evaluate.metrics import STANDARD, Metric, relevant
from thinkback.evaluate.rankings import Ranking


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """One row a question with gold, one column a metric.

    `missing` questions have no ranking and score 0; `without_gold` ones are left out.
    """

    ids: tuple[str, ...]
    categories: tuple[str, ...]
    groups: tuple[str, ...]
    metrics: tuple[Metric, ...]
    values: NDArray[np.float64]
    missing: int = 0
    without_gold: int = 0

    @property
    def n(self) -> int:
        return len(self.ids)

    def column(self, name: str) -> NDArray[np.float64]:
        for place, metric in enumerate(self.metrics):
            if metric.name == name:
                return self.values[:, place]
        raise InvalidInput(f"the table has no metric {name!r}, only {', '.join(m.name for m in self.metrics)}")


def score(
    asked: Iterable[Question], rankings: Mapping[str, Ranking], metrics: Sequence[Metric] = STANDARD
) -> ScoreTable:
    """Score the rankings of the questions asked; a question without a ranking scores 0 in every metric."""
    judged = list(asked)
    counted = [question for question in judged if relevant(question.gold)]
    rows = []
    for question in counted:
        ranking = rankings.get(question.id)
        ids = ranking.ids if ranking is not None else ()
        rows.append([metric(question.gold, ids) for metric in metrics])
    return ScoreTable(
        ids=tuple(question.id for question in counted),
        categories=tuple(question.category for question in counted),
        groups=tuple(question.corpus_id for question in counted),
        metrics=tuple(metrics),
        values=np.array(rows, dtype=np.float64).reshape(len(counted), len(metrics)),
        missing=sum(question.id not in rankings for question in counted),
        without_gold=len(judged) - len(counted),
    )


def questions_of(rankings: Iterable[Ranking]) -> tuple[Question, ...]:
    """The questions that saved rankings were made for."""
    return tuple(Question(r.question_id, r.group, r.text, r.gold, r.category) for r in rankings)


@dataclass(frozen=True, slots=True)
class Summary:
    """The mean of every metric over n questions, with its interval."""

    n: int
    means: Mapping[str, Interval]


def summarize(table: ScoreTable, how: Bootstrap = DEFAULT, *, clustered: bool = False) -> Summary:
    """All questions together; `clustered` resamples whole groups."""
    if not table.n:
        return Summary(0, {metric.name: Interval(0.0, 0.0, 0.0) for metric in table.metrics})
    intervals = mean_intervals(table.values, groups=table.groups if clustered else None, how=how)
    return Summary(table.n, dict(zip((metric.name for metric in table.metrics), intervals, strict=True)))


def by_category(table: ScoreTable, how: Bootstrap = DEFAULT) -> Mapping[str, Summary]:
    """Each category alone, sorted by name."""
    return {name: summarize(_only(table, name), how) for name in sorted(Counter(table.categories))}


def _only(table: ScoreTable, category: str) -> ScoreTable:
    rows = [row for row, name in enumerate(table.categories) if name == category]
    return ScoreTable(
        ids=tuple(table.ids[row] for row in rows),
        categories=(category,) * len(rows),
        groups=tuple(table.groups[row] for row in rows),
        metrics=table.metrics,
        values=table.values[rows],
    )


def differences(after: ScoreTable, before: ScoreTable, how: Bootstrap = DEFAULT) -> Mapping[str, Interval]:
    """The paired difference in every metric; both tables must hold the same questions."""
    if after.ids != before.ids or after.metrics != before.metrics:
        raise InvalidInput("two recipes can only be compared on the same questions and metrics")
    if not after.n:
        return {metric.name: Interval(0.0, 0.0, 0.0) for metric in after.metrics}
    intervals = mean_intervals(after.values - before.values, how=how)
    return dict(zip((metric.name for metric in after.metrics), intervals, strict=True))
