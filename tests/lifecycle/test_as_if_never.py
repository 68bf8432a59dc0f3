"""After forgetting, everybody else stands as if the forgotten had never been: in threads, links, confirmations and themes."""

from pathlib import Path

import numpy as np
import pytest
from lifecycle_fixtures import START

from thinkback.clock import DAY
from thinkback.memory import Memory
from thinkback.stores.sqlite import SqliteStore
from thinkback.testing import FixedClock, ToyEmbedder

COUNT = 400
WORDS = [f"{a}{b}{c}" for a in "bdfgk" for b in "aeiou" for c in ("lor", "min", "ten")]
EMBEDDER = ToyEmbedder(64)


def is_canary(n: int) -> bool:
    return n % 4 == 3


def text_of(n: int) -> str:
    """Every eighth memory, a canary, repeats the one before it."""
    if n % 8 == 7:
        return text_of(n - 1)
    chance = np.random.default_rng(n)
    theme = WORDS[5 * (n % 9) : 5 * (n % 9) + 5]
    return " ".join([*chance.choice(theme, 4), *chance.choice(WORDS, 3)]) + (f" chirps{n}" if is_canary(n) else "")


def write(path: Path, with_canaries: bool) -> Memory:
    memory = Memory(
        SqliteStore(path, entropy=lambda count: bytes(count)), clock=FixedClock(START), count_accesses=False
    )
    for n in range(COUNT):
        memory.clock.advance(DAY // 3)  # type: ignore[attr-defined]
        if is_canary(n) and not with_canaries:
            continue
        vector = EMBEDDER.embed_query(text_of(n))
        memory.remember(text_of(n), id=f"m{n:03d}", thread=f"t{n % 6}", vector=vector)
        if n >= 9 and (with_canaries or not is_canary(n - 9)):
            memory.link(f"m{n:03d}", f"m{n - 9:03d}", weight=0.5)
    return memory


def rankings(memory: Memory, **where: bool) -> list[list[tuple[str, float]]]:
    queries = [text_of(n)[:24] for n in range(0, COUNT, 7)]
    found = [memory.recall(query, vector=EMBEDDER.embed_query(query), limit=20, **where) for query in queries]  # type: ignore[arg-type]
    return [[(hit.id, hit.score) for hit in hits] for hits in found]


@pytest.fixture
def stores(tmp_path: Path) -> tuple[Memory, Memory]:
    had, never = write(tmp_path / "had.db", True), write(tmp_path / "never.db", False)
    had.reflect()
    never.reflect()
    assert any(edge.kind == "corroborates" for edge in had.store.export_edges())
    assert len(never.list(kinds=["reflection"])) > 5
    return had, never


@pytest.mark.slow
def test_at_once_for_what_was_said_and_after_the_next_reflection_for_themes_too(stores: tuple[Memory, Memory]) -> None:
    had, never = stores
    with had, never:
        assert rankings(had) != rankings(never)
        had.forget(*(f"m{n:03d}" for n in range(COUNT) if is_canary(n)))
        assert rankings(had, include_reflections=False) == rankings(never, include_reflections=False)
        had.reflect()
        assert {r.id: (r.text, r.essence) for r in had.list(kinds=["reflection"], limit=999)} == {
            r.id: (r.text, r.essence) for r in never.list(kinds=["reflection"], limit=999)
        }
        assert rankings(had) == rankings(never)


def test_the_standing_of_everybody_else_is_what_it_would_have_been(stores: tuple[Memory, Memory]) -> None:
    had, never = stores
    with had, never:
        had.forget(*(f"m{n:03d}" for n in range(COUNT) if is_canary(n)))
        had.reflect()
        for record in never.list(limit=999, include_reflections=False):
            mine = had.get(record.id)
            assert mine.confidence == pytest.approx(record.confidence, abs=1e-12)
            assert (mine.priority, mine.tier, mine.expires_at) == (record.priority, record.tier, record.expires_at)
