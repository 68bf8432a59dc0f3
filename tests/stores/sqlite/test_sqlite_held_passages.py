"""Passages that a view serves from memory: the same as in the file, also after the view has ended."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

import thinkback
from thinkback.model import Filter, Passages
from thinkback.passages import Span
from thinkback.stores.sqlite import SqliteStore
from thinkback.stores.together import HeldPassages, held_passages
from thinkback.testing import ToyEmbedder
from thinkback.testing.contract.passages import CATS, DOGS, SPANS, TEXT, by_passage, passages, put_long
from thinkback.testing.contract.words import NOW, SPACE, TOY, put_one

ALL = Span(0, len(TEXT))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(tmp_path / "m.db") as made:
        yield made


def held(store: SqliteStore) -> HeldPassages | None:
    """What a view that has searched holds, after its end."""
    with store.view() as view:
        by_passage(view, CATS)
        return held_passages(view)


def same(some: Passages, others: Passages) -> bool:
    equal = np.array_equal(some.vectors, others.vectors) and some.vectors.dtype == others.vectors.dtype
    return some.spans == others.spans and equal


def read(store: SqliteStore, ids: Sequence[str]) -> list[str]:
    """The ids whose passages are in memory, each compared with the file."""
    found = held(store)
    assert found is not None
    passages, stored = found(ids), store.passages(ids)
    assert all(same(passages[id], stored[id]) for id in passages)
    return sorted(passages)


def test_a_view_holds_the_passages_of_what_it_found(store: SqliteStore) -> None:
    for name in ("a", "b", "c"):
        put_long(store, id=name)
    put_one(store, "a cat", id="short")
    assert read(store, ["c", "a", "short", "unknown"]) == ["a", "c"]


def test_nothing_is_held_before_a_search_or_without_passages(store: SqliteStore) -> None:
    put_one(store, "a cat")
    assert held(store) is None
    put_long(store)
    with store.view() as view:
        assert held_passages(view) is None
    assert held_passages(store) is None  # no view


def test_what_is_held_stays_as_it_was(store: SqliteStore) -> None:
    put_long(store, id="a")
    before = held(store)
    assert before is not None
    store.update("a", {"text": DOGS}, NOW + 1, TOY.embed_query(DOGS), SPACE)
    assert before(["a"])["a"].spans == SPANS
    put_long(store, id="b")
    assert read(store, ["a", "b"]) == ["b"]
    store.forget(["b"])
    assert held(store) is None or read(store, ["a", "b"]) == []


def test_a_version_with_the_same_text_has_the_passages_again(store: SqliteStore) -> None:
    for name in ("a", "b"):
        put_long(store, id=name)
    read(store, ["a"])
    store.update("a", {"tags": ("pets",)}, NOW + 1)
    assert read(store, ["a", "b"]) == ["a", "b"]


@pytest.mark.parametrize("between", [False, True])
def test_of_passages_that_were_written_anew_the_file_tells(store: SqliteStore, between: bool) -> None:
    put_long(store, id="a")
    held(store)
    if between:
        put_long(store, id="b")
    store.put_vectors({1: TOY.embed_query(TEXT)}, SPACE, {1: passages(TEXT, (ALL,))})
    assert store.passages(["a"])["a"].spans == (ALL,)
    assert read(store, ["a"]) == []


def test_a_recall_reads_no_passages_from_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filler = "The river rose in spring. " * 30
    with thinkback.open(tmp_path / "m.db", embedder=ToyEmbedder()) as memory:
        memory.remember(f"{filler}\n\nA heron stood by the mill. {filler}", id="long")
        expected = memory.recall("where did the heron stand?")[0].passage
        assert expected is not None
        assert "heron" in expected.text
        read: list[Sequence[str]] = []
        monkeypatch.setattr(SqliteStore, "passages", lambda self, ids: read.append(ids) or {})
        assert memory.recall("where did the heron stand?")[0].passage == expected
        assert read == []
        memory.recall("where did the heron stand?", known_at=memory.get("long").recorded_at)
        assert read == []


def test_the_past_is_found_beside_the_present(store: SqliteStore) -> None:
    put_long(store, id="a")
    store.update("a", {"text": DOGS}, NOW + 1, TOY.embed_query(DOGS), SPACE)
    put_long(store, id="b")
    (one, other) = by_passage(store, CATS, Filter(now=NOW + 1, known_at=NOW, everything=True))
    assert [one.id, other.id] == ["a", "b"]
