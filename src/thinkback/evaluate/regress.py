"""Compares two files of rankings: which questions rose, which fell, and whether the mean fell too far."""

from collections.abc import Iterable, Sequence

from thinkback.errors import InvalidInput
from thinkback.evaluate.metrics import Metric, first_rank, metric
from thinkback.evaluate.rankings import Ranking
from thinkback.evaluate.scores import DEFAULT, Bootstrap, Interval, paired_difference, questions_of, score
from thinkback.values import dataclass


@dataclass(frozen=True, slots=True)
class Move:
    """One question whose first relevant document changed its rank; None is 'not found'."""

    question_id: str
    text: str
    category: str
    before: int | None
    after: int | None

    @property
    def by(self) -> float:
        """How much reciprocal rank it gained (above 0) or lost."""
        return _reciprocal(self.after) - _reciprocal(self.before)


@dataclass(frozen=True, slots=True)
class Regression:
    """What changed between a baseline and a later run; moves are sorted, the largest first."""

    metric: Metric
    n: int
    before: float
    after: float
    difference: Interval
    risen: tuple[Move, ...]
    fallen: tuple[Move, ...]
    missing: tuple[str, ...]
    new: tuple[str, ...]

    def fails(self, threshold: float) -> bool:
        """Whether the metric's mean fell by more than the threshold."""
        # A fall of exactly the threshold passes; sums of floats must not decide it.
        return self.before - self.after > threshold + 1e-12


def regress(
    baseline: Sequence[Ranking], current: Sequence[Ranking], *, by: str = "any@5", how: Bootstrap = DEFAULT
) -> Regression:
    """Scores the current rankings by the baseline's questions and gold; a question without a ranking scores 0."""
    chosen = metric(by)
    later = {ranking.question_id: ranking for ranking in current}
    asked = questions_of(baseline)
    earlier = {ranking.question_id: ranking for ranking in baseline}
    before, after = score(asked, earlier, [chosen]), score(asked, later, [chosen])
    if not before.n:
        raise InvalidInput("the baseline has no question with gold, so nothing can be compared", code="no_gold")
    counted = set(before.ids)
    moves = [_move(r, later.get(r.question_id)) for r in baseline if r.question_id in counted]
    return Regression(
        metric=chosen,
        n=before.n,
        before=float(before.values.mean()),
        after=float(after.values.mean()),
        difference=paired_difference(after.values[:, 0], before.values[:, 0], how=how),
        risen=_sorted(move for move in moves if move.by > 0),
        fallen=_sorted(move for move in moves if move.by < 0),
        missing=tuple(i for i in before.ids if i not in later),
        new=tuple(ranking.question_id for ranking in current if ranking.question_id not in earlier),
    )


def _move(before: Ranking, after: Ranking | None) -> Move:
    later = None if after is None else first_rank(before.gold, after.ids)
    return Move(before.question_id, before.text, before.category, before.first_rank, later)


def _sorted(moves: Iterable[Move]) -> tuple[Move, ...]:
    return tuple(sorted(moves, key=lambda move: (-abs(move.by), move.question_id)))


def _reciprocal(rank: int | None) -> float:
    return 0.0 if rank is None else 1.0 / rank
