"""Tidying: dry by default, every action in the journal with before and after, and every one can be undone."""

from pathlib import Path
from typing import Any

import pytest
from codes import raises
from lifecycle_fixtures import living, stored

from thinkback.clock import DAY, HOUR, WEEK
from thinkback.errors import NotFound
from thinkback.memory import Memory
from thinkback.model import Draft, StoredRecord
from thinkback.opening import Opener
from thinkback.settings import Settings
from thinkback.stores.sqlite import SqliteStore
from thinkback.testing import FixedClock


def standing(memory: Memory) -> dict[str, tuple[object, ...]]:
    return {r.id: (r.tier, r.priority, r.confidence, r.expires_at, r.archived_at) for r in memory.list(everything=True)}


def test_a_dry_run_only_tells() -> None:
    with living() as (memory, clock):
        id = memory.remember("call the plumber tomorrow", tier="working").id
        clock.advance(4 * DAY)
        before = standing(memory)
        tidied = memory.tidy()
        assert [(a.action, a.id) for a in tidied.actions] == [("expire", id)]
        assert tidied.batch is None
        assert tidied.dry_run
        assert standing(memory) == before


def test_what_expired_is_archived_not_deleted() -> None:
    with living() as (memory, clock):
        id = memory.remember("call the plumber tomorrow", tier="working").id
        clock.advance(4 * DAY)
        memory.tidy(dry_run=False)
        assert stored(memory, id).archived_at == clock()
        assert memory.get(id).text == "call the plumber tomorrow"


def test_confidence_decays_by_the_week_and_only_once_for_each() -> None:
    with living() as (memory, clock):
        id = memory.remember("Oscar is a grey cat").id
        for week, confidence in ((1, 0.40), (2, 0.40 - 0.05), (3, 0.40 - 2 * 0.05)):
            clock.advance(WEEK)
            memory.tidy(dry_run=False)
            memory.tidy(dry_run=False)
            assert memory.get(id).confidence == pytest.approx(confidence), week


def test_hearing_it_again_starts_the_grace_week_anew() -> None:
    with living() as (memory, clock):
        id = memory.remember("Oscar is a grey cat").id
        clock.advance(WEEK)
        memory.remember("Oscar is a grey cat")
        clock.advance(2 * WEEK - 1)
        memory.tidy(dry_run=False)
        assert memory.get(id).confidence == 0.46
        clock.advance(1)
        memory.tidy(dry_run=False)
        assert memory.get(id).confidence == pytest.approx(0.46 - 0.05)


def test_a_memory_that_keeps_being_recalled_rises() -> None:
    with living() as (memory, clock):
        id = memory.remember("call the plumber tomorrow", tier="working").id
        for _ in range(3):
            clock.advance(HOUR)
            memory.recall("plumber")
        memory.tidy(dry_run=False)
        assert memory.get(id).tier == "episodic"
        assert stored(memory, id).expires_at == clock() + 30 * DAY
        for _ in range(7):
            clock.advance(HOUR)
            memory.recall("plumber")
            memory.flush()
        assert stored(memory, id).expires_at == clock() + 30 * DAY  # the new time to live slides as well
        memory.tidy(dry_run=False)
        assert (memory.get(id).tier, stored(memory, id).expires_at) == ("semantic", None)


def test_a_memory_rises_as_far_as_it_has_earned_at_once() -> None:
    with living() as (memory, _):
        id = memory.remember("call the plumber tomorrow", tier="working").id
        for _ in range(12):
            memory.recall("plumber")
        assert [action.action for action in memory.tidy(dry_run=False).actions] == ["rise"]
        assert (memory.get(id).tier, stored(memory, id).expires_at) == ("semantic", None)
        assert memory.tidy(dry_run=False).actions == ()


def test_repetitions_of_different_days_each_confirm_and_one_day_counts_once() -> None:
    with living(embedder=None) as (memory, clock):
        old = memory.remember("Oscar is a grey cat").id
        for _ in range(2):
            clock.advance(DAY)
            memory.remember_many(["Oscar is a grey cat"] * 2 + [f"note {clock()} {n}" for n in range(40)])
        (confirm,) = [a for a in memory.tidy(dry_run=False).actions if a.action == "confirm"]
        once = 0.40 + 0.1 * 0.60
        assert confirm.after == {"confidence": once + 0.1 * (1 - once)}
        assert memory.get(old).confidence == once + 0.1 * (1 - once)


