"""Postings in memory give FTS5's own scores, to the last bit, whatever happened to the store before."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thinkback.model import Draft, Filter
from thinkback.search.query.keywords import parse_keywords
from thinkback.stores.sqlite import SqliteStore, impact, keywords, rarest, term_gains
from thinkback.stores.sqlite.catalogue import Catalogue, read
from thinkback.stores.sqlite.impact import tokens
from thinkback.stores.sqlite.segments import segment_of

NOW = 1_770_000_000_000_000
WORDS = [
    "cat",
    "cats",
    "dog",
    "running",
    "run",
    "the",
    "a",
    "relational",
    "Crème",
    "creme",
    "naïve",
    "猫",
    "京",
    "x1",
    "ÅÅ",
    "Häuser",
    "Haus",
    "und",
    "nicht",
    "perros",
    "los",
    "que",
]

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)
steps = st.lists(
    st.tuples(st.sampled_from(["add", "add", "update", "forget"]), st.integers(0, 30), texts, st.booleans()),
    min_size=1,
    max_size=12,
)


def _search_both(store: SqliteStore, text: str, filter: Filter, limit: int) -> list[list[tuple[str, float]]]:
    query = parse_keywords(text)
    with store._connections.read() as connection:
        terms = keywords.plain_terms(connection, query)
        assert terms is not None
        found = [
            keywords.search(connection, query, filter, limit),
            keywords.search_postings(connection, store._indexes.with_impact(connection), query, terms, filter, limit),
        ]
    return [[(hit.id, hit.score) for hit in hits] for hits in found]


def _find_by_rare_terms(patch: pytest.MonkeyPatch, read_at_once: int) -> None:
    """Even if there are few postings; those of a term are read as a whole up to so many, else looked up by part or by row."""
    patch.setattr(rarest, "_PAYS_FROM", 0)
    patch.setattr(rarest, "_LOOKED_UP_AT_ONCE", 0)
    patch.setattr(term_gains, "_FEW", term_gains._FEW * read_at_once)
    patch.setattr(impact, "_READ_AT_ONCE", read_at_once)
    patch.setattr(impact, "MOST_GAINS", 0)


@pytest.mark.parametrize("few", [1, impact._FEW])  # how few rows pass a filter that are scored apart
@pytest.mark.parametrize("read_at_once", [None, 0, 1])
@settings(max_examples=40, deadline=None)
@given(steps=steps, queries=st.lists(texts, min_size=1, max_size=4), limit=st.integers(1, 6))
def test_postings_score_as_fts5_does(
    few: int, read_at_once: int | None, steps: list[tuple[str, int, str, bool]], queries: list[str], limit: int
) -> None:
    with pytest.MonkeyPatch.context() as patch, SqliteStore(":memory:") as store:
        patch.setattr(impact, "_FEW", few)
        patch.setattr(impact, "_OCCURRENCES_AT_ONCE", 5)
        if read_at_once is not None:
            _find_by_rare_terms(patch, read_at_once)
        present: list[str] = []
        for action, place, text, search_now in steps:
            if action == "add":
                drafts = [Draft(text=text, essence=text[:5], tags=("run",)), Draft(text=f"{text} dog")]
                present += [record.id for record in store.add(drafts, NOW)]
            elif present and action == "update":
                store.update(present[place % len(present)], {"text": text}, NOW)
            elif present:
                store.forget([present.pop(place % len(present))])
            if search_now:
                fts5, postings = _search_both(store, text, Filter(now=NOW), limit)
                assert postings == fts5
        for query in queries:
            for filter in (Filter(now=NOW), Filter(now=NOW, tags=("run",))):
                fts5, postings = _search_both(store, query, filter, limit)
                assert postings == fts5


@pytest.mark.parametrize("rare_first", [False, True])
def test_a_large_corpus_that_keeps_growing_scores_the_same(rare_first: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Zipf-like words, 3,000 rows at once, then ones and tens, so that segments are built, merged and built anew."""
    if rare_first:
        _find_by_rare_terms(monkeypatch, 10)
    with SqliteStore(":memory:") as store:
        number = 12345

        def text() -> str:
            nonlocal number
            words = []
            for _ in range(3 + number % 17):
                number = (number * 1103515245 + 12345) % 2**31
                words.append(f"w{2 ** (number % 12) % 997}n{number % 7}")
            return " ".join(words)

        batches = [3000, 1, 1, 1, 10, 1, 40, 1, 1, 600, 1, 1200, 1]
        for batch in batches:
            records = store.add([Draft(text=text()) for _ in range(batch)], NOW)
            store.forget([records[0].id])
            for query in (text(), text(), "w1n1 w2n2"):
                fts5, postings = _search_both(store, query, Filter(now=NOW), 50)
                assert postings == fts5
                assert fts5


