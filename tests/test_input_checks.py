"""What may be written, field by field; the store's contract runs the same list against every engine."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.errors import InvalidInput
from thinkback.fields import STANDING, VERSIONED
from thinkback.inputs import canonical_json, check_metadata, check_tags, validate, validate_changes
from thinkback.model import Draft

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab.\"'é", max_size=3), inner, max_size=3),
    max_leaves=8,
)


def test_a_good_draft_is_returned_as_it_is() -> None:
    draft = Draft(text="a cat", tags=("pets",), metadata={})
    assert validate(draft) is draft


@given(st.dictionaries(st.text("abc", max_size=2), json_values, max_size=3))
def test_any_json_object_is_metadata_and_survives_writing(value: dict[str, Any]) -> None:
    checked = check_metadata(value)
    assert checked == value
    assert json.loads(canonical_json(checked)) == value


@given(st.dictionaries(st.text("abc", max_size=2), json_values, max_size=4))
def test_one_value_has_one_spelling(value: dict[str, Any]) -> None:
    assert canonical_json(value) == canonical_json(dict(reversed(value.items())))


def test_tuples_in_metadata_become_lists() -> None:
    assert check_metadata({"a": (1, (2,))}) == {"a": [1, [2]]}


def test_metadata_is_copied() -> None:
    inner = [1]
    draft = validate(Draft(text="x", metadata={"a": inner}))
    inner.append(2)
    assert draft.metadata == {"a": [1]}


def test_metadata_may_be_fifty_levels_deep_and_no_deeper() -> None:
    value: Any = 1
    for _ in range(49):
        value = [value]
    assert check_metadata({"a": value}) == {"a": value}
    with pytest.raises(InvalidInput, match="50 levels"):
        check_metadata({"a": [value]})


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (("Pets",), ("pets",)),
        (["a", "A", "b", "a"], ("a", "b")),
        (("#work", "##x"), ("work", "x")),
        (("new   york",), ("new york",)),
        ((), ()),
        (("ÄÖ",), ("äö",)),
    ],
)
def test_tags_have_one_spelling(given: Any, kept: tuple[str, ...]) -> None:
    assert check_tags(given) == kept
    assert check_tags(kept) == kept


@pytest.mark.parametrize("bad", ["a", None, 3, ["a,b"], [""], ["#"], [" "], [None], ["\0"], ["x" * 501]])
def test_what_is_no_tag_is_refused(bad: Any) -> None:
    with pytest.raises(InvalidInput):
        check_tags(bad)


def test_an_essence_of_nothing_is_no_essence() -> None:
    assert validate(Draft(text="x", essence="  ")).essence is None


def test_changes_must_be_of_the_kind_that_is_allowed() -> None:
    assert validate_changes({"text": "x", "tags": ["A"]}, VERSIONED) == {"text": "x", "tags": ("a",)}
    with pytest.raises(InvalidInput, match="Did you mean 'priority'"):
        validate_changes({"priorty": "P1"}, STANDING)
    with pytest.raises(InvalidInput, match="cannot change 'text'"):
        validate_changes({"text": "x"}, STANDING)


def test_errors_name_the_place_inside_metadata() -> None:
    with pytest.raises(InvalidInput, match=r"metadata\['a'\]\[1\]\['b'\] is nan"):
        check_metadata({"a": [0, {"b": float("nan")}]})


def test_long_values_do_not_flood_the_message() -> None:
    with pytest.raises(InvalidInput) as refused:
        validate(Draft(text="x", kind="k" * 10_000))
    assert len(str(refused.value)) < 400
