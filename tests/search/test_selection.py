"""Duplicates, caps, budgets and diversity; every drop has a reason."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.model import StoredRecord
from thinkback.search.selection import Ranked, Selection, diversify, select, tokens


def candidates(*texts: str, **fields: Any) -> list[Ranked]:
    return [
        Ranked(StoredRecord(id=f"m{n}", text=text, **fields), 1.0 - n / 10, n + 1, n) for n, text in enumerate(texts)
    ]


def kept(ranked: list[Ranked], **selection: Any) -> list[str]:
    return [one.record.id for one in select(ranked, Selection(**selection))[0]]


def test_a_text_equal_but_for_case_and_space_is_a_duplicate() -> None:
    ranked = candidates("The cat", "the   CAT", "a dog")
    chosen, drops = select(ranked, Selection())
    assert [one.record.id for one in chosen] == ["m0", "m2"]
    assert [(drop.id, drop.code, drop.reason, drop.rank) for drop in drops] == [
        ("m1", "duplicate", "duplicate of m0", 2)
    ]


def test_a_limit_of_zero_or_less_is_no_cap() -> None:
    ranked = candidates(*"abcdefghijklmnop")
    assert len(kept(ranked, limit=0)) == len(kept(ranked, limit=-1)) == 16
    assert len(kept(ranked, limit=3)) == 3


def test_reflections_fill_at_most_thirty_percent() -> None:
    ranked = [
        *candidates(*"abcde", kind="reflection"),
        *(Ranked(StoredRecord(id=f"o{n}", text=f"o{n}"), 0.1, 6 + n, 5 + n) for n in range(9)),
    ]
    chosen = kept(ranked, limit=10)
    assert [id for id in chosen if id.startswith("m")] == ["m0", "m1", "m2"]
    assert len(chosen) == 10
    assert kept(candidates("a", kind="reflection"), limit=3) == [], "30 % of 3 is less than one"


def mixed(kinds: str) -> list[Ranked]:
    """Candidates in this order: r for a reflection, o for another memory."""
    return [
        Ranked(
            StoredRecord(id=f"{kind}{n}", text=f"{kind}{n}", kind="reflection" if kind == "r" else "observation"),
            1.0,
            n + 1,
            n,
        )
        for n, kind in enumerate(kinds)
    ]


@pytest.mark.parametrize(
    ("given", "returned"),
    [
        ("orrrrrr", "o0"),
        ("roo", "o1 o2"),
        ("rooo", "r0 o1 o2 o3"),
        ("rrrooo", "r0 o3 o4 o5"),
        ("roorrror", "r0 o1 o2 o6"),
        ("rorooo", "r0 o1 o3 o4 o5"),
        ("rorooooo", "r0 o1 r2 o3 o4 o5 o6 o7"),
        ("rrrooooooo", "r0 r1 r2 o3 o4 o5 o6 o7 o8 o9"),
        ("rrrrrr", ""),
    ],
)
def test_reflections_are_counted_against_what_is_returned(given: str, returned: str) -> None:
    """30 % of up to 3 results is no reflection, of 4 to 6 it is one, of 7 to 9 two, of 10 three."""
    chosen, drops = select(mixed(given), Selection(limit=10))
    assert " ".join(one.record.id for one in chosen) == returned
    assert {drop.code for drop in drops} <= {"reflection_share"}
    assert len(chosen) + len(drops) == len(given)


@given(st.text("ro", max_size=40), st.integers(0, 20), st.floats(0, 1), st.integers(0, 12))
def test_the_share_holds_whatever_is_returned(kinds: str, limit: int, share: float, budget: int) -> None:
    ranked = mixed(kinds)
    selection = Selection(limit=limit, reflection_share=share, max_tokens=budget)
    chosen, drops = select(ranked, selection)
    assert sum(one.record.kind == "reflection" for one in chosen) <= share * len(chosen) + 1e-9
    assert [one.rank for one in chosen] == sorted(one.rank for one in chosen)
    assert [drop.rank for drop in drops] == sorted(drop.rank for drop in drops)
    last = chosen[-1].rank if limit and len(chosen) == limit else len(ranked)
    assert sorted([*(one.rank for one in chosen), *(drop.rank for drop in drops)]) == list(range(1, last + 1))


def test_room_that_a_reflection_gave_up_is_used() -> None:
    """A budget of 3 tokens: with the reflection (2) only one observation fits, and half would be reflections; without, three do."""
    ranked = [Ranked(StoredRecord(id="r", text="x" * 8, kind="reflection"), 1.0, 1, 0), *mixed("ooo")]
    chosen, _ = select(ranked, Selection(limit=10, max_tokens=3))
    assert [one.record.id for one in chosen] == ["o0", "o1", "o2"]


def test_the_token_budget_passes_over_what_does_not_fit() -> None:
    ranked = candidates("x" * 40, "y" * 400, "z" * 36)
    assert [tokens(one.record.text) for one in ranked] == [10, 100, 9]
    chosen, drops = select(ranked, Selection(max_tokens=20))
    assert [one.record.id for one in chosen] == ["m0", "m2"]
    assert [(drop.id, drop.code) for drop in drops] == [("m1", "budget")]


def test_diversity_prefers_a_different_memory_to_one_more_of_the_same() -> None:
    same, other = np.array([1.0, 0.0], dtype=np.float32), np.array([0.0, 1.0], dtype=np.float32)
    ranked = candidates("a", "b", "c")
    vectors = {"m0": same, "m1": same, "m2": other}
    assert [one.record.id for one in diversify(ranked, vectors, 0.5, 50)] == ["m0", "m2", "m1"]
    assert [one.record.id for one in diversify(ranked, vectors, 0.0, 50)] == ["m0", "m1", "m2"]


def test_diversity_leaves_what_is_beyond_its_pool() -> None:
    ranked = candidates(*"abcd")
    vectors = {one.record.id: np.array([1.0, 0.0], dtype=np.float32) for one in ranked}
    assert [one.record.id for one in diversify(ranked, vectors, 0.5, 2)] == ["m0", "m1", "m2", "m3"]


def test_what_diversity_overtook_is_told_from_what_the_limit_cut() -> None:
    same, other = np.array([1.0, 0.0], dtype=np.float32), np.array([0.0, 1.0], dtype=np.float32)
    vectors = {"m0": same, "m1": same, "m2": other, "m3": same}
    chosen, drops = select(candidates(*"abcd"), Selection(limit=2, diversity=0.5), vectors)
    assert [one.record.id for one in chosen] == ["m0", "m2"]
    assert [(drop.id, drop.rank, drop.code) for drop in drops] == [("m1", 2, "diversity")]
