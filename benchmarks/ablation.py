"""What each leg, signal and group of the ranker's features is worth on each data set: nDCG@10 of `default` without it.

python benchmarks/ablation.py locomo-dev.json locomo-dev.json:session beam-dev.json qmsum-dev.json xquad-de xquad-es xquad-de-en

The legs search once; then every row is a replay. A leg without weight leaves its candidates to the others. The last line counts,
over questions whose two answers were said one after the other (BEAM's updates), how often the newer one ranks first.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from thinkback.apps.cli.bench import vector_cache
from thinkback.evaluate.datasets.base import Corpus, Dataset, Document
from thinkback.evaluate.datasets.beir import read_beir
from thinkback.evaluate.datasets.locomo import read_locomo
from thinkback.evaluate.metrics import metric
from thinkback.evaluate.replay import Case, Replay
from thinkback.evaluate.systems import Recipes
from thinkback.evaluate.vectors import CachedEmbedder
from thinkback.models.embedders import open_embedder
from thinkback.search.ranking import rank
from thinkback.search.recipes.model import Recipe
from thinkback.search.recipes.named import DEFAULT
from thinkback.stores.sqlite.vector_cache import VectorCache

GROUPS = {
    "neighbours in the thread": "before after before2 beside before_score after_score reply before_long after_long wide thread",
    "speakers that are named": "voice voice_near",
    "roles: user and assistant": (
        "own_assistant user_before user_wide assistant assistant_keyword assistant_vector assistant_after"
    ),
    "words of the question": "covered2 covered_near",
    "times, numbers, somebody": "dated counted somebody",
    "texts that ask, short texts": "question short",
    "instructions": "instruction preference",
    "documents": "document_vector document_length document_covered document_passage",
}
SPAN = ("between", "how many days", "weeks", "how long", "first:")  # these ask for both values
SECOND = 1_000_000


def main(paths: Sequence[str]) -> None:
    embedder = CachedEmbedder(open_embedder("default"), VectorCache(vector_cache()))
    recipes = Recipes([DEFAULT], embedder)
    for path in paths:
        dataset = in_order(read(path))
        cases = recipes.cases(dataset, DEFAULT)
        replay = Replay(cases)
        whole = replay.values(DEFAULT, metric("ndcg@10")).mean()
        print(f"{path}: {len(replay.questions)} questions, {whole:.4f}", flush=True)
        for name, recipe in variants():
            value = replay.values(recipe, metric("ndcg@10")).mean()
            print(f"  without {name:<28} {value:.4f} {value - whole:+.4f}", flush=True)
        for name, recipe in (("with", DEFAULT), ("without", DEFAULT.with_(signals={"updates": False}))):
            pairs = [pair for case in cases if (pair := newer_first(case, recipe)) is not None]
            if pairs:
                print(f"  {name} updates the newer value ranks first in {sum(pairs)} of {len(pairs)}", flush=True)


def read(path: str) -> Dataset:
    file, _, level = path.partition(":")
    return (
        read_beir(Path(file), split="test") if Path(file).is_dir() else read_locomo(Path(file), level=level or "turn")
    )


def in_order(dataset: Dataset) -> Dataset:
    """The sessions of one day a second apart, as the data gives their order but not their hour."""
    return replace(dataset, corpora=tuple(Corpus(one.id, _dated(one)) for one in dataset.corpora))


def _dated(corpus: Corpus) -> tuple[Document, ...]:
    places = {thread: place for place, thread in enumerate(dict.fromkeys(one.thread for one in corpus.documents))}
    return tuple(
        one if one.created_us is None else replace(one, created_us=one.created_us + SECOND * places[one.thread])
        for one in corpus.documents
    )


def variants() -> Iterator[tuple[str, Recipe]]:
    for leg in DEFAULT.legs:
        yield f"leg {leg.name}", DEFAULT.with_(legs={leg.name: {"weight": 0}})
    for term in DEFAULT.signals:
        yield f"signal {term.signal.name}", DEFAULT.with_(signals={term.signal.name: False})
    for name, features in GROUPS.items():
        yield name, DEFAULT.with_(signals={"ranker": dict.fromkeys(features.split(), 0.0)})


def newer_first(case: Case, recipe: Recipe) -> bool | None:
    """Whether the newer of two answers ranks before the older one; None if this is no update, or one was not found."""
    question = case.question
    if not question.category.startswith("2") or len(question.gold) != 2:
        return None
    if any(word in question.text.lower() for word in SPAN):
        return None
    ordered = rank(case.gathered, recipe)
    found = [ordered.records[row] for row in ordered.order if ordered.records[row].id in question.gold]
    return found[0].date > found[1].date if len(found) == 2 and found[0].date != found[1].date else None


if __name__ == "__main__":
    main(sys.argv[1:])
