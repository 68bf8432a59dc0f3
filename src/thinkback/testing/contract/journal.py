"""Laws of judgements, the journal, settings and health."""

from dataclasses import replace

from thinkback.errors import InvalidInput, NotFound
from thinkback.model import StoredEntry, StoredJudgement
from thinkback.stores.base import Store
from thinkback.testing.contract.words import NOW, put, put_one
from thinkback.testing.errors import raises


def _entry(action: str, memory_id: str, batch: str) -> StoredEntry:
    return StoredEntry(0, action, memory_id, {"tier": "working"}, {"tier": "semantic"}, NOW, batch)


class NoteLaws:
    """Judgements, the journal, settings and health."""

    def test_the_last_judgement_counts(self, store: Store) -> None:
        a, b = put(store, "a", "b")
        store.judge([StoredJudgement("q", a.id, 1, NOW), StoredJudgement("q", b.id, 0, NOW)])
        store.judge([StoredJudgement("q", a.id, 2, NOW + 1)])
        assert set(store.judgements()) == {StoredJudgement("q", a.id, 2, NOW + 1), StoredJudgement("q", b.id, 0, NOW)}

    def test_a_judgement_can_be_taken_back(self, store: Store) -> None:
        a, b = put(store, "a", "b")
        store.judge(
            [
                StoredJudgement("q", a.id, 1, NOW),
                StoredJudgement("q", b.id, 1, NOW),
                StoredJudgement("other", a.id, 1, NOW),
            ]
        )
        assert store.unjudge("q", a.id)
        assert not store.unjudge("q", a.id)
        assert not store.unjudge("q", "nobody")
        assert set(store.judgements()) == {StoredJudgement("q", b.id, 1, NOW), StoredJudgement("other", a.id, 1, NOW)}

    def test_judgements_that_mean_nothing_are_refused(self, store: Store) -> None:
        a = put_one(store, "a")
        with raises(NotFound, "unknown_memory"):
            store.judge([StoredJudgement("q", a.id, 1, NOW), StoredJudgement("q", "nobody", 1, NOW)])
        with raises(InvalidInput, "out_of_range"):
            store.judge([StoredJudgement("q", a.id, -1, NOW)])
        assert store.judgements() == []

    def test_the_journal_is_read_newest_first(self, store: Store) -> None:
        a = put_one(store, "a")
        store.log([_entry("promote", a.id, "one"), _entry("expire", a.id, "two"), _entry("archive", a.id, "two")])
        assert [entry.action for entry in store.journal()] == ["archive", "expire", "promote"]
        assert [entry.action for entry in store.journal("two", 1)] == ["archive"]
        assert [entry.action for entry in store.journal(limit=2)] == ["archive", "expire"]
        (entry,) = store.journal("one")
        assert (entry.before, entry.after, entry.at, entry.undone_at) == (
            {"tier": "working"},
            {"tier": "semantic"},
            NOW,
            None,
        )
        store.mark_undone([entry.id], NOW + 1)
        assert store.journal("one")[0].undone_at == NOW + 1

    def test_old_entries_are_trimmed(self, store: Store) -> None:
        a = put_one(store, "a")
        old, young = _entry("promote", a.id, "one"), _entry("archive", a.id, "two")
        store.log([replace(old, at=NOW - 10), replace(young, at=NOW)])
        assert store.trim_journal(NOW) == 1
        assert [entry.action for entry in store.journal()] == ["archive"]
        assert store.trim_journal(NOW) == 0

    def test_settings(self, store: Store) -> None:
        assert store.setting("recipe") is None
        store.set_setting("recipe", "memini")
        store.set_setting("recipe", "default")
        assert store.setting("recipe") == "default"
        store.set_setting("recipe", None)
        assert store.setting("recipe") is None

    def test_notes_do_not_change_what_is_searched(self, store: Store) -> None:
        a = put_one(store, "a")
        before = store.state()
        store.judge([StoredJudgement("q", a.id, 1, NOW)])
        store.log([_entry("promote", a.id, "one")])
        store.set_setting("k", "v")
        assert store.state() == before

    def test_a_healthy_store_has_nothing_to_repair(self, store: Store) -> None:
        a, b = put(store, "a cat", "a dog", tags=("x",), thread="t")
        store.update(a.id, {"text": "a bird"}, NOW + 1)
        store.forget([b.id])
        assert store.check() == store.repair() == []
        assert store.scrub() in (True, False)

    def test_statistics(self, store: Store) -> None:
        put(store, "a", "b", kind="fact", tags=("x",), thread="t")
        put(store, "c", tier="working")
        stats = store.stats()
        assert (stats["memories"], stats["tags"], stats["threads"], stats["embedded"]) == (3, 1, 1, 3)
        assert stats["kinds"] == {"fact": 2, "observation": 1}
        assert stats["tiers"] == {"semantic": 2, "working": 1}
