"""Confidence starts at .40 (imports .25, a caller's claim .70 at most) and grows by c + .1·(1 − c), at most once in 24 hours.

It decays .05 a week after one grace week, down to .05.
"""

import pytest
from codes import raises
from hypothesis import given
from hypothesis import strategies as st
from lifecycle_fixtures import living

from thinkback.clock import DAY, HOUR, WEEK
from thinkback.errors import InvalidInput
from thinkback.interop.jsonl import export_lines, import_lines
from thinkback.lifecycle.confidence import FLOOR, IMPORTED, START, counted, current, decayed, grown, weeks_lost


def test_it_starts_at_forty_and_imports_at_twenty_five() -> None:
    assert (START, IMPORTED) == (0.40, 0.25)
    with living() as (memory, _):
        assert memory.remember("Oscar is a grey cat").confidence == 0.40


def test_a_caller_may_claim_seventy_and_no_more() -> None:
    with living() as (memory, _):
        assert memory.remember("Oscar is a grey cat", confidence=0.70).confidence == 0.70
        with raises(InvalidInput, "out_of_range"):
            memory.remember("Oscar is a grey cat", confidence=0.71)


def test_each_corroboration_takes_a_tenth_of_the_doubt() -> None:
    assert grown(0.40) == 0.40 + 0.1 * (1 - 0.40)
    assert grown(0.46) == 0.46 + 0.1 * (1 - 0.46)
    assert grown(1.0) == 1.0


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
    assert decayed(0.40, 0, 2 * WEEK - 1) == 0.40
    assert decayed(0.40, 0, 2 * WEEK) == 0.40 - 0.05 * 1
    assert decayed(0.40, 0, 5 * WEEK) == 0.40 - 0.05 * 4


def test_it_never_falls_below_the_floor_and_never_rises_to_it() -> None:
    assert decayed(0.40, 0, 1000 * WEEK) == FLOOR == 0.05
    assert decayed(0.02, 0, 1000 * WEEK) == 0.02


def test_it_is_counted_from_the_claim() -> None:
    assert current(0.70, 0, 0, [], 4 * WEEK) == 0.70 - 3 * 0.05
    once = 0.70 + 0.1 * (1 - 0.70)
    assert current(0.70, 0, 0, [WEEK], 4 * WEEK) == once - 2 * 0.05  # the grace week begins anew when it is heard
    lost = 0.40 - 4 * 0.05
    assert current(0.40, 0, 0, [5 * WEEK], 5 * WEEK) == lost + 0.1 * (1 - lost)  # what was lost before is lost
    assert (
        current(0.40, 0, 0, [DAY, DAY + HOUR], 2 * WEEK + DAY) == 0.46
    )  # the second does not count, but breaks the silence
    assert current(0.40, 0, 0, [3 * DAY], 2 * DAY) == 0.40  # not heard yet


def test_what_was_heard_before_the_claim_is_in_it() -> None:
    assert current(0.70, 10 * DAY, 0, [2 * DAY], 10 * DAY) == 0.70
    assert (
        current(0.70, 10 * DAY, 0, [10 * DAY - HOUR, 10 * DAY + HOUR], 11 * DAY) == 0.70
    )  # within 24 hours of one that counted
    assert current(0.70, 10 * DAY, 0, [2 * DAY, 11 * DAY], 11 * DAY) == 0.70 + 0.1 * (1 - 0.70)


def test_a_new_text_breaks_the_silence_and_confirms_nothing() -> None:
    assert current(0.40, 0, 5 * WEEK, [], 6 * WEEK + DAY) == 0.40 - 4 * 0.05
    assert current(0.40, 0, 5 * WEEK, [], 7 * WEEK) == 0.40 - 4 * 0.05 - 0.05


# -- in a store


def test_a_claim_of_today_does_not_decay_for_the_time_before_it() -> None:
    for tidied in (True, False):
        with living() as (memory, clock):
            id = memory.remember("Oscar is a grey cat").id
            for _ in range(10):
                clock.advance(WEEK)
                if tidied:
                    memory.tidy(dry_run=False)
            memory.update(id, confidence=0.70)
            memory.tidy(dry_run=False)
            assert memory.get(id).confidence == 0.70
            clock.advance(2 * WEEK + 1)
            memory.tidy(dry_run=False)
            assert memory.get(id).confidence == 0.70 - 0.05


