"""A memory that repeats another links to it and confirms it; of two that contradict each other both stand, unless closed."""

import numpy as np
import pytest
from codes import raises
from hypothesis import given
from hypothesis import strategies as st
from lifecycle_fixtures import living, stored

from thinkback.clock import DAY, HOUR, from_us
from thinkback.errors import InvalidInput, NotFound
from thinkback.lifecycle.repetition import NEAR, Statement, repetitions
from thinkback.lifecycle.write import BULK
from thinkback.model import Vector


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Oscar is a grey cat", "oscar is a  GREY cat!", True),
        ("Oscar is a grey cat", "Oscar is a black cat", False),
        ("my locker code is 4711", "my locker code is 4712", False),
        ("Caroline is allergic to nuts", "Caroline is not allergic to nuts", False),
        ("我住在卑尔根", "我住在卑尔根。", True),
        ("我住在卑尔根", "我住在奥斯陆", False),
        ("Anna got an A+ in maths", "Anna got an A- in maths", False),
        ("it is -5 degrees", "it is 5 degrees", False),
        ("it is −5 degrees", "it is -5 degrees", True),
        ("she writes C++ code", "she writes C# code", False),
        ("it costs $100 today", "it costs €100 today", False),
        ("we need > 5 apples", "we need < 5 apples", False),
        ("he ate 1.5 apples", "he ate 1/5 apples", False),
        ("the film was 👍", "the film was 👎", False),
        ("Anna is allergic to nuts.", "Anna is allergic to nuts?", False),
        ("वह घर जाता है", "वह घर जाती है", False),
        ("she drinks caf\u00e9 au lait", "she drinks cafe\u0301 au lait", True),
        ("- Oscar (the cat) is “grey”", "Oscar the cat is grey…", True),
    ],
)
def test_the_same_words_in_the_same_order_are_the_same(one: str, other: str, same: bool) -> None:
    a, b = Statement.of(one), Statement.of(other)
    assert a is not None
    assert a.repeats(b, None, None) is same


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("Caroline adopted a grey cat", "Caroline adopted the grey cat", True),
        ("I'm moving to Oslo in May", "I am moving to Oslo in May.", True),
        ("Anna doesn’t eat meat", "Anna does not eat meat", True),
        ("She can't swim, it's sad", "she cannot swim; it is sad", True),
        ("Oh, by the way: my locker code is 4711", "My locker code is 4711", True),
        ("Please remember that Anna is allergic to nuts", "Anna is allergic to nuts", True),
        ("The plan is to wait", "A plan is to wait", True),
        ("Plan A is to wait", "The plan is to wait", False),
        ("Anna doesn't eat meat", "Anna does eat meat", False),
        ("They drove from Oslo to Bergen", "They drove to Oslo from Bergen", False),
        ("my locker code is 4711", "the locker code is 4711", False),
        ("Anna loves Bob a lot", "Bob loves Anna a lot", False),
    ],
)
def test_light_words_may_differ_where_the_vectors_agree(one: str, other: str, alike: bool) -> None:
    a, b = Statement.of(one), Statement.of(other)
    here, near, far = (np.array(v, dtype=np.float32) for v in ([1, 0], [0.96, 0.28], [0.94, 0.34117444]))
    assert a is not None
    assert a.repeats(b, here, near) is alike  # 1 · .96 + 0 · .28 = .96 ≥ .95
    assert not a.repeats(b, here, far)  # .94 < .95
    assert not a.repeats(b, here, None)
    assert NEAR == 0.95


def test_each_repeats_the_oldest_it_can() -> None:
    texts = {"a": "the cat is grey", "b": "a cat is grey", "c": "A cat is GREY", "d": "the dog is brown"}
    spoken = [(id, text, None) for id, text in texts.items()]
    assert repetitions(spoken, lambda ids: {}) == {"c": "b"}
    same = {id: np.array([1, 0], dtype=np.float32) for id in texts}
    assert repetitions(spoken, lambda ids: same) == {"b": "a", "c": "a"}


def test_what_is_said_of_oneself_is_confirmed_by_oneself_alone() -> None:
    with living() as (memory, clock):
        anna = memory.remember("I am allergic to nuts", source="Anna")
        clock.advance(2 * DAY)
        memory.remember("I am allergic to nuts", source="Bob")
        assert memory.get(anna.id).confidence == 0.40
        memory.remember("I'm allergic to nuts!", source="Anna", vector=memory.store.vectors([anna.id])[anna.id])
        assert memory.get(anna.id).confidence == 0.46
        cat = memory.remember("Oscar is a grey cat", source="Anna")
        memory.remember("Oscar is a grey cat", source="Bob")  # a second witness
        assert memory.get(cat.id).confidence == 0.46


def test_an_original_is_found_among_many_that_share_its_words() -> None:
    with living() as (memory, _):
        old = memory.remember("Oscar the grey cat sleeps on the sofa")
        for n in range(40):
            memory.remember(f"sofa {n} cat grey Oscar sleeps")
        new = memory.remember("Oscar the grey cat sleeps on the sofa")
        assert [edge.to_id for edge in memory.neighbours(new.id) if edge.kind == "corroborates"] == [old.id]


