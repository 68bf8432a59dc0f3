"""Each signal against arithmetic written out by hand."""

import math
from typing import Any

import numpy as np
import pytest

from thinkback.clock import DAY, HOUR
from thinkback.model import Filter, StoredEdge, StoredRecord
from thinkback.search.query.parse import Parsing, Query, parse
from thinkback.search.query.tags import InferredTag
from thinkback.search.signals import SIGNALS, Links, Scene, Skip
from thinkback.search.signals.decay import Decay
from thinkback.search.signals.graph import Graph
from thinkback.search.signals.importance import Importance
from thinkback.search.signals.neighbours import Neighbours
from thinkback.search.signals.priority import Priority
from thinkback.search.signals.quality import Quality, quality
from thinkback.search.signals.recency import Recency
from thinkback.search.signals.reflection import Reflection
from thinkback.search.signals.tags import Tags
from thinkback.search.signals.temporal import Temporal
from thinkback.search.signals.voice import Voice
from thinkback.search.thread_order import FAR, Line
from thinkback.search.traits import salience

NOW = 1_700_000_000_000_000


def memory(id: str = "m", **fields: Any) -> StoredRecord:
    fields = {"text": f"text of {id}", "created_at": NOW, "updated_at": NOW, **fields}
    return StoredRecord(id=id, **fields)


def query(text: str = "", **fields: Any) -> Query:
    from dataclasses import replace

    return replace(parse(text, Filter(now=NOW), Parsing()), **fields)


def scene(
    *records: StoredRecord, text: str = "", edges: dict[str, list[StoredEdge]] | None = None, **fields: Any
) -> Scene:
    links = None if edges is None else Links.between([record.id for record in records], edges)
    totals = np.array(fields.pop("totals", np.zeros(len(records))), dtype=np.float64)
    legs = {leg: np.array(values) for leg, values in fields.pop("legs", {}).items()}
    return Scene(query(text, **fields), records, totals, legs, links)


def values(signal: Any, on: Scene) -> list[float]:
    result = signal.values(on)
    assert not isinstance(result, Skip), result.reason
    return [float(value) for value in result]


# -- recency, priority, importance (engrava) ---------------------------------------------------------------------------------------


def test_recency_halves_every_half_life() -> None:
    records = [memory(updated_at=NOW - days * DAY) for days in (0, 7, 14)]
    assert values(Recency(), scene(*records)) == [1.0, 0.5, 0.25]


def test_recency_counts_cycles_as_soon_as_the_query_names_one() -> None:
    records = [memory(cycle=cycle, updated_at=NOW - 700 * DAY) for cycle in (100, 50, 0, 150)]
    assert values(Recency(), scene(*records, cycle=100)) == [1.0, 0.5, 0.25, 1.0], "the future counts as now"


def test_priority_table() -> None:
    records = [memory(priority=p) for p in ("P1", "P2", "P3", "P4")]
    assert values(Priority(), scene(*records)) == [1.0, 0.6, 0.3, 0.0]


def test_importance_is_the_owners_and_half_when_unscored() -> None:
    assert values(Importance(), scene(memory(importance=0.9), memory())) == [0.9, 0.5]


# -- quality (memini) --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tier", "weight"),
    [("procedural", 0.95), ("semantic", 0.90), ("episodic", 0.55), ("working", 0.30), ("unknown", 0.50)],
)
def test_salience_is_tier_times_half_plus_half_importance(tier: str, weight: float) -> None:
    assert salience(memory(tier=tier, importance=0.6)) == pytest.approx(weight * (0.5 + 0.5 * 0.6))


def test_quality_of_a_durable_memory() -> None:
    record = memory(tier="semantic", importance=1.0, confidence=0.4, access_count=3, created_at=NOW - 900 * DAY)
    assert quality(record, NOW) == pytest.approx(0.90 * (0.5 + 0.5) * 0.4 * (1 + math.log(1 + 3)))


def test_quality_of_a_short_lived_memory_fades_and_use_slows_it() -> None:
    record = memory(tier="episodic", importance=0.0, confidence=None, access_count=4, created_at=NOW - 3 * DAY)
    usage = 1 + math.log(1 + 4)
    assert quality(record, NOW) == pytest.approx(0.55 * 0.5 * 1.0 * usage * math.exp(-3 / (7 * usage)))


def test_quality_is_divided_by_the_best() -> None:
    good, fair = memory(confidence=0.8), memory(confidence=0.4)
    assert values(Quality(), scene(fair, good)) == [0.5, 1.0]


