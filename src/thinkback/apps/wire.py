"""The JSON shapes of records, hits and traces: one spelling for MCP, HTTP and `--json`.

Times are ISO 8601 in UTC with all microseconds. Every shape is a TypedDict, so schemas can be read off it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import TypedDict

from thinkback.clock import iso
from thinkback.model import Contribution, Drop, Edge, Hit, Placing, Record, Run, Timing
from thinkback.search.recipes.model import Recipe, to_dict
from thinkback.search.trace import Recall, Trace, WhyNot
from thinkback.stores.base import Judgement, Problem


class MemoryShape(TypedDict):
    """One memory."""

    id: str
    text: str
    essence: str | None
    kind: str
    tier: str
    priority: str
    importance: float | None
    confidence: float | None
    claim: float | None
    claimed_at: str | None
    tags: list[str]
    metadata: dict[str, Any]
    thread: str | None
    position: int | None
    created_at: str
    updated_at: str
    recorded_at: str
    retired_at: str | None
    valid_from: str | None
    valid_to: str | None
    expires_at: str | None
    archived_at: str | None
    cycle: int | None
    access_count: int
    last_access: str | None
    source: str | None
    trust: float
    embedded: bool


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
    """Where a memory stood in one leg; ranks count from 1."""

    leg: str
    rank: int
    score: float


class ContributionShape(TypedDict):
    """What one leg or signal added; a hit's deltas, added in order, are its score."""

    step: str
    name: str
    delta: float
    value: float
    formula: str


class HitShape(TypedDict):
    """One recalled memory with the exact reason for its place."""

    rank: int
    score: float
    memory: MemoryShape
    placings: list[PlacingShape]
    contributions: list[ContributionShape]
    members: list[str]


class ScoredShape(TypedDict):
    """A memory's id with its score in one leg."""

    id: str
    score: float


class RunShape(TypedDict):
    """What one leg found, best first; `skipped` says why it did not run."""

    leg: str
    skipped: str | None
    hits: list[ScoredShape]


class DropShape(TypedDict):
    """A candidate that was ranked and then left out."""

    id: str
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
    hits: list[HitShape]
    warnings: list[str]


class TracedRecallShape(RecallShape):
    """The hits of one search and how they came about."""

    trace: TraceShape | None


class WhyNotShape(TypedDict):
    """Why a memory is not among the hits; `legs` says where each leg has it."""

    id: str
    verdict: str
    legs: list[str]


class JudgementShape(TypedDict):
    """That a memory was (grade ≥ 1) or was not (0) an answer to a query."""

    query: str
    memory_id: str
    grade: int
    judged_at: str


class ProblemShape(TypedDict):
    """Something a check found."""

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
    return {
        "id": record.id,
        "text": record.text,
        "essence": record.essence,
        "kind": record.kind,
        "tier": record.tier,
        "priority": record.priority,
        "importance": record.importance,
        "confidence": record.confidence,
        "claim": record.claim,
        "claimed_at": iso(record.claimed_at),
        "tags": list(record.tags),
        "metadata": dict(record.metadata),
        "thread": record.thread,
        "position": record.position,
        "created_at": iso(record.created_at),
        "updated_at": iso(record.updated_at),
        "recorded_at": iso(record.recorded_at),
        "retired_at": iso(record.retired_at),
        "valid_from": iso(record.valid_from),
        "valid_to": iso(record.valid_to),
        "expires_at": iso(record.expires_at),
        "archived_at": iso(record.archived_at),
        "cycle": record.cycle,
        "access_count": record.access_count,
        "last_access": iso(record.last_access),
        "source": record.source,
        "trust": record.trust,
        "embedded": record.embedded,
    }


def edge(link: Edge) -> EdgeShape:
    """A link as JSON."""
    return {
        "from_id": link.from_id,
        "to_id": link.to_id,
        "kind": link.kind,
        "weight": link.weight,
        "valid_from": iso(link.valid_from),
        "valid_to": iso(link.valid_to),
        "created_at": iso(link.created_at),
    }


def hit(found: Hit) -> HitShape:
    """A hit as JSON."""
    return {
        "rank": found.rank,
        "score": found.score,
        "memory": memory(found.record),
        "placings": [_placing(placing) for placing in found.placings],
        "contributions": [_contribution(contribution) for contribution in found.contributions],
        "members": list(found.members),
    }


def recall(found: Recall) -> RecallShape:
    """A search's hits as JSON."""
    return {
        "query": found.trace.query.text,
        "recipe": found.trace.recipe.name,
        "hits": [hit(one) for one in found],
        "warnings": [str(warning) for warning in found.warnings],
    }


def traced_recall(found: Recall, *, with_trace: bool = True) -> TracedRecallShape:
    """A search's hits as JSON, with the trace if it is wanted."""
    return {**recall(found), "trace": trace(found.trace) if with_trace else None}


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
        "runs": [_run(run) for run in happened.runs],
        "order": list(happened.order),
        "drops": [_drop(drop) for drop in happened.drops],
        "skipped": [{"name": name, "reason": reason} for name, reason in happened.skipped],
        "reranked": happened.reranked,
        "timings": [_timing(timing) for timing in happened.timings],
    }


def why_not(reason: WhyNot) -> WhyNotShape:
    """The reason of an absence as JSON."""
    return {"id": reason.id, "verdict": reason.verdict, "legs": list(reason.legs)}


def judgement(judged: Judgement) -> JudgementShape:
    """A judgement as JSON."""
    return {
        "query": judged.query,
        "memory_id": judged.memory_id,
        "grade": judged.grade,
        "judged_at": iso(judged.judged_at),
    }


def problem(found: Problem) -> ProblemShape:
    """A problem as JSON."""
    return {"area": found.area, "message": found.message, "ids": list(found.ids), "repairable": found.repairable}


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


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value


def _placing(placing: Placing) -> PlacingShape:
    return {"leg": placing.leg, "rank": placing.rank, "score": placing.score}


def _contribution(added: Contribution) -> ContributionShape:
    return {
        "step": added.step,
        "name": added.name,
        "delta": added.delta,
        "value": added.value,
        "formula": added.formula,
    }


def _run(run: Run) -> RunShape:
    return {
        "leg": run.leg,
        "skipped": run.skipped,
        "hits": [{"id": found.id, "score": found.score} for found in run.hits],
    }


def _drop(drop: Drop) -> DropShape:
    return {"id": drop.id, "reason": drop.reason, "score": drop.score, "rank": drop.rank}


def _timing(timing: Timing) -> TimingShape:
    return {"step": timing.step, "us": timing.us}
