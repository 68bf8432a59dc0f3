"""With nothing to search by, the newest memories are the answer, up to the limit."""

from typing import Any

import numpy as np
import pytest
from engine_fixtures import START, memory, toy_memory

from thinkback.clock import DAY, to_us
from thinkback.memory import Memory
from thinkback.search.recipes.named import RECIPES

NOW = to_us(START)


def fill(m: Memory, count: int = 5) -> list[str]:
    """Memories of one day each, oldest first, with all that signals could go by; the ids newest first."""
    ids = [f"n{day:03}" for day in range(count)]
    for day, id in enumerate(ids):
        weight = 1.0 if day == 0 else 0.0
        m.remember(f"note {day}", id=id, created_at=NOW - (count - day) * DAY, importance=weight, thread="t")
    return ids[::-1]


@pytest.mark.parametrize("recipe", sorted(set(RECIPES) - {"precise", "pigpig"}))
def test_they_come_in_order_and_no_signal_speaks(recipe: str) -> None:
    with toy_memory() as m:
        ids = fill(m)
        found = m.recall("", recipe=recipe)
        assert list(found.ids) == ids
        assert [(hit.score, hit.contributions) for hit in found] == [(0.0, ())] * 5
        assert found.trace.backends_used == ("newest",)
        assert found.warnings == ()


def test_also_where_a_recipe_fills_in_scores() -> None:
    with toy_memory() as m:
        ids = fill(m)
        assert list(m.recall("", recipe=RECIPES["gorag"].with_(fill=True)).ids) == ids


class Backwards:
    """A cross-encoder that would turn the order round."""

    fingerprint = "backwards"

    def scores(self, query: str, texts: list[str]) -> list[float]:
        return [row / len(texts) for row in range(len(texts))]


def test_also_with_a_cross_encoder_and_with_diversity() -> None:
    with memory(reranker=Backwards()) as m:
        ids = fill(m)
        found = m.recall(" ", recipe="precise")
        assert (list(found.ids), found.trace.reranked) == (ids, 0)
        for id in ids:
            m.remember(
                "another", id=f"{id}-same", vector=np.array([1.0, 0.0], dtype=np.float32), created_at=NOW - 99 * DAY
            )
        assert list(m.recall("", recipe=RECIPES["gorag"].with_(selection={"diversity": 0.9}), limit=5).ids) == ids


def test_a_recipe_that_can_search_by_nothing_says_so() -> None:
    with memory() as m:
        ids = fill(m)
        found = m.recall("note", recipe="vector")
        assert list(found.ids) == ids
        assert [warning.code for warning in found.warnings] == ["no_leg_ran"]


@pytest.mark.parametrize("text", ["(((", "…?!", "", "  "])
def test_a_keyword_search_without_a_word_finds_nothing(text: str) -> None:
    with memory() as m:
        fill(m)
        assert len(m.search_keywords(text)) == 0
        if text.strip():
            assert len(m.recall(text)) == 0


def test_duplicates_do_not_use_up_the_limit() -> None:
    with memory() as m:
        ids = fill(m)
        m.remember_many({"text": "the same", "id": f"s{n:03}", "created_at": NOW} for n in range(900))
        assert list(m.recall("", limit=4).ids) == ["s000", *ids[:3]]
        assert len(m.recall("", limit=6)) == 6
        assert len(m.recall("", limit=99)) == 6, "there are no more that differ"


def test_reflections_do_not_use_up_the_limit() -> None:
    with memory() as m:
        ids = fill(m, 12)
        m.remember_many(
            {"text": f"theme {n}", "id": f"r{n:03}", "kind": "reflection", "created_at": NOW} for n in range(300)
        )
        assert list(m.recall("", limit=10).ids) == ids[:10]
        assert len(m.recall("", limit=10, kinds=["reflection"])) == 10


def test_a_budget_passes_over_what_is_too_long_however_much_of_it_is_new() -> None:
    with memory() as m:
        ids = fill(m)
        m.remember_many({"text": f"{n} " + "word " * 200, "created_at": NOW} for n in range(450))
        assert m.recall("", limit=3, max_tokens=50).ids == tuple(ids[:3])


def test_filters_hold() -> None:
    with memory() as m:
        ids = fill(m, 9)
        assert list(m.recall("", limit=3, until=NOW - 4 * DAY).ids) == ids[4:7]


def where_is(m: Memory, id: str, **options: Any) -> str:
    return m.recall("", **options).why_not(id).verdict


def test_why_not() -> None:
    with memory() as m:
        ids = fill(m, 150)
        assert where_is(m, ids[7], limit=5).endswith("below the limit of 5")
        assert where_is(m, ids[149], limit=5) == "there was nothing to search by, and it is not among the newest"
