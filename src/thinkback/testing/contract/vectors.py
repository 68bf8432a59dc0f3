"""Laws of embedding spaces."""

from collections.abc import Callable

import numpy as np
import pytest

from thinkback.errors import Action, EmbeddingSpaceMismatch, InvalidInput, NotFound, Remedy, StoreError
from thinkback.model import Draft, Filter
from thinkback.stores.base import EmbeddingSpace, Store
from thinkback.testing.contract.words import NOW, SPACE, TOY, by_vector, everything, ids, put, put_one
from thinkback.testing.errors import raises
from thinkback.testing.toys import ToyEmbedder

OTHER = ToyEmbedder(32)
OTHER_SPACE = EmbeddingSpace(OTHER.fingerprint, OTHER.dimensions)


class VectorLaws:
    """One space is live; re-embedding builds another and replaces it atomically."""

    def test_the_first_vectors_name_the_space(self, store: Store) -> None:
        assert store.embedding_space() is None
        put(store, "a cat")
        assert store.embedding_space() == SPACE

    def test_spaces_are_never_mixed(self, store: Store) -> None:
        record = put_one(store, "a cat")
        draft = Draft(text="a dog", vector=OTHER.embed_query("a dog"))
        with pytest.raises(EmbeddingSpaceMismatch) as mixed:
            store.add([draft], NOW, OTHER_SPACE)
        assert mixed.value.remedy == Remedy(Action.REEMBED)
        with pytest.raises(EmbeddingSpaceMismatch):
            store.update(record.id, {"text": "a dog"}, NOW, OTHER.embed_query("a dog"), OTHER_SPACE)
        with pytest.raises(EmbeddingSpaceMismatch):
            store.put_vectors({1: OTHER.embed_query("a dog")}, OTHER_SPACE)
        assert store.history(record.id) == [record]
        assert store.count(everything()) == 1

    def test_vectors_need_a_space(self, store: Store) -> None:
        with raises(InvalidInput, "no_embedding_space"):
            store.add([Draft(text="a dog", vector=TOY.embed_query("a dog"))], NOW)

    def test_vectors_can_come_later(self, store: Store) -> None:
        a, b = store.add([Draft(text="a cat"), Draft(text="a dog")], NOW)
        store.update(a.id, {"text": "a grey cat"}, NOW + 1)
        waiting = store.unembedded(10)
        assert [r.text for r in waiting.values()] == ["a cat", "a dog", "a grey cat"]
        assert [r.text for r in store.unembedded(1).values()] == ["a cat"]
        store.put_vectors({n: TOY.embed_query(r.text) for n, r in waiting.items()}, SPACE)
        assert store.unembedded(10) == {}
        assert ids(by_vector(store, "a grey cat")) == [a.id, b.id]
        assert by_vector(store, "a cat", everything(known_at=NOW))[0].score == pytest.approx(1.0)
        assert all(r.embedded for r in store.get([a.id, b.id]).values())

    def test_vectors_of_what_was_forgotten_meanwhile_are_passed_over(self, store: Store) -> None:
        a, b = store.add([Draft(text="a cat"), Draft(text="a dog")], NOW)
        waiting = store.unembedded(10)
        store.forget([a.id])
        store.put_vectors({n: TOY.embed_query(r.text) for n, r in waiting.items()}, SPACE)
        assert ids(by_vector(store, "a cat")) == [b.id]
        assert store.check() == []

    def test_one_bad_vector_of_many_writes_none(self, store: Store) -> None:
        store.add([Draft(text="a cat"), Draft(text="a dog")], NOW)
        one, two = store.unembedded(10)
        with raises(InvalidInput, "zero_vector"):
            store.put_vectors({one: TOY.embed_query("a cat"), two: np.zeros(64, dtype=np.float32)}, SPACE)
        assert len(store.unembedded(10)) == 2

    def test_reembedding_switches_at_once(self, store: Store) -> None:
        a, b = put(store, "a cat", "a dog")
        store.update(b.id, {"text": "a big dog"}, NOW + 1)
        assert store.begin_reembedding(OTHER_SPACE) == 3
        first = store.next_to_reembed(2)
        store.put_reembedded({n: OTHER.embed_query(r.text) for n, r in first.items()}, OTHER_SPACE)
        assert store.embedding_space() == SPACE
        assert ids(by_vector(store, "a cat")) == [a.id]
        with raises(StoreError, "vectors_missing"):
            store.finish_reembedding(OTHER_SPACE)
        assert store.begin_reembedding(OTHER_SPACE) == 1
        late = put_one(store, "a late bird")
        rest = store.next_to_reembed(10)
        assert [r.text for r in rest.values()] == ["a big dog", "a late bird"]
        store.put_reembedded({n: OTHER.embed_query(r.text) for n, r in rest.items()}, OTHER_SPACE)
        store.finish_reembedding(OTHER_SPACE)
        assert store.embedding_space() == OTHER_SPACE
        found = store.search_vectors(OTHER.embed_query("a big dog"), Filter(now=NOW + 1), 5)
        assert found[0].id == b.id
        assert set(ids(found)) == {a.id, b.id, late.id}
        assert store.unembedded(10) == {}
        assert store.check() == []

    def test_reembedding_to_yet_another_space_starts_anew(self, store: Store) -> None:
        put(store, "a cat")
        store.begin_reembedding(OTHER_SPACE)
        store.put_reembedded({n: OTHER.embed_query(r.text) for n, r in store.next_to_reembed(9).items()}, OTHER_SPACE)
        third = ToyEmbedder(16)
        third_space = EmbeddingSpace(third.fingerprint, 16)
        assert store.begin_reembedding(third_space) == 1
        with raises(InvalidInput, "wrong_dimensions"):
            store.put_reembedded(
                {n: OTHER.embed_query(r.text) for n, r in store.next_to_reembed(9).items()}, third_space
            )

    def test_two_reembeddings_do_not_mix(self, store: Store) -> None:
        """The re-embedding that was replaced gets an error, even if both spaces have as many dimensions; the other continues."""
        a = put_one(store, "a cat")
        store.begin_reembedding(OTHER_SPACE)
        waiting = store.next_to_reembed(9)
        rival = EmbeddingSpace("rival", OTHER.dimensions)
        assert store.begin_reembedding(rival) == 1
        vectors = {n: OTHER.embed_query(r.text) for n, r in waiting.items()}
        with raises(EmbeddingSpaceMismatch, "reembedding_replaced"):
            store.put_reembedded(vectors, OTHER_SPACE)
        store.put_reembedded(vectors, rival)
        with raises(EmbeddingSpaceMismatch, "reembedding_replaced"):
            store.finish_reembedding(OTHER_SPACE)
        assert store.embedding_space() == SPACE
        store.finish_reembedding(rival)
        assert store.embedding_space() == rival
        assert list(store.vectors([a.id])) == [a.id]

    def test_nothing_to_finish_without_a_beginning(self, store: Store) -> None:
        attempts: tuple[Callable[[], object], ...] = (
            lambda: store.finish_reembedding(SPACE),
            lambda: store.next_to_reembed(1),
            lambda: store.put_reembedded({}, SPACE),
        )
        for attempt in attempts:
            with raises(NotFound, "no_reembedding"):
                attempt()
