"""Linking nearest neighbours: all pairs beside the index, and a whole `reflect` over a store of that size.

python benchmarks/neighbours.py                       # 100,000 made-up vectors of 384 numbers
python benchmarks/neighbours.py --size 200000 --no-store
python benchmarks/neighbours.py --vectors vectors.npy --texts texts.txt    # unit rows, and a line for each
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import thinkback
from thinkback.lifecycle.reflect import hnsw
from thinkback.lifecycle.reflect.nearest import Neighbourhood
from thinkback.model import Draft, Vector
from thinkback.models.embedders.base import unit
from thinkback.stores.base import EmbeddingSpace

SIZE, DIMENSIONS, A_THEME = 100_000, 384, 25


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--size", type=int, default=SIZE)
    options.add_argument("--vectors", type=Path)
    options.add_argument("--texts", type=Path)
    options.add_argument("--no-store", action="store_true", help="only the two ways to link")
    asked = options.parse_args()
    if asked.vectors is None:
        matrix, texts = made_up(asked.size)
    else:
        matrix, texts = np.load(asked.vectors), asked.texts.read_text().splitlines()
    print(f"{len(matrix):,} vectors of {matrix.shape[1]}")
    pairs, indexed = Neighbourhood(matrix, 0.7), Neighbourhood(matrix, 0.7)
    timed("all pairs", lambda: pairs.compare_all(np.arange(len(matrix))))
    timed("index", lambda: through_index(indexed))
    print(f"nearest neighbours that are the true ones: {np.mean(pairs.nearest == indexed.nearest):.4f}")
    print(f"cosine lost by the others, on average over all: {np.mean(pairs.cosine - indexed.cosine):.6f}")
    if not asked.no_store:
        whole(matrix, texts)


def made_up(size: int) -> tuple[Vector, list[str]]:
    """Themes around one common direction, as sentence embeddings have: any two at a cosine of about .75."""
    chance = np.random.default_rng(7)
    spread = np.arange(1, DIMENSIONS + 1) ** -0.35
    themes = chance.integers(0, size // A_THEME, size)
    centres = chance.standard_normal((size // A_THEME, DIMENSIONS)) * spread
    rows = centres[themes] + 1.2 * chance.standard_normal((size, DIMENSIONS)) * spread
    common = unit(chance.standard_normal(DIMENSIONS))
    texts = [f"{word(theme)} was seen {word(n)}" for n, theme in enumerate(themes.tolist())]
    return unit(unit(rows) * 0.5 + common * 0.87), texts


def word(number: int) -> str:
    """A word of its own for every number."""
    digits = np.base_repr(number + 1000, 16).lower()
    return "".join(f"{'bcdfghjklmnpqrst'[int(digit, 16)]}{'aeiou'[place % 5]}" for place, digit in enumerate(digits))


def through_index(near: Neighbourhood) -> None:
    for rows, others in hnsw.candidates(near.matrix, np.arange(len(near.matrix)), lambda done, total: None):
        near.compare_pairs(rows, others)


def whole(matrix: Vector, texts: list[str]) -> None:
    """Remembers the vectors and reflects, twice, and once more after some were added."""
    space = EmbeddingSpace("made-up", matrix.shape[1])
    few = len(matrix) // 100
    with (
        tempfile.TemporaryDirectory() as folder,
        thinkback.open(Path(folder) / "m.db", embedder=None, reranker=None) as memory,
    ):
        drafts = [
            Draft(id=f"m{n:07d}", text=text, vector=row)
            for n, (text, row) in enumerate(zip(texts, matrix, strict=True))
        ]
        for start in range(0, len(drafts) - few, 10_000):
            memory.store.add(drafts[start : min(start + 10_000, len(drafts) - few)], memory.clock(), space)
        timed("reflect, all new", lambda: print(f"  {len(memory.reflect().created):,} reflections"))
        timed("reflect again", lambda: print(f"  {len(memory.reflect().created):,} new"))
        memory.store.add(drafts[-few:], memory.clock(), space)
        timed(f"reflect, {few:,} new", lambda: print(f"  {len(memory.reflect().created):,} new"))


def timed(what: str, work: Callable[[], object]) -> None:
    wall, processor = time.perf_counter(), time.process_time()
    work()
    print(
        f"{what:24} {time.perf_counter() - wall:8.1f} s  {time.process_time() - processor:8.1f} s of processor time",
        flush=True,
    )


if __name__ == "__main__":
    main()
