"""Stores full of themes, the same in every process; run as a script it reflects on one and exits."""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from thinkback.lifecycle.reflect import hnsw
from thinkback.lifecycle.reflect import link_nearest as linking
from thinkback.lifecycle.reflect.model import Consolidation
from thinkback.lifecycle.reflect.observations import SEEN
from thinkback.lifecycle.reflect.run import reflect
from thinkback.model import Draft
from thinkback.stores.base import EmbeddingSpace, Store
from thinkback.stores.sqlite import SqliteStore

NOW = 1_770_000_000_000_000
SPACE = EmbeddingSpace("made-up", 24)
Snapshot = dict[str, object]


def fill(store: Store, count: int = 600, first: int = 0, themes: int = 40) -> list[str]:
    """Memories of so many themes, each with a word of its own."""
    chance = np.random.default_rng(11)
    middles = chance.standard_normal((themes, SPACE.dimensions))
    drafts = []
    for n in range(first + count):
        theme = int(chance.integers(0, themes))
        vector = middles[theme] + 0.55 * chance.standard_normal(SPACE.dimensions)
        vector = (vector / np.linalg.norm(vector)).astype(np.float32)
        drafts.append(Draft(id=f"m{n:05d}", text=f"topic{theme}word and detail{n}", vector=vector))
    store.add(drafts[first:], NOW + first, SPACE)
    return [str(draft.id) for draft in drafts[first:]]


def snapshot(store: Store) -> Snapshot:
    """Everything a consolidation writes, but for when it did."""
    edges = [(e.from_id, e.to_id, e.kind, e.weight) for e in store.export_edges()]
    reflections = {
        record.id: (record.text, record.essence, record.priority, store.vectors([record.id])[record.id].tobytes())
        for record in store.export_records()
        if record.kind == "reflection"
    }
    return {"edges": edges, "reflections": reflections, "seen": store.setting(SEEN)}


def expected(folder: Path, count: int = 600, change: Callable[[Store], None] | None = None) -> Snapshot:
    """What one undisturbed run over a fresh store of the same memories leaves."""
    with SqliteStore(folder / "expected.db") as store:
        fill(store, count)
        if change is not None:
            change(store)
        reflect(store, NOW * 2)
        return snapshot(store)


def say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    linking.STEP = linking.BLOCK_ROWS = hnsw.BATCH = 64  # many small steps, so that there is much to interrupt
    if "indexed" in sys.argv:
        linking.INDEX_FROM = 1
    with SqliteStore(sys.argv[1]) as opened:
        say("open")
        reflect(opened, NOW * 2, Consolidation(), progress=lambda done, total: say("step"))
    say("done")
