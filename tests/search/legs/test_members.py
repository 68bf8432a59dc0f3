"""The members leg: what a strong theme was made from can be reached through it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import thinkback
from thinkback.model import Run
from thinkback.testing import FixedClock, ToyEmbedder

ASKED = "small grey cat Oscar"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[thinkback.Memory]:
    clock = FixedClock("2026-05-08")
    with thinkback.open(tmp_path / "m.db", embedder=ToyEmbedder(), reranker=None, clock=clock) as opened:
        for thing in ("sofa", "fish", "birds", "garden"):
            opened.remember(f"the small grey cat Oscar likes his {thing}", id=thing)
        opened.remember("taxes are due in April", id="taxes")
        opened.reflect()
        yield opened


def shallow(memory: thinkback.Memory, **options: object) -> dict[str, Run]:
    """The runs of a recall whose other legs find a single memory each."""
    recipe = memory.recipe.with_(legs={name: {"limit": 1} for name in ("keyword", "vector")})
    found = memory.recall(ASKED, limit=1, recipe=recipe, **options)  # type: ignore[arg-type]
    return {run.leg: run for run in found.trace.runs}


def ids(run: Run) -> list[str]:
    return [hit.id for hit in run.hits]


def test_members_that_no_other_leg_found_are_reached_through_their_theme(memory: thinkback.Memory) -> None:
    runs = shallow(memory)
    found = {*ids(runs["keyword"]), *ids(runs["vector"])}
    assert set(ids(runs["members"])) == {"sofa", "fish", "birds", "garden"} - found
    assert len(found) < 4


def test_they_stand_by_their_own_cosine(memory: thinkback.Memory) -> None:
    asked = ToyEmbedder().embed_query(ASKED)
    for hit in shallow(memory)["members"].hits:
        assert hit.score == pytest.approx(float(memory.store.vectors([hit.id])[hit.id] @ asked), abs=1e-6)


def test_what_was_found_anyway_gains_nothing(memory: thinkback.Memory) -> None:
    found = memory.recall(ASKED)
    (run,) = [run for run in found.trace.runs if run.leg == "members"]
    assert run.hits == ()


def test_filters_hold_for_members_too(memory: thinkback.Memory) -> None:
    reached = ids(shallow(memory)["members"])
    memory.archive(reached[0])
    assert ids(shallow(memory)["members"]) == reached[1:]


def test_without_reflections_it_is_skipped(memory: thinkback.Memory) -> None:
    assert shallow(memory, include_reflections=False)["members"].skipped == "there is no theme to start from"


def test_a_reached_member_is_explained(memory: thinkback.Memory) -> None:
    recipe = memory.recipe.with_(
        legs={name: {"limit": 1} for name in ("keyword", "vector")} | {"members": {"weight": 9.0}}
    )
    hit = memory.recall(ASKED, limit=1, recipe=recipe)[0]
    assert "members" in str(hit.why())
