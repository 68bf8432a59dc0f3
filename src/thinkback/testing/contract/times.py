"""Laws of time: what was true then, and what the store knew then."""

import pytest

from thinkback.clock import DAY
from thinkback.model import Filter, StoredEdge
from thinkback.stores.base import Store
from thinkback.testing.contract.words import (
    NOW,
    SPACE,
    TOY,
    by_keyword,
    by_vector,
    everything,
    found_everywhere,
    ids,
    put,
    put_one,
)


class TimeLaws:
    """`as_of` and `known_at` apply to every search."""

    @pytest.mark.parametrize(
        ("as_of", "true_then"),
        [(NOW - 11 * DAY, set()), (NOW - 10 * DAY, {"old"}), (NOW - 5 * DAY, {"new"}), (NOW, {"new"})],
    )
    def test_as_of_finds_what_was_true_then(self, store: Store, as_of: int, true_then: set[str]) -> None:
        put(store, "Oscar lives in Paris", id="old", valid_from=NOW - 10 * DAY, valid_to=NOW - 5 * DAY)
        put(store, "Oscar lives in Rome", id="new", valid_from=NOW - 5 * DAY)
        found = found_everywhere(store, "Oscar lives", Filter(now=NOW, as_of=as_of))
        assert all(ids == true_then for ids in found.values()), found

    def test_known_at_finds_what_the_store_knew_then(self, store: Store) -> None:
        record = put_one(store, "Oscar is a cat", now=NOW)
        store.update(record.id, {"text": "Oscar is a dog"}, NOW + 2 * DAY, TOY.embed_query("Oscar is a dog"), SPACE)
        late = put_one(store, "Oscar is old", now=NOW + 3 * DAY)
        for moment, texts in (
            (NOW - 1, set()),
            (NOW, {"Oscar is a cat"}),
            (NOW + 2 * DAY - 1, {"Oscar is a cat"}),
            (NOW + 2 * DAY, {"Oscar is a dog"}),
            (NOW + 3 * DAY, {"Oscar is a dog", "Oscar is old"}),
        ):
            filter = everything(now=NOW + 9 * DAY, known_at=moment)
            known = {r.id: r.text for r in store.list(filter, 10)}
            assert set(known.values()) == texts
            found = found_everywhere(store, "Oscar is", filter)
            assert all(ids == set(known) for ids in found.values()), found
            assert {r.text for r in store.get([record.id, late.id], known_at=moment).values()} == texts
            assert store.count(filter) == len(texts)

    def test_known_at_ranks_as_the_store_ranked_then(self, store: Store) -> None:
        texts = ["grey cats sleep all day", "a cat and a dog", "dogs bark at the cat", "nothing at all"]
        records = put(store, *texts)
        words, vector = by_keyword(store, "cats bark", everything()), by_vector(store, "cats bark", everything())
        store.update(records[0].id, {"text": "cat cat cat"}, NOW + DAY, TOY.embed_query("cat cat cat"), SPACE)
        put(store, "cats", "bark bark", "many more words about nothing", now=NOW + DAY)
        then = everything(now=NOW + 2 * DAY, known_at=NOW)
        assert by_keyword(store, "cats bark", then) == words
        assert by_vector(store, "cats bark", then) == vector
        assert by_keyword(store, "cats bark", everything(now=NOW + 2 * DAY)) != words

    def test_known_at_with_expert_syntax_and_filters(self, store: Store) -> None:
        a, b = put(store, "the grey cat", "the grey dog", tags=("x",))
        store.update(a.id, {"tags": ("y",), "text": "the black cat"}, NOW + DAY)
        then = Filter(now=NOW + DAY, known_at=NOW, tags=("x",))
        assert set(ids(by_keyword(store, '"the grey"', then))) == {a.id, b.id}
        assert ids(by_keyword(store, "grey AND cat", then)) == [a.id]
        assert ids(by_vector(store, "the grey cat", then))[0] == a.id

    def test_known_at_holds_for_threads_and_edges(self, store: Store) -> None:
        a, b = put(store, "a", "b", thread="t")
        (c,) = put(store, "c", thread="t", now=NOW + DAY)
        store.link([StoredEdge(from_id=a.id, to_id=b.id, created_at=NOW + DAY)], NOW + DAY)
        then, now = everything(now=NOW + DAY, known_at=NOW), everything(now=NOW + DAY)
        kinds = {
            name: {id: [e.kind for e in edges] for id, edges in store.edges([a.id, b.id, c.id], f, 9).items()}
            for name, f in (("then", then), ("now", now))
        }
        assert kinds["then"] == {a.id: ["next"], b.id: ["next"]}
        assert kinds["now"] == {a.id: ["next", "related"], b.id: ["next", "related", "next"], c.id: ["next"]}

    def test_expiry_is_by_now_even_when_looking_back(self, store: Store) -> None:
        put(store, "a note", expires_at=NOW, created_at=NOW - 5 * DAY)
        assert store.count(Filter(now=NOW, as_of=NOW - DAY)) == 0
        assert store.count(Filter(now=NOW - 1, as_of=NOW - DAY)) == 1