def test_the_journal_tells_before_and_after() -> None:
    with living() as (memory, clock):
        id = memory.remember("Oscar is a grey cat").id
        clock.advance(2 * WEEK)
        batch = memory.tidy(dry_run=False).batch
        entries = [e for e in memory.store.journal(batch) if e.memory_id == id]
        assert [(e.action, e.before, e.after, e.at) for e in entries] == [
            ("decay", {"confidence": 0.4}, {"confidence": 0.4 - 0.05}, clock())
        ]


def test_undo_restores_everything_and_the_same_tidying_is_found_again() -> None:
    with living() as (memory, clock):
        memory.remember("Oscar is a grey cat")
        memory.remember("call the plumber tomorrow", tier="working")
        memory.remember("we met in Rome", tier="episodic")
        for _ in range(11):
            memory.recall("Rome")
        clock.advance(20 * DAY)
        memory.remember_many(["Oscar is a grey cat", *(f"note number {n}" for n in range(40))])
        memory.flush()
        before, edges = standing(memory), list(memory.store.export_edges())
        tidied = memory.tidy(dry_run=False)
        assert {a.action for a in tidied.actions} == {"expire", "corroborate", "confirm", "decay", "rise"}
        undone = memory.undo(tidied.batch)
        assert undone.skipped == {}
        assert standing(memory) == before
        assert list(memory.store.export_edges()) == edges
        assert memory.tidy().actions == tidied.actions


def test_undo_leaves_alone_what_was_changed_since() -> None:
    with living() as (memory, clock):
        kept, changed, gone = (
            memory.remember(text).id for text in ("one two three", "four five six", "seven eight nine")
        )
        clock.advance(2 * WEEK)
        batch = memory.tidy(dry_run=False).batch
        memory.update(changed, confidence=0.6)
        memory.forget(gone)  # the journal knows it no more
        undone = memory.undo(batch)
        assert undone.undone == (kept,)
        assert undone.skipped == {changed: "was changed since: confidence"}
        assert memory.get(changed).confidence == 0.6


def test_undo_says_which_later_batches_it_passed_over() -> None:
    with living() as (memory, _):
        id = memory.remember("the password is hunter2!").id
        kept = memory.remember("Oscar is a grey cat").id
        memory.archive(kept)
        memory.redact()
        redaction = memory.store.journal()[0].batch
        why = "a redaction cannot be undone"
        undone = memory.undo()
        assert (undone.undone, undone.passed_over) == ((kept,), {redaction: {id: why}})
        assert memory.undo(redaction).skipped == {id: why}
        with raises(NotFound, "nothing_to_undo") as caught:
            memory.undo()
        assert f"{redaction}: {why} ({id})" in caught.value.message


def test_undo_takes_the_last_batch_and_never_the_same_twice() -> None:
    with living() as (memory, clock):
        id = memory.remember("Oscar is a grey cat").id
        memory.archive(id)
        clock.advance(1)
        assert memory.undo().undone == (id,)
        assert memory.get(id).archived_at is None
        with raises(NotFound, "nothing_to_undo"):
            memory.undo()
        with raises(NotFound, "unknown_batch"):
            memory.undo("x")


@pytest.mark.parametrize("every", [1, 2, 6], ids=lambda weeks: f"every {weeks} weeks")
def test_confidence_does_not_depend_on_how_often_it_is_tidied(every: int) -> None:
    """Six weeks of silence, the first one grace, cost 5 · .05; then it is said again."""
    with living() as (memory, clock):
        old = memory.remember("Oscar is a grey cat").id
        for week in range(1, 7):
            clock.advance(WEEK)
            if week % every == 0 and week < 6:
                memory.tidy(dry_run=False)
        memory.remember("Oscar is a grey cat")
        memory.tidy(dry_run=False)
        left = 0.40 - 5 * 0.05
        assert memory.get(old).confidence == pytest.approx(left + 0.1 * (1 - left), abs=1e-12)


@pytest.mark.parametrize("tidied", [True, False])
def test_time_passes_for_archived_memories_too(tidied: bool) -> None:
    with living() as (memory, clock):
        id = memory.remember("Oscar is a grey cat").id
        memory.archive(id)
        clock.advance(6 * WEEK)
        if tidied:
            memory.tidy(dry_run=False)
        memory.restore(id)
        memory.tidy(dry_run=False)
        assert memory.get(id).confidence == 0.40 - 5 * 0.05


