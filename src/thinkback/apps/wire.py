"""The JSON shapes of records, hits and traces, shared by MCP, HTTP and `--json`.

Every shape is a TypedDict, from which the schemas come too. `shaped` fills a shape from a value with fields of the same names.
Times are ISO 8601 in UTC with all microseconds.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from typing_extensions import TypedDict, is_typeddict

from thinkback.clock import iso
from thinkback.errors import PYTHON_WORDS, Action, Notice, worded
from thinkback.fields import FIELDS, Field
from thinkback.model import Edge, Hit, Judgement, Record
from thinkback.search.recipes.model import Recipe, to_dict
from thinkback.search.trace import Recall, Trace, WhyNot
from thinkback.stores.base import Problem

T = TypeVar("T")

_JSON: dict[str, Any] = {
    "fraction": float,
    "integer": int,
    "count": int,
    "tags": list[str],
    "object": dict[str, Any],
    "flag": bool,
}  # all other types are strings


def memory_shape(fields: Iterable[Field]) -> Any:
    """The JSON shape of a memory with these fields."""
    types = {field.name: _JSON.get(field.type, str) for field in fields if field.shown}
    nullable = {field.name for field in fields if field.nullable}
    shape = TypedDict("MemoryShape", {name: type | None if name in nullable else type for name, type in types.items()})  # type: ignore[misc]
    shape.__doc__ = "One memory."
    return shape


if TYPE_CHECKING:
    MemoryShape = dict[str, Any]
    WrittenShape = dict[str, Any]
else:
    MemoryShape = memory_shape(FIELDS)

    class WrittenShape(MemoryShape):
        """A memory that was stored or changed, and what to know about it."""

        warnings: list[str]


class EdgeShape(TypedDict):
    """A directed link."""

    from_id: str
    to_id: str
    kind: str
    weight: float
    valid_from: str | None
    valid_to: str | None
    created_at: str


class PlacingShape(TypedDict):
    """The place of a memory in one leg; ranks count from 1."""

    leg: str
    rank: int
    score: float


class ContributionShape(TypedDict):
    """The contribution of one leg or signal; a hit's deltas, added in order, are its score."""

    step: str
    name: str
    delta: float
    value: float
    formula: str


class EvidenceShape(TypedDict):
    """One input of a relevance; weight · value is what it adds to the log-odds."""

    name: str
    value: float
    weight: float


class PassageShape(TypedDict):
    """The part of a long text that fits the query best: characters `start` to `end` of the memory's text."""

    start: int
    end: int
    text: str


class HitShape(TypedDict):
    """One recalled memory with the exact reason for its place; `passage` is null unless its text is long."""

    rank: int
    score: float | None  # null among the newest, where there was nothing to search by
    relevance: float  # the probability that it answers
    memory: MemoryShape
    placings: list[PlacingShape]
    contributions: list[ContributionShape]
    evidence: list[EvidenceShape]
    members: list[str]
    passage: PassageShape | None
    supersedes: list[str]  # hits whose value it seems to replace; a guess


class ScoredShape(TypedDict):
    """A memory's id with its score in one leg."""

    id: str
    score: float


class RunShape(TypedDict):
    """The results of one leg, best first; `skipped` is the reason if it did not run."""

    leg: str
    skipped: str | None
    hits: list[ScoredShape]


class DropShape(TypedDict):
    """A candidate that was ranked and then left out; `code` is for programs."""

    id: str
    code: str
    reason: str
    score: float
    rank: int


class SkippedShape(TypedDict):
    """A leg or signal that did not take part."""

    name: str
    reason: str


class TimingShape(TypedDict):
    """How long one step took, in microseconds."""

    step: str
    us: int


class TraceShape(TypedDict):
    """Everything that happened in one search."""

    fingerprint: str
    store: str
    recipe: str
    embedder: str | None
    terms: list[str]
    inferred_tags: list[str]
    time_named: str | None
    runs: list[RunShape]
    order: list[str]
    drops: list[DropShape]
    skipped: list[SkippedShape]
    reranked: int
    timings: list[TimingShape]


class RecallShape(TypedDict):
    """The hits of one search, best first."""

    query: str
    recipe: str
    backends_used: list[str]
    answered: bool  # whether the memory likely holds an answer
    relevance: float  # the probability of that
    hits: list[HitShape]
    warnings: list[str]


class TracedRecallShape(RecallShape):
    """The hits of one search with its trace."""

    trace: TraceShape | None


class WhyNotShape(TypedDict):
    """Why a memory is not among the hits; `legs` has its rank in each leg."""

    id: str
    verdict: str
    legs: list[str]


class JudgementShape(TypedDict):
    """Whether a memory answers a query: grade 1 to 3, or 0 for no."""

    query: str
    memory_id: str
    grade: int
    judged_at: str


class ProblemShape(TypedDict):
    """A problem found by a check."""

    area: str
    message: str
    ids: list[str]
    repairable: bool


