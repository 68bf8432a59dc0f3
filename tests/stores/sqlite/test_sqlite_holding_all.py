"""Memories that hold all words of a text are found without scores: the same ones as by a search, if they are not too many."""

import random

import pytest

from thinkback.lifecycle.repetition import holding
from thinkback.model import REFLECTION, Draft, Filter
from thinkback.stores.sqlite import SqliteStore

NOW = 1_700_000_000_000_000
MEMORIES = Filter(now=NOW, without_kinds=(REFLECTION,))
FREQUENT = ("water", "morning", "garden", "letter", "window", "summer")
RARE = ("quartz", "xylophone", "zeppelin")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    chance = random.Random(4)
    drafts = []
    for n in range(600):
        words = [word for word in FREQUENT if chance.random() < 0.6] + chance.choices(RARE, k=n % 5 == 0)
        chance.shuffle(words)
        drafts.append(Draft(id=f"m{n}", text=f"note {n} of {' '.join(words)}"))
    drafts.append(Draft(id="german", text="die Katzen schlafen nicht auf dem Sofa, sie sitzen vor dem Fenster"))
    drafts.append(Draft(id="theme", kind=REFLECTION, text=" ".join((*FREQUENT, *RARE))))
    with SqliteStore(tmp_path_factory.mktemp("held") / "memory.db") as store:
        store.add(drafts, NOW)
        yield store


@pytest.mark.parametrize(
    "text", ["the quartz in the water of a summer garden", "zeppelin", "window letter morning", "Katze"]
)
def test_all_that_a_search_finds_are_found(store, text):
    query = holding(text)
    searched = {hit.id for hit in store.search_keywords(query, MEMORIES, 1000)}
    found = store.holding_all(query.terms, MEMORIES, 1000)
    assert searched
    assert searched <= set(found)
    assert "theme" not in found


def test_more_than_asked_for_are_left_to_a_search(store):
    query = holding(" ".join(FREQUENT))
    number = len(store.search_keywords(query, MEMORIES, 1000))
    assert 1 < number < 100
    assert store.holding_all(query.terms, MEMORIES, number - 1) is None
    assert len(store.holding_all(query.terms, MEMORIES, number)) == number


def test_hidden_memories_and_reflections_are_left_to_a_search(store):
    query = holding("quartz")
    assert store.holding_all(query.terms, Filter(now=NOW), 1000) is None
    assert store.holding_all((), MEMORIES, 1000) is None
    assert store.holding_all(query.terms, Filter(now=NOW, without_kinds=(REFLECTION,), threads=("none",)), 1000) == []


def test_a_transaction_finds_what_it_wrote(store):
    query = holding("a marmalade of quinces")
    with store.transaction():
        assert store.holding_all(query.terms, MEMORIES, 10) == []
        store.add([Draft(id="new", text="marmalade of quinces")], NOW)
        assert store.holding_all(query.terms, MEMORIES, 10) == ["new"]