def test_decay_that_was_undone_is_due_again_even_after_another_tidying() -> None:
    with living() as (memory, clock):
        id = memory.remember("Oscar is a grey cat").id
        clock.advance(4 * WEEK)
        batch = memory.tidy(dry_run=False).batch
        clock.advance(DAY)
        assert memory.tidy(dry_run=False).actions == ()
        assert memory.undo(batch).skipped == {}
        assert memory.get(id).confidence == 0.40
        memory.tidy(dry_run=False)
        assert memory.get(id).confidence == 0.40 - 3 * 0.05


def test_undo_goes_past_what_cannot_be_undone() -> None:
    with living() as (memory, clock):
        first, second = memory.remember("Oscar is a grey cat").id, memory.remember("Rex is a brown dog").id
        memory.archive(first)
        clock.advance(1)
        memory.archive(second)
        memory.forget(second)
        assert memory.undo().undone == (first,)
        assert memory.get(first).archived_at is None


def test_nothing_to_do_leaves_no_batch() -> None:
    with living() as (memory, _):
        memory.remember("Oscar is a grey cat")
        done = memory.tidy(dry_run=False)
        assert (done.actions, done.batch) == ((), None)
        assert list(memory.store.journal(None)) == []


def test_a_fact_that_was_closed_is_not_confirmed() -> None:
    with living() as (memory, clock):
        oslo = memory.remember("Caroline lives in Oslo").id
        clock.advance(DAY)
        bergen = memory.remember("Caroline lives in Bergen").id
        memory.contest(bergen, oslo, close=True)
        clock.advance(DAY)
        memory.remember("Caroline lives in Oslo")
        assert memory.tidy(dry_run=False).actions == ()
        assert memory.get(oslo).confidence == 0.40


# -- archive


def test_a_memory_forgotten_while_a_large_store_is_read_does_not_stop_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with living(tmp_path / "large.db") as (memory, clock), SqliteStore(tmp_path / "large.db") as other:
        memory.store.add([Draft(text=f"note {n}") for n in range(5100)], clock())
        clock.advance(2 * WEEK)
        listed = memory.store.list

        def then_forgotten(*args: Any) -> list[StoredRecord]:
            page = listed(*args)
            if page and not memory.store.in_transaction:
                other.forget([page[-1].id])
            return page

        monkeypatch.setattr(memory.store, "list", then_forgotten)
        assert len(memory.tidy(dry_run=False).actions) == 5099


def test_archive_hides_and_restore_brings_back() -> None:
    with living() as (memory, _):
        id = memory.remember("Oscar is a grey cat").id
        assert memory.archive(id) == [id]
        assert memory.archive(id) == []
        assert not memory.recall("Oscar").hits
        assert [hit.id for hit in memory.recall("Oscar", everything=True)] == [id]
        assert memory.restore(id) == [id]
        assert [hit.id for hit in memory.recall("Oscar")] == [id]


def test_restoring_an_expired_memory_lets_it_live_for_the_time_of_its_tier() -> None:
    with living() as (memory, clock):
        working = memory.remember("call the plumber tomorrow", tier="working").id
        given = memory.remember("the parking ticket is blue", expires_at=clock() + HOUR).id
        clock.advance(4 * DAY)
        memory.tidy(dry_run=False)
        memory.restore(working, given)
        assert stored(memory, working).expires_at == clock() + 72 * HOUR
        assert memory.get(given).expires_at is None
        assert memory.count() == 2


def test_archiving_what_is_not_there_says_so() -> None:
    with living() as (memory, _), raises(NotFound, "unknown_memory"):
        memory.archive("x")


def test_tidying_trims_the_journal_to_what_undo_may_still_use(tmp_path):
    clock = FixedClock("2026-01-01")
    settings = Settings(embedder="none", reranker="none", journal_days=30)
    with Opener(settings, clock=clock)(tmp_path / "memory.db") as memory:
        record = memory.remember("the cat is grey")
        memory.archive(record.id)
        (old,) = {entry.batch for entry in memory.journal()}
        clock.now += 29 * DAY
        memory.tidy(dry_run=False)
        assert old in {entry.batch for entry in memory.journal()}
        clock.now += 2 * DAY
        memory.tidy(dry_run=True)
        assert old in {entry.batch for entry in memory.journal()}
        memory.tidy(dry_run=False)
        assert old not in {entry.batch for entry in memory.journal()}
