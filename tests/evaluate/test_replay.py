"""Replaying many questions at once gives the order of the real ranking, to the last tie."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from codes import raises
from gathered_toys import messy_cases, weighted_cases

from thinkback.errors import InvalidInput
from thinkback.evaluate.metrics import metric
from thinkback.evaluate.replay import Replay
from thinkback.model import Run
from thinkback.search.fusion import Convex
from thinkback.search.hits import in_order
from thinkback.search.ranking import rank
from thinkback.search.recipes.model import Recipe, Term
from thinkback.search.recipes.named import RECIPES
from thinkback.search.selection import select
from thinkback.search.signals.base import Scene, Signal

REPLAYABLE = [name for name, recipe in RECIPES.items() if recipe.fusion.name != "merge" and recipe.reranker is None]
DEPTH = 50
DIFFERENT = [
    {"graph": {"how": "add"}},
    {"graph": {"how": "add", "decay": 0.1}, "recency": {"how": "add"}},
    {"recency": {"how": "multiply", "half_life_days": 90.0}, "neighbours": {"steps": 1}},
]


def _truly_ranked(case, recipe):
    """Ids as the pipeline itself would return them."""
    ordered = rank(case.gathered, recipe)
    allowed = [one for one in in_order(ordered) if one.record.id not in case.question.excluded]
    kept, _ = select(allowed, replace(recipe.selection, limit=DEPTH, reflection_share=1.0))
    return [one.record.id for one in kept]


def _with_legs_of(recipe, cases):
    """The cases as this recipe would have gathered them; those it could not search for are left away."""
    names = {leg.name for leg in recipe.legs}
    narrowed = [
        replace(case, gathered=replace(case.gathered, runs=tuple(r for r in case.gathered.runs if r.leg in names)))
        for case in cases
    ]
    return [case for case in narrowed if any(run.hits for run in case.gathered.runs)]


def _assert_same(cases, recipe):
    cases = _with_legs_of(recipe, cases)
    replay = Replay(cases, depth=DEPTH)
    assert len(replay.questions) == len(cases) > 10
    ranks = iter(replay.gold_ranks(recipe))
    for case in cases:
        ranked = _truly_ranked(case, recipe)
        for name in sorted(case.question.gold):
            expected = ranked.index(name) + 1 if name in ranked else 0
            assert next(ranks) == expected, (case.question.id, name)
    assert next(ranks, None) is None


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", REPLAYABLE)
def test_every_recipe_is_replayed_in_the_true_order(name, seed):
    _assert_same(messy_cases(seed), RECIPES[name])


@pytest.mark.parametrize(
    "changes",
    [
        {"fusion": {"name": "rrf", "k": 2.0, "first_rank": 1}},
        {"fusion": {"name": "isr"}},
        {"fusion": {"name": "combmnz"}},
        {"fusion": {"name": "dbsf"}},
        {"fusion": {"name": "relative"}},
        {"legs": {"keyword": {"weight": 0.0}}},
        {"legs": {"keyword": {"weight": 0.123}, "vector": {"weight": 0.9}}},
        {"signals": {"neighbours": {"decay": 0.9, "steps": 3, "weight": 0.7}}},
        {"signals": {"neighbours": {"steps": 1, "reply": 3.0}}},
        {"signals": {"graph": {"how": "add", "weight": 0.4}, "recency": {"how": "blend", "weight": 0.3}}},
        {"signals": {"decay": {"how": "multiply"}, "priority": {"how": "replace"}}},
        {"signals": {"ranker": False, "voice": {"how": "multiply", "base": 1.0}}},
        {"redistribute": True, "signals": {"recency": {"how": "add", "weight": 0.4}}},
        {"relevance": 0.3},
        {"selection": {"dedup": False}},
    ],
    ids=str,
)
def test_every_change_of_a_recipe_is_replayed_in_the_true_order(changes):
    _assert_same(messy_cases(7, 40), RECIPES["default"].with_(**changes))


def test_the_ranker_speaks_in_these_cases():
    """Otherwise the tests above would say nothing about them."""
    cases = messy_cases(7, 40)
    spoken = [rank(case.gathered, RECIPES["default"]) for case in cases]
    lifted = sum(any(c.name == "ranker" and c.deltas.any() for c in one.ledger.columns) for one in spoken)
    assert lifted > 20


def test_one_replay_serves_many_recipes_without_mixing_them_up():
    cases = messy_cases(11)
    shared = Replay(cases)
    fusions = [{"name": "convex"}, {"name": "rrf"}, {"name": "isr"}]
    recipes = [
        RECIPES["default"].with_(fusion=fusion, signals=DIFFERENT[i % 3]) for i, fusion in enumerate(fusions * 2)
    ]
    for recipe in recipes + recipes[::-1]:
        assert np.array_equal(shared.gold_ranks(recipe), Replay(cases).gold_ranks(recipe))


@dataclass(frozen=True, slots=True, kw_only=True)
class Echo(Signal):
    """A signal that looks at the scores so far, so that nothing of it may be kept."""

    name: ClassVar[str] = "echo"

    def values(self, scene: Scene):
        return np.sin(100 * scene.totals)


@pytest.mark.parametrize("weight", [0.2, 0.9])
def test_a_signal_that_reads_the_scores_is_asked_again_every_time(weight):
    base = Recipe(name="x", legs=RECIPES["memini"].legs, signals=(Term(signal=Echo(), how="add", weight=0.5),))
    cases = _with_legs_of(base, messy_cases(5))
    replay = Replay(cases)
    replay.gold_ranks(base)
    heavier = tuple(replace(leg, weight=weight) if leg.name == "vector" else leg for leg in base.legs)
    changed = replace(base, legs=heavier)
    assert np.array_equal(replay.gold_ranks(changed), Replay(cases).gold_ranks(changed))
    _assert_same(cases, changed)


@pytest.mark.parametrize("name", ["any@1", "any@5", "all@5", "recall@3", "recall", "mrr", "ndcg@10", "ndcg"])
def test_metrics_from_ranks_equal_metrics_from_lists(name):
    cases = messy_cases(3, 60)
    recipe = RECIPES["default"]
    expected = [metric(name)(case.question.gold, _truly_ranked(case, recipe)) for case in cases]
    assert Replay(cases).values(recipe, metric(name)) == pytest.approx(expected, abs=1e-12)


def test_precision_is_not_offered():
    with raises(InvalidInput, "not_replayable"):
        Replay(messy_cases(1, 3)).values(RECIPES["default"], metric("precision@5"))


def test_a_question_that_nothing_was_searched_for_is_left_out():
    cases = messy_cases(2, 5)
    unsearched = replace(cases[0], gathered=replace(cases[0].gathered, runs=(Run("keyword", skipped="no words"),)))
    replay = Replay([unsearched, *cases[1:]])
    assert (len(replay.questions), replay.left_out) == (4, 1)
    with raises(InvalidInput, "nothing_to_replay"):
        Replay([unsearched])


@pytest.mark.parametrize(
    ("recipe", "code"),
    [
        (RECIPES["default"].with_(fusion={"name": "merge"}), "fusion_not_replayable"),
        (replace(RECIPES["default"], fusion=Convex(cut=3)), "cut_not_replayable"),
        (RECIPES["memini"], "missing_leg"),
        (RECIPES["default"].with_(selection={"diversity": 0.5}), "diversity_not_replayable"),
        (RECIPES["precise"], "reranker_not_replayable"),
    ],
)
def test_what_cannot_be_replayed_says_so(recipe, code):
    with raises(InvalidInput, code):
        Replay(messy_cases(1, 3)).gold_ranks(recipe)


def test_a_known_share_ranks_every_answer_first():
    replay = Replay(weighted_cases(20, 0.8))
    best = RECIPES["memini"].with_(
        fusion={"name": "convex"}, legs={"keyword": {"weight": 0.8}, "vector": {"weight": 0.2}}
    )
    assert replay.values(best, metric("any@1")).mean() == 1.0
