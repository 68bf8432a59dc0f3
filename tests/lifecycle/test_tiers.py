"""Tiers: working memories live 72 hours, episodic ones 30 days, all others until forgotten; a recall starts the time anew."""

from pathlib import Path

import pytest
from codes import raises
from lifecycle_fixtures import living, stored

from thinkback.clock import DAY, HOUR, from_us
from thinkback.errors import InvalidInput
from thinkback.fields import TIERS
from thinkback.interop.jsonl import export_lines, import_lines
from thinkback.lifecycle.tiers import extended_expiry, risen
from thinkback.model import StoredRecord


@pytest.mark.parametrize(
    ("tier", "life"),
    [("working", 72 * HOUR), ("episodic", 30 * DAY), ("semantic", None), ("procedural", None), ("unknown", None)],
)
def test_every_tier_has_its_time_to_live(tier: str, life: int | None) -> None:
    with living() as (memory, clock):
        record = memory.remember("call the plumber tomorrow", tier=tier)
        assert record.expires_at == (None if life is None else from_us(clock() + life))


def test_all_tiers_are_covered() -> None:
    assert set(TIERS) == {"working", "episodic", "semantic", "procedural", "unknown"}


def test_an_expiry_the_caller_gives_is_kept() -> None:
    with living() as (memory, clock):
        end = from_us(clock() + HOUR)
        assert memory.remember("the parking ticket", tier="working", expires_at=end).expires_at == end
        assert memory.remember("the parking ticket", expires_at=end).expires_at == end


def test_the_time_runs_from_when_the_store_learned_it_not_from_when_it_happened() -> None:
    with living() as (memory, clock):
        met = memory.remember("we met in Rome", tier="episodic", created_at="2020-01-01")
        assert met.expires_at == from_us(clock() + 30 * DAY)


def test_an_expired_memory_is_hidden_and_still_there() -> None:
    with living() as (memory, clock):
        id = memory.remember("call the plumber tomorrow", tier="working").id
        clock.advance(72 * HOUR - 1)
        assert memory.count() == 1
        clock.advance(1)
        assert memory.count() == 0
        assert [record.id for record in memory.list(everything=True)] == [id]


def test_a_recall_slides_the_time() -> None:
    with living() as (memory, clock):
        id = memory.remember("call the plumber tomorrow", tier="working").id
        begun = clock()
        clock.advance(50 * HOUR)
        memory.recall("plumber")
        memory.flush()
        assert stored(memory, id).expires_at == begun + 50 * HOUR + 72 * HOUR
        assert memory.get(id).access_count == 1
        clock.advance(71 * HOUR)
        memory.recall("plumber")
        memory.flush()
        assert stored(memory, id).expires_at == begun + 121 * HOUR + 72 * HOUR


def test_what_is_recalled_every_twenty_hours_never_expires() -> None:
    with living() as (memory, clock):
        id = memory.remember("call the plumber tomorrow", tier="working").id
        for _ in range(10):
            clock.advance(20 * HOUR)
            assert memory.recall("plumber").ids == (id,)


def test_whatever_was_recalled_in_time_is_there_for_every_look_that_follows() -> None:
    for look in ("recall", "list", "count"):
        with living() as (memory, clock):
            memory.remember("call the plumber tomorrow", tier="working")
            clock.advance(71 * HOUR)
            memory.recall("plumber")
            clock.advance(2 * HOUR)
            found = {
                "recall": lambda m=memory: len(m.recall("plumber")),
                "list": lambda m=memory: len(m.list()),
                "count": lambda m=memory: m.count(),
            }
            assert found[look]() == 1


def test_the_moment_of_the_recall_counts_not_that_of_its_writing() -> None:
    record = StoredRecord(id="a", text="a", tier="working", slides=True, expires_at=72 * HOUR)
    assert extended_expiry(record, 71 * HOUR) == 71 * HOUR + 72 * HOUR
    with living() as (memory, clock):
        id = memory.remember("call the plumber tomorrow", tier="working").id
        begun = clock()
        clock.advance(71 * HOUR)
        memory.recall("plumber")
        clock.advance(2 * HOUR)
        memory.flush()
        assert stored(memory, id).expires_at == begun + 71 * HOUR + 72 * HOUR
        assert stored(memory, id).last_access == begun + 71 * HOUR


