"""Filters as callers write them: operators, joins, singular spellings, and what is refused."""

from collections.abc import Iterator
from typing import Any

import pytest

import thinkback
from thinkback.conditions import Compare, Every, Not, Some
from thinkback.errors import InvalidInput
from thinkback.memory import Memory
from thinkback.testing import FixedClock, ToyEmbedder
from thinkback.where import condition_of, filter_of

from codes import raises  # isort: skip


@pytest.fixture
def memory(tmp_path: Any) -> Iterator[Memory]:
    with thinkback.open(tmp_path / "m.db", embedder=ToyEmbedder(), clock=FixedClock("2026-05-08")) as memory:
        for n in range(1, 10):
            kind = "fact" if n % 2 else "event"
            memory.remember(f"cat number {n}", id=str(n), kind=kind, metadata={"n": n}, tags=[f"t{n % 3}", kind])
        memory.remember("a cat in a thread", id="chat", thread="chat-7", source="diary", tags=["t9"])
        yield memory


def test_conditions_are_values() -> None:
    assert condition_of({"metadata.n": {"gt": 6}}) == Compare("metadata", "gt", 6, "n")
    assert condition_of({"tags": {"any": ["A", "#b"]}}) == Some(
        (Compare("tags", "has", "a"), Compare("tags", "has", "b"))
    )
    assert condition_of({"kind": ["fact", "event"]}) == Compare("kind", "in", ("fact", "event"))
    assert condition_of({"thread": "a", "not": {"source": "b"}}) == Every(
        (Compare("thread", "in", ("a",)), Not(Compare("source", "in", ("b",))))
    )
    assert condition_of({}) == Every(())
    assert filter_of(0, {"where": {}}).where is None


@pytest.mark.parametrize(
    "given",
    [
        {"metadata": {"n": {"gt": 6}}},
        {"metadata": {"n": {"$gt": 6}}},
        {"where": {"metadata.n": {"gt": 6}}},
        {"where": {"metadata": {"n": {"gt": 6}}}},
        {"where": {"AND": [{"metadata.n": {"gte": 7}}, {"metadata.n": {"lt": 10}}]}},
        {"where": {"or": [{"metadata.n": {"in": [7, 8]}}, {"metadata.n": 9}]}},
        {"metadata": {"n": {"not": {"lte": 6}, "exists": True}}},
    ],
)
def test_first_guesses_of_an_operator_find_the_same(memory: Memory, given: Any) -> None:
    assert {hit.id for hit in memory.recall("cat", limit=0, **given)} == {"7", "8", "9"}
    assert memory.count(**given) == len(memory.list(**given)) == 3


def test_the_filter_of_one_field_takes_operators(memory: Memory) -> None:
    assert memory.count(tags={"any": ["t1", "t2"]}) == 6
    assert memory.count(tags={"all": ["t1", "fact"]}) == 2
    assert memory.count(kinds={"not": "fact"}) == 5
    assert memory.count(threads={"exists": False}) == 9


def test_singular_spellings_are_the_same_filters(memory: Memory) -> None:
    assert memory.count(thread="chat-7") == memory.count(threads=["chat-7"]) == memory.count(tag="t9") == 1
    assert memory.count(kind="fact") == memory.count(kinds=["fact"]) == 5
    assert memory.count(source="diary", tier="semantic", priority="P3") == 1
    with raises(InvalidInput, "not_a_condition"):
        memory.count(thread="a", threads=["b"])


def test_a_condition_is_told_in_why_not(memory: Memory) -> None:
    found = memory.recall("cat", where={"metadata.n": {"gt": 6}})
    assert "metadata.n gt 6" in found.why_not("1").verdict


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"metadata": {"n": {"gtt": 6}}}, "unknown_operator"),
        ({"metadata": {"n": {"city": "Rome"}}}, "unknown_operator"),
        ({"metadata": {"n": {}}}, "not_a_condition"),
        ({"metadata": {"n": {"gt": [6]}}}, "not_a_condition"),
        ({"metadata": {"n": {"gt": True}}}, "not_a_condition"),
        ({"metadata": {"n": {"in": 6}}}, "not_a_condition"),
        ({"metadata": {"n": {"in": []}}}, "not_a_condition"),
        ({"metadata": {"n": {"exists": "yes"}}}, "not_a_flag"),
        ({"where": {"n": {"gt": 6}}}, "unknown_field"),
        ({"where": {"kinds": "fct"}}, "unknown_value"),
        ({"where": {"kind": {"gt": "fact"}}}, "not_a_condition"),
        ({"where": {"importance": {"gt": "high"}}}, "not_a_condition"),
        ({"where": {"created_at": {"gt": "soon"}}}, "not_a_time"),
        ({"where": {"tags": {"any": "a"}}}, "not_a_condition"),
        ({"where": {"or": []}}, "not_a_condition"),
        ({"where": {"or": {"kind": "fact"}}}, "not_a_condition"),
        ({"where": [{"kind": "fact"}]}, "not_a_condition"),
        ({"where": {"metadata.n": {"in": list(range(1001))}}}, "too_long"),
        ({"tgas": ["a"]}, "unknown_field"),
    ],
)
def test_what_is_misspelt_is_refused(given: Any, code: str) -> None:
    with raises(InvalidInput, code):
        filter_of(0, given)


def test_depth_is_bounded() -> None:
    deep: dict[str, Any] = {"kind": "fact"}
    for _ in range(30):
        deep = {"not": deep}
    with raises(InvalidInput, "too_deep"):
        condition_of(deep)


def test_a_near_miss_names_what_was_meant() -> None:
    with pytest.raises(InvalidInput, match="Did you mean 'gte'"):
        filter_of(0, {"metadata": {"n": {"gtee": 6}}})
    with pytest.raises(InvalidInput, match=r"metadata\.colour"):
        filter_of(0, {"where": {"colour": "red"}})
