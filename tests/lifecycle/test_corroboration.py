"""A memory that repeats another links to it and confirms it; of two that contradict each other both stand, unless closed."""

import pytest
from lifecycle_fixtures import living

from recollect.clock import DAY, HOUR
from recollect.errors import InvalidInput, NotFound
from recollect.lifecycle.corroboration import MOST_AT_ONCE
from recollect.lifecycle.sameness import sameness


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Oscar is a grey cat", "oscar is a  GREY cat!", True),
        ("Oscar is a grey cat", "Oscar is a black cat", False),
        ("my locker code is 4711", "my locker code is 4712", False),
        ("Caroline is allergic to nuts", "Caroline is not allergic to nuts", False),
        ("我住在卑尔根", "我住在卑尔根。", True),
        ("我住在卑尔根", "我住在奥斯陆", False),
    ],
)
def test_the_same_words_in_the_same_order_are_the_same(one: str, other: str, same: bool) -> None:
    assert (sameness(one) == sameness(other)) is same


def test_a_reply_of_two_words_repeats_nothing() -> None:
    assert sameness("Thank you!") is None
    assert sameness("👍👍👍") is None


def test_saying_it_again_links_and_confirms_and_keeps_both_texts() -> None:
    with living() as (memory, clock):
        old = memory.remember("Oscar is a grey cat")
        clock.advance(2 * HOUR)
        new = memory.remember("Oscar is a grey cat!")
        assert memory.get(old.id).confidence == 0.40 + 0.1 * (1 - 0.40)
        assert memory.get(new.id).confidence == 0.40
        assert memory.get(new.id).text == "Oscar is a grey cat!"
        (edge,) = memory.neighbours(new.id)
        assert (edge.from_id, edge.to_id, edge.kind, edge.created_at) == (new.id, old.id, "corroborates", clock())


def test_confidence_grows_once_in_24_hours_however_often_it_is_said() -> None:
    with living() as (memory, clock):
        old = memory.remember("Oscar is a grey cat")
        for _ in range(5):
            memory.remember("Oscar is a grey cat")
        assert memory.get(old.id).confidence == 0.46
        clock.advance(DAY - 1)
        memory.remember("Oscar is a grey cat")
        assert memory.get(old.id).confidence == 0.46
        clock.advance(1)
        memory.remember("Oscar is a grey cat")
        assert memory.get(old.id).confidence == 0.46 + 0.1 * (1 - 0.46)
        assert memory.count() == 8


def test_repetitions_within_one_batch_count_too() -> None:
    with living() as (memory, _):
        first, second, other = memory.remember_many(
            ["Oscar is a grey cat", "Oscar is a grey cat", "Rex is a brown dog"]
        )
        assert memory.get(first.id).confidence == 0.46
        assert [edge.to_id for edge in memory.neighbours(second.id)] == [first.id]
        assert memory.neighbours(other.id) == []


def test_a_reflection_and_an_expired_memory_confirm_nothing() -> None:
    with living() as (memory, clock):
        gone = memory.remember("call the plumber tomorrow", tier="working")
        clock.advance(4 * DAY)
        memory.remember("call the plumber tomorrow")
        assert memory.get(gone.id).confidence == 0.40


def test_without_an_embedder_it_works_the_same() -> None:
    with living(embedder=None) as (memory, _):
        old = memory.remember("Oscar is a grey cat")
        memory.remember("oscar is a grey cat")
        assert memory.get(old.id).confidence == 0.46


def test_bulk_is_left_to_tidy() -> None:
    with living(embedder=None) as (memory, _):
        old = memory.remember("Oscar is a grey cat")
        many = ["Oscar is a grey cat", *(f"note number {n}" for n in range(MOST_AT_ONCE))]
        memory.remember_many(many)
        assert memory.get(old.id).confidence == 0.40
        actions = memory.tidy(dry_run=False).actions
        assert [action.action for action in actions] == ["corroborate", "confirm"]
        assert memory.get(old.id).confidence == 0.46
        assert memory.tidy().actions == ()


# -- contradiction


def test_contested_both_stand() -> None:
    with living() as (memory, clock):
        old = memory.remember("Caroline lives in Oslo")
        clock.advance(DAY)
        new = memory.remember("Caroline lives in Bergen")
        edge = memory.contest(new.id, old.id)
        assert (edge.from_id, edge.to_id, edge.kind) == (old.id, new.id, "contested_by")
        assert memory.get(old.id).valid_to is None
        assert {hit.id for hit in memory.recall("Caroline lives")} == {old.id, new.id}


def test_contested_and_closed_the_older_ends_where_the_newer_begins() -> None:
    with living() as (memory, clock):
        old = memory.remember("Caroline lives in Oslo")
        clock.advance(DAY)
        new = memory.remember("Caroline lives in Bergen", valid_from=clock() - HOUR)
        memory.contest(new.id, old.id, close=True)
        assert memory.get(old.id).valid_to == clock() - HOUR
        assert {hit.id for hit in memory.recall("Caroline lives")} == {new.id}
        assert {hit.id for hit in memory.recall("Caroline lives", as_of=old.created_at)} == {old.id}


def test_closing_can_be_undone() -> None:
    with living() as (memory, clock):
        old = memory.remember("Caroline lives in Oslo")
        clock.advance(DAY)
        new = memory.remember("Caroline lives in Bergen")
        memory.contest(new.id, old.id, close=True)
        assert memory.undo().undone == (old.id,)
        assert memory.get(old.id).valid_to is None
        assert memory.neighbours(old.id) == []


def test_a_memory_cannot_contradict_itself_or_what_is_not_there() -> None:
    with living() as (memory, _):
        id = memory.remember("Caroline lives in Oslo").id
        with pytest.raises(InvalidInput, match="itself"):
            memory.contest(id, id)
        with pytest.raises(NotFound, match="no memory 'x'"):
            memory.contest(id, "x")
