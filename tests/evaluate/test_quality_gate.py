"""A regression gate: `default` on a small slice of each kind of memory must not fall below what it reached.

The floors are what was measured, less .03. The data is not part of the repository; without it the test is skipped.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from thinkback.evaluate.datasets.base import Corpus, Dataset
from thinkback.evaluate.datasets.beir import read_beir
from thinkback.evaluate.datasets.locomo import read_locomo
from thinkback.evaluate.metrics import metric
from thinkback.evaluate.replay import Replay
from thinkback.evaluate.systems import Recipes
from thinkback.models.embedders import open_embedder
from thinkback.search.recipes.named import named

DATA = Path(__file__).parents[3] / "shared" / "data"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.models,
    pytest.mark.skipif(not DATA.is_dir(), reason="the development data is not there"),
]


CHARACTERS = 500  # of each text; only whole sessions are left as long as they are


@pytest.mark.parametrize(
    ("path", "level", "corpora", "documents", "floor"),
    [
        ("locomo-dev.json", "turn", 1, 200, 0.67),
        ("locomo-dev.json", "session", 1, 8, 0.85),
        ("beam-dev.json", "turn", 2, 80, 0.79),
        ("qmsum-dev.json", "turn", 3, 200, 0.64),
        ("xquad-de", None, 1, 80, 0.89),
    ],
)
def test_no_kind_of_memory_falls(path, level, corpora, documents, floor):
    whole = read_locomo(DATA / path, level=level) if level else read_beir(DATA / path, split="test")
    recipe = named("default")
    part = sliced(whole, corpora, documents, None if level == "session" else CHARACTERS)
    cases = Recipes([recipe], open_embedder("e5-small-v2")).cases(part, recipe)
    assert len(cases) >= 12
    assert Replay(cases).values(recipe, metric("ndcg@10")).mean() >= floor


def sliced(whole: Dataset, count: int, documents: int, characters: int | None) -> Dataset:
    """The beginnings of the smallest corpora, and at most 40 questions that they answer."""
    corpora = [
        Corpus(
            one.id, tuple(replace(document, text=document.text[:characters]) for document in one.documents[:documents])
        )
        for one in sorted(whole.corpora, key=lambda one: len(one.documents))[:count]
    ]
    kept = {(one.id, document.id) for one in corpora for document in one.documents}
    asked = [one for one in whole.questions if kept.issuperset((one.corpus_id, id) for id in one.gold)]
    return replace(whole, corpora=tuple(corpora), questions=tuple(asked[:40]))
