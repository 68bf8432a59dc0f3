"""Recipes are values: readable, changeable, written to TOML and read back, and strict about names."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from codes import raises
from engine_fixtures import memory
from hypothesis import given
from hypothesis import strategies as st

from thinkback.errors import RecipeError
from thinkback.search.fusion import CombMnz, CombSum, Rrf, Weighted
from thinkback.search.legs import GraphWalk, Keyword
from thinkback.search.recipes.model import Recipe, Rerank, Term, from_dict, to_dict
from thinkback.search.recipes.named import DEFAULT, ENGRAVA, GORAG, MEMINI, RECIPES, named
from thinkback.search.recipes.toml import dumps, from_data, load, resolve
from thinkback.search.selection import Selection
from thinkback.search.signals.recency import Recency
from thinkback.search.signals.temporal import Temporal


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_toml_round_trip_loses_nothing(name: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(dumps(RECIPES[name]), encoding="utf-8")
    assert load(file) == RECIPES[name]
    assert load(file).fingerprint == RECIPES[name].fingerprint


def test_extends_changes_only_what_is_written(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        'extends = "engrava"\n[legs.keyword]\nweight = 0.5\n[signals.graph]\nweight = 0.1\n', encoding="utf-8"
    )
    mine = load(file)
    assert mine.name == "mine"
    assert mine == ENGRAVA.with_(name="mine", legs={"keyword": {"weight": 0.5}}, signals={"graph": {"weight": 0.1}})


def test_false_removes_a_part() -> None:
    assert [term.signal.name for term in MEMINI.with_(signals={"temporal": False}).signals] == ["quality"]
    assert [leg.name for leg in MEMINI.with_(legs={"vector": False}).legs] == ["keyword"]


def test_the_same_changes_by_path_are_made_once() -> None:
    changed = DEFAULT.with_paths({"legs.vector.index": "hnsw", "selection.limit": 5})
    assert changed == DEFAULT.with_(legs={"vector": {"index": "hnsw"}}, selection={"limit": 5})
    assert changed is DEFAULT.with_paths({"legs.vector.index": "hnsw", "selection.limit": 5})
    assert DEFAULT.with_paths({"selection": {"limit": 5}}) == DEFAULT.with_(selection={"limit": 5})


def test_equal_values_of_other_types_are_other_changes() -> None:
    DEFAULT.with_paths({"selection.limit": 1, "selection.dedup": True})
    with raises(RecipeError, "invalid_value"):
        DEFAULT.with_paths({"selection.limit": True, "selection.dedup": True})
    with raises(RecipeError, "invalid_value"):
        DEFAULT.with_paths({"selection.limit": 1, "selection.dedup": 1})


def test_another_fusion_starts_from_its_own_parameters() -> None:
    assert to_dict(MEMINI.with_(fusion={"name": "convex"}))["fusion"] == {"name": "convex", "cut": 0}


def test_the_fingerprint_is_of_the_formula_and_not_of_the_name() -> None:
    assert DEFAULT.with_(name="other").fingerprint == DEFAULT.fingerprint
    assert DEFAULT.with_(selection={"limit": 11}).fingerprint != DEFAULT.fingerprint


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"legs": {"keywords": {}}}, "unknown leg 'keywords'.*Did you mean 'keyword'"),
        ({"signals": {"qualty": {}}}, "unknown signal 'qualty'.*Did you mean 'quality'"),
        ({"fusion": {"name": "rff"}}, "unknown fusion 'rff'.*Did you mean 'rrf'"),
        ({"legs": {"keyword": {"wieght": 1}}}, "unknown key 'wieght' in legs.keyword.*Did you mean 'weight'"),
        ({"selecton": {}}, "unknown key 'selecton' in recipe.*Did you mean 'selection'"),
        ({"signals": {"quality": {"how": "multiplied"}}}, "unknown way 'multiplied'.*Did you mean 'multiply'"),
        ({"selection": {"limit": "ten"}}, "selection.limit must be int; got 'ten'"),
        ({"legs": {"keyword": {"weight": float("nan")}}}, "legs.keyword.weight must be a finite number"),
        ({"legs": {"keyword": 3}}, "legs.keyword must be a table"),
        ({"parsing": {"time": "englsh"}}, "unknown time extractor 'englsh'.*Did you mean 'english'"),
    ],
)
def test_a_wrong_name_is_an_error_with_the_nearest_valid_one(changes: dict[str, object], message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        DEFAULT.with_(**changes)


def test_an_unknown_recipe_is_an_error_with_the_nearest() -> None:
    with pytest.raises(RecipeError, match=r"unknown recipe 'memni'.*Did you mean 'memini'"):
        named("memni")


def test_a_recipe_needs_a_leg() -> None:
    with raises(RecipeError, "no_legs"):
        from_dict({"name": "empty"})


def test_a_missing_or_broken_file_is_named(tmp_path: Path) -> None:
    with raises(RecipeError, "unreadable_file"):
        resolve(tmp_path / "gone.toml")
    (tmp_path / "bad.toml").write_text("legs = [", encoding="utf-8")
    with raises(RecipeError, "unreadable_file"):
        resolve(tmp_path / "bad.toml")


@given(weight=st.floats(min_value=0, max_value=10), limit=st.integers(min_value=0, max_value=500))
def test_with_is_the_same_as_writing_it_out(weight: float, limit: int) -> None:
    changed = DEFAULT.with_(legs={"keyword": {"weight": weight}}, selection={"limit": limit})
    data = to_dict(DEFAULT)
    data["legs"]["keyword"]["weight"] = weight
    data["selection"]["limit"] = limit
    assert changed == from_dict(data)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"diversity": 5}, r"selection\.diversity must lie between 0 and 1; got 5"),
        ({"diversity": -0.1}, r"selection\.diversity must lie between 0 and 1; got -0\.1"),
        ({"reflection_share": -1}, r"selection\.reflection_share must lie between 0 and 1; got -1"),
        ({"reflection_share": float("nan")}, r"selection\.reflection_share must be a finite number; got nan"),
        ({"diversity_pool": -1}, r"selection\.diversity_pool must be at least 0; got -1"),
    ],
)
def test_a_selection_out_of_range_is_refused(setting: dict[str, float], message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        Selection(**setting)  # type: ignore[arg-type]


def test_a_selection_may_have_no_cap_and_no_budget() -> None:
    assert Selection(limit=0, max_tokens=0).limit == 0
    assert Selection(limit=-1, diversity=1.0, reflection_share=0.0, diversity_pool=0).limit == -1


# Every line would once have been taken for something else, or have failed only when somebody asked.
WRONG_LINES = [
    ('redistribute = "no"', "redistribute must be true or false, without quotes; got 'no'"),
    ('fill = "false"', "fill must be true or false, without quotes; got 'false'"),
    ("fill = 1", "fill must be true or false, without quotes; got 1"),
    ("name = 5", "name must be str; got 5"),
    ("reranker = 0", r"reranker must be a table of settings; got 0\. reranker = false removes it"),
    ('reranker = ""', "reranker must be a table of settings; got ''"),
    ("reranker = true", "reranker must be a table of settings; got True"),
    ("reranker.top = -1", r"reranker\.top must be at least 1; got -1\. Write reranker = false"),
    ("reranker.max_chars = 0", r"reranker\.max_chars must be at least 1; got 0"),
    ('reranker.scale = "logits"', r"unknown reranker\.scale 'logits'.*Did you mean 'logit'"),
    ('fusion = {name = "combsum", scale = "minmax"}', r"unknown fusion\.scale 'minmax'.*Did you mean 'min-max'"),
    ('fusion = {name = "weighted", raw_legs = "vector"}', r"fusion\.raw_legs must be a list of names.*got 'vector'"),
    ('fusion = {name = "weighted", raw_legs = 5}', r"fusion\.raw_legs must be a list of names.*got 5"),
    ('fusion = {name = "weighted", raw_legs = ["vectr"]}', r"fusion\.raw_legs: 'vectr'.*Did you mean 'vector'"),
    ('fusion = {name = "rrf", k = 1, first_rank = -1}', r"fusion\.first_rank must be at least 0; got -1"),
    ('legs.graph.without = "nearest"', r"legs\.graph\.without must be a list of names.*got 'nearest'"),
    ("legs.graph.without = [1, 2]", r"legs\.graph\.without must be a list of names.*got \[1, 2\]"),
    ("signals.recency.half_life_days = 0", r"signals\.recency\.half_life_days must be more than 0; got 0"),
    ("signals.recency.half_life_cycles = -7", r"signals\.recency\.half_life_cycles must be more than 0; got -7"),
    ("signals.neighbours.steps = -1", r"signals\.neighbours\.steps must be at least 0; got -1"),
    ("signals.graph.max_neighbours = -1", r"signals\.graph\.max_neighbours must be at least 0; got -1"),
    ("signals.reflection.boost = -1", r"signals\.reflection\.boost must be at least 0; got -1"),
    ("signals.tags.step = -1", r"signals\.tags\.step must be at least 0; got -1"),
    ("relevance = -1", r"relevance must be at least 0; got -1\.0\. Write relevance = false"),
    ("selection.diversity = 5", r"selection\.diversity must lie between 0 and 1; got 5"),
    ("fusion = false", r"fusion must be a name or a table with one; got False\. Leave it out"),
    ("selection = false", r"selection must be a table of settings; got False\. Leave it out"),
    ("parsing = false", r"parsing must be a table of settings; got False\. Leave it out"),
]


@pytest.mark.parametrize(("line", "message"), WRONG_LINES, ids=[line for line, _ in WRONG_LINES])
def test_a_wrong_value_is_refused_when_the_file_is_read(line: str, message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        from_data(tomllib.loads(f'extends = "gorag"\n{line}'), "mine")


def _with(**parts: Any) -> Recipe:
    return Recipe(**{"name": "mine", "legs": (Keyword(),), **parts})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: _with(redistribute="no"), "redistribute must be true or false"),
        (lambda: _with(relevance=-1), "relevance must be at least 0"),
        (lambda: _with(relevance=float("nan")), "relevance must be a finite number"),
        (lambda: _with(fusion=Weighted(raw_legs=("vectr",))), "Did you mean 'vector'"),
        (lambda: _with(fusion=Weighted(raw_legs="vector")), "must be a list of names"),
        (lambda: _with(fusion=Weighted(raw_legs=["vector"])), "must be a tuple, because recipes are immutable"),
        (lambda: _with(legs=(GraphWalk(without="nearest"),)), r"legs\.graph\.without must be a list of names"),
        (lambda: _with(legs=(Keyword(weight="1"),)), r"legs\.keyword\.weight must be a finite number; got '1'"),
        (lambda: CombSum(scale="minmax"), "Did you mean 'min-max'"),
        (lambda: CombMnz(scale="minmax"), "Did you mean 'min-max'"),
        (lambda: Rrf(first_rank=-1), "must be at least 0"),
        (lambda: Recency(half_life_days=0), "must be more than 0"),
        (lambda: Rerank(top=0), "must be at least 1"),
        (lambda: Term(signal=Recency(), weight="much"), r"signals\.recency\.weight must be a finite number"),
    ],
)
def test_python_is_held_to_what_toml_is_held_to(make: Callable[[], object], message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        make()


@pytest.mark.parametrize(
    "line",
    [
        'fusion = {name = "rrf", k = 0}',
        'fusion = {name = "rrf", k = -3, cut = -1}',
        'fusion = {name = "weighted", raw_legs = []}',
        'fusion = "isr"',
        "selection.limit = 0",
        "selection.max_tokens = 0",
        "relevance = 0",
        "relevance = false",
        "legs.keyword.weight = 0",
        "legs.graph.without = []",
        'signals.quality = {how = "add", weight = 0}',
        "signals.neighbours.steps = 0",
        "reranker = {weight = 0, budget_ms = 0}",
        "reranker = false",
    ],
)
def test_what_has_a_meaning_is_accepted(line: str) -> None:
    mine = from_data(tomllib.loads(f'extends = "gorag"\n{line}'), "mine")
    assert from_dict(to_dict(mine)) == mine


def test_an_empty_reranker_table_is_the_reranker_as_it_comes() -> None:
    assert from_data(tomllib.loads('extends = "default"\n[reranker]'), "mine").reranker == Rerank()
    assert from_data(tomllib.loads('extends = "precise"\nreranker = false'), "mine").reranker is None


@pytest.mark.parametrize(
    "term",
    [
        {"how": "add", "weight": -0.4},
        {"how": "add", "weight": 0.0},
        {"how": "multiply", "base": 1.0, "weight": -0.4},
        {"how": "multiply", "weight": 0.0},
        {"how": "blend", "weight": -1.0},
    ],
)
def test_a_time_boost_of_zero_or_less_is_exactly_no_boost(term: dict[str, Any]) -> None:
    plain = GORAG.with_(parsing={"time": "english"})
    with memory() as m:
        m.remember("red apple", id="old", created_at="2025-05-08")
        m.remember("red apple pie", id="new", created_at="2026-05-07")
        expected = [(hit.id, hit.score) for hit in m.recall("red apple yesterday", recipe=plain)]
        found = m.recall("red apple yesterday", recipe=plain.with_(signals={"temporal": term}))
        assert [(hit.id, hit.score) for hit in found] == expected
        assert "temporal" not in found.trace.backends_used


def test_a_time_boost_above_zero_keeps_its_numbers() -> None:
    term = Term(signal=Temporal(), how="multiply", base=0.5, weight=0.8)
    assert (term.base, term.weight) == (0.5, 0.8)