def test_equal_quality_is_one_everywhere() -> None:
    assert values(Quality(), scene(memory("a"), memory("b"))) == [1.0, 1.0]


def test_zero_quality_everywhere_stays_zero() -> None:
    assert values(Quality(), scene(memory(confidence=0.0))) == [0.0]


# -- time and tags named in the query ----------------------------------------------------------------------------------------------


def test_temporal_is_one_within_the_tolerance_and_falls_to_zero_at_three() -> None:
    ages = (10, 12, 14, 16, 17, 3)  # 10 days ago, give or take 2
    records = [memory(created_at=NOW - days * DAY) for days in ages]
    assert values(Temporal(), scene(*records, text="what did I do 10 days ago?")) == pytest.approx([1, 1, 0.5, 0, 0, 0])


def test_temporal_dates_by_valid_from_before_created_at() -> None:
    record = memory(created_at=NOW, valid_from=NOW - 10 * DAY)
    assert values(Temporal(), scene(record, text="10 days ago")) == [1.0]


def test_temporal_is_skipped_when_no_time_is_named() -> None:
    assert isinstance(Temporal().values(scene(memory(), text="what is new")), Skip)


def test_tags_boost_by_overlap_and_is_capped() -> None:
    inferred = tuple(InferredTag(tag, "hashtag") for tag in ("a", "b", "c", "d"))
    records = [memory(tags=tags) for tags in ((), ("a",), ("a", "b"), ("a", "b", "c", "d", "x"))]
    assert values(Tags(), scene(*records, tags=inferred)) == pytest.approx([1.0, 1.15, 1.30, min(1.5, 1.6)])


def test_tags_is_skipped_without_inferred_tags() -> None:
    assert isinstance(Tags().values(scene(memory(tags=("a",)))), Skip)


# -- graph -------------------------------------------------------------------------------------------------------------------------


def edge(a: str, b: str, weight: float = 1.0, kind: str = "related") -> StoredEdge:
    return StoredEdge(from_id=a, to_id=b, weight=weight, kind=kind)


def both_ways(*edges: StoredEdge) -> dict[str, list[StoredEdge]]:
    found: dict[str, list[StoredEdge]] = {}
    for one in edges:
        found.setdefault(one.from_id, []).append(one)
        found.setdefault(one.to_id, []).append(one)
    return found


def test_graph_boost_is_weight_times_better_semantic_score_times_decay() -> None:
    here = scene(
        memory("a"),
        memory("b"),
        edges=both_ways(edge("a", "b", 0.8)),
        legs={"keyword": [0.2, 0.9], "vector": [0.6, 0.4], "recent": [1.0, 1.0]},
    )
    assert values(Graph(), here) == pytest.approx([0.8 * 0.9 * 0.5, 0.8 * 0.6 * 0.5])


def test_graph_looks_at_the_five_strongest_edges_only() -> None:
    hub = [edge("hub", f"n{n}", 1.0 - n / 10) for n in range(7)]
    records = [memory("hub"), *(memory(f"n{n}") for n in range(7))]
    here = scene(*records, edges=both_ways(*hub), legs={"vector": [0.0] + [1.0] * 7})
    assert values(Graph(), here)[0] == pytest.approx(sum((1.0 - n / 10) * 0.5 for n in range(5)))


def test_graph_ignores_neighbours_that_are_no_candidates() -> None:
    here = scene(memory("a"), edges=both_ways(edge("a", "elsewhere")), legs={"vector": [1.0]})
    assert isinstance(Graph().values(here), Skip)


def in_thread(*texts: str, totals: list[float], gaps: dict[tuple[str, str], int] | None = None) -> Scene:
    step = 2 if gaps else 1  # positions that follow each other have nothing between them
    records = tuple(memory(f"m{n}", text=text, thread="t", position=step * n) for n, text in enumerate(texts))
    return Scene(query(), records, np.array(totals), places=Line.of(records).places(gaps or {}))


def test_neighbours_count_by_distance_in_the_thread() -> None:
    d = 0.4
    assert values(Neighbours(decay=d), in_thread(*"abcd", totals=[1.0, 0.5, 0.25, 0.1])) == pytest.approx(
        [d * 0.5 + d**2 * 0.25, d * (1.0 + 0.25) + d**2 * 0.1, d * (0.5 + 0.1) + d**2 * 1.0, d * 0.25 + d**2 * 0.5]
    )


def test_an_answer_inherits_from_its_question_and_not_the_other_way() -> None:
    here = in_thread("which flower? ", "tulips", totals=[1.0, 1.0])
    assert values(Neighbours(decay=0.4, reply=1.75), here) == pytest.approx([0.4, 0.4 * 1.75])


