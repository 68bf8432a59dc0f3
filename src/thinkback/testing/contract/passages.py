"""Laws of long texts: one memory, many passages."""

from contextlib import suppress

import numpy as np
import pytest

from thinkback.errors import InvalidInput
from thinkback.model import Draft, Filter, Passages, Scored, StoredRecord, Vector
from thinkback.passages import Span
from thinkback.stores.base import Store
from thinkback.testing.contract.vectors import OTHER, OTHER_SPACE
from thinkback.testing.contract.words import NOW, SPACE, TOY, by_vector, everything, ids, put, put_one
from thinkback.testing.errors import raises
from thinkback.testing.toys import ToyEmbedder

CATS, DOGS = "grey cats sleep all day", "brown dogs bark at night"
TEXT = f"{CATS}. {DOGS}."
SPANS = (Span(0, len(CATS)), Span(len(CATS) + 2, len(TEXT) - 1))


def passages(text: str = TEXT, spans: tuple[Span, ...] = SPANS, toy: ToyEmbedder = TOY) -> Passages:
    """Passages of a text, embedded by a toy."""
    return Passages(spans, toy.embed_passages([span.of(text) for span in spans]))


def put_long(store: Store, text: str = TEXT, spans: tuple[Span, ...] = SPANS, **fields: object) -> StoredRecord:
    """Add one memory with passages."""
    draft = Draft(text=text, vector=TOY.embed_query(text), passages=passages(text, spans), **fields)  # type: ignore[arg-type]
    return store.add([draft], NOW, SPACE)[0]


def by_passage(store: Store, text: str, filter: Filter | None = None, limit: int = 50) -> list[Scored]:
    return store.search_passages(TOY.embed_query(text), filter or Filter(now=NOW), limit)


def cosine(one: Vector, other: Vector) -> float:
    return float(one.astype(np.float64) @ other.astype(np.float64))


