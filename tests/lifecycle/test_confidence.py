"""Confidence starts at .40 (imports .25, a caller's claim .70 at most) and grows by c + .1·(1 − c), at most once in 24 hours.

It decays .05 a week after one grace week, down to .05.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lifecycle_fixtures import living

from recollect.clock import DAY, HOUR, WEEK
from recollect.errors import InvalidInput
from recollect.lifecycle.confidence import FLOOR, IMPORTED, START, counted, decayed, grown, ungrown, weeks_lost


def test_it_starts_at_forty_and_imports_at_twenty_five() -> None:
    assert (START, IMPORTED) == (0.40, 0.25)
    with living() as (memory, _):
        assert memory.remember("Oscar is a grey cat").confidence == 0.40


def test_a_caller_may_claim_seventy_and_no_more() -> None:
    with living() as (memory, _):
        assert memory.remember("Oscar is a grey cat", confidence=0.70).confidence == 0.70
        with pytest.raises(InvalidInput, match=r"at most 0\.7"):
            memory.remember("Oscar is a grey cat", confidence=0.71)


def test_each_corroboration_takes_a_tenth_of_the_doubt() -> None:
    assert grown(0.40) == 0.40 + 0.1 * (1 - 0.40)
    assert grown(0.46) == 0.46 + 0.1 * (1 - 0.46)
    assert grown(1.0) == 1.0


def test_what_was_gained_can_be_taken_back() -> None:
    assert ungrown(grown(0.40)) == 0.40
    assert ungrown(0.46) == round((0.46 - 0.1) / 0.9, 12) == 0.40
    assert ungrown(0.05) == FLOOR


def test_corroborations_count_at_most_once_in_24_hours() -> None:
    assert counted([0, 20 * HOUR, 24 * HOUR, 30 * HOUR, 47 * HOUR, 48 * HOUR]) == [0, 24 * HOUR, 48 * HOUR]
    assert counted([DAY - 1, 0]) == [0]
    assert counted([]) == []


def test_the_first_week_is_grace_then_every_whole_week_counts() -> None:
    assert weeks_lost(0, WEEK) == 0
    assert weeks_lost(0, 2 * WEEK - 1) == 0
    assert weeks_lost(0, 2 * WEEK) == 1
    assert weeks_lost(0, 10 * WEEK) == 9
    assert weeks_lost(10 * WEEK, 0) == 0


def test_it_loses_five_hundredths_a_week() -> None:
    assert decayed(0.40, 0, None, 2 * WEEK - 1) == 0.40
    assert decayed(0.40, 0, None, 2 * WEEK) == 0.40 - 0.05 * 1
    assert decayed(0.40, 0, None, 5 * WEEK) == 0.40 - 0.05 * 4


def test_it_never_falls_below_the_floor_and_never_rises_to_it() -> None:
    assert decayed(0.40, 0, None, 1000 * WEEK) == FLOOR == 0.05
    assert decayed(0.02, 0, None, 1000 * WEEK) == 0.02


def test_what_decayed_already_does_not_decay_again() -> None:
    assert decayed(0.35, 0, 2 * WEEK, 2 * WEEK) == 0.35
    assert decayed(0.35, 0, 2 * WEEK, 3 * WEEK) == 0.35 - 0.05


@given(
    st.floats(0.05, 1.0),
    st.integers(0, 100 * WEEK),
    st.lists(st.integers(0, 60 * WEEK), min_size=1, max_size=8).map(sorted),
)
def test_many_steps_come_to_the_same_as_one(start: float, since: int, moments: list[int]) -> None:
    stepwise, done = start, None
    for moment in moments:
        stepwise, done = decayed(stepwise, since, done, moment), moment
    assert stepwise == pytest.approx(decayed(start, since, None, moments[-1]), abs=1e-12)


@given(st.floats(0.0, 1.0))
def test_it_stays_between_nothing_and_certainty(confidence: float) -> None:
    assert confidence <= grown(confidence) <= 1.0