class RecipeShape(TypedDict):
    """A named recipe; `formula` has the shape of its TOML file."""

    name: str
    about: str
    fingerprint: str
    formula: dict[str, Any]


def memory(record: Record) -> MemoryShape:
    """A memory as JSON."""
    return shaped(MemoryShape, record)


def written(record: Record, notices: Sequence[Notice], words: Mapping[Action, str] = PYTHON_WORDS) -> WrittenShape:
    """A memory that was stored or changed, as JSON."""
    return {**memory(record), "warnings": warnings(notices, words)}


def edge(link: Edge) -> EdgeShape:
    """A link as JSON."""
    return shaped(EdgeShape, link)


def hit(found: Hit) -> HitShape:
    """A hit as JSON."""
    return {
        "rank": found.rank,
        "score": found.score if found.contributions else None,
        "relevance": found.relevance,
        "memory": memory(found.record),
        "placings": [shaped(PlacingShape, placing) for placing in found.placings],
        "contributions": [shaped(ContributionShape, added) for added in found.contributions],
        "evidence": [shaped(EvidenceShape, one) for one in found.evidence],
        "members": list(found.members),
        "passage": None if found.passage is None else shaped(PassageShape, found.passage),
        "supersedes": list(found.supersedes),
    }


def recall(found: Recall, words: Mapping[Action, str] = PYTHON_WORDS) -> RecallShape:
    """The hits of a search as JSON."""
    return {
        "query": found.trace.query.text,
        "recipe": found.trace.recipe.name,
        "backends_used": list(found.trace.backends_used),
        "answered": found.answered,
        "relevance": found.relevance,
        "hits": [hit(one) for one in found],
        "warnings": warnings(found.warnings, words),
    }


def traced_recall(
    found: Recall, words: Mapping[Action, str] = PYTHON_WORDS, *, with_trace: bool = True
) -> TracedRecallShape:
    """The hits of a search as JSON, with the trace on request."""
    return {**recall(found, words), "trace": trace(found.trace) if with_trace else None}


def trace(happened: Trace) -> TraceShape:
    """A trace as JSON."""
    query = happened.query
    return {
        "fingerprint": happened.fingerprint,
        "store": str(happened.state),
        "recipe": happened.recipe.fingerprint,
        "embedder": happened.embedder,
        "terms": [term.text for term in query.keywords.terms],
        "inferred_tags": [inferred.tag for inferred in query.tags],
        "time_named": None if query.anchor is None else query.anchor.phrase,
        "runs": [shaped(RunShape, run) for run in happened.runs],
        "order": list(happened.order),
        "drops": [shaped(DropShape, drop) for drop in happened.drops],
        "skipped": [{"name": name, "reason": reason} for name, reason in happened.skipped],
        "reranked": happened.reranked,
        "timings": [shaped(TimingShape, timing) for timing in happened.timings],
    }


def why_not(reason: WhyNot) -> WhyNotShape:
    """Why a memory is missing, as JSON."""
    return shaped(WhyNotShape, reason)


def judgement(judged: Judgement) -> JudgementShape:
    """A judgement as JSON."""
    return shaped(JudgementShape, judged)


def problem(found: Problem) -> ProblemShape:
    """A problem as JSON."""
    return shaped(ProblemShape, found)


def recipe(chosen: Recipe) -> RecipeShape:
    """A recipe as JSON."""
    return {
        "name": chosen.name,
        "about": chosen.about,
        "fingerprint": chosen.fingerprint,
        "formula": to_dict(chosen),
    }


def stats(counts: Mapping[str, Any]) -> dict[str, Any]:
    """Counts and sizes, with nested tuples as lists."""
    return {name: _plain(value) for name, value in counts.items()}


def warnings(notices: Iterable[Notice], words: Mapping[Action, str]) -> list[str]:
    """Warnings in the words of one front end."""
    return [worded(notice, words) for notice in notices]


def shaped(shape: type[T], value: Any) -> T:
    """A value as a shape: its fields by name, tuples as lists, times as text, nested values as nested shapes."""
    kind: Any = shape
    filled: T = _converter(kind)(value)
    return filled


@cache
def _converter(kind: Any) -> Callable[[Any], Any]:
    if is_typeddict(kind):
        fields = [(name, _converter(field)) for name, field in get_type_hints(kind).items()]
        return lambda value: {name: convert(getattr(value, name)) for name, convert in fields}
    if get_origin(kind) in (Union, UnionType):
        convert = _converter(next(part for part in get_args(kind) if part is not type(None)))
        return lambda value: None if value is None else convert(value)
    if get_origin(kind) is list:
        convert = _converter(get_args(kind)[0])
        return lambda values: [convert(value) for value in values]
    return _text if kind is str else _plain


def _text(value: str | int | datetime | Notice) -> str:
    return iso(value) if isinstance(value, int | datetime) else str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value