def test_memories_in_between_count_as_distance_even_when_they_are_no_candidates() -> None:
    one_between = in_thread("a", "b", totals=[1.0, 0.5], gaps={("m0", "m1"): 1})
    assert values(Neighbours(decay=0.4), one_between) == pytest.approx([0.16 * 0.5, 0.16 * 1.0])
    assert isinstance(Neighbours(decay=0.4).values(in_thread("a", "b", totals=[1, 1], gaps={("m0", "m1"): FAR})), Skip)


def test_neighbours_of_another_thread_or_of_none_do_not_count() -> None:
    records = (memory("a", thread="t", position=0), memory("b", thread="u", position=1), memory("c"), memory("d"))
    here = Scene(query(), records, np.ones(4), places=Line.of(records).places({}))
    assert isinstance(Neighbours().values(here), Skip)


# -- voice, reflection -------------------------------------------------------------------------------------------------------------


def test_voice_is_the_speaker_or_the_name_at_the_head_of_the_text() -> None:
    records = [
        memory(text="I painted", speaker="Caroline"),
        memory(text="Caroline: I painted"),
        memory(text="Note: Caroline painted", speaker="Melanie"),
        memory(text="I painted", source="Caroline"),
    ]
    assert values(Voice(), scene(*records, text="What did Caroline paint?")) == [1.0, 1.0, 0.0, 0.0]


def test_voice_is_skipped_when_nobody_is_named() -> None:
    assert isinstance(Voice().values(scene(memory(speaker="Caroline"), text="what was painted?")), Skip)


def test_reflection_boost_touches_reflections_only() -> None:
    records = [memory(kind="reflection"), memory()]
    assert values(Reflection(boost=1.3), scene(*records)) == [1.3, 1.0]
    assert isinstance(Reflection().values(scene(*records)), Skip)


# -- time decay (second-brain) -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "tau", "floor"), [("task", 7, 0.15), ("work", 90, 0.6), ("context", 180, 0.6), ("note", 30, 0.6)]
)
def test_decay_by_kind(kind: str, tau: float, floor: float) -> None:
    record = memory(kind=kind, created_at=NOW - 20 * DAY)
    expected = floor + (1 - floor) * math.exp(-20 / tau)
    assert values(Decay(), scene(record)) == pytest.approx([expected])


def test_canonical_and_important_memories_keep_nine_tenths() -> None:
    old = NOW - 10_000 * DAY
    records = [
        memory(metadata={"canonical": True}, created_at=old),
        memory(importance=0.8, created_at=old),
        memory(importance=0.79, created_at=old),
    ]
    assert values(Decay(), scene(*records)) == pytest.approx(
        [0.9, 0.9 * (0.8 + 0.4 * 4.0 / 5), 0.6 * (0.8 + 0.4 * 3.95 / 5)]
    )


def test_recalls_slow_the_decay_up_to_one() -> None:
    record = memory(access_count=3, created_at=NOW - 30 * DAY)
    recency = 0.6 + 0.4 * math.exp(-1)
    assert recency * (1 + math.log(4)) > 1
    assert values(Decay(), scene(record)) == [1.0]
    task = memory(kind="task", access_count=1, created_at=NOW - 14 * DAY)
    recency = 0.15 + 0.85 * math.exp(-2)
    assert values(Decay(), scene(task)) == pytest.approx([recency * (1 + math.log(2))])


@pytest.mark.parametrize(
    ("votes", "effective"), [(0, 3.0), (4, 3 + math.log(5)), (-4, 3 - math.log(5)), (1000, 5.0), (-1000, 1.0)]
)
def test_votes_adjust_importance_within_one_and_five(votes: int, effective: float) -> None:
    record = memory(importance=0.6, metadata={"votes": votes}, created_at=NOW)
    assert values(Decay(), scene(record)) == pytest.approx([0.8 + 0.4 * effective / 5])


# -- all of them -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(SIGNALS))
def test_every_signal_gives_one_finite_value_per_candidate_or_skips(name: str) -> None:
    records = [memory("a", speaker="Ann", tags=("x",)), memory("b", kind="reflection", created_at=NOW - HOUR)]
    here = scene(*records, text="Ann #x yesterday", edges=both_ways(edge("a", "b")), legs={"vector": [0.1, 0.2]})
    result = SIGNALS[name]().values(here)
    assert isinstance(result, Skip) or (result.shape == (2,) and np.isfinite(result).all())
