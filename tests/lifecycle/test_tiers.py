"""Tiers: working memories live 72 hours, episodic ones 30 days, all others until forgotten; a recall starts the time anew."""

import pytest
from lifecycle_fixtures import living

from recollect.clock import DAY, HOUR
from recollect.lifecycle.tiers import risen, slid
from recollect.model import TIERS, Record


@pytest.mark.parametrize(
    ("tier", "life"),
    [("working", 72 * HOUR), ("episodic", 30 * DAY), ("semantic", None), ("procedural", None), ("unknown", None)],
)
def test_every_tier_has_its_time_to_live(tier: str, life: int | None) -> None:
    with living() as (memory, clock):
        record = memory.remember("call the plumber tomorrow", tier=tier)
        assert record.expires_at == (None if life is None else clock() + life)


def test_all_tiers_are_covered() -> None:
    assert set(TIERS) == {"working", "episodic", "semantic", "procedural", "unknown"}


def test_an_expiry_the_caller_gives_is_kept() -> None:
    with living() as (memory, clock):
        assert (
            memory.remember("the parking ticket", tier="working", expires_at=clock() + HOUR).expires_at
            == clock() + HOUR
        )
        assert memory.remember("the parking ticket", expires_at=clock() + HOUR).expires_at == clock() + HOUR


def test_the_time_runs_from_when_the_store_learned_it_not_from_when_it_happened() -> None:
    with living() as (memory, clock):
        assert (
            memory.remember("we met in Rome", tier="episodic", created_at="2020-01-01").expires_at == clock() + 30 * DAY
        )


def test_an_expired_memory_is_hidden_and_still_there() -> None:
    with living() as (memory, clock):
        id = memory.remember("call the plumber tomorrow", tier="working").id
        clock.advance(72 * HOUR - 1)
        assert memory.count() == 1
        clock.advance(1)
        assert memory.count() == 0
        assert [record.id for record in memory.list(everything=True)] == [id]


def test_a_recall_slides_the_time_when_it_is_counted_not_while_it_searches() -> None:
    with living() as (memory, clock):
        id = memory.remember("call the plumber tomorrow", tier="working").id
        begun = clock()
        clock.advance(50 * HOUR)
        memory.recall("plumber")
        assert memory.get(id).expires_at == begun + 72 * HOUR
        memory.flush()
        assert memory.get(id).expires_at == begun + 50 * HOUR + 72 * HOUR
        assert memory.get(id).access_count == 1
        clock.advance(71 * HOUR)
        memory.recall("plumber")
        memory.flush()
        assert memory.get(id).expires_at == begun + 121 * HOUR + 72 * HOUR


def test_a_recall_does_not_slide_what_the_caller_set() -> None:
    with living() as (memory, clock):
        id = memory.remember("the parking ticket", tier="working", expires_at=clock() + HOUR).id
        memory.recall("parking ticket")
        memory.flush()
        assert memory.get(id).expires_at == clock() + HOUR


def test_what_has_expired_does_not_come_back_by_itself() -> None:
    record = Record(id="a", text="a", tier="working", recorded_at=0, expires_at=72 * HOUR)
    assert slid(record, 72 * HOUR) is None
    assert slid(record, 72 * HOUR - 1) == 2 * 72 * HOUR - 1


def test_recalls_make_a_working_memory_episodic_and_an_episodic_one_semantic() -> None:
    working = Record(id="a", text="a", tier="working", access_count=3, last_access=HOUR, expires_at=73 * HOUR)
    assert risen(working, 2 * HOUR) == {"tier": "episodic", "expires_at": HOUR + 30 * DAY}
    episodic = Record(id="a", text="a", tier="episodic", access_count=10, last_access=HOUR, expires_at=30 * DAY)
    assert risen(episodic, 2 * HOUR) == {"tier": "semantic", "expires_at": None}


def test_too_few_recalls_change_nothing() -> None:
    assert risen(Record(id="a", text="a", tier="working", access_count=2), 0) is None
    assert risen(Record(id="a", text="a", tier="episodic", access_count=9), 0) is None
    assert risen(Record(id="a", text="a", tier="semantic", access_count=1000), 0) is None