def test_recalls_of_several_moments_each_count_from_their_own(tmp_path: Path) -> None:
    with living(tmp_path / "m.db") as (memory, clock):
        plumber = memory.remember("call the plumber tomorrow", tier="working").id
        dentist = memory.remember("see the dentist", tier="episodic").id
        begun = clock()
        with memory.store.transaction():
            for query in ("plumber", "dentist", "dentist"):
                clock.advance(HOUR)
                memory.recall(query, limit=1)
        memory.flush()
        assert stored(memory, plumber).expires_at == begun + 1 * HOUR + 72 * HOUR
        assert stored(memory, dentist).expires_at == begun + 3 * HOUR + 30 * DAY
        assert memory.get(dentist).access_count == 2


def test_what_was_restored_slides_again() -> None:
    with living() as (memory, clock):
        id = memory.remember("call the plumber tomorrow", tier="working").id
        clock.advance(80 * HOUR)
        memory.restore(id)
        clock.advance(10 * HOUR)
        memory.recall("plumber")
        memory.flush()
        assert stored(memory, id).expires_at == clock() + 72 * HOUR


def test_what_outlived_the_callers_expiry_is_restored_to_the_life_of_its_tier_and_back_by_undo() -> None:
    with living() as (memory, clock):
        given = clock() + HOUR
        id = memory.remember("the parking ticket", tier="working", expires_at=given).id
        clock.advance(2 * HOUR)
        memory.restore(id)
        clock.advance(HOUR)
        assert (stored(memory, id).expires_at, stored(memory, id).slides) == (clock() - HOUR + 72 * HOUR, True)
        memory.undo()
        assert (stored(memory, id).expires_at, stored(memory, id).slides) == (given, False)


def test_what_was_written_late_and_then_changed_still_slides() -> None:
    with living() as (memory, clock):
        id = memory.remember("the locker code is blue", tier="working", created_at=clock() - DAY).id
        clock.advance(HOUR)
        memory.update(id, text="the locker code is red")
        clock.advance(HOUR)
        memory.recall("locker")
        memory.flush()
        assert stored(memory, id).expires_at == clock() + 72 * HOUR


def test_whose_expiry_it_is_survives_export_and_import() -> None:
    with living() as (one, clock), living() as (two, other_clock):
        own = one.remember("the parking ticket", tier="working", expires_at=clock() + 72 * HOUR).id
        tiers = one.remember("call the plumber tomorrow", tier="working").id
        import_lines(two, list(export_lines(one)))
        other_clock.advance(HOUR)
        two.recall("parking ticket plumber")
        two.flush()
        assert stored(two, own).expires_at == clock() + 72 * HOUR
        assert stored(two, tiers).expires_at == clock() + HOUR + 72 * HOUR


def test_a_recall_does_not_slide_what_the_caller_set() -> None:
    with living() as (memory, clock):
        id = memory.remember("the parking ticket", tier="working", expires_at=clock() + HOUR).id
        memory.recall("parking ticket")
        memory.flush()
        assert stored(memory, id).expires_at == clock() + HOUR


def test_a_recall_does_not_slide_what_the_caller_set_even_where_it_is_what_the_tier_would_give() -> None:
    with living() as (memory, clock):
        end = clock() + 72 * HOUR
        id = memory.remember("the parking ticket", tier="working", expires_at=end).id
        clock.advance(HOUR)
        memory.recall("parking ticket")
        memory.flush()
        assert stored(memory, id).expires_at == end


def test_what_has_expired_does_not_come_back_by_itself() -> None:
    record = StoredRecord(id="a", text="a", tier="working", slides=True, expires_at=72 * HOUR)
    assert extended_expiry(record, 72 * HOUR) is None
    assert extended_expiry(record, 72 * HOUR - 1) == 2 * 72 * HOUR - 1


