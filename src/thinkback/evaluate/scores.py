"""Every question's value in every metric, their means, and bootstrap intervals of those means.

Percentile bootstrap (Efron 1979), seeded, so that the same numbers give the same interval. Questions about one conversation are
not independent; `groups` resamples whole conversations and gives the wider, fairer interval.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thinkback.errors import InvalidInput
from thinkback.evaluate.datasets.base import Question
from thinkback.evaluate.metrics import STANDARD, Metric, relevant
from thinkback.evaluate.rankings import Ranking
from thinkback.values import dataclass

_CELLS_AT_ONCE = 4_000_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its 95 % confidence interval."""

    mean: float
    low: float
    high: float

    @property
    def above_zero(self) -> bool:
        return self.low > 0

    @property
    def below_zero(self) -> bool:
        return self.high < 0


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """How to resample."""

    seed: int = 0
    resamples: int = 2000
    level: float = 0.95

    def __post_init__(self) -> None:
        if self.resamples < 1 or not 0 < self.level < 1:
            given = f"{self.resamples} resamples, level {self.level}"
            message = f"a bootstrap needs at least 1 resample and a level between 0 and 1, not {given}"
            raise InvalidInput(message, code="invalid_bootstrap")


DEFAULT = Bootstrap()


def mean_intervals(
    values: ArrayLike, *, groups: Sequence[Hashable] | None = None, how: Bootstrap = DEFAULT
) -> tuple[Interval, ...]:
    """The interval of each column's mean; the columns share their resamples.

    Example: `mean_intervals([[1.0], [0.0], [1.0]])[0].mean == 2/3`.
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or not len(table):
        raise InvalidInput(
            f"an interval needs a table of at least one row, not shape {table.shape}", code="empty_table"
        )
    sums, sizes = _clusters(table, groups)
    means = _resampled_means(sums, sizes, how)
    tail = (1 - how.level) / 2
    low, high = np.quantile(means, [tail, 1 - tail], axis=0)
    return tuple(Interval(*map(float, row)) for row in zip(table.mean(axis=0), low, high, strict=True))


def mean_interval(values: ArrayLike, *, groups: Sequence[Hashable] | None = None, how: Bootstrap = DEFAULT) -> Interval:
    """The interval of one mean."""
    column = np.asarray(values, dtype=np.float64)
    return mean_intervals(column.reshape(-1, 1), groups=groups, how=how)[0]


def paired_difference(
    after: ArrayLike, before: ArrayLike, *, groups: Sequence[Hashable] | None = None, how: Bootstrap = DEFAULT
) -> Interval:
    """The interval of mean(after − before) over the same questions in the same order."""
    later, earlier = np.asarray(after, dtype=np.float64), np.asarray(before, dtype=np.float64)
    if later.shape != earlier.shape:
        message = f"a paired difference needs the same questions, not {later.shape} and {earlier.shape}"
        raise InvalidInput(message, code="different_questions")
    return mean_interval(later - earlier, groups=groups, how=how)


def _clusters(
    table: NDArray[np.float64], groups: Sequence[Hashable] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Each group's column sums and its number of rows; without groups every row is its own."""
    if groups is None:
        return table, np.ones(len(table))
    if len(groups) != len(table):
        raise InvalidInput(f"expected a group for each of {len(table)} rows, not {len(groups)}", code="unequal_lengths")
    numbers = {group: i for i, group in enumerate(dict.fromkeys(groups))}
    rows = np.array([numbers[group] for group in groups])
    sums = np.zeros((len(numbers), table.shape[1]))
    np.add.at(sums, rows, table)
    return sums, np.bincount(rows).astype(np.float64)


def _resampled_means(sums: NDArray[np.float64], sizes: NDArray[np.float64], how: Bootstrap) -> NDArray[np.float64]:
    """Draw as many groups as there are, with replacement; in chunks, so that memory stays bounded."""
    rng = np.random.default_rng(how.seed)
    n = len(sums)
    at_once = max(1, _CELLS_AT_ONCE // n)
    means = []
    for start in range(0, how.resamples, at_once):
        rounds = min(at_once, how.resamples - start)
        drawn = rng.integers(n, size=(rounds, n)) + n * np.arange(rounds)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=rounds * n).reshape(rounds, n).astype(np.float64)
        means.append((counts @ sums) / (counts @ sizes)[:, None])
    return np.concatenate(means)


# -- scores ------------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """One row for each question with gold, one column for each metric; `missing` questions have no ranking and score 0."""

    ids: tuple[str, ...]
    categories: tuple[str, ...]
    metrics: tuple[Metric, ...]
    values: NDArray[np.float64]
    missing: int = 0

    @property
    def n(self) -> int:
        return len(self.ids)


def score(
    asked: Iterable[Question], rankings: Mapping[str, Ranking], metrics: Sequence[Metric] = STANDARD
) -> ScoreTable:
    """Score the rankings of the questions asked; a question without a ranking scores 0 in every metric."""
    counted = [question for question in asked if relevant(question.gold)]
    rows = []
    for question in counted:
        ranking = rankings.get(question.id)
        ids = ranking.ids if ranking is not None else ()
        rows.append([metric(question.gold, ids) for metric in metrics])
    return ScoreTable(
        ids=tuple(question.id for question in counted),
        categories=tuple(question.category for question in counted),
        metrics=tuple(metrics),
        values=np.array(rows, dtype=np.float64).reshape(len(counted), len(metrics)),
        missing=sum(question.id not in rankings for question in counted),
    )


def questions_of(rankings: Iterable[Ranking]) -> tuple[Question, ...]:
    """The questions that saved rankings were made for."""
    return tuple(Question(r.question_id, r.group, r.text, r.gold, r.category) for r in rankings)


@dataclass(frozen=True, slots=True)
class Summary:
    """The mean of every metric over n questions, with its interval."""

    n: int
    means: Mapping[str, Interval]


def summarize(table: ScoreTable, how: Bootstrap = DEFAULT) -> Summary:
    """All questions together."""
    if not table.n:
        return Summary(0, {metric.name: Interval(0.0, 0.0, 0.0) for metric in table.metrics})
    intervals = mean_intervals(table.values, how=how)
    return Summary(table.n, dict(zip((metric.name for metric in table.metrics), intervals, strict=True)))


def by_category(table: ScoreTable, how: Bootstrap = DEFAULT) -> Mapping[str, Summary]:
    """Each category alone, sorted by name."""
    return {name: summarize(_only(table, name), how) for name in sorted(set(table.categories))}


def _only(table: ScoreTable, category: str) -> ScoreTable:
    rows = [row for row, name in enumerate(table.categories) if name == category]
    return ScoreTable(tuple(table.ids[row] for row in rows), (category,) * len(rows), table.metrics, table.values[rows])


def differences(after: ScoreTable, before: ScoreTable, how: Bootstrap = DEFAULT) -> Mapping[str, Interval]:
    """The paired difference in every metric; both tables must hold the same questions."""
    if after.ids != before.ids or after.metrics != before.metrics:
        raise InvalidInput("recipes can be compared only on the same questions and metrics", code="different_questions")
    if not after.n:
        return {metric.name: Interval(0.0, 0.0, 0.0) for metric in after.metrics}
    intervals = mean_intervals(after.values - before.values, how=how)
    return dict(zip((metric.name for metric in after.metrics), intervals, strict=True))
