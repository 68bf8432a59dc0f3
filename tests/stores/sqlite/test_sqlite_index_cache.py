"""Two handles on one file, as two processes have: whatever either wrote, both answer like a handle just opened."""

import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thinkback.model import Draft, Filter
from thinkback.search.query.keywords import parse_keywords
from thinkback.stores.base import EmbeddingSpace
from thinkback.stores.sqlite import SqliteStore, counters, index_cache, keywords
from thinkback.testing import ToyEmbedder

NOW = 1_770_000_000_000_000
TOYS = [ToyEmbedder(8), ToyEmbedder(16)]
SPACES = [EmbeddingSpace(toy.fingerprint, toy.dimensions) for toy in TOYS]
WORDS = ["cat", "dog", "bird", "the", "running"]

actions = st.tuples(
    st.sampled_from(["add", "add bare", "update", "amend", "forget", "embed", "reembed", "undo"]),
    st.booleans(),
    st.integers(0, 50),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
)


class Undo(Exception):
    """Raised to leave a transaction without a trace."""


def _act(store: SqliteStore, action: str, place: int, text: str) -> None:
    space = store.embedding_space() or SPACES[0]
    toy = TOYS[SPACES.index(space)]
    ids = sorted(record.id for record in store.list(Filter(now=NOW, everything=True), 99))
    chosen = ids[place % len(ids)] if ids else None
    if action == "add":
        store.add([Draft(text=text, vector=toy.embed_query(text), tags=("t",)), Draft(text="the cat")], NOW, space)
    elif action == "add bare":
        store.add([Draft(text=text, archived_at=NOW, kind="fact", priority="P1")], NOW)
    elif action == "embed":
        store.put_vectors({n: toy.embed_query(r.text) for n, r in store.unembedded(2).items()}, space)
    elif action == "reembed":
        number = 1 - SPACES.index(space)
        store.begin_reembedding(SPACES[number])
        waiting = store.next_to_reembed(999)
        store.put_reembedded({n: TOYS[number].embed_query(r.text) for n, r in waiting.items()}, SPACES[number])
        store.finish_reembedding(SPACES[number])
    elif chosen and action == "update":
        store.update(chosen, {"text": text}, NOW, toy.embed_query(text), space)
    elif chosen and action == "amend":
        store.amend({chosen: {"archived_at": None if place % 2 else NOW, "expires_at": NOW + place - 25}}, NOW)
        store.amend({chosen: {"tier": ("working", "semantic")[place % 2], "priority": "P2"}}, NOW)
    elif chosen and action == "forget":
        store.forget([chosen])
    elif action == "undo":
        try:
            with store.transaction():
                _act(store, "add", place, text)
                _act(store, "forget", place, text)
                _answers(store)
                raise Undo
        except Undo:
            pass


def _counts(store: SqliteStore) -> dict[str, Any]:
    return {name: value for name, value in store.stats().items() if name not in ("engine", "scrub_pending")}


def _answers(store: SqliteStore) -> list[Any]:
    space = store.embedding_space() or SPACES[0]
    toy = TOYS[SPACES.index(space)]
    found: list[Any] = [dict(store.tags()), store.frequencies(("cat", "dog", "runs")), _counts(store)]
    for filter in (Filter(now=NOW), Filter(now=NOW, everything=True), Filter(now=NOW, tags=("t",))):
        found += [store.search_keywords(parse_keywords(word), filter, 9) for word in ("cat dog", "the runs")]
        found.append(store.search_vectors(toy.embed_query("the cat"), filter, 9))
    return found


@settings(max_examples=25, deadline=None)
@given(st.lists(actions, min_size=1, max_size=9))
def test_both_handles_answer_like_a_new_one(steps: list[tuple[str, bool, int, str]]) -> None:
    rows, searches, kept = keywords.PAYS_FROM_ROWS, keywords.PAYS_FROM_SEARCH, index_cache._DEAD_KEPT
    keywords.PAYS_FROM_ROWS, keywords.PAYS_FROM_SEARCH, index_cache._DEAD_KEPT = -1, 0, 3
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "memory.db"
            with SqliteStore(path) as one, SqliteStore(path) as two:
                for action, first, place, text in steps:
                    _act(one if first else two, action, place, text)
                    _answers(two if first else one)
                with SqliteStore(path) as new:
                    expected = _answers(new)
                assert _answers(one) == expected
                assert _answers(two) == expected
                assert one.check() == []
    finally:
        keywords.PAYS_FROM_ROWS, keywords.PAYS_FROM_SEARCH, index_cache._DEAD_KEPT = rows, searches, kept