def test_a_new_tier_brings_its_time_to_live_from_that_moment() -> None:
    with living() as (memory, clock):
        id = memory.remember("call the plumber tomorrow", tier="working").id
        clock.advance(10 * HOUR)
        assert memory.update(id, tier="episodic").expires_at == from_us(clock() + 30 * DAY)
        assert memory.update(id, tier="semantic").expires_at is None
        clock.advance(100 * DAY)
        assert memory.recall("plumber").ids == (id,)
        assert memory.update(id, tier="working").expires_at == from_us(clock() + 72 * HOUR)
        clock.advance(HOUR)
        memory.recall("plumber")
        memory.flush()
        assert stored(memory, id).expires_at == clock() + 72 * HOUR


def test_a_new_tier_leaves_an_expiry_of_the_callers_as_it_is() -> None:
    with living() as (memory, clock):
        end = clock() + 100 * DAY
        for given in ({"expires_at": end}, {}):
            id = memory.remember("the parking ticket", tier="working", **given).id
            memory.update(id, expires_at=end)
            assert memory.update(id, tier="episodic").expires_at == from_us(end)
            assert memory.update(id, tier="semantic").expires_at == from_us(end)
            assert memory.update(id, tier="working", expires_at=end + DAY).expires_at == from_us(end + DAY)
            assert memory.update(id, expires_at=None).expires_at is None


def test_nobody_says_that_an_expiry_slides_but_the_tier() -> None:
    with living() as (memory, _):
        id = memory.remember("the parking ticket").id
        with raises(InvalidInput, "unknown_field"):
            memory.update(id, slides=True)
        with raises(InvalidInput, "unknown_field"):
            memory.remember("the parking ticket", slides=True)  # type: ignore[call-arg]


def test_recalls_make_a_working_memory_episodic_and_an_episodic_one_semantic() -> None:
    tiers_own = {"id": "a", "text": "a", "slides": True, "last_access": HOUR}
    working = StoredRecord(**tiers_own, tier="working", access_count=3, expires_at=73 * HOUR)
    assert risen(working, 2 * HOUR) == {"tier": "episodic", "expires_at": HOUR + 30 * DAY, "slides": True}
    episodic = StoredRecord(**tiers_own, tier="episodic", access_count=10, expires_at=HOUR + 30 * DAY)
    assert risen(episodic, 2 * HOUR) == {"tier": "semantic", "expires_at": None, "slides": False}


def test_a_rise_leaves_an_expiry_of_the_callers_as_it_is() -> None:
    with living() as (memory, clock):
        end = clock() + 100 * DAY
        id = memory.remember("the parking ticket", tier="episodic", expires_at=end).id
        for _ in range(10):
            memory.recall("parking ticket")
        (action,) = memory.tidy(dry_run=False).actions
        assert (action.action, action.after) == ("rise", {"tier": "semantic"})
        assert (memory.get(id).tier, stored(memory, id).expires_at) == ("semantic", end)


def test_a_rise_is_undone_with_the_expiry_it_changed() -> None:
    with living() as (memory, clock):
        id = memory.remember("see the dentist", tier="episodic").id
        for _ in range(10):
            memory.recall("dentist")
        before = clock() + 30 * DAY
        memory.tidy(dry_run=False)
        assert memory.get(id).expires_at is None
        memory.undo()
        assert (memory.get(id).tier, stored(memory, id).expires_at, stored(memory, id).slides) == (
            "episodic",
            before,
            True,
        )


def test_too_few_recalls_change_nothing() -> None:
    assert risen(StoredRecord(id="a", text="a", tier="working", access_count=2), 0) is None
    assert risen(StoredRecord(id="a", text="a", tier="episodic", access_count=9), 0) is None
    assert risen(StoredRecord(id="a", text="a", tier="semantic", access_count=1000), 0) is None
