"""Options that several commands share, and what they mean to the engine."""

import json
from collections.abc import Iterable
from dataclasses import field as dataclass_field
from dataclasses import make_dataclass
from datetime import datetime
from typing import Annotated, Any

import typer

from thinkback.apps.cli.times import read_time
from thinkback.errors import InvalidInput
from thinkback.fields import CHANGEABLE, FILTERS, REMEMBERED, Field, FilterField
from thinkback.values import dataclass

_TIME = "a TIME is 2026-05-08, 2026-05-08T13:56Z or yesterday"

Words = list[str] | None

# How a value of each type is written on a command line; other types are written as text.
_SEVERAL = ("tags", "kinds", "tiers", "priorities")
_TYPES: dict[str, Any] = {
    **dict.fromkeys((*_SEVERAL, "names", "object"), list[str]),
    "fraction": float,
    "integer": int,
    "flag": bool,
}
_METAVARS = {
    "names": "NAME",
    "object": "KEY=VALUE",
    "where": "JSON",
    "priorities": "P",
    "priority": "P",
    "fraction": "NUMBER",
    "integer": "N",
}
_MORE_HELP = {
    **dict.fromkeys(_SEVERAL, "Written a,b; may be repeated."),
    "names": "May be repeated.",
    "object": "A VALUE that reads as JSON is JSON; may be repeated.",
}
_OWN_HELP = {"include_reflections": "Leave out reflections."}
_FLAGS = {
    "tags": ("--tags", "--tag"),
    "kinds": ("--kind", "--kinds"),
    "tiers": ("--tier", "--tiers"),
    "priorities": ("--priority", "--priorities"),
    "threads": ("--thread", "--threads"),
    "sources": ("--source", "--sources"),
    "metadata": ("--meta",),
    "include_reflections": ("--no-reflections",),
}


def options_of(rows: Iterable[Field | FilterField], panel: str) -> Any:
    """A dataclass with one option for each of these fields or filters; `given(now)` has those that were given."""
    rows = tuple(rows)

    def given(self: Any, now: datetime | None = None) -> dict[str, Any]:
        values = {row.name: _read(row, getattr(self, row.name), now) for row in rows}
        return {name: value for name, value in values.items() if value is not None}

    made = [
        (row.name, Annotated[_type(row), _option(row, panel)], dataclass_field(default=_unset(row))) for row in rows
    ]
    return make_dataclass("Options", made, frozen=True, namespace={"given": given})


def _type(row: Field | FilterField) -> Any:
    type = _TYPES.get(row.type, str)
    return type if type is bool else type | None


def _unset(row: Field | FilterField) -> bool | None:
    return False if row.type == "flag" else None


def _option(row: Field | FilterField, panel: str) -> Any:
    flags = _FLAGS.get(row.name, (f"--{row.name.replace('_', '-')}",))
    help = _OWN_HELP.get(row.name) or f"{row.help} {_MORE_HELP.get(row.type, '')}".strip()
    metavar = None if row.type == "flag" else _METAVARS.get(row.type, row.type.upper())
    return typer.Option(*flags, help=help, metavar=metavar, rich_help_panel=f"{panel}; {_TIME}")


def _read(row: Field | FilterField, value: Any, now: datetime | None) -> Any:
    """The value of an option as the engine takes it; None if it was not given."""
    if row.type == "flag":
        return (not row.default) if value else None
    if row.type in _SEVERAL:
        return listed(value)
    if row.type == "time" and value is not None:
        return read_time(value, now)
    if row.type == "where" and value is not None:
        return condition(value)
    return pairs(value) if row.type == "object" else value


def condition(text: str) -> Any:
    """The JSON of a condition."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidInput(f"""--where takes JSON, as in '{{"metadata.n": {{"gt": 6}}}}'; got {text!r}""") from None


@dataclass(frozen=True, slots=True)
class Common:
    """What every command takes."""

    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            metavar="FILE|URL",
            help="The memory file, or postgresql://…. Default: THINKBACK_STORE, else a file in your data folder.",
        ),
    ] = None
    space: Annotated[
        str | None,
        typer.Option("--space", metavar="NAME", help="The space on a server. Default: THINKBACK_SPACE, else default."),
    ] = None
    json: Annotated[bool, typer.Option("--json", help="Print JSON: one object, or one object a line.")] = False


@dataclass(frozen=True, slots=True)
class Embedder:
    """Which model embeds, for commands that write."""

    embedder: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The embedder: a model's name, a folder, openai:MODEL@URL, ollama:MODEL, or none for keywords alone.",
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class Models(Embedder):
    """Which models answer, for commands that ask."""

    reranker: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The cross-encoder, where a recipe asks for the default one, or none."),
    ] = None


class Filters(options_of(FILTERS, "Filters")):  # type: ignore[misc]
    """Filters; `given()` are keyword arguments of `recall`, `list` and `count`."""


class Fields(options_of((field for field in REMEMBERED if field.name != "text"), "Fields of the memory")):  # type: ignore[misc]
    """Fields of a memory besides its text; `given()` are keyword arguments of `remember`."""


class Changes(options_of((field for field in CHANGEABLE if field.name != "text"), "Fields of the memory")):  # type: ignore[misc]
    """What changes besides the text; `given()` are keyword arguments of `update`."""


def listed(given: Iterable[str] | None) -> list[str] | None:
    """`a,b` and repeated options alike: the words between the commas."""
    if given is None:
        return None
    return [word.strip() for one in given for word in one.split(",") if word.strip()]


def pairs(given: Iterable[str] | None) -> dict[str, Any] | None:
    """`KEY=VALUE` options as a mapping; a value that reads as JSON is JSON, any other is text."""
    if given is None:
        return None
    return dict(_pair(one) for one in given)


def _pair(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise InvalidInput(f"--meta takes KEY=VALUE; got {text!r}")
    try:
        return key.strip(), json.loads(value)
    except (ValueError, RecursionError):
        return key.strip(), value


def changes(given: Iterable[str] | None) -> dict[str, Any]:
    """`--set signals.quality.weight=.3` options as the nested changes that `Recipe.with_` takes."""
    nested: dict[str, Any] = {}
    for one in given or ():
        path, equals, value = one.partition("=")
        keys = [key.strip() for key in path.split(".")]
        if not equals or not all(keys):
            raise InvalidInput(f"--set takes PATH=VALUE, as in signals.quality.weight=0.3; got {one!r}")
        table = nested
        for key in keys[:-1]:
            table = table.setdefault(key, {})
            if not isinstance(table, dict):
                raise InvalidInput(f"--set {one!r} sets a part of what an earlier --set made a plain value")
        table[keys[-1]] = _value(value.strip())
    return nested


def _value(text: str) -> Any:
    """A TOML value with two liberties: a bare word is text, and a number may begin with its point."""
    if text in ("true", "false"):
        return text == "true"
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    import tomllib

    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
