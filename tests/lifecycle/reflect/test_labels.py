"""Labels of themes: phrases that name something, shown as words, and never among the newest memories."""

import os
from pathlib import Path

import pytest
from engine_fixtures import toy_memory

from thinkback.apps.words import in_words
from thinkback.evaluate.datasets.locomo import read_locomo
from thinkback.evaluate.systems import Recipes
from thinkback.evaluate.vectors import CachedEmbedder
from thinkback.lifecycle.reflect.phrases import Lexicon, key_phrases
from thinkback.models.embedders import open_embedder
from thinkback.models.weights import OpenOptions, fetch_options
from thinkback.search.reading import stem
from thinkback.search.recipes.named import DEFAULT
from thinkback.stores.sqlite.vector_cache import VectorCache

CONVERSATIONS = Path(os.environ.get("THINKBACK_DATA", "../shared/data")) / "locomo-dev.json"
_WEAK = (
    "about interesting together truly means with from someone different bye later catch care soon yep hard special peaceful last "
    "week big instead during helps strong alone starting great good nice thing things really image photo plus currently add "
    "others taken anytime beat mix rely key top feels positive group person afterwards wants"
)
WEAK = frozenset(_WEAK.split())


def test_words_that_name_nothing_are_no_label() -> None:
    texts = {f"{n}": "that sounds interesting, tell me about it together" for n in range(4)}
    texts |= {f"o{n}": f"number {n} of other texts" for n in range(40)}
    assert key_phrases(Lexicon.of(texts.items()), [("0", "1", "2", "3")]) == [()]


def test_a_phrase_comes_before_its_single_words() -> None:
    texts = {f"{n}": "Caroline went to the adoption agency" for n in range(4)}
    texts |= {f"o{n}": f"number {n} of other texts" for n in range(40)}
    assert key_phrases(Lexicon.of(texts.items()), [("0", "1", "2", "3")])[0][0] == "adoption agency"


def test_a_theme_reads_as_words_and_is_not_among_the_newest() -> None:
    with toy_memory() as m:
        for n in range(5):
            m.remember(f"the grey cat Oscar sleeps on chair {n}")
        m.remember('{"member_ids": ["x", "y"], "keywords": ["cat"]}', essence="grey cat", kind="reflection")
        assert all(hit.stored.kind != "reflection" for hit in m.recall(""))
        (theme,) = list(m.recall("cat", kinds=["reflection"]))
        assert theme.text == "grey cat"
        assert in_words(theme.record) == "grey cat (a theme of 2 memories)"
        assert [hit.id for hit in m.recall("", kinds=["reflection"])] == [theme.id]


@pytest.mark.slow
@pytest.mark.models
@pytest.mark.skipif(not CONVERSATIONS.exists(), reason="the development data is not here")
def test_no_theme_of_a_conversation_is_labelled_by_weak_words_alone(tmp_path: Path) -> None:
    dataset = read_locomo(CONVERSATIONS)
    embedder = open_embedder("default", OpenOptions(fetch=fetch_options(os.environ, Path.home())))
    with VectorCache(tmp_path / "vectors.db") as cache:
        recipes = Recipes([DEFAULT], CachedEmbedder(embedder, cache))
        with recipes.memory_of(dataset.corpora[0]) as memory:
            memory.reflect()
            labels = [str(record.essence) for record in memory.list(limit=1000, kinds=["reflection"])]
    assert len(labels) > 20
    words = [label.lower().replace(",", "").split() for label in labels]
    assert [label for label in words if set(label) <= WEAK] == []
    assert [label for label in labels if len({stem(word) for word in _alone(label)}) < len(_alone(label))] == []


def _alone(label: str) -> list[str]:
    return [part.lower() for part in label.split(", ") if " " not in part]
