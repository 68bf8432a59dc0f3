"""Each origin system's recipe against arithmetic written out from its published semantics."""

import math

import pytest
from engine_fixtures import QUERY_VECTOR, START, direction, memory

from thinkback.clock import DAY, to_us
from thinkback.search.recipes.named import ENGRAVA, MEMINI
from thinkback.search.trace import Recall

NOW = to_us(START)


def scores(recall: Recall) -> dict[str, float]:
    return {hit.text: hit.score for hit in recall}


def placed(recall: Recall, leg: str) -> dict[str, tuple[int, float]]:
    return {hit.text: (p.rank, p.score) for hit in recall for p in hit.placings if p.leg == leg}


# -- memini ------------------------------------------------------------------------------------------------------------------------


def test_memini_is_080_relevance_plus_020_quality() -> None:
    with memory() as m:
        m.remember("cat", vector=direction(0.2), confidence=0.6)
        m.remember("cat cat dog dog dog", vector=direction(0.9), confidence=0.3)
        m.remember("bird", vector=direction(0.5), confidence=0.6)
        found = m.recall("cat", recipe="memini", vector=QUERY_VECTOR)
    keyword = {text: rank for text, (rank, _) in placed(found, "keyword").items()}
    assert placed(found, "vector")["cat cat dog dog dog"][0] == 1
    fused = {
        text: sum(
            1 / (5 + rank[text] - 1)
            for rank in (keyword, {t: r for t, (r, _) in placed(found, "vector").items()})
            if text in rank
        )
        for text in ("cat", "cat cat dog dog dog", "bird")
    }
    best = max(fused.values())
    quality = {"cat": 0.6 / 0.6, "cat cat dog dog dog": 0.3 / 0.6, "bird": 0.6 / 0.6}
    assert scores(found) == pytest.approx({text: 0.80 * fused[text] / best + 0.20 * quality[text] for text in fused})


def test_memini_adds_040_for_a_memory_near_the_time_named() -> None:
    with memory() as m:
        m.remember("painted a sunrise", vector=direction(0.5), created_at=NOW - 7 * DAY)
        m.remember("painted a sunset", vector=direction(0.5), created_at=NOW - 100 * DAY)
        without = scores(m.recall("painted", recipe="memini", vector=QUERY_VECTOR))
        named = scores(m.recall("painted last week", recipe="memini", vector=QUERY_VECTOR))
    assert named["painted a sunrise"] == pytest.approx(without["painted a sunrise"] + 0.40)
    assert named["painted a sunset"] == pytest.approx(without["painted a sunset"])


def test_memini_drops_the_worse_of_two_equal_texts() -> None:
    with memory() as m:
        m.remember("The  Cat sat", vector=direction(0.9))
        worse = m.remember("the cat SAT", vector=direction(0.1))
        found = m.recall("cat", recipe=MEMINI, vector=QUERY_VECTOR)
        assert [hit.text for hit in found] == ["The  Cat sat"]
        assert "duplicate of" in found.why_not(worse.id).verdict


def test_the_multiplicative_form_gives_nothing_for_quality_without_relevance() -> None:
    later = MEMINI.with_(relevance=1.0, signals={"quality": {"how": "multiply", "base": 0.8, "weight": 0.2}})
    with memory() as m:
        m.remember("cat", vector=direction(0.9), confidence=0.2)
        m.remember("dog", vector=direction(0.1), confidence=0.7)
        found = scores(m.recall("cat", recipe=later, vector=QUERY_VECTOR))
    relevance = (1 / 6) / (1 / 5 + 1 / 5)
    assert found == pytest.approx({"cat": 1.0 * (0.8 + 0.2 * 0.2 / 0.7), "dog": relevance * (0.8 + 0.2 * 1.0)})


# -- engrava -----------------------------------------------------------------------------------------------------------------------


def test_engrava_sums_five_weighted_signals() -> None:
    with memory() as m:
        m.remember("cat", vector=direction(0.4), priority="P1", cycle=0)
        m.remember("dog", vector=direction(0.8), priority="P4", cycle=50)
        found = scores(m.recall("cat", recipe="engrava", vector=QUERY_VECTOR, cycle=50))
    # a lone keyword match scales to .5; recency halves every 50 cycles; graph weighs nothing; all weights sum to 1
    assert found == pytest.approx(
        {
            "cat": 0.30 * 0.5 + 0.55 * 0.4 + 0.10 * 0.5 + 0.05 * 1.0,
            "dog": 0.30 * 0.0 + 0.55 * 0.8 + 0.10 * 1.0 + 0.05 * 0.0,
        }
    )


def test_engrava_redistributes_the_weight_of_what_is_missing() -> None:
    with memory() as m:
        m.remember("cat", priority="P2")
        found = m.recall("cat", recipe="engrava")
    active = 0.30 + 0.05
    assert scores(found) == pytest.approx({"cat": 0.30 / active * 0.5 + 0.05 / active * 0.6})
    assert ("recency", "the query names no cycle") in found.trace.skipped


def test_engrava_goes_by_the_clock_if_the_recipe_says_so() -> None:
    recipe = ENGRAVA.with_(signals={"recency": {"clock": True}})
    with memory() as m:
        m.remember("cat", created_at=NOW - 7 * DAY)
        found = scores(m.recall("cat", recipe=recipe))
    active = 0.30 + 0.10 + 0.05
    assert found == pytest.approx({"cat": (0.30 * 0.5 + 0.10 * 0.5 + 0.05 * 0.3) / active})


