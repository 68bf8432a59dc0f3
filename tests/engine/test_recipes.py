"""Recipes are values: readable, changeable, written to TOML and read back, and strict about names."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.cookbook import DEFAULT, ENGRAVA, MEMINI, RECIPES, named
from recollect.errors import RecipeError
from recollect.recipe_files import dumps, load, resolve
from recollect.recipes import from_dict, to_dict
from recollect.selection import Selection


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
    with pytest.raises(RecipeError, match="at least one leg"):
        from_dict({"name": "empty"})


def test_a_missing_or_broken_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"cannot read the recipe .*gone\.toml"):
        resolve(tmp_path / "gone.toml")
    (tmp_path / "bad.toml").write_text("legs = [", encoding="utf-8")
    with pytest.raises(RecipeError, match=r"bad\.toml is not TOML"):
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
