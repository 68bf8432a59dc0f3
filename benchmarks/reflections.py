"""LoCoMo with and without reflections: the same stores, asked before and after `reflect`.

python benchmarks/reflections.py locomo-dev.json
"""

import math
import sys
from collections.abc import Iterator
from pathlib import Path

from thinkback.apps.cli.bench import vector_cache
from thinkback.evaluate.datasets.base import Question
from thinkback.evaluate.datasets.locomo import read_locomo
from thinkback.evaluate.systems import Recipes
from thinkback.evaluate.vectors import CachedEmbedder
from thinkback.memory import Memory
from thinkback.models.embedders import open_embedder
from thinkback.search.recipes.named import DEFAULT
from thinkback.stores.sqlite.vector_cache import VectorCache

COLUMNS = ("any@1", "any@5", "any@10", "all@5", "all@10", "mrr", "ndcg@10")


def main(file: str) -> None:
    dataset = read_locomo(Path(file))
    cache = VectorCache(vector_cache())
    recipes = Recipes([DEFAULT], CachedEmbedder(open_embedder("default"), cache))
    before: list[tuple[float, ...]] = []
    after: list[tuple[float, ...]] = []
    made = 0
    for corpus in dataset.corpora:
        questions = [question for question in dataset.questions if question.corpus_id == corpus.id]
        with recipes.memory_of(corpus) as memory:
            before += answered(memory, questions)
            made += len(memory.reflect().created)
            after += answered(memory, questions)
    print(f"{len(before)} questions, {made} reflections")
    print(" " * 10, *(f"{name:>8}" for name in COLUMNS))
    for name, rows in (("without", before), ("with", after)):
        print(f"{name:>10}", *(f"{sum(column) / len(rows):8.5f}" for column in zip(*rows, strict=True)))


def answered(memory: Memory, questions: list[Question]) -> Iterator[tuple[float, ...]]:
    for question in questions:
        found = memory.recall(question.text, limit=50, now=question.now_us)
        yield scores([rank for rank, id in enumerate(found.ids, 1) if id in question.gold], len(question.gold))


def scores(ranks: list[int], gold: int) -> tuple[float, ...]:
    gain = sum(1 / math.log2(rank + 1) for rank in ranks if rank <= 10)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(gold, 10) + 1))
    hits = [float(any(rank <= k for rank in ranks)) for k in (1, 5, 10)]
    complete = [float(sum(rank <= k for rank in ranks) == gold) for k in (5, 10)]
    return (*hits, *complete, 1 / ranks[0] if ranks else 0.0, gain / ideal)


if __name__ == "__main__":
    main(sys.argv[1])
