"""What callers may write: understood as what was stored, or refused with a code."""

import json
from typing import Any

import pytest
from codes import raises
from engine_fixtures import toy_memory
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


def test_a_tag_is_asked_for_as_it_was_given() -> None:
    with toy_memory() as m:
        m.remember("a grey cat", tags=["#Pets", "two  words"])
        for tag in ("#pets", "pets", " PETS ", "two  words", "two words"):
            assert m.count(tags=[tag]) == 1


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"metadata": {"a": {1, 2}}}, "not_json"),
        ({"metadata": "ab"}, "not_json"),
        ({"min_trust": "x"}, "out_of_range"),
        ({"min_trust": 2}, "out_of_range"),
        ({"tags": ["a,b"]}, "not_a_tag"),
        ({"tags": 3}, "not_text"),
        ({"kinds": ["fcat"]}, "unknown_value"),
        ({"knid": ["fact"]}, "unknown_field"),
        ({"since": "yesterday"}, "not_a_time"),
        ({"everything": "yes"}, "not_a_flag"),
        ({"limit": 10**30}, "out_of_range"),
        ({"limit": "5"}, "out_of_range"),
    ],
    ids=str,
)
def test_a_filter_that_makes_no_sense_is_an_error(asked: Any, code: str) -> None:
    with toy_memory() as m:
        m.remember("a grey cat")
        with raises(InvalidInput, code):
            m.list(**asked)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"tgas": ["pets"]}, "unknown_field"),
        ({"kind": "fcat"}, "unknown_value"),
        ({"confidence": 0.9}, "out_of_range"),
        ({"importance": 2}, "out_of_range"),
        ({"position": 1}, "no_thread"),
        ({"created_at": "yesterday"}, "not_a_time"),
        ({"valid_from": "2026-05-08", "valid_to": "2026-05-07"}, "ends_before_start"),
        ({"source": "x" * 501}, "too_long"),
        ({"thread": " "}, "empty_text"),
        ({"essence": "a\0b"}, "not_text"),
        ({"cycle": True}, "out_of_range"),
    ],
    ids=str,
)
def test_a_memory_that_makes_no_sense_is_an_error(given: Any, code: str) -> None:
    with toy_memory() as m:
        with raises(InvalidInput, code):
            m.remember("a grey cat", **given)
        assert m.count() == 0


def test_an_item_without_a_text_is_an_error() -> None:
    with toy_memory() as m, raises(InvalidInput, "no_text"):
        m.remember_many([{"tags": ["pets"]}])


def test_a_wrong_time_names_its_field() -> None:
    with toy_memory() as m, pytest.raises(InvalidInput, match=r"^valid_to: "):
        m.remember("a grey cat", valid_to="yesterday")


@pytest.mark.parametrize("verb", ["forget", "forget_verified", "archive", "restore", "redact"])
@pytest.mark.parametrize("given", [["a"], ("a",), None, 7], ids=repr)
def test_verbs_take_ids_one_by_one(verb: str, given: object) -> None:
    with toy_memory() as memory:
        memory.remember("Oscar is a grey cat", id="a")
        with raises(InvalidInput, "not_an_id"):
            getattr(memory, verb)(given)
        assert memory.count() == 1


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
    with raises(InvalidInput, "too_deep"):
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
    with raises(InvalidInput, "unknown_field"):
        validate_changes({"priorty": "P1"}, STANDING)
    with raises(InvalidInput, "unknown_field"):
        validate_changes({"text": "x"}, STANDING)


def test_errors_name_the_place_inside_metadata() -> None:
    with pytest.raises(InvalidInput, match=r"metadata\['a'\]\[1\]\['b'\] is nan"):
        check_metadata({"a": [0, {"b": float("nan")}]})


def test_long_values_do_not_flood_the_message() -> None:
    with pytest.raises(InvalidInput) as refused:
        validate(Draft(text="x", kind="k" * 10_000))
    assert len(str(refused.value)) < 400
