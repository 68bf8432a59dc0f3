"""One row in the table of fields or filters reaches every place that shows it; typed attributes are compared with the table."""

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, get_type_hints

import apsw
import pytest

from thinkback.apps import wire
from thinkback.apps.cli import options
from thinkback.apps.http import requests
from thinkback.apps.mcp import tools
from thinkback.clock import Moment
from thinkback.fields import CHANGEABLE, FIELDS, FILTERS, REMEMBERED, Field, FilterField, Kind, Priority, Tier, names
from thinkback.inputs import Changes, Fields, Where
from thinkback.model import Draft, Filter, Record, StoredRecord
from thinkback.stores.sqlite import rows
from thinkback.stores.sqlite.store import SqliteStore

MOOD = Field(name="mood", type="name", role="versioned", nullable=True, remember=True, update=True, help="How it felt.")
MOODS = FilterField(name="moods", type="names", help="Only memories of these moods.")

PLAIN: dict[str, Any] = {
    "text": str,
    "name": str,
    "kind": Kind,
    "tier": Tier,
    "priority": Priority,
    "fraction": float,
    "integer": int,
    "count": int,
    "tags": tuple[str, ...],
    "object": Mapping[str, Any],
    "flag": bool,
}
STORED = {**PLAIN, **dict.fromkeys(("kind", "tier", "priority"), str), "time": int}


def hint(field: Field, types: Mapping[str, Any], nullable: bool) -> Any:
    return types[field.type] | None if nullable else types[field.type]


def annotations(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


# -- typed attributes ------------------------------------------------------------------------------------------------------------


def test_a_stored_record_has_every_field() -> None:
    found = {one.name: annotations(StoredRecord)[one.name] for one in fields(StoredRecord)}
    assert found == {field.name: hint(field, STORED, field.nullable) for field in FIELDS}


def test_a_record_has_every_field_that_callers_see() -> None:
    types = {**PLAIN, "time": datetime}
    assert annotations(Record) == {field.name: hint(field, types, field.nullable) for field in FIELDS if field.shown}


def test_a_draft_has_every_field_that_can_be_brought_and_its_default() -> None:
    drafted = [field for field in FIELDS if field.draft]
    found = annotations(Draft)
    assert [*found] == [*("text",), *(name for name in names(drafted) if name != "text"), "vector", "passages"]
    defaults = {
        one.name: one.default if one.default_factory is MISSING else one.default_factory()
        for one in fields(Draft)
        if one.name not in ("text", "vector", "passages")
    }
    assert defaults == {field.name: field.default for field in drafted if not field.required}


def test_remember_takes_the_fields_of_the_table() -> None:
    assert [*Fields.__annotations__] == [*(name for name in names(REMEMBERED) if name != "text"), "vector", "tag"]


def test_update_takes_the_fields_of_the_table_and_none_where_a_field_may_be_empty() -> None:
    found = annotations(Changes)
    assert [*found] == [*names(CHANGEABLE)]
    assert {name for name, type in found.items() if type == type | None} == {f.name for f in CHANGEABLE if f.clearable}
    assert {name for name in found if found[name] == Moment | None} == {f.name for f in CHANGEABLE if f.type == "time"}


def test_searches_take_the_filters_of_the_table() -> None:
    assert [*Where.__annotations__] == [*names(FILTERS), *(row.alias for row in FILTERS if row.alias)]
    of_callers = {one.name for one in fields(Filter)} - {"now", "ids", "without_kinds"}
    assert of_callers == set(names(FILTERS)) - {"include_reflections"}


# -- places made from the table --------------------------------------------------------------------------------------------------


def test_the_memories_table_has_a_column_for_every_field(tmp_path: Path) -> None:
    SqliteStore(tmp_path / "memory.db").close()
    connection = apsw.Connection(str(tmp_path / "memory.db"))
    columns = {row[1] for row in connection.execute("PRAGMA table_info(memories)")}
    connection.close()
    assert set(rows.NAMES) == set(names(FIELDS)) <= columns


def test_a_new_field_appears_in_the_json_shape_of_a_memory() -> None:
    assert annotations(wire.memory_shape((*FIELDS, MOOD)))["mood"] == str | None


def test_a_new_field_appears_in_the_requests_to_store_and_to_change() -> None:
    for model in (requests.fields_model((*REMEMBERED, MOOD)), requests.changes_model((*CHANGEABLE, MOOD))):
        assert model.model_json_schema()["properties"]["mood"]["description"] == "How it felt."


def test_a_new_field_appears_as_an_option() -> None:
    group = options.options_of((*CHANGEABLE, MOOD), "Fields")
    assert is_dataclass(group)
    assert group(mood="happy").given() == {"mood": "happy"}


def test_a_new_filter_appears_in_requests_and_options() -> None:
    assert "moods" in requests.filters_model((*FILTERS, MOODS)).model_fields
    assert options.options_of((*FILTERS, MOODS), "Filters")(moods=["happy"]).given() == {"moods": ["happy"]}


@pytest.mark.parametrize(
    ("model", "known"),
    [
        (tools.RememberFields, {*names(REMEMBERED), "store"}),
        (tools.UpdateFields, set(names(CHANGEABLE))),
    ],
)
def test_tools_take_a_choice_of_fields_and_filters(model: Any, known: set[str]) -> None:
    assert set(model.model_fields) <= known


def test_every_row_that_callers_see_has_a_help_text() -> None:
    for row in (*FILTERS, *(field for field in FIELDS if field.shown)):
        assert row.help.endswith("."), row.name