def test_ten_weeks_at_once_come_to_the_same_as_ten_times_one_week() -> None:
    left = []
    for steps in (1, 10):
        with living() as (memory, clock):
            a, b = (memory.remember(text).id for text in ("Oscar is a grey cat", "Rex is a brown dog"))
            for _ in range(steps):
                clock.advance(5 * WEEK // steps)
                memory.tidy(dry_run=False)
            memory.remember("Rex is a brown dog")
            for _ in range(steps):
                clock.advance(5 * WEEK // steps)
                memory.tidy(dry_run=False)
            left.append((memory.get(a).confidence, memory.get(b).confidence))
    lost = 0.40 - 4 * 0.05
    assert left[0] == left[1] == (FLOOR, lost + 0.1 * (1 - lost) - 4 * 0.05)


@pytest.mark.parametrize("tidied", [True, False])
def test_forgetting_a_repetition_is_as_if_it_had_never_been_heard(tidied: bool) -> None:
    with living() as (memory, clock):
        a = memory.remember("Oscar is a grey cat", confidence=0.70).id
        clock.advance(WEEK)
        b = memory.remember("Oscar is a grey cat").id
        assert memory.get(a).confidence == 0.70 + 0.1 * (1 - 0.70)
        clock.advance(3 * WEEK)
        if tidied:
            memory.tidy(dry_run=False)
        memory.forget(b)
        # Three whole weeks after the week of grace; a store that nobody tidied would not have counted them yet.
        assert memory.get(a).confidence == (0.70 - 3 * 0.05 if tidied else 0.70)
        memory.tidy(dry_run=False)
        assert memory.get(a).confidence == 0.70 - 3 * 0.05


def test_forgetting_the_oldest_leaves_the_others_as_if_they_had_been_alone() -> None:
    left = []
    for canary in (True, False):
        with living() as (memory, clock):
            first = memory.remember("Oscar is a grey cat").id if canary else None
            clock.advance(DAY)
            said = []
            for _ in range(3):
                said.append(memory.remember("Oscar is a grey cat!").id)
                clock.advance(DAY)
            if first is not None:
                memory.forget(first)
            links = {(said.index(e.from_id), said.index(e.to_id), e.created_at) for e in memory.store.export_edges()}
            left.append(([memory.get(id).confidence for id in said], links))
            assert memory.tidy().actions == ()
    once = 0.40 + 0.1 * (1 - 0.40)
    assert left[0] == left[1]
    assert left[0][0] == [once + 0.1 * (1 - once), 0.40, 0.40]


def test_an_export_carries_what_confidence_is_counted_from() -> None:
    """Into an empty store or beside others, tidied before or not, it decays as it would have at home."""
    for tidied_at_home, tidied_there in ((True, False), (False, True), (True, True), (False, False)):
        with living() as (home, clock), living() as (there, its_clock):
            id = home.remember("Oscar is a grey cat").id
            there.remember("Rex is a brown dog")
            for one in (clock, its_clock):
                one.advance(5 * WEEK)
            for memory, tidied in ((home, tidied_at_home), (there, tidied_there)):
                if tidied:
                    memory.tidy(dry_run=False)
            import_lines(there, export_lines(home))
            there.tidy(dry_run=False)
            assert there.get(id).confidence == 0.40 - 4 * 0.05


def test_a_text_that_says_something_else_now_confirms_nothing_any_more() -> None:
    with living() as (memory, clock):
        a = memory.remember("Oscar is a grey cat").id
        clock.advance(DAY)
        b = memory.remember("oscar is a grey cat!").id
        assert memory.get(a).confidence == 0.40 + 0.1 * (1 - 0.40)
        memory.update(b, text="Oscar is a GREY cat")
        assert [edge.kind for edge in memory.store.export_edges()] == ["corroborates"]
        memory.update(b, text="Melanie took up pottery")
        assert memory.get(a).confidence == 0.40
        assert list(memory.store.export_edges()) == []


def test_when_the_oldest_says_something_else_now_the_others_repeat_each_other() -> None:
    with living() as (memory, clock):
        said = []
        for _ in range(3):
            said.append(memory.remember("Caroline lives in Oslo").id)
            clock.advance(DAY)
        memory.update(said[0], text="Caroline lives in Bergen")
        assert [(edge.from_id, edge.to_id) for edge in memory.store.export_edges()] == [(said[2], said[1])]
        assert [memory.get(id).confidence for id in said] == [0.40, 0.40 + 0.1 * (1 - 0.40), 0.40]


@given(st.floats(0.0, 1.0))
def test_it_stays_between_nothing_and_certainty(confidence: float) -> None:
    assert confidence <= grown(confidence) <= 1.0
