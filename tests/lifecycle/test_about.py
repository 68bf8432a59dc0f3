"""Derived dates: read when a memory is written, corrected by its owner, read again on demand, used by a search for a time."""

import pytest
from codes import raises

from thinkback.clock import to_us
from thinkback.errors import InvalidInput
from thinkback.memory import Memory
from thinkback.stores.sqlite import SqliteStore
from thinkback.testing import FixedClock

SAID = "2023-08-09T15:00:00Z"
LAKE = "Last weekend we went to the lake"


@pytest.fixture
def memory(tmp_path):
    with Memory(SqliteStore(tmp_path / "m.db"), clock=FixedClock(to_us("2023-09-20T12:00:00Z"))) as opened:
        yield opened


def told(record):
    return tuple(None if moment is None else moment.isoformat()[:10] for moment in (record.about_from, record.about_to))


def test_it_is_read_when_a_memory_is_written(memory):
    assert told(memory.remember(LAKE, created_at=SAID)) == ("2023-08-05", "2023-08-07")
    assert told(memory.remember("I like lakes", created_at=SAID)) == (None, None)
    assert told(memory.remember("We went there yesterday")) == ("2023-09-19", "2023-09-20")


def test_a_time_that_is_given_stays(memory):
    given = memory.remember(LAKE, created_at=SAID, about_from="2023-07-01", about_to="2023-07-02")
    dated = memory.remember(LAKE, created_at=SAID, valid_from="2023-07-01")
    assert told(given) == ("2023-07-01", "2023-07-02")
    assert told(dated) == (None, None)
    assert memory.reindex() == 0
    assert told(memory.update(given.id, text="We went there last week")) == ("2023-07-01", "2023-07-02")


def test_a_correction_changes_it_in_place_and_survives_reindex(memory):
    lake = memory.remember(LAKE, created_at=SAID)
    assert told(memory.update(lake.id, about_from=None, about_to=None)) == (None, None)
    assert memory.reindex() == 0
    assert told(memory.get(lake.id)) == (None, None)
    assert len(memory.history(lake.id)) == 1


def test_a_new_text_is_read_anew(memory):
    lake = memory.remember(LAKE, created_at=SAID)
    assert told(memory.update(lake.id, text="We went there yesterday")) == ("2023-08-08", "2023-08-09")
    assert told(memory.update(lake.id, text="We went there")) == (None, None)


def test_reindex_reads_memories_of_an_older_version(memory):
    lake = memory.remember(LAKE, created_at=SAID)
    memory.store.amend({lake.id: {"about_from": None, "about_to": None}}, memory.clock())
    assert memory.reindex() == 1
    assert told(memory.get(lake.id)) == ("2023-08-05", "2023-08-07")


def test_an_end_before_its_beginning_is_refused(memory):
    with raises(InvalidInput, "ends_before_start"):
        memory.remember(LAKE, about_from="2023-07-02", about_to="2023-07-01")


def test_a_question_finds_what_happened_then_and_not_only_what_was_said_then(memory):
    lake = memory.remember(LAKE, created_at="2023-08-20T10:00:00Z")  # the 12th and the 13th
    memory.remember_many([{"text": f"note number {n + 100}", "created_at": "2023-07-01T10:00:00Z"} for n in range(30)])
    found = memory.recall("what did we do on 12 August 2023?", recipe="default")
    assert found[0].id == lake.id
    assert any(one.leg == "dates" for one in found[0].placings)
    memory.forget(lake.id)
    assert lake.id not in memory.recall("what did we do on 12 August 2023?").ids


def test_the_boost_is_smaller_the_vaguer_the_time(memory):
    day = memory.remember("Two days ago: apples", created_at="2023-08-14T10:00:00Z")
    year = memory.remember("In 2023: apples", created_at="2020-01-01T10:00:00Z")
    found = memory.recall("apples on 12 August 2023")
    boosts = {hit.id: next((c.value for c in hit.contributions if c.name == "temporal"), 0.0) for hit in found}
    assert boosts[day.id] > 20 * boosts[year.id] >= 0