@pytest.mark.parametrize("name", ["memory.db", ":memory:"])
def test_threads_share_a_store(tmp_path: Path, name: str) -> None:
    """Two write and four search through one handle; every search is complete for what was written before it began."""
    written, done = [0, 0], threading.Event()

    def write(who: int) -> None:
        for number in range(40):
            text = f"note {number} of writer {who}"
            store.add([Draft(text=text, vector=TOYS[0].embed_query(text))], NOW, SPACES[0])
            written[who] += 1

    def search() -> None:
        while not done.is_set():
            least = sum(written)
            assert len(store.search_keywords(parse_keywords("note"), Filter(now=NOW), 999)) >= least
            assert len(store.search_vectors(TOYS[0].embed_query("note"), Filter(now=NOW), 999)) >= least

    with SqliteStore(tmp_path / name if name == "memory.db" else name) as store, ThreadPoolExecutor(6) as pool:
        searches = [pool.submit(search) for _ in range(4)]
        for job in [pool.submit(write, who) for who in range(2)]:
            job.result()
        done.set()
        for job in searches:
            job.result()
        assert store.count(Filter(now=NOW)) == 80
        assert store.check() == []


def test_a_transaction_is_invisible_to_other_threads_until_its_end(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "memory.db") as store:
        seen: list[int] = []
        look = threading.Thread(target=lambda: seen.append(store.count(Filter(now=NOW))))
        with store.transaction():
            store.add([Draft(text="not yet")], NOW)
            look.start()
            look.join()
            assert store.count(Filter(now=NOW)) == 1
        assert seen == [0]
        assert store.count(Filter(now=NOW)) == 1


@pytest.mark.parametrize("leg", ["vectors", "keywords"])
def test_a_memory_that_changes_while_it_is_searched_for_is_found(
    leg: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One search has begun when another brings the cache to a later moment; the first must not mix the two."""
    monkeypatch.setattr(keywords, "PAYS_FROM_ROWS", 0)
    monkeypatch.setattr(keywords, "PAYS_FROM_SEARCH", 0)
    with SqliteStore(tmp_path / "memory.db") as store, SqliteStore(tmp_path / "memory.db") as other:
        vector, tagged = TOYS[0].embed_query("cat"), Filter(now=NOW, tags=("pets",))
        store.add([Draft(text="cat", id="cat", tags=("pets",), vector=vector)], NOW, SPACES[0])

        def search() -> list[str]:
            query = parse_keywords("cat")
            found = (
                store.search_vectors(vector, tagged, 9) if leg == "vectors" else store.search_keywords(query, tagged, 9)
            )
            return [hit.id for hit in found]

        assert search() == ["cat"]
        look = index_cache._counters

        def then_changed(connection: Any) -> tuple[int, int]:
            seen = look(connection)
            monkeypatch.setattr(index_cache, "_counters", look)  # only once
            other.update("cat", {"essence": "a cat"}, NOW)
            assert search() == ["cat"]
            return seen

        monkeypatch.setattr(index_cache, "_counters", then_changed)
        assert search() == ["cat"]


def test_frequencies_of_an_earlier_moment_are_not_kept_for_a_later_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one thread looks a word up, another has seen more memories and begun to keep what it found."""
    with SqliteStore(tmp_path / "memory.db") as store, SqliteStore(tmp_path / "memory.db") as other:
        store.add([Draft(text="the cat")], NOW)
        store.frequencies(["the"])

        class Overtaken(str):
            def __ne__(self, kept: object) -> bool:
                other.add([Draft(text="another cat")], NOW)
                store.frequencies(["another"])
                return str.__ne__(self, kept)

        contents = counters.contents
        with monkeypatch.context() as patch:

            def once(connection: Any) -> str:
                patch.setattr(counters, "contents", contents)
                return Overtaken(contents(connection))

            patch.setattr(counters, "contents", once)
            assert store.frequencies(["cat"]) == (1, {"cat": 1})
        assert store.frequencies(["cat"]) == (2, {"cat": 2})


@pytest.mark.parametrize("part", ["matrices", "impacts"])
def test_a_search_that_was_interrupted_moves_no_row(part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while the cache is brought up to date must not give later memories the names of others."""
    monkeypatch.setattr(keywords, "PAYS_FROM_ROWS", 0)
    monkeypatch.setattr(keywords, "PAYS_FROM_SEARCH", 0)
    with SqliteStore(tmp_path / "memory.db") as store:
        for text in ("filler", "zebra giraffe", "volcano lava"):
            store.add([Draft(text=text, id=text, vector=TOYS[0].embed_query(text))], NOW, SPACES[0])
            if text == "zebra giraffe":
                with monkeypatch.context() as patched:
                    patched.setattr(getattr(index_cache, part), "follow", _interrupted)
                    with pytest.raises(KeyboardInterrupt):
                        _answers(store)
            else:
                _answers(store)
        for text in ("zebra giraffe", "volcano lava"):
            assert store.search_vectors(TOYS[0].embed_query(text), Filter(now=NOW), 1)[0].id == text
            assert store.search_keywords(parse_keywords(text), Filter(now=NOW), 1)[0].id == text


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt
