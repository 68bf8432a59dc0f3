"""Laws of writing and reading memories."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from threading import Thread
from typing import Any

import pytest

from thinkback.clock import DAY, SECOND
from thinkback.errors import InvalidInput, NotFound, StoreReadOnly, ThinkbackError
from thinkback.model import Access, Draft, Filter, StoredRecord
from thinkback.stores.base import Store
from thinkback.testing.contract.words import NOW, SPACE, TOY, by_keyword, by_vector, everything, ids, put, put_one
from thinkback.testing.errors import raises

_FIELDS = [name for name in Draft.__dataclass_fields__ if name not in ("vector", "passages")]
FULL = Draft(
    text="Caroline adopted a grey cat, Oscar 🐈",
    id="memory-1",
    essence="Oscar the cat",
    kind="event",
    tier="episodic",
    priority="P1",
    importance=0.75,
    confidence=0.5,
    tags=("pets", "caroline"),
    metadata={"source": {"page": 3, "lines": [1, 2.5]}, "ok": True, "none": None, "é": "ü"},
    thread="chat-7",
    position=4,
    created_at=NOW - 5 * DAY,
    updated_at=NOW - 4 * DAY,
    recorded_at=NOW - 3 * DAY,
    valid_from=NOW - 9 * DAY,
    valid_to=NOW + 9 * DAY,
    about_from=NOW - 8 * DAY,
    about_to=NOW - 7 * DAY,
    about_given=True,
    expires_at=NOW + 10 * DAY,
    archived_at=NOW - 1 * DAY,
    cycle=17,
    access_count=3,
    last_access=NOW - 2 * DAY,
    source="diary",
    trust=0.25,
    claim=0.45,
    claimed_at=NOW - 3 * DAY,
    slides=True,
)

BAD_DRAFTS: dict[str, dict[str, Any]] = {
    "empty text": {"text": ""},
    "white space": {"text": " \n\t "},
    "NUL": {"text": "a\0b"},
    "lone surrogate": {"text": "a\ud800b"},
    "not a string": {"text": 7},
    "unknown kind": {"kind": "observatoin"},
    "unknown tier": {"tier": "semantik"},
    "unknown priority": {"priority": "P5"},
    "importance above 1": {"importance": 1.01},
    "importance NaN": {"importance": float("nan")},
    "confidence below 0": {"confidence": -0.1},
    "trust infinite": {"trust": float("inf")},
    "trust true": {"trust": True},
    "slides as a number": {"slides": 1},
    "metadata no object": {"metadata": [1]},
    "metadata with NaN": {"metadata": {"a": float("nan")}},
    "metadata with a set": {"metadata": {"a": {1}}},
    "metadata with a number as key": {"metadata": {"a": {1: 2}}},
    "metadata with NUL": {"metadata": {"a": "\0"}},
    "metadata with a surrogate as key": {"metadata": {"\udc00": 1}},
    "metadata with a giant": {"metadata": {"a": 2**63}},
    "tags as a string": {"tags": "a,b"},
    "a tag with a comma": {"tags": ("a,b",)},
    "a tag of nothing": {"tags": ("a", "  ")},
    "a tag that is a number": {"tags": (1,)},
    "position without thread": {"position": 1},
    "negative access count": {"access_count": -1},
    "time as text": {"created_at": "2026-01-01"},
    "time beyond 9999": {"valid_from": 10**18},
    "true before it begins": {"valid_from": NOW, "valid_to": NOW - 1},
    "empty id": {"id": " "},
    "vector of the wrong size": {"vector": [1.0, 2.0]},
    "vector with NaN": {"vector": [float("nan")] * 64},
    "vector with infinity": {"vector": [float("inf")] * 64},
    "vector of length zero": {"vector": [0.0] * 64},
    "vector of text": {"vector": ["1"] * 64},
}


class MemoryLaws:
    """What goes in comes out; what cannot go in changes nothing."""

    def test_every_field_comes_back(self, store: Store) -> None:
        (written,) = store.add([FULL], NOW)
        read = store.get(["memory-1"])["memory-1"]
        assert read == written
        assert {name: getattr(read, name) for name in _FIELDS} == {name: getattr(FULL, name) for name in _FIELDS}
        assert (read.retired_at, read.embedded) == (None, False)

    def test_what_is_left_out_is_filled_in(self, store: Store) -> None:
        record = store.add([Draft(text="a plain fact")], NOW)[0]
        assert (record.created_at, record.updated_at, record.recorded_at) == (NOW, NOW, NOW)
        assert (record.kind, record.tier, record.priority, record.confidence, record.trust) == (
            "observation",
            "semantic",
            "P3",
            0.40,
            1.0,
        )

    def test_ids_are_unique_and_sort_by_time(self, store: Store) -> None:
        first = ids(put(store, "a b", "b c", "c d", now=NOW))
        later = ids(put(store, "d e", "e f", now=NOW + SECOND))
        assert first + later == sorted(set(first + later))

    def test_an_id_is_given_once(self, store: Store) -> None:
        put_one(store, "the first", id="x")
        with raises(InvalidInput, "id_taken"):
            put(store, "the second", id="x")
        with raises(InvalidInput, "id_taken"):
            put(store, "one", "two", id="y")
        assert store.count(everything()) == 1

    @pytest.mark.parametrize("fields", BAD_DRAFTS.values(), ids=BAD_DRAFTS)
    def test_bad_input_is_refused_and_loses_nothing(self, store: Store, fields: dict[str, Any]) -> None:
        put_one(store, "a good memory", id="good")
        before = (store.state(), store.get(["good"]), store.stats()["memories"])
        bad = replace(Draft(text="a bad memory"), **fields)
        with pytest.raises(InvalidInput) as refused:
            store.add([Draft(text="a good companion"), bad], NOW, SPACE)
        assert len(str(refused.value)) > 10
        assert (store.state(), store.get(["good"]), store.stats()["memories"]) == before

    @pytest.mark.parametrize(
        ("fields", "remedy"), [({"kind": "observatoin"}, "observation"), ({"tier": "semantik"}, "semantic")]
    )
    def test_a_near_miss_is_named(self, store: Store, fields: dict[str, Any], remedy: str) -> None:
        with pytest.raises(InvalidInput, match=f"Did you mean '{remedy}'"):
            store.add([Draft(text="x", **fields)], NOW)

    def test_tags_are_lower_case_and_distinct(self, store: Store) -> None:
        record = put_one(store, "about pets", tags=("#Pets", "pets", " New  York "))
        assert record.tags == ("pets", "new york")
        assert store.get([record.id])[record.id].tags == ("pets", "new york")
        assert dict(store.tags()) == {"new york": 1, "pets": 1}

    def test_tags_are_counted_over_present_memories(self, store: Store) -> None:
        one, two = put(store, "one", "two", tags=("a", "b"))
        store.update(one.id, {"tags": ("b", "c")}, NOW + 1)
        tags, before = store.tags(), store.state().contents
        assert dict(tags) == {"a": 1, "b": 2, "c": 1}
        store.amend({one.id: {"priority": "P1"}}, NOW)
        store.touch({one.id: Access(1, NOW)})
        assert (store.tags(), store.state().contents) == (tags, before)
        store.forget([two.id])
        assert store.state().contents != before
        assert dict(store.tags()) == {"b": 1, "c": 1}

    def test_get_passes_over_unknown_ids_and_keeps_the_order_asked_for(self, store: Store) -> None:
        a, b, c = put(store, "a", "b", "c")
        assert list(store.get([c.id, "nobody", a.id, b.id])) == [c.id, a.id, b.id]
        assert store.get([]) == {}

    def test_ids_are_found_by_their_last_letters(self, store: Store) -> None:
        for id in ("b-XYZ", "a-XYZ", "XYZ-c", "XY"):
            put_one(store, "Oscar is a cat", id=id)
        store.forget(["XY"])
        assert store.ids_ending("XYZ", 10) == ["a-XYZ", "b-XYZ"]
        assert store.ids_ending("XYZ", 1) == ["a-XYZ"]
        assert store.ids_ending("XY", 10) == []

    def test_pages_run_newest_first_without_gaps(self, store: Store) -> None:
        for day in (3, 1, 2):
            put(store, f"day {day} a", f"day {day} b", created_at=NOW - day * DAY)
        whole = store.list(Filter(now=NOW), None)
        assert [r.text for r in whole] == ["day 1 b", "day 1 a", "day 2 b", "day 2 a", "day 3 b", "day 3 a"]
        pages, after = [], None
        while page := store.list(Filter(now=NOW), 4, after):
            pages.append(ids(page))
            after = page[-1].id
        assert pages == [ids(whole[:4]), ids(whole[4:])]
        with raises(NotFound, "unknown_memory"):
            store.list(Filter(now=NOW), 4, "nobody")

    def test_amend_changes_standing_in_place(self, store: Store) -> None:
        a, b = put(store, "a", "b")
        store.amend({a.id: {"priority": "P1", "importance": 0.9}, b.id: {"tier": "working", "slides": True}}, NOW + 1)
        read = store.get([a.id, b.id])
        assert (read[a.id].priority, read[a.id].importance, read[a.id].slides) == ("P1", 0.9, False)
        assert (read[b.id].tier, read[b.id].slides) == ("working", True)
        assert len(store.history(a.id)) == 1
        assert store.get([a.id], known_at=NOW)[a.id].priority == "P1"

    def test_amend_is_all_or_nothing(self, store: Store) -> None:
        a = put_one(store, "a")
        with raises(NotFound, "unknown_memory"):
            store.amend({a.id: {"priority": "P1"}, "nobody": {"priority": "P1"}}, NOW)
        with raises(InvalidInput, "unknown_field"):
            store.amend({a.id: {"text": "b"}}, NOW)
        with raises(InvalidInput, "unknown_value"):
            store.amend({a.id: {"priority": "P9"}}, NOW)
        assert store.get([a.id])[a.id] == a

    def test_touch_counts_accesses_and_passes_over_who_is_gone(self, store: Store) -> None:
        a = put_one(store, "a")
        store.touch({a.id: Access(2, NOW + 7), "nobody": Access(5, NOW + 7)})
        store.touch({a.id: Access(1, NOW + 3)})
        read = store.get([a.id])[a.id]
        assert (read.access_count, read.last_access) == (3, NOW + 7)
        store.touch({})
        assert store.get([a.id])[a.id] == read

    def test_a_touch_counts_each_memory_apart_and_is_one_write(self, store: Store) -> None:
        a, b, c = put(store, "a", "b", "c")
        before = store.state()
        store.touch({a.id: Access(2, NOW + 7), b.id: Access(1, NOW + 9)})
        assert store.state().touches == before.touches + 1
        counted = {a.id: (2, NOW + 7), b.id: (1, NOW + 9), c.id: (0, None)}
        read: Sequence[Iterable[StoredRecord]] = (
            store.get([a.id, b.id, c.id]).values(),
            store.get([a.id, b.id, c.id], known_at=NOW).values(),
            store.list(Filter(now=NOW), None),
            store.export_records(),
        )
        for records in read:
            assert {record.id: (record.access_count, record.last_access) for record in records} == counted

    def test_a_new_version_has_the_accesses_of_the_one_before(self, store: Store) -> None:
        a = put_one(store, "a", access_count=5, last_access=NOW)
        store.touch({a.id: Access(2, NOW + 7)})
        assert store.update(a.id, {"text": "b"}, NOW + 8).access_count == 7
        store.touch({a.id: Access(1, NOW + 9)})
        found = [(record.access_count, record.last_access) for record in store.history(a.id)]
        assert found == [(7, NOW + 7), (8, NOW + 9)]

    def test_a_touch_that_is_taken_back_counts_nothing(self, store: Store) -> None:
        a = put_one(store, "a")
        store.touch({a.id: Access(2, NOW + 7)})
        before = store.state()
        with suppress(RuntimeError), store.transaction():
            store.touch({a.id: Access(40, NOW + 9)})
            assert store.get([a.id])[a.id].access_count == 42
            raise RuntimeError
        read = store.get([a.id])[a.id]
        assert (read.access_count, read.last_access, store.state()) == (2, NOW + 7, before)

    def test_changes_and_touches_are_counted_apart(self, store: Store) -> None:
        states = [store.state()]
        record = put_one(store, "a")
        states.append(store.state())
        store.touch({record.id: Access(1, NOW)})
        states.append(store.state())
        store.amend({record.id: {"priority": "P1"}}, NOW)
        states.append(store.state())
        assert [s.changes > t.changes for s, t in zip(states[1:], states, strict=False)] == [True, False, True]
        assert [s.touches > t.touches for s, t in zip(states[1:], states, strict=False)] == [False, True, False]
        assert len({s.store_id for s in states}) == 1

    def test_a_transaction_is_all_or_nothing(self, store: Store) -> None:
        kept = put_one(store, "kept cat")
        before = store.state()
        with raises(ThinkbackError, "stop"), store.transaction():
            put(store, "lost cat")
            store.forget([kept.id])
            assert ids(by_keyword(store, "cat")) != [kept.id]
            assert ids(by_vector(store, "kept")) != [kept.id]
            raise ThinkbackError("stop", code="stop")
        assert store.state() == before
        assert ids(by_keyword(store, "cat")) == ids(by_vector(store, "kept cat")) == [kept.id]

    def test_a_write_that_fails_inside_a_transaction_takes_nothing_with_it(self, store: Store) -> None:
        with store.transaction():
            a = put_one(store, "first cat")
            with pytest.raises(InvalidInput):
                put(store, "second cat", "third cat", id="same")
            b = put_one(store, "fourth cat")
        assert set(ids(by_keyword(store, "cat"))) == {a.id, b.id} == set(ids(by_vector(store, "cat")))

    def test_a_view_sees_one_moment(self, store: Store) -> None:
        """Also while another thread writes; a store in memory has one connection only, and gives itself."""
        put(store, "a grey cat", tags=("pets",))
        with store.view() as view:
            if view is store:
                return
            before = (view.state(), view.tags(), ids(by_keyword(view, "cat")), ids(by_vector(view, "cat")))
            writer = Thread(target=put, args=(store, "a black cat"), kwargs={"tags": ("night",)})
            writer.start()
            writer.join()
            after = (view.state(), view.tags(), ids(by_keyword(view, "cat")), ids(by_vector(view, "cat")))
            assert after == before
            with pytest.raises(StoreReadOnly):
                put(view, "another cat")
        assert len(by_keyword(store, "cat")) == len(by_vector(store, "cat")) == 2

    def test_a_view_inside_a_transaction_is_the_transaction_s(self, store: Store) -> None:
        with store.transaction():
            record = put_one(store, "a grey cat")
            with store.view() as view:
                assert ids(by_keyword(view, "cat")) == [record.id]

    def test_vectors_are_normalised(self, store: Store) -> None:
        vector = TOY.embed_query("cats") * 3
        (record,) = store.add([Draft(text="cats", vector=vector)], NOW, SPACE)
        assert store.vectors([record.id])[record.id] == pytest.approx(vector / 3, abs=1e-7)
