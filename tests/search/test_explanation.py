"""Every score is explained to the last bit, every absence has a reason, and equal fingerprints rank equally."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from engine_fixtures import START, memory, toy_memory
from hypothesis import given, settings
from hypothesis import strategies as st

from thinkback.clock import DAY, iso, to_us
from thinkback.memory import Memory
from thinkback.search.recipes.named import RECIPES
from thinkback.search.trace import Recall

NOW = to_us(START)
WORDS = ["cat", "dog", "tea", "moon", "paint", "run", "Ann", "Bob", "yesterday", "#home", "last week", "garden"]


def fill(m: Memory) -> None:
    for n, text in enumerate(
        ["Ann: the cat ran home", "Bob: moon over the garden", "Ann: paint and tea", "dog and cat", "tea"]
    ):
        m.remember(text, thread="chat" if n < 3 else None, tags=["home"] if n % 2 else [], created_at=NOW - n * 3 * DAY)
    cat, dog = m.recall("cat", recipe="keyword").ids
    m.link(cat, dog, weight=0.7)


def adds_up(found: Recall) -> None:
    for hit in found:
        total = 0.0
        for contribution in hit.contributions:
            total += contribution.delta
        assert total == hit.score


@pytest.mark.parametrize("recipe", sorted(set(RECIPES) - {"precise", "pigpig"}))
@settings(max_examples=25, deadline=None)
@given(words=st.lists(st.sampled_from(WORDS), max_size=5))
def test_contributions_sum_to_the_score_exactly(recipe: str, words: list[str]) -> None:
    with toy_memory() as m:
        fill(m)
        adds_up(m.recall(" ".join(words), recipe=recipe))


class Backwards:
    """A cross-encoder that likes short texts."""

    fingerprint = "backwards"

    def scores(self, query: str, texts: list[str]) -> list[float]:
        return [1 / (1 + len(text)) for text in texts]


@pytest.mark.parametrize("recipe", ["precise", "pigpig"])
def test_contributions_sum_with_a_cross_encoder_too(recipe: str) -> None:
    chosen = RECIPES[recipe].with_(reranker={"model": "default", "within": 0})
    with toy_memory(reranker=Backwards()) as m:
        fill(m)
        found = m.recall("cat tea moon", recipe=chosen)
        adds_up(found)
        assert found.trace.reranked == len(found.trace.order)
        if recipe == "pigpig":
            assert [hit.score for hit in found] == pytest.approx([1 / (1 + len(hit.text)) for hit in found])


def test_the_cross_encoder_reads_only_the_head_and_the_rest_stays_behind_it() -> None:
    chosen = RECIPES["precise"].with_(reranker={"top": 2, "within": 0})
    with toy_memory(reranker=Backwards()) as m:
        fill(m)
        before = m.recall("cat tea moon", recipe="default").ids
        after = m.recall("cat tea moon", recipe=chosen)
        assert after.trace.reranked == 2
        assert set(after.ids[:2]) == set(before[:2])
        assert after.ids[2:] == before[2:]


def test_a_failing_cross_encoder_keeps_the_order_and_says_so() -> None:
    with toy_memory(reranker=None) as m:
        fill(m)
        plain, precise = m.recall("cat tea", recipe="default"), m.recall("cat tea", recipe="precise")
        assert precise.ids == plain.ids
        assert [warning.code for warning in precise.warnings] == ["no_reranker"]


def test_why_shows_every_part_and_the_sum() -> None:
    with toy_memory() as m:
        fill(m)
        why = m.recall("cat")[0].why()
    assert "keyword #" in why
    assert "leg:vector" in why
    assert any(line.startswith("=") for line in why.splitlines())
    assert why.splitlines()[-1].startswith("relevance ")


# -- why not -----------------------------------------------------------------------------------------------------------------------


def test_why_not_an_unknown_id() -> None:
    with toy_memory() as m:
        assert m.recall("cat").why_not("nonsense").verdict == "there is no memory 'nonsense'"


def test_why_not_a_filtered_memory_names_the_filter() -> None:
    with toy_memory() as m:
        dog = m.remember("dog", tags=["animal"])
        m.remember("cat", tags=["pet"])
        assert m.recall("dog", tags=["pet"]).why_not(dog.id).verdict == "filtered out: it lacks the tag pet"
        m.update(dog.id, valid_to=NOW - DAY)
        assert "stopped being true" in m.recall("dog").why_not(dog.id).verdict


def test_why_not_below_a_legs_limit_says_at_which_rank_it_would_have_been() -> None:
    with memory() as m:
        ids = [m.remember(f"cat {'and more ' * n}").id for n in range(5)]
        shallow = RECIPES["keyword"].with_(legs={"keyword": {"limit": 1}})
        answer = m.recall("cat", recipe=shallow, limit=2).why_not(ids[4])
        assert answer.verdict == "no leg retrieved it"
        assert answer.legs[0].startswith("keyword: rank 5 with ")
        assert answer.legs[0].endswith("below its limit of 2")


def test_why_not_below_the_result_limit_gives_rank_and_score() -> None:
    with memory() as m:
        ids = [m.remember(f"cat {'and more ' * n}").id for n in range(5)]
        answer = m.recall("cat", recipe="keyword", limit=2).why_not(ids[3])
        assert answer.verdict.startswith("ranked 4 with score ")
        assert answer.verdict.endswith("below the limit of 2")


def test_why_not_a_memory_no_leg_matches() -> None:
    with memory() as m:
        m.remember("cat")
        dog = m.remember("dog")
        assert m.recall("cat", recipe="keyword").why_not(dog.id).legs == ("keyword: does not match it at all",)


def fruit(m: Memory) -> None:
    for id, text in (("a", "red apple pie"), ("b", "red apple pie crust"), ("c", "red car"), ("d", "red house, blue")):
        m.remember(text, id=id)


def test_why_not_what_diversity_overtook() -> None:
    diverse = RECIPES["gorag"].with_(selection={"limit": 2, "diversity": 0.9})
    with toy_memory() as m:
        fruit(m)
        found = m.recall("red apple pie", recipe=diverse)
        assert found.trace.order[1] == "b"
        assert found.ids[0] == "a"
        assert found.why_not("b").verdict.startswith("ranked 2 with score ")
        assert "dropped: diversity put others before it" in found.why_not("b").verdict


@pytest.mark.parametrize("name", ["rrf", "convex", "merge", "weighted"])
def test_why_not_what_the_fusion_cut(name: str) -> None:
    cut = RECIPES["gorag"].with_(fusion={"name": name, "cut": 2})
    with toy_memory() as m:
        fruit(m)
        found = m.recall("red apple pie", recipe=cut)
        whole = m.recall("red apple pie", recipe=cut.with_(fusion={"cut": 0}))
        assert found.ids == whole.ids[:2]
        for rank in (3, 4):
            hit = whole[rank - 1]
            verdict = f"the {name} fusion had it at rank {rank} with {hit.score:.6g}, below its cut of 2"
            assert found.why_not(hit.id).verdict == verdict
            assert found.why_not(hit.id).legs[0].startswith(f"{found.trace.runs[0].leg}: rank ")


def test_why_not_below_the_floor_of_the_vector_leg() -> None:
    strict = RECIPES["vector"].with_(legs={"vector": {"floor": 0.5}})
    with toy_memory() as m:
        fruit(m)
        (line,) = m.recall("red apple pie", recipe=strict).why_not("d").legs
        cosines = {hit.id: hit.placings[0].score for hit in m.recall("red apple pie", recipe="vector")}
        assert line == f"vector: {cosines['d']:.6g}, below its floor of 0.5"


def test_why_not_a_memory_without_a_vector(tmp_path: Path) -> None:
    with memory(tmp_path / "m.db") as m:
        bare = m.remember("stored before there was an embedder").id
    with toy_memory(tmp_path / "m.db") as m:
        fruit(m)
        assert m.recall("apple", recipe="vector").why_not(bare).legs == ("vector: it has no vector",)


def test_why_not_a_reflection_that_legs_leave_out_on_purpose() -> None:
    with toy_memory() as m:
        fruit(m)
        for n in range(9):
            m.remember(f"theme number {n} of apples", id=f"r{n}", kind="reflection")
        found = m.recall("red apple pie yesterday", limit=2)
        (absent, *_) = [f"r{n}" for n in range(9) if f"r{n}" not in found.ids]
        lines = dict(line.split(": ", 1) for line in found.why_not(absent).legs)
        assert lines["keyword"] == lines["vector"] == "leaves reflections to their own leg"
        assert lines["dates"] == "a reflection has no date of its own"
        asked = m.recall("theme", kinds=["reflection"], limit=1)
        lines = dict(line.split(": ", 1) for line in asked.why_not("r8").legs)
        assert lines["keyword"].startswith("rank 9 with "), "who asks for reflections finds them in every leg"


def test_why_not_names_what_each_leg_goes_by() -> None:
    with toy_memory() as m:
        fruit(m)
        m.remember("theme", id="r", kind="reflection")
        m.remember("snow", id="snow", created_at=NOW - 500 * DAY)
        found = m.recall("red apple pie 3 weeks ago", limit=1)
        lines = dict(line.split(": ", 1) for line in found.why_not("snow").legs)
        assert lines["keyword"] == "does not match it at all"
        dated = f"it is dated {iso(NOW - 500 * DAY)} and tells of no other time, outside the time the query names"
        assert lines["dates"] == dated
        assert lines["reflections"] == "it is not a reflection"
        assert lines["members"] == "adds only what no other leg found"
        assert lines["graph"].startswith("no link it walks leads there")


def test_why_not_admits_that_the_store_has_changed() -> None:
    with memory() as m:
        m.remember("cat and dog")
        found = m.recall("cat", recipe="keyword")
        late = m.remember("cat").id
        (line,) = found.why_not(late).legs
        assert line.endswith("which it was not then: the store has changed")


def test_the_reflections_leg_keeps_its_limit_unless_they_are_all_that_is_asked_for() -> None:
    with toy_memory() as m:
        for n in range(30):
            m.remember(f"apples and number {n}", id=f"o{n}")
            m.remember(f"theme {n} of apples", id=f"r{n}", kind="reflection")

        def found(**where: Any) -> int:
            runs = m.recall("apples", limit=20, **where).trace.runs
            return next(len(run.hits) for run in runs if run.leg == "reflections")

        assert found() == 5
        assert found(kinds=["reflection"]) == 20
        assert len(m.recall("apples", limit=20, kinds=["reflection"])) == 20
        assert len(m.search_reflections_only("apples", limit=20)) == 20


def test_why_not_a_hit_says_where_it_is() -> None:
    with memory() as m:
        cat = m.remember("cat")
        assert m.recall("cat", recipe="keyword").why_not(cat.id).verdict == "it is hit number 1"


# -- determinism -------------------------------------------------------------------------------------------------------------------

ANSWER = """
import sys, thinkback
from thinkback.testing import FixedClock, ToyEmbedder
with thinkback.open(sys.argv[1], embedder=ToyEmbedder(), reranker=None, clock=FixedClock(sys.argv[2])) as m:
    m.count_accesses = False
    found = m.recall("Ann cat tea #home last week")
    print(found.trace.fingerprint, *(f"{hit.id}={hit.score!r}" for hit in found))
"""


def test_the_same_fingerprint_gives_the_same_ranking_in_any_process(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with toy_memory(path) as m:
        fill(m)
        m.count_accesses = False
    answers = {
        subprocess.run([sys.executable, "-c", ANSWER, path, START], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    with toy_memory(path) as m:
        m.count_accesses = False
        here = m.recall("Ann cat tea #home last week")
        answers.add(" ".join([here.trace.fingerprint, *(f"{hit.id}={hit.score!r}" for hit in here)]) + "\n")
        assert len(answers) == 1
        m.remember("one more")
        assert m.recall("Ann cat tea #home last week").trace.fingerprint != here.trace.fingerprint
        assert m.recall("Ann cat").trace.fingerprint != here.trace.fingerprint


def test_with_no_time_and_no_tag_scores_are_those_of_the_recipe_without_these_signals() -> None:
    bare = RECIPES["default"].with_(signals={"temporal": False, "tags": False}, legs={"dates": False})
    with toy_memory() as m:
        fill(m)
        full, plain = m.recall("cat and moon"), m.recall("cat and moon", recipe=bare)
        assert [(hit.id, hit.score) for hit in full] == [(hit.id, hit.score) for hit in plain]
