"""Options that several commands share, and what they mean to the engine."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from thinkback.errors import InvalidInput

_FILTERS = "Filters"
_FIELDS = "Fields of the memory"

Words = list[str] | None


# As `thinkback.model` has them, which is too heavy to load for `--help`; a test compares the two.
KINDS = "observation, fact, event, preference, task, work, context, note, procedure or reflection"
TIERS = "procedural, semantic, episodic, working or unknown"


def _filter(*names: str, help: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=_FILTERS, **more)


def _field(*names: str, help: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=_FIELDS, **more)


@dataclass(frozen=True, slots=True)
class Common:
    """What every command takes."""

    store: Annotated[
        Path | None,
        typer.Option(
            "--store",
            metavar="FILE",
            help="The memory file. Default: THINKBACK_STORE, else a file in your data folder.",
        ),
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


@dataclass(frozen=True, slots=True)
class Filters:
    """What may be found at all."""

    tags: Annotated[
        Words, _filter("--tags", "--tag", metavar="TAGS", help="Only memories with all these tags: a,b")
    ] = None
    kind: Annotated[Words, _filter("--kind", "--kinds", metavar="KINDS", help=f"Only these kinds: {KINDS}.")] = None
    tier: Annotated[Words, _filter("--tier", "--tiers", metavar="TIERS", help=f"Only these tiers: {TIERS}.")] = None
    priority: Annotated[
        Words, _filter("--priority", "--priorities", metavar="P", help="Only these priorities: P1,P2")
    ] = None
    thread: Annotated[
        Words, _filter("--thread", "--threads", metavar="NAME", help="Only this thread; may be repeated.")
    ] = None
    source: Annotated[
        Words, _filter("--source", "--sources", metavar="NAME", help="Only from this source; may be repeated.")
    ] = None
    meta: Annotated[
        Words, _filter("--meta", metavar="KEY=VALUE", help="Only where metadata says so; may be repeated.")
    ] = None
    since: Annotated[
        str | None, _filter("--since", metavar="TIME", help="Dated at or after: 2026-05-08, or 2026-05-08T13:56Z")
    ] = None
    until: Annotated[str | None, _filter("--until", metavar="TIME", help="Dated before.")] = None
    as_of: Annotated[str | None, _filter("--as-of", metavar="TIME", help="What was true then.")] = None
    known_at: Annotated[str | None, _filter("--known-at", metavar="TIME", help="What the store knew then.")] = None
    min_trust: Annotated[float | None, _filter("--min-trust", min=0, max=1, help="At least this trust.")] = None
    everything: Annotated[bool, _filter("--everything", help="Also the expired, the closed and the archived.")] = False
    no_reflections: Annotated[bool, _filter("--no-reflections", help="Without reflections.")] = False

    def where(self) -> dict[str, Any]:
        """As keyword arguments of `recall`, `list` and the like."""
        given = {
            "tags": listed(self.tags),
            "kinds": listed(self.kind),
            "tiers": listed(self.tier),
            "priorities": listed(self.priority),
            "threads": self.thread,
            "sources": self.source,
            "metadata": pairs(self.meta),
            "since": self.since,
            "until": self.until,
            "as_of": self.as_of,
            "known_at": self.known_at,
            "min_trust": self.min_trust,
            "everything": self.everything or None,
            "include_reflections": False if self.no_reflections else None,
        }
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Fields:
    """What a memory carries besides its text."""

    tags: Annotated[Words, _field("--tags", "--tag", metavar="TAGS", help="Its tags: a,b; may be repeated.")] = None
    thread: Annotated[str | None, _field("--thread", metavar="NAME", help="The conversation it belongs to.")] = None
    kind: Annotated[str | None, _field("--kind", metavar="KIND", help=f"{KINDS}.")] = None
    tier: Annotated[str | None, _field("--tier", metavar="TIER", help=f"{TIERS}.")] = None
    priority: Annotated[str | None, _field("--priority", metavar="P", help="P1, P2, P3 or P4; P1 is the highest.")] = (
        None
    )
    importance: Annotated[float | None, _field("--importance", help="0 to 1.")] = None
    confidence: Annotated[float | None, _field("--confidence", help="0 to 0.7; it grows by corroboration.")] = None
    essence: Annotated[
        str | None, _field("--essence", metavar="TEXT", help="A short form of the text, searched too.")
    ] = None
    meta: Annotated[
        Words,
        _field("--meta", metavar="KEY=VALUE", help="Metadata, the value read as JSON if it is; may be repeated."),
    ] = None
    valid_from: Annotated[
        str | None,
        _field("--valid-from", metavar="TIME", help="When it began to be true: 2026-05-08, or 2026-05-08T13:56Z"),
    ] = None
    valid_to: Annotated[str | None, _field("--valid-to", metavar="TIME", help="When it stopped being true.")] = None
    expires_at: Annotated[str | None, _field("--expires-at", metavar="TIME", help="When it may be let go.")] = None
    source: Annotated[str | None, _field("--source", metavar="NAME", help="Where it came from.")] = None
    trust: Annotated[float | None, _field("--trust", help="How far the source is trusted, 0 to 1.")] = None

    def given(self) -> dict[str, Any]:
        """Only what was given, as keyword arguments of `remember` and `update`."""
        own = {name: getattr(self, name) for name in self.__slots__ if name not in ("tags", "meta")}
        fields = {**own, "tags": listed(self.tags), "metadata": pairs(self.meta)}
        return {name: value for name, value in fields.items() if value is not None}


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
