"""The dates leg: of a long time, the memories nearest to its middle."""

from collections.abc import Iterator

import pytest

import thinkback
from thinkback.clock import DAY, to_us
from thinkback.model import Run
from thinkback.search.recipes.named import DEFAULT
from thinkback.testing import FixedClock

ASKED = "what happened in 2025"
YEAR = to_us("2025-01-01")
LIMIT = next(leg.limit for leg in DEFAULT.legs if leg.name == "dates")


@pytest.fixture
def memory() -> Iterator[thinkback.Memory]:
    """A memory for every day of 2025, and more of another year."""
    with thinkback.open(":memory:", embedder=None, reranker=None, clock=FixedClock("2026-05-08")) as opened:
        opened.remember_many({"text": f"old {n}", "created_at": YEAR - (n + 900) * DAY} for n in range(400))
        opened.remember_many(
            {"text": f"note {n}", "id": f"day{n:03}", "created_at": YEAR + n * DAY} for n in range(365)
        )
        yield opened


def dates(found: thinkback.Recall) -> Run:
    (run,) = [run for run in found.trace.runs if run.leg == "dates"]
    return run


def test_the_limit_keeps_what_is_nearest_to_the_middle_of_the_time_named(memory: thinkback.Memory) -> None:
    found = memory.recall(ASKED)
    anchor = found.trace.query.anchor
    assert anchor is not None
    distance = {f"day{n:03}": abs(YEAR + n * DAY - anchor.centre_us) for n in range(365)}
    nearest = sorted(distance, key=lambda id: (distance[id], id))[:LIMIT]
    run = dates(found)
    assert [hit.id for hit in run.hits] == nearest
    assert [hit.score for hit in run.hits] == [-distance[id] / anchor.tolerance_us for id in nearest]
    assert len(run.hits) == LIMIT < 365


def test_why_not_gives_the_rank_that_the_limit_cut_off(memory: thinkback.Memory) -> None:
    found = memory.recall(ASKED)
    (line,) = [line for line in found.why_not("day000").legs if line.startswith("dates:")]
    rank = int(line.split()[2])
    assert rank > LIMIT
    assert line.endswith(f"below its limit of {LIMIT}")


def test_a_short_time_is_found_whole(memory: thinkback.Memory) -> None:
    run = dates(memory.recall("what happened on 7 May 2025"))
    assert run.hits[0].id == "day126"
    assert {"day125", "day126", "day127"} <= {hit.id for hit in run.hits}


def test_a_time_that_most_memories_share_is_skipped_long_before_the_limit() -> None:
    with thinkback.open(":memory:", embedder=None, reranker=None, clock=FixedClock("2026-05-08")) as memory:
        memory.remember_many(f"note {n}" for n in range(49))
        assert len(dates(memory.recall("what did I note this week")).hits) == 49
        memory.remember("one more note")
        assert (
            dates(memory.recall("what did I note this week")).skipped == "most memories are of the time the query names"
        )
