"""The instructions leg: standing instructions and preferences have a few places of their own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import thinkback
from thinkback.search.recipes.named import named
from thinkback.testing import FixedClock, ToyEmbedder

RECIPE = named("default").with_(legs={"instructions": {"limit": 5}})
RULE = "Always answer with bullet points when I ask about formatting"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[thinkback.Memory]:
    clock = FixedClock("2024-05-15T12:00:00Z")
    with thinkback.open(tmp_path / "m.db", embedder=ToyEmbedder(), reranker=None, clock=clock) as opened:
        opened.remember(RULE, id="rule")
        for number in range(8):
            opened.remember(f"I prefer number {number}", id=f"taste-{number}")
        for number in range(60):
            opened.remember(f"the list of item {number} was written", id=f"item-{number}")
        yield opened


def run(memory: thinkback.Memory, **filters: object) -> list[str]:
    found = memory.gather("how should I write the list?", recipe=RECIPE, **filters)  # type: ignore[arg-type]
    leg = next(one for one in found.runs if one.leg == "instructions")
    return [leg.skipped] if leg.skipped else [hit.id for hit in leg.hits]


def test_the_kind_is_suggested_and_can_be_corrected(memory: thinkback.Memory) -> None:
    assert memory.get("rule").kind == "preference"  # type: ignore[union-attr]
    memory.update("rule", kind="note")
    assert memory.get("rule").kind == "note"  # type: ignore[union-attr]


def test_it_finds_preferences_alone_and_only_a_few(memory: thinkback.Memory) -> None:
    found = run(memory)
    assert len(found) == 5
    assert all(id == "rule" or id.startswith("taste") for id in found)


def test_a_filter_without_them_skips_it(memory: thinkback.Memory) -> None:
    assert run(memory, kinds=["fact"]) == ["the filter leaves no preferences"]


def test_its_part_of_the_score_is_explained(memory: thinkback.Memory) -> None:
    hits = memory.recall("how should I write the list?", limit=100, recipe=RECIPE)
    rule = next((hit for hit in hits if any(p.leg == "instructions" for p in hit.placings)), None)
    assert rule is not None
    assert sum(c.delta for c in rule.contributions) == pytest.approx(rule.score)