def test_frequent_words_are_not_read_if_the_rare_ones_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    _find_by_rare_terms(monkeypatch, 3)
    read: set[object] = set()
    gains = impact.Impact._gains

    def counted(self, term, catalogue):
        read.add(term)
        return gains(self, term, catalogue)

    monkeypatch.setattr(impact.Impact, "_gains", counted)
    texts = [f"cat number {n}" for n in range(300)] + [f"cat zebra quagga {n}" for n in range(12)]
    with SqliteStore(":memory:") as store:
        store.add([Draft(text=text) for text in texts], NOW)
        fts5, postings = _search_both(store, "cat zebra number nowhere", Filter(now=NOW), 5)
        assert (postings, read) == (fts5, {b"zebra"})
        fts5, postings = _search_both(store, "cat zebra", Filter(now=NOW), 15)  # more than have a rare word
        assert (postings, read) == (fts5, {b"zebra", b"cat"})


def test_words_longer_than_fts5_keeps_are_cut_as_it_cuts_them() -> None:
    long = "é" * 20_000  # 40,000 bytes, cut at 32,768
    with SqliteStore(":memory:") as store:
        store.add([Draft(text=f"{long} cat"), Draft(text="cat")], NOW)
        assert len(_search_both(store, "cat", Filter(now=NOW), 5)[1]) == 2
        store.add([Draft(text=f"cat {long}")], NOW)
        fts5, postings = _search_both(store, "cat", Filter(now=NOW), 5)
        assert postings == fts5
        assert len(fts5) == 3
        with store._connections.read() as connection:
            assert [len(word) for word in tokens(connection, "x" * 40_000)] == [32768]


def test_prefixes_phrases_and_expert_queries_are_left_to_fts5() -> None:
    with SqliteStore(":memory:") as store, store._connections.read() as connection:
        for text in ("auto*", "京都", '"grey cat"', "cat AND dog"):
            assert keywords.plain_terms(connection, parse_keywords(text)) is None
        assert keywords.plain_terms(connection, parse_keywords("Running cats 猫")) == [b"run", b"cat", "猫".encode()]


def test_postings_are_used_from_the_third_search_of_a_large_store() -> None:
    with SqliteStore(":memory:") as store:
        store.add([Draft(text=f"cat number {n}") for n in range(keywords.PAYS_FROM_ROWS + 1)], NOW)
        query, filter = parse_keywords("cat"), Filter(now=NOW)
        used = []
        for _ in range(4):
            store.search_keywords(query, filter, 5)
            used.append(store._indexes._view.impact is not None)
        assert used == [False, False, True, True]


def test_occurrences_make_the_same_segment_in_any_order() -> None:
    """Of two terms: the first twice in row 7 and once in row 9, the second once in row 7."""
    terms, owners, rows = [b"cat", b"dog"], np.array([0, 0, 0, 1]), np.array([7, 7, 9, 7])
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]):
        made = segment_of(terms, owners[order], rows[order], np.ones(4), 10)
        assert made.ranges == {b"cat": (0, 2), b"dog": (2, 3)}
        assert (made.rows.tolist(), made.frequencies.tolist()) == ([7, 9, 7], [2.0, 1.0, 1.0])
    weighed = segment_of(terms, owners, rows, np.array([1.0, 0.5, 0.25, 2.0]), 10)
    assert weighed.frequencies.tolist() == [1.5, 0.25, 2.0]
    assert segment_of([], owners[:0], rows[:0], np.ones(0), 0).ranges == {}


def test_versions_are_found_with_and_without_gaps_between_them(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "memory.db") as store:
        ids = [record.id for record in store.add([Draft(text=f"cat {n}") for n in range(5)], 0)]
        asked = [-1, 0, 1, 3, 5, 6, 1 << 40]
        for known in ([1, 2, 3, 4, 5], [1, 2, 4, 5], [2, 4, 5]):
            with store._connections.read() as connection:
                places, here = read(connection, Catalogue.empty(), store.state().changes)[0].find(asked)
            assert here.tolist() == [seq in known for seq in asked]
            assert [known[place] for place in places[here]] == [seq for seq in asked if seq in known]
            store.forget([ids.pop(2 if len(known) == 5 else 0)])
