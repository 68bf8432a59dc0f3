"""Embedding beside writers, rivals and vectors that callers bring."""

import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from codes import raises, warns

from thinkback.errors import EmbeddingSpaceMismatch, ModelUnavailable
from thinkback.lifecycle.embed import Embedding
from thinkback.memory import Memory
from thinkback.model import Draft, Vector
from thinkback.stores.base import EmbeddingSpace
from thinkback.stores.sqlite import SqliteStore
from thinkback.testing import ToyEmbedder

NOW = 1_770_000_000_000_000


class Salted(ToyEmbedder):
    """One of several models that only differ in what they are called and what they make of a word."""

    def __init__(self, salt: str) -> None:
        super().__init__(32)
        self.salt = salt

    @property
    def fingerprint(self) -> str:
        return f"toy-{self.salt}"

    def embed_query(self, text: str) -> Vector:
        return super().embed_query(" ".join(self.salt + word for word in text.split()))

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        return np.stack([self.embed_query(text) for text in texts])


class Overtaken(Salted):
    """While it works on a second text, the whole store is embedded anew by another model."""

    def __init__(self, salt: str, other: SqliteStore) -> None:
        super().__init__(salt)
        self.other = other

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        made = super().embed_passages(texts)
        if "the second" in texts:
            embedding(self.other, "B").reembed()
        return made


def embedding(store: SqliteStore, salt: str) -> Embedding:
    return Embedding(store, lambda: Salted(salt))


def test_a_rival_reembedding_is_told_and_nothing_is_mixed(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with SqliteStore(path) as mine, SqliteStore(path) as theirs:
        mine.add([Draft(text=f"note {n}", id=f"n{n}") for n in range(9)], NOW)
        embedding(mine, "A").reembed()
        rival = embedding(theirs, "C")

        def rival_begins(done: int, left: int) -> None:
            if done == 3:
                theirs.begin_reembedding(rival.space())

        with raises(EmbeddingSpaceMismatch, "reembedding_replaced"):
            embedding(mine, "B").reembed(rival_begins, batch=3)
        assert mine.embedding_space() == embedding(mine, "A").space()
        assert rival.reembed() == 9
        for id, vector in mine.vectors([f"n{n}" for n in range(9)]).items():
            assert vector @ Salted("C").embed_query(f"note {id[1:]}") > 0.99


def test_two_that_embed_anew_with_one_model_do_it_together(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with SqliteStore(path) as mine, SqliteStore(path) as theirs:
        mine.add([Draft(text=f"note {n}", id=f"n{n}") for n in range(9)], NOW)

        def the_other_is_faster(done: int, left: int) -> None:
            assert (done, left) == (3, 9)
            assert embedding(theirs, "B").reembed() == 6

        assert embedding(mine, "B").reembed(the_other_is_faster, batch=3) == 3
        assert mine.embedding_space() == embedding(mine, "B").space()
        assert len(mine.vectors([f"n{n}" for n in range(9)])) == 9


def test_a_rival_that_has_finished_is_told_too(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with SqliteStore(path) as mine, SqliteStore(path) as theirs:
        mine.add([Draft(text=f"note {n}", id=f"n{n}") for n in range(9)], NOW)
        with raises(EmbeddingSpaceMismatch, "reembedding_overtaken"):
            embedding(mine, "B").reembed(lambda done, left: embedding(theirs, "C").reembed() and None, batch=3)
        assert mine.embedding_space() == embedding(mine, "C").space()


def test_what_is_written_during_a_reembedding_is_embedded_too(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with SqliteStore(path) as store, SqliteStore(path) as other:
        store.add([Draft(text="an early note")], NOW)
        look = store.next_to_reembed

        def looked(limit: int) -> object:
            found = look(limit)
            if not found and other.stats()["memories"] == 1:
                other.add([Draft(text="a late note")], NOW)
            return found

        store.next_to_reembed = looked  # type: ignore[method-assign, assignment]
        assert embedding(store, "B").reembed() == 2
        assert store.unembedded(9) == {}


def test_many_that_are_written_at_the_last_moment_do_not_wait_under_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with SqliteStore(path) as store, SqliteStore(path) as other:
        store.add([Draft(text="an early note")], NOW)
        begun: list[int] = []
        transaction = store.transaction

        def late() -> object:
            if not begun:
                other.add([Draft(text=f"late {n}") for n in range(7)], NOW)
            begun.append(1)
            return transaction()

        store.transaction = late  # type: ignore[method-assign, assignment]
        assert embedding(store, "B").reembed(batch=3) == 8
        assert len(begun) == 2


def test_a_vector_of_ones_own_beside_texts_that_need_one() -> None:
    toy = ToyEmbedder(32)
    with SqliteStore(":memory:") as store, warnings.catch_warnings():
        warnings.simplefilter("error")
        memory = Memory(store, embedding=Embedding(store, lambda: toy))
        given = toy.embed_query("something else")
        mine, other = memory.remember_many([{"text": "a cat", "vector": given}, "a dog"])
        assert (mine.embedded, other.embedded) == (True, True)
        found = store.vectors([mine.id, other.id])
        assert np.allclose(found[mine.id], given)
        assert np.allclose(found[other.id], toy.embed_query("a dog"))


def test_texts_beside_a_given_vector_that_cannot_be_embedded_are_told() -> None:
    def unavailable() -> ToyEmbedder:
        raise ModelUnavailable("no weights here", code="no_weights")

    with SqliteStore(":memory:") as store:
        memory = Memory(store, embedding=Embedding(store, unavailable))
        with warns("no_weights"):
            mine, other = memory.remember_many([{"text": "a cat", "vector": np.ones(4, dtype=np.float32)}, "a dog"])
        assert (mine.embedded, other.embedded) == (True, False)
        assert store.embedding_space() == EmbeddingSpace("given", 4)


def test_what_was_embedded_before_the_switch_is_stored_without_its_vector(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with SqliteStore(path) as store, SqliteStore(path) as other:
        memory = Memory(store, embedding=Embedding(store, lambda: Overtaken("A", other)))
        memory.remember("the first")
        with warns("embedding_space_mismatch"):
            record = memory.remember("the second")
        assert not record.embedded
        assert [waiting.id for waiting in store.unembedded(9).values()] == [record.id]
        assert store.embedding_space() == embedding(store, "B").space()


def test_a_text_that_was_embedded_before_the_switch_is_changed_without_its_vector(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with SqliteStore(path) as store, SqliteStore(path) as other:
        memory = Memory(store, embedding=Embedding(store, lambda: Overtaken("A", other)))
        id = memory.remember("the first").id
        with warns("embedded_anew_meanwhile"):
            record = memory.update(id, text="the second")
        assert (record.text, record.embedded) == ("the second", False)


@pytest.mark.parametrize("name", [":memory:", "memory.db"])
def test_a_recall_inside_a_transaction_sees_what_it_wrote(tmp_path: Path, name: str) -> None:
    toy = ToyEmbedder(32)
    with SqliteStore(name if name == ":memory:" else tmp_path / name) as store:
        memory = Memory(store, embedding=Embedding(store, lambda: toy))
        with store.transaction():
            id = memory.remember("a grey cat").id
            found = memory.recall("cat")
            assert (found.ids, found.warnings) == ((id,), ())
