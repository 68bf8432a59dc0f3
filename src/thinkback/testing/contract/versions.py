"""Laws of changing and forgetting."""

import json
from dataclasses import replace

import pytest

from thinkback.clock import DAY
from thinkback.errors import InvalidInput, NotFound
from thinkback.model import Filter, StoredEdge, StoredEntry, StoredJudgement
from thinkback.stores.base import Store
from thinkback.testing.contract.words import NOW, SPACE, TOY, by_keyword, by_vector, everything, ids, put, put_one
from thinkback.testing.errors import raises


class VersionLaws:
    """An update keeps the older version; forget removes all of them."""

    def test_update_keeps_the_older_version(self, store: Store) -> None:
        old = put_one(store, "Caroline has a cat", tags=("pets",), metadata={"n": 1})
        new = store.update(old.id, {"text": "Caroline has a parrot", "metadata": {"n": 2}}, NOW + DAY)
        assert (new.id, new.text, new.tags, new.metadata) == (old.id, "Caroline has a parrot", ("pets",), {"n": 2})
        assert (new.created_at, new.updated_at, new.recorded_at) == (NOW, NOW + DAY, NOW + DAY)
        versions = store.history(old.id)
        assert [v.text for v in versions] == ["Caroline has a cat", "Caroline has a parrot"]
        assert [(v.recorded_at, v.retired_at) for v in versions] == [(NOW, NOW + DAY), (NOW + DAY, None)]
        assert store.get([old.id])[old.id] == new == versions[-1]
        assert store.count(everything()) == 1

    def test_only_the_present_version_is_found(self, store: Store) -> None:
        record = put_one(store, "a cat sleeps")
        store.update(record.id, {"text": "a parrot talks"}, NOW + 1, TOY.embed_query("a parrot talks"), SPACE)
        assert by_keyword(store, "cat") == []
        assert ids(by_keyword(store, "parrot")) == [record.id]
        assert by_vector(store, "a parrot talks")[0].score == pytest.approx(1.0)
        assert len(by_vector(store, "a cat sleeps")) == 1

    def test_a_new_text_without_a_vector_waits_for_one(self, store: Store) -> None:
        record = put_one(store, "a cat sleeps")
        assert store.update(record.id, {"tags": ("x",)}, NOW + 1).embedded
        assert not store.update(record.id, {"text": "a dog sleeps"}, NOW + 2).embedded
        assert by_vector(store, "a cat sleeps") == []
        assert [waiting.text for waiting in store.unembedded(10).values()] == ["a dog sleeps"]

    def test_a_clock_that_runs_backwards_makes_no_version_end_before_it_began(self, store: Store) -> None:
        record = put_one(store, "one")
        store.update(record.id, {"text": "two"}, NOW - DAY)
        spans = [(v.recorded_at, v.retired_at) for v in store.history(record.id)]
        assert spans == [(NOW, NOW), (NOW, None)]

    def test_update_refuses_what_it_cannot_do(self, store: Store) -> None:
        record = put_one(store, "one", valid_from=NOW)
        with raises(NotFound, "unknown_memory"):
            store.update("nobody", {"text": "x"}, NOW)
        for changes in ({"text": " "}, {"kind": "fatc"}, {"valid_to": NOW - 1}, {"position": 3}, {"texts": "x"}):
            with pytest.raises(InvalidInput):
                store.update(record.id, changes, NOW + 1)
        with raises(InvalidInput, "wrong_dimensions"):
            store.update(record.id, {"text": "x"}, NOW + 1, [1.0], SPACE)  # type: ignore[arg-type]
        assert store.history(record.id) == [record]

    def test_forgetting_leaves_nothing(self, store: Store) -> None:
        gone, kept = put(store, "the grey cat", "the brown dog", tags=("pets",))
        store.update(gone.id, {"text": "the black cat"}, NOW + 1)
        store.link([StoredEdge(from_id=gone.id, to_id=kept.id)], NOW)
        store.judge([StoredJudgement("which cat?", gone.id, 1, NOW)])
        store.log([StoredEntry(0, "tidy", gone.id, {"text": "the grey cat"}, {"text": "the black cat"}, NOW, "b1")])
        assert store.forget([gone.id, "nobody", gone.id]) == [gone.id]
        assert store.get([gone.id]) == {}
        assert store.get([gone.id], known_at=NOW) == {}
        assert not [*store.history(gone.id), *store.judgements(), *store.export_edges()]
        past = everything(known_at=NOW)
        assert ids(by_keyword(store, "grey cat", past)) == []
        assert ids(by_vector(store, "grey cat", past)) == [kept.id]
        assert store.journal() == []
        assert store.forget([gone.id]) == []
        assert store.check() == []
        assert store.scrub()
        assert not any(scan.found for scan in store.traces({b"the grey cat", b"the black cat", gone.id.encode()}))

    def test_forgetting_takes_the_name_from_what_is_noted_of_others(self, store: Store) -> None:
        gone, kept = put(store, "the grey cat", "the brown dog")
        told = {"contested_by": gone.id, "members": [gone.id, kept.id], "tier": gone.id, "valid_to": 3}
        store.log([StoredEntry(0, "contest", kept.id, {"members": [gone.id]}, told, NOW, "b1")])
        store.set_setting("raised", json.dumps({gone.id: "P2", kept.id: gone.id}))
        store.set_setting("seen", json.dumps([gone.id, kept.id]))
        store.set_setting("other", gone.id[:4])
        store.forget([gone.id])
        (entry,) = store.journal()
        assert (entry.before, entry.after) == ({"members": []}, {"members": [kept.id], "tier": gone.id, "valid_to": 3})
        assert json.loads(store.setting("raised") or "") == {kept.id: gone.id}  # standing names nobody
        assert json.loads(store.setting("seen") or "") == [kept.id]
        assert store.setting("other") == gone.id[:4]

    def test_an_entry_of_the_journal_takes_its_old_place_again(self, store: Store) -> None:
        store.log([StoredEntry(0, action, "m", {}, {"n": 1}, NOW, "b1") for action in ("first", "second")])
        first = store.journal()[1]
        store.log([replace(first, undone_at=NOW + 1)])
        assert [(entry.action, entry.undone_at) for entry in store.journal()] == [("second", None), ("first", NOW + 1)]

    def test_after_forgetting_all_ranks_as_if_it_had_never_been(self, store: Store) -> None:
        texts = ["grey cats sleep", "a cat and a dog and a cat", "dogs bark at night", "nothing at all"]
        put(store, *texts)
        before = [(s.id, s.score) for s in by_keyword(store, "cats dog night")]
        extra = put(store, "cat dog cat dog cat", "night and day", "cat " * 50)
        assert [(s.id, s.score) for s in by_keyword(store, "cats dog night")] != before
        store.forget(ids(extra))
        assert [(s.id, s.score) for s in by_keyword(store, "cats dog night")] == before

    def test_versions_can_be_exported_and_put_back(self, store: Store) -> None:
        record = put_one(store, "first text", tags=("a",), metadata={"n": [1]})
        for number in (1, 2):
            store.update(record.id, {"text": f"text {number}"}, NOW + number)
        exported = list(store.export_records())
        assert [(v.text, v.retired_at) for v in exported] == [
            ("first text", NOW + 1),
            ("text 1", NOW + 2),
            ("text 2", None),
        ]
        store.forget([record.id])
        put_one(store, "text 2", id=record.id, recorded_at=NOW + 2)
        retired = [version for version in exported if version.retired_at is not None]
        assert store.restore_versions(retired) == 2
        assert store.restore_versions(retired) == 0
        assert [v.text for v in store.history(record.id)] == ["first text", "text 1", "text 2"]
        assert ids(by_keyword(store, "first", everything(known_at=NOW))) == [record.id]
        assert by_keyword(store, "first") == []
        with raises(InvalidInput, "not_retired"):
            store.restore_versions([exported[-1]])
        assert store.check() == []

    def test_a_snapshot_holds_what_was_there_when_it_was_taken(self, store: Store) -> None:
        first, second = put(store, "a cat", "a dog")
        store.update(first.id, {"text": "a grey cat"}, NOW + 1, TOY.embed_query("a grey cat"), SPACE)
        store.link([StoredEdge(from_id=first.id, to_id=second.id)], NOW)
        store.set_setting("key", "value")
        with store.snapshot(vectors=True) as found:
            store.forget([second.id])
            records = list(found.records)
        assert [(record.text, vector is None) for record, vector, _ in records] == [
            ("a cat", True),
            ("a dog", False),
            ("a grey cat", False),
        ]
        assert records[2][1] == pytest.approx(TOY.embed_query("a grey cat"))
        assert [(edge.from_id, edge.to_id) for edge in found.edges] == [(first.id, second.id)]
        assert (found.space, found.settings["key"], found.judgements) == (SPACE, "value", [])
        with store.snapshot() as found:
            assert [(record.text, vector) for record, vector, _ in found.records] == [
                ("a cat", None),
                ("a grey cat", None),
            ]

    def test_the_present_hides_what_is_closed_expired_or_archived(self, store: Store) -> None:
        put(store, "closed", valid_to=NOW)
        put(store, "expired", expires_at=NOW)
        put(store, "archived", archived_at=NOW + DAY)
        shown = put_one(store, "shown", valid_to=NOW + 1, expires_at=NOW + 1)
        assert ids(store.list(Filter(now=NOW), 10)) == [shown.id]
        assert store.count(everything()) == 4