class PassageLaws:
    """A long memory is found by its best passage; passages live and die with their version and generation."""

    def test_a_memory_is_scored_by_its_best_passage(self, store: Store) -> None:
        record = put_long(store)
        for said, span in ((CATS, SPANS[0]), (DOGS, SPANS[1])):
            (hit,) = by_passage(store, said)
            assert (hit.id, hit.passage) == (record.id, span)
            assert hit.score == pytest.approx(1.0)
        (hit,) = by_passage(store, "dogs")
        assert hit.score == pytest.approx(cosine(TOY.embed_query("dogs"), TOY.embed_query(DOGS)))

    def test_short_memories_have_no_passages(self, store: Store) -> None:
        put(store, "a cat")
        assert by_passage(store, "a cat") == []
        assert store.passages(ids(store.list(Filter(now=NOW), 9))) == {}
        assert store.stats()["passages"] == 0

    def test_whole_vectors_can_leave_long_memories_out(self, store: Store) -> None:
        long, short = put_long(store), put_one(store, "a cat")
        assert set(ids(by_vector(store, "a cat"))) == {long.id, short.id}
        found = store.search_vectors(TOY.embed_query("a cat"), Filter(now=NOW), 9, long=False)
        assert ids(found) == [short.id]
        then = store.search_vectors(TOY.embed_query("a cat"), everything(known_at=NOW), 9, long=False)
        assert ids(then) == [short.id]

    def test_every_memory_comes_once_and_the_best_come_first(self, store: Store) -> None:
        records = [put_long(store, id=f"m{number}") for number in range(5)]
        best = put_long(store, "dogs. dogs and cats", (Span(0, 4), Span(6, 19)), id="best")
        found = by_passage(store, "dogs", limit=3)
        assert ids(found) == [best.id, records[0].id, records[1].id]
        assert found[0].passage == Span(0, 4)
        assert by_passage(store, "dogs", limit=0) == []
        assert len(by_passage(store, "dogs")) == 6

    def test_filters_apply_before_the_limit(self, store: Store) -> None:
        for number in range(5):
            put_long(store, id=f"m{number}")
        tagged = put_long(store, f"{CATS}. {CATS}!", (Span(0, 23), Span(25, 48)), tags=("pets",))
        assert ids(by_passage(store, "dogs", Filter(now=NOW, tags=("pets",)), 1)) == [tagged.id]
        assert ids(by_passage(store, "dogs", Filter(now=NOW, ids=frozenset({tagged.id})), 1)) == [tagged.id]

    def test_a_new_text_has_new_passages_and_the_past_keeps_its_own(self, store: Store) -> None:
        record = put_long(store)
        text = "red foxes run. blue whales sing"
        spans = (Span(0, 13), Span(15, 31))
        store.update(record.id, {"text": text}, NOW + 1, TOY.embed_query(text), SPACE, passages(text, spans))
        assert by_passage(store, "blue whales sing", Filter(now=NOW + 1))[0].passage == spans[1]
        assert by_passage(store, CATS, Filter(now=NOW + 1))[0].score < 0.9
        (then,) = by_passage(store, CATS, everything(known_at=NOW))
        assert then.passage == SPANS[0]
        assert then.score == pytest.approx(1.0)
        assert store.passages([record.id])[record.id].spans == spans

    def test_an_update_that_keeps_the_text_keeps_the_passages(self, store: Store) -> None:
        record = put_long(store)
        store.update(record.id, {"tags": ("pets",)}, NOW + 1)
        assert by_passage(store, DOGS, Filter(now=NOW + 1))[0].passage == SPANS[1]
        assert store.check() == []

    def test_a_new_text_without_vectors_loses_them(self, store: Store) -> None:
        record = put_long(store)
        store.update(record.id, {"text": "short now"}, NOW + 1)
        assert by_passage(store, DOGS, Filter(now=NOW + 1)) == []
        assert store.passages([record.id]) == {}

    def test_forgetting_removes_them(self, store: Store) -> None:
        record, other = put_long(store), put_long(store, id="other")
        store.update(record.id, {"tags": ("pets",)}, NOW + 1)
        store.forget([record.id])
        assert ids(by_passage(store, CATS, Filter(now=NOW + 1))) == [other.id]
        assert ids(by_passage(store, CATS, everything(known_at=NOW))) == [other.id]
        assert store.stats()["passages"] == 2
        store.forget([other.id])
        assert (by_passage(store, CATS), store.stats()["passages"], store.check()) == ([], 0, [])

    def test_passages_come_with_a_new_generation(self, store: Store) -> None:
        record = put_long(store)
        store.begin_reembedding(OTHER_SPACE)
        waiting = store.next_to_reembed(9)
        made = {number: passages(toy=OTHER) for number in waiting}
        store.put_reembedded({n: OTHER.embed_query(r.text) for n, r in waiting.items()}, OTHER_SPACE, made)
        assert by_passage(store, CATS)[0].passage == SPANS[0]
        store.finish_reembedding(OTHER_SPACE)
        (hit,) = store.search_passages(OTHER.embed_query(DOGS), Filter(now=NOW), 9)
        assert (hit.id, hit.passage) == (record.id, SPANS[1])
        assert (store.stats()["passages"], store.check()) == (2, [])

    def test_long_memories_without_passages_can_get_them_later(self, store: Store) -> None:
        record = put_one(store, TEXT)
        put(store, "short", kind="observation")
        put(store, f"{TEXT} as a theme", kind="reflection")
        waiting = store.unsplit(20, 9)
        assert [one.id for one in waiting.values()] == [record.id]
        store.put_vectors({}, SPACE, {number: passages() for number in waiting})
        assert store.unsplit(20, 9) == {}
        assert by_passage(store, DOGS)[0].passage == SPANS[1]
        assert store.get([record.id])[record.id].embedded

    @pytest.mark.parametrize(
        "spans",
        [(Span(5, 5), Span(6, 9)), (Span(0, 9), Span(8, 12)), (Span(0, 9), Span(9, 999)), (Span(-1, 9), Span(9, 12))],
    )
    def test_passages_must_lie_in_the_text(self, store: Store, spans: tuple[Span, ...]) -> None:
        vectors = TOY.embed_passages([CATS, DOGS])
        with raises(InvalidInput, "bad_passages"):
            store.add([Draft(text=TEXT, vector=vectors[0], passages=Passages(spans, vectors))], NOW, SPACE)
        with raises(InvalidInput, "bad_passages"):
            store.add([Draft(text=TEXT, vector=vectors[0], passages=Passages(SPANS[:1], vectors))], NOW, SPACE)
        assert store.count(everything()) == 0

    def test_a_transaction_sees_its_own_passages_and_a_rollback_removes_them(self, store: Store) -> None:
        put_long(store, id="first")
        assert len(by_passage(store, CATS)) == 1
        with suppress(KeyboardInterrupt), store.transaction():
            put_long(store, id="second")
            assert ids(by_passage(store, CATS)) == ["first", "second"]
            raise KeyboardInterrupt
        assert ids(by_passage(store, CATS)) == ["first"]
        put_long(store, id="third")
        assert ids(by_passage(store, CATS)) == ["first", "third"]

    def test_a_snapshot_carries_them(self, store: Store) -> None:
        record = put_long(store)
        store.update(record.id, {"text": "short"}, NOW + 1, TOY.embed_query("short"), SPACE)
        with store.snapshot(vectors=True, retired=True) as found:
            (old, _, its), (new, _, none) = list(found.records)
        assert (old.text, new.text, none) == (TEXT, "short", None)
        assert its is not None
        assert its.spans == SPANS
        assert its.vectors == pytest.approx(passages().vectors)

    def test_many_at_once_are_written_alike(self, store: Store) -> None:
        drafts = [
            Draft(text=TEXT, vector=TOY.embed_query(TEXT), passages=passages() if number % 3 == 0 else None)
            for number in range(120)
        ]
        store.add(drafts, NOW, SPACE)
        assert len(by_passage(store, CATS, limit=200)) == 40
        assert (store.stats()["passages"], store.check()) == (80, [])
