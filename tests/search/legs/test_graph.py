"""The graph leg: a walk from what other legs found, along the links that count."""

import pytest

import thinkback
from thinkback.model import Run
from thinkback.search.recipes.named import DEFAULT
from thinkback.testing import FixedClock


@pytest.fixture
def hub() -> thinkback.Memory:
    """A memory with one link of its own, weaker than the dozen that a consolidation put on it."""
    memory = thinkback.open(":memory:", embedder=None, reranker=None, clock=FixedClock("2026-05-08"))
    memory.remember("the keyword stands here", id="hub")
    memory.remember("a friend of another wording", id="friend")
    for n in range(12):
        memory.remember(f"neighbour {n}", id=f"near{n:02}")
        memory.link(f"near{n:02}", "hub", kind="nearest", weight=0.49)
    memory.link("hub", "friend", weight=0.4)
    return memory


def walked(memory: thinkback.Memory, **graph: object) -> Run:
    (run,) = [
        run
        for run in memory.recall("keyword", recipe=DEFAULT.with_(legs={"graph": graph})).trace.runs
        if run.leg == "graph"
    ]
    return run


def test_links_that_are_not_walked_do_not_crowd_out_those_that_are(hub: thinkback.Memory) -> None:
    with hub:
        assert [(hit.id, hit.score) for hit in walked(hub).hits] == [("friend", 1 * 0.4 * 0.5)]
        assert hub.recall("keyword").ids == ("hub", "friend")


def test_all_kinds_are_walked_when_none_is_left_out(hub: thinkback.Memory) -> None:
    with hub:
        found = [hit.id for hit in walked(hub, without=[], max_neighbours=5).hits]
        assert found == [f"near{n:02}" for n in range(5)]
