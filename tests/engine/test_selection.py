"""Duplicates, caps, budgets and diversity; every drop has a reason."""

from typing import Any

import numpy as np

from recollect.model import Record
from recollect.selection import Ranked, Selection, diversify, select, tokens


def candidates(*texts: str, **fields: Any) -> list[Ranked]:
    return [Ranked(Record(id=f"m{n}", text=text, **fields), 1.0 - n / 10, n + 1, n) for n, text in enumerate(texts)]


def kept(ranked: list[Ranked], **selection: Any) -> list[str]:
    return [one.record.id for one in select(ranked, Selection(**selection))[0]]


def test_a_text_equal_but_for_case_and_space_is_a_duplicate() -> None:
    ranked = candidates("The cat", "the   CAT", "a dog")
    chosen, drops = select(ranked, Selection())
    assert [one.record.id for one in chosen] == ["m0", "m2"]
    assert [(drop.id, drop.reason, drop.rank) for drop in drops] == [("m1", "duplicate of m0", 2)]


def test_a_limit_of_zero_or_less_is_no_cap() -> None:
    ranked = candidates(*"abcdefghijklmnop")
    assert len(kept(ranked, limit=0)) == len(kept(ranked, limit=-1)) == 16
    assert len(kept(ranked, limit=3)) == 3


def test_reflections_fill_at_most_thirty_percent() -> None:
    ranked = [
        *candidates(*"abcde", kind="reflection"),
        *(Ranked(Record(id=f"o{n}", text=f"o{n}"), 0.1, 6 + n, 5 + n) for n in range(9)),
    ]
    chosen = kept(ranked, limit=10)
    assert [id for id in chosen if id.startswith("m")] == ["m0", "m1", "m2"]
    assert len(chosen) == 10
    assert kept(candidates("a", kind="reflection"), limit=3) == [], "30 % of 3 is less than one"


def test_the_token_budget_passes_over_what_does_not_fit() -> None:
    ranked = candidates("x" * 40, "y" * 400, "z" * 36)
    assert [tokens(one.record.text) for one in ranked] == [10, 100, 9]
    chosen, drops = select(ranked, Selection(max_tokens=20))
    assert [one.record.id for one in chosen] == ["m0", "m2"]
    assert "100 tokens exceed what is left of the budget of 20" in drops[0].reason


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
