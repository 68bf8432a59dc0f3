"""Bootstrap intervals: seeded, centred on the mean, as wide as theory says, wider when questions come in groups."""

from math import sqrt

import numpy as np
import pytest
from codes import raises
from hypothesis import given, settings
from hypothesis import strategies as st

from thinkback.errors import InvalidInput
from thinkback.evaluate.scores import Bootstrap, Interval, mean_interval, mean_intervals, paired_difference


def test_the_mean_is_the_plain_mean():
    assert mean_interval([1.0, 0.0, 1.0, 1.0]).mean == 3 / 4


def test_equal_values_leave_no_doubt():
    assert mean_interval([0.25] * 40) == Interval(0.25, 0.25, 0.25)


def test_the_same_seed_gives_the_same_interval_and_another_seed_another():
    values = np.random.default_rng(1).random(200)
    assert mean_interval(values) == mean_interval(values)
    assert mean_interval(values, how=Bootstrap(seed=1)) != mean_interval(values, how=Bootstrap(seed=2))


def test_width_is_that_of_the_normal_approximation():
    """1,000 questions, half answered: ± 1.96 · sqrt(.5 · .5 / 1000) = ± .031."""
    interval = mean_interval([0.0, 1.0] * 500, how=Bootstrap(resamples=5000))
    expected = 1.96 * sqrt(0.25 / 1000)
    assert interval.high - 0.5 == pytest.approx(expected, rel=0.05)
    assert 0.5 - interval.low == pytest.approx(expected, rel=0.05)


def test_about_95_of_100_intervals_hold_the_true_mean():
    rng = np.random.default_rng(7)
    held = 0
    for seed in range(200):
        interval = mean_interval(rng.random(60) < 0.7, how=Bootstrap(seed=seed, resamples=500))
        held += interval.low <= 0.7 <= interval.high
    assert 180 <= held <= 200


def test_columns_are_resampled_together():
    """Column 2 is the negative of column 1, so their bounds mirror each other."""
    values = np.random.default_rng(3).random(50)
    plus, minus = mean_intervals(np.column_stack([values, -values]))
    assert (plus.low, plus.high) == pytest.approx((-minus.high, -minus.low), abs=1e-12)


def test_many_rows_are_resampled_in_chunks_with_the_same_distribution():
    values = np.random.default_rng(5).random(30_000)
    interval = mean_interval(values, how=Bootstrap(resamples=300))
    assert interval.high - interval.low == pytest.approx(2 * 1.96 * values.std() / sqrt(30_000), rel=0.2)


def test_pairing_removes_what_the_questions_have_in_common():
    """The second recipe gains .01 on every question: certain, though each mean alone is very uncertain."""
    before = np.random.default_rng(2).random(30)
    difference = paired_difference(before + 0.01, before)
    assert difference.mean == pytest.approx(0.01, abs=1e-12)
    assert difference.high - difference.low < 1e-12
    assert difference.above_zero
    alone = mean_interval(before)
    assert alone.high - alone.low > 0.1


def test_no_difference_is_neither_above_nor_below_zero():
    difference = paired_difference([0.0, 1.0] * 150, [1.0, 0.0] * 150)
    assert difference.mean == 0.0
    assert not difference.above_zero
    assert not difference.below_zero


def test_groups_that_rise_and_fall_together_widen_the_interval():
    """5 conversations of 100 equal questions are 5 observations, not 500."""
    values = np.repeat([0.0, 1.0, 1.0, 0.0, 1.0], 100)
    groups = np.repeat(list("abcde"), 100).tolist()
    alone, clustered = mean_interval(values), mean_interval(values, groups=groups)
    assert alone.mean == clustered.mean == 0.6
    assert clustered.high - clustered.low > 5 * (alone.high - alone.low)


def test_groups_of_one_are_no_groups():
    values = np.random.default_rng(8).random(40)
    assert mean_interval(values, groups=list(range(40))) == mean_interval(values)


def test_unequal_groups_weigh_by_their_questions():
    assert mean_interval([1.0, 1.0, 1.0, 0.0], groups=["a", "a", "a", "b"]).mean == 3 / 4


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_bounds_stay_within_the_values(values):
    interval = mean_interval(values, how=Bootstrap(resamples=50))
    assert min(values) - 1e-9 <= interval.low <= interval.high <= max(values) + 1e-9


def test_an_empty_table_is_refused():
    with raises(InvalidInput, "empty_table"):
        mean_interval([])


def test_pairs_must_be_of_equal_length():
    with raises(InvalidInput, "different_questions"):
        paired_difference([1.0], [1.0, 2.0])


def test_every_row_needs_its_group():
    with raises(InvalidInput, "unequal_lengths"):
        mean_interval([1.0, 2.0], groups=["a"])


@pytest.mark.parametrize("wrong", [{"resamples": 0}, {"level": 0.0}, {"level": 1.0}])
def test_a_bootstrap_without_sense_is_refused(wrong):
    with raises(InvalidInput, "invalid_bootstrap"):
        Bootstrap(**wrong)
