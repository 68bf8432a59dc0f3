"""Regression: which questions rose and fell, and when a fall is too far."""

import pytest
from codes import raises

from thinkback.errors import InvalidInput
from thinkback.evaluate.rankings import Ranking
from thinkback.evaluate.regress import Move, regress


def _ranking(question, rank, *, gold="g", length=10):
    """A ranking whose gold stands at the given rank, or nowhere."""
    ids = [f"x{i}" for i in range(length)]
    if rank is not None:
        ids[rank - 1] = gold
    return Ranking(question, {gold: 1.0}, tuple(ids), tuple(float(-i) for i in range(length)), text=f"{question}?")


BASELINE = [_ranking("q1", 1), _ranking("q2", 3), _ranking("q3", None), _ranking("q4", 6)]


def test_equal_rankings_move_nothing():
    found = regress(BASELINE, BASELINE)
    assert (found.risen, found.fallen, found.missing, found.new) == ((), (), (), ())
    assert found.before == found.after == 2 / 4
    assert not found.fails(0.0)


def test_moves_are_sorted_by_what_they_gain_or_lose():
    """q1 1 → 2 loses 1/2, q2 3 → none loses 1/3; q3 none → 2 gains 1/2, q4 6 → 5 gains 1/5 − 1/6."""
    current = [_ranking("q1", 2), _ranking("q2", None), _ranking("q3", 2), _ranking("q4", 5)]
    found = regress(BASELINE, current)
    assert found.fallen == (Move("q1", "q1?", "", 1, 2), Move("q2", "q2?", "", 3, None))
    assert found.risen == (Move("q3", "q3?", "", None, 2), Move("q4", "q4?", "", 6, 5))
    assert found.risen[1].by == pytest.approx(1 / 5 - 1 / 6)
    assert found.before == 2 / 4
    assert found.after == 3 / 4
    assert found.difference.mean == 1 / 4


def test_a_fall_of_exactly_the_threshold_passes():
    current = [_ranking("q1", None), *BASELINE[1:]]
    found = regress(BASELINE, current)
    assert found.before - found.after == 1 / 4
    assert not found.fails(0.25)
    assert found.fails(0.24)


def test_a_question_no_longer_answered_scores_zero():
    found = regress(BASELINE, BASELINE[1:])
    assert found.missing == ("q1",)
    assert found.after == 1 / 4
    assert found.fallen[0] == Move("q1", "q1?", "", 1, None)


def test_a_new_question_is_named_and_not_judged():
    found = regress(BASELINE, [*BASELINE, _ranking("q9", None)])
    assert found.new == ("q9",)
    assert found.n == 4
    assert not found.fails(0.0)


def test_the_baselines_gold_decides():
    relabelled = [_ranking("q1", 1, gold="other"), *BASELINE[1:]]
    assert regress(BASELINE, relabelled).fallen == (Move("q1", "q1?", "", 1, None),)


def test_the_metric_can_be_chosen():
    current = [_ranking("q1", 2), *BASELINE[1:]]
    assert regress(BASELINE, current, by="any@5").before == regress(BASELINE, current, by="any@5").after
    by_rank = regress(BASELINE, current, by="mrr")
    assert by_rank.before - by_rank.after == pytest.approx((1 - 1 / 2) / 4)


def test_a_baseline_without_gold_is_refused():
    with raises(InvalidInput, "no_gold"):
        regress([Ranking("q1", {}, (), ())], [])