def test_vectors_are_asked_for_only_where_words_differ() -> None:
    def none_of_these(ids: list[str]) -> dict[str, Vector]:
        raise AssertionError(ids)

    spoken = [("a", "the cat is grey", None), ("b", "The cat is grey!", None)]
    assert repetitions(spoken, none_of_these) == {"b": "a"}


def test_a_reply_of_two_words_repeats_nothing() -> None:
    assert Statement.of("Thank you!") is None
    assert Statement.of("👍👍👍") is None


def test_saying_it_again_links_and_confirms_and_keeps_both_texts() -> None:
    with living() as (memory, clock):
        old = memory.remember("Oscar is a grey cat")
        clock.advance(2 * HOUR)
        new = memory.remember("Oscar is a grey cat!")
        assert memory.get(old.id).confidence == 0.40 + 0.1 * (1 - 0.40)
        assert memory.get(new.id).confidence == 0.40
        assert memory.get(new.id).text == "Oscar is a grey cat!"
        (edge,) = memory.neighbours(new.id)
        assert (edge.from_id, edge.to_id, edge.kind, edge.created_at) == (
            new.id,
            old.id,
            "corroborates",
            from_us(clock()),
        )


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
        many = ["Oscar is a grey cat", *(f"note number {n}" for n in range(BULK))]
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
        assert stored(memory, old.id).valid_to == clock() - HOUR
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


def test_closing_never_moves_an_end_to_later() -> None:
    with living() as (memory, clock):
        old = memory.remember("Caroline lives in Oslo", valid_to=clock() + DAY)
        clock.advance(5 * DAY)
        new = memory.remember("Caroline lives in Bergen")
        memory.contest(new.id, old.id, close=True)
        assert memory.get(old.id).valid_to == old.valid_to
        assert [edge.kind for edge in memory.neighbours(old.id)] == ["contested_by"]


def test_an_older_memory_cannot_end_a_newer_one() -> None:
    with living() as (memory, clock):
        old = memory.remember("Caroline lives in Oslo")
        clock.advance(DAY)
        new = memory.remember("Caroline lives in Bergen")
        with raises(InvalidInput, "older_than_contested"):
            memory.contest(old.id, new.id, close=True)
        assert memory.get(new.id).valid_to is None
        assert memory.neighbours(new.id) == []


def test_undoing_the_closing_leaves_an_earlier_mark() -> None:
    with living() as (memory, clock):
        old = memory.remember("Caroline lives in Oslo")
        clock.advance(DAY)
        new = memory.remember("Caroline lives in Bergen")
        memory.contest(new.id, old.id)
        clock.advance(DAY)
        memory.contest(new.id, old.id, close=True)
        memory.contest(new.id, old.id)  # says nothing new
        memory.undo()
        assert memory.get(old.id).valid_to is None
        assert [edge.kind for edge in memory.neighbours(old.id)] == ["contested_by"]
        memory.undo()
        assert memory.neighbours(old.id) == []


def test_a_memory_cannot_contradict_itself_or_what_is_not_there() -> None:
    with living() as (memory, _):
        id = memory.remember("Caroline lives in Oslo").id
        with raises(InvalidInput, "contests_itself"):
            memory.contest(id, id)
        with raises(NotFound, "unknown_memory"):
            memory.contest(id, "x")


def test_forgetting_a_repetition_takes_back_what_it_gave() -> None:
    with living() as (memory, clock):
        old = memory.remember("Oscar is a grey cat")
        clock.advance(2 * DAY)
        once = memory.remember("Oscar is a grey cat")
        clock.advance(2 * DAY)
        twice = memory.remember("Oscar is a grey cat!")
        grown = 0.40 + 0.1 * (1 - 0.40)
        assert memory.get(old.id).confidence == grown + 0.1 * (1 - grown)
        memory.forget(twice.id)
        assert memory.get(old.id).confidence == pytest.approx(grown, abs=1e-12)
        memory.forget(once.id)
        assert memory.get(old.id).confidence == 0.40


SAID = (
    "oh",
    "the",
    "A",
    "can't",
    "won't",
    "will",
    "not",
    "I've",
    "have",
    "it's",
    "it is",
    "Oscar",
    "grey,",
    "-5",
    "café",
    "我",
)


VARIED = (str.upper, "the {}".format, "{}!".format, str, str)


@given(st.lists(st.tuples(st.sampled_from(SAID), st.sampled_from(VARIED)), min_size=3, max_size=6))
def test_whoever_resembles_a_statement_holds_its_plain_words(said):
    one, other = " ".join(word for word, _ in said), "Oh, " + " ".join(vary(word) for word, vary in said)
    for mine, theirs in ((one, other), (other, one)):
        statement = Statement.of(mine)
        if statement is not None and statement.resembles(Statement.of(theirs)):
            assert statement.may_resemble(theirs)


def test_a_text_that_lacks_a_word_or_has_them_in_another_order_cannot_resemble():
    said = Statement.of("Oscar likes sleeping under warm blankets")
    assert said.may_resemble("Well, Oscar likes sleeping under the warm blankets!")
    assert not said.may_resemble("Oscar likes sleeping under blankets")
    assert not said.may_resemble("Under warm blankets Oscar likes sleeping")