def test_engrava_does_not_stem_and_counts_a_word_as_often_as_it_is_typed() -> None:
    with memory() as m:
        m.remember("machines learned")
        m.remember("state-of-the-art machine")
        assert [hit.text for hit in m.recall("machine", recipe="engrava")] == ["state-of-the-art machine"]
        assert [hit.text for hit in m.recall("state-of-the-art", recipe="engrava")] == ["state-of-the-art machine"]
        assert len(m.recall("art", recipe="engrava")) == 0
        query = m.recall("machine machine", recipe="engrava").trace.query.keywords
        assert query.expression == '"machine" OR "machine"'


def test_engrava_finds_nothing_by_a_refused_expression_and_says_so() -> None:
    with memory() as m:
        m.remember("python snake", vector=direction(0.5))
        found = m.recall("NOT snake", recipe="engrava", vector=QUERY_VECTOR)
        assert [warning.code for warning in found.warnings] == ["bad_expression"]
        assert scores(found) == pytest.approx({"python snake": (0.55 * 0.5 + 0.05 * 0.3) / 0.9})


def test_engrava_leaves_out_cosines_below_zero_and_keeps_the_worst_keyword_at_zero() -> None:
    with memory() as m:
        m.remember("bird", vector=direction(-0.5))
        m.remember("cat", vector=direction(0.5))
        assert list(scores(m.recall("cat", recipe="engrava", vector=QUERY_VECTOR))) == ["cat"]


def test_engrava_graph_boost_when_its_weight_is_given() -> None:
    recipe = ENGRAVA.with_(signals={"graph": {"weight": 0.2}})
    total = 0.30 + 0.55 + 0.05 + 0.2
    with memory() as m:
        cat = m.remember("cat", vector=direction(0.4))
        dog = m.remember("dog", vector=direction(0.8))
        m.link(cat.id, dog.id, weight=0.5)
        m.remember("a thread", thread="t", vector=direction(0.0))
        m.remember("is no edge", thread="t", vector=direction(0.0))
        found = m.recall("cat", recipe=recipe, vector=QUERY_VECTOR, limit=2)
        assert "graph" in found.trace.backends_used
        assert "graph" not in m.recall("cat", recipe="engrava", vector=QUERY_VECTOR).trace.backends_used
    boost_cat = 0.5 * max(0.0, 0.8) * 0.5
    boost_dog = 0.5 * max(0.5, 0.4) * 0.5
    assert scores(found) == pytest.approx(
        {
            "cat": (0.30 * 0.5 + 0.55 * 0.4 + 0.05 * 0.3 + 0.2 * boost_cat) / total,
            "dog": (0.55 * 0.8 + 0.05 * 0.3 + 0.2 * boost_dog) / total,
        }
    )


def test_with_nothing_to_search_by_the_newest_come_first() -> None:
    with memory() as m:
        for age, text in ((3, "old"), (1, "new"), (2, "middle")):
            m.remember(text, created_at=NOW - age * DAY)
        assert [hit.text for hit in m.recall("", recipe="engrava", limit=2)] == ["new", "middle"]


# -- gorag -------------------------------------------------------------------------------------------------------------------------


def test_gorag_is_reciprocal_ranks_from_one_with_k_sixty() -> None:
    with memory() as m:
        m.remember("cat", vector=direction(0.1))
        m.remember("dog", vector=direction(0.9))
        m.remember("bird", vector=direction(0.5))
        found = scores(m.recall("cat", recipe="gorag", vector=QUERY_VECTOR))
    assert found == {"cat": 1 / 61 + 1 / 63, "dog": 1 / 61, "bird": 1 / 62}


def test_gorag_merge_keeps_the_line() -> None:
    with memory() as m:
        m.remember("cat", vector=direction(0.1))
        m.remember("dog", vector=direction(0.9))
        found = m.recall("cat", recipe="gorag-merge", vector=QUERY_VECTOR)
    assert [hit.text for hit in found] == ["dog", "cat"]
    assert scores(found) == pytest.approx({"dog": 0.9, "cat": 0.1})


# -- second-brain ------------------------------------------------------------------------------------------------------------------


def test_second_brain_multiplies_cosine_decay_importance_and_tag_boost() -> None:
    with memory() as m:
        m.remember(
            "buy milk", kind="task", importance=0.6, vector=direction(0.8), created_at=NOW - 7 * DAY, tags=["home"]
        )
        m.remember("an old note", vector=direction(0.5), created_at=NOW - 30 * DAY)
        found = scores(m.recall("what about #home", recipe="second-brain", vector=QUERY_VECTOR))
    task = 0.15 + 0.85 * math.exp(-1)
    note = 0.6 + 0.4 * math.exp(-1)
    assert found == pytest.approx({"buy milk": 0.8 * task * (0.8 + 0.4 * 3.0 / 5) * 1.15, "an old note": 0.5 * note})


def test_second_brain_never_narrows_by_an_inferred_tag() -> None:
    with memory() as m:
        m.remember("tagged", tags=["home"], vector=direction(0.1))
        m.remember("untagged", vector=direction(0.9))
        assert len(m.recall("home", recipe="second-brain", vector=QUERY_VECTOR)) == 2
        assert len(m.recall("home", recipe="second-brain", vector=QUERY_VECTOR, tags=["home"])) == 1
