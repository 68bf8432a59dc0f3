"""What the tools answer: the shapes of structured content, and the text beside it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from thinkback.apps import wire_upkeep
from thinkback.apps.mcp.envelope import NOTICE, Quoted, provenance, quote, shown, visible
from thinkback.apps.wire import EdgeShape
from thinkback.apps.wire_upkeep import ForgottenShape, ReflectedShape
from thinkback.apps.words import in_words, themes_told
from thinkback.clock import iso
from thinkback.lifecycle.forget import Forgotten
from thinkback.lifecycle.reflect.model import Reflected
from thinkback.model import Edge, Hit, Record
from thinkback.search.trace import Recall
from thinkback.stores.base import VERSIONED

TITLE_LENGTH = 80


class FoundShape(TypedDict):
    """One recalled memory."""

    id: str
    rank: int
    score: float
    text: str
    date: str
    kind: str
    tags: list[str]
    thread: str | None
    source: str | None
    trust: float
    why: str


class FoundAnswer(TypedDict):
    """What a search found, best first."""

    notice: str
    memories: list[FoundShape]
    left_out: int
    warnings: list[str]


class RememberedAnswer(TypedDict):
    """What was stored; `embedded` false means that for now it is found by its words alone."""

    id: str
    created_at: str
    embedded: bool


class UpdatedAnswer(TypedDict):
    """What was changed; `kept` is whether the version before is kept, which it is unless importance alone was changed."""

    id: str
    changed: list[str]
    kept: bool
    embedded: bool


class ForgottenAnswer(ForgottenShape):
    """Which memories are gone, with what became of the themes they were part of, and which were never there."""

    unknown: list[str]


class LinkedAnswer(TypedDict):
    """The link as it stands."""

    link: EdgeShape


class ReflectedAnswer(ReflectedShape):
    """What consolidation did, or in a dry run would do."""

    notice: str


class ResultShape(TypedDict):
    """A search result in the form that search-and-fetch clients expect."""

    id: str
    title: str
    url: str


class SearchAnswer(TypedDict):
    """Results to choose from; `fetch` gives the whole text."""

    notice: str
    results: list[ResultShape]


class FetchAnswer(TypedDict):
    """One memory, whole."""

    notice: str
    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """Structured content and the text that says the same."""

    structured: Any
    text: str


def found(recall: Recall, explain: bool) -> Answer:
    """A recall's answer: every memory quoted, and the same as data."""
    left_out = sum("budget" in drop.reason for drop in recall.trace.drops)
    structured: FoundAnswer = {
        "notice": NOTICE,
        "memories": [_found(hit, explain) for hit in recall],
        "left_out": left_out,
        "warnings": [str(warning) for warning in recall.warnings],
    }
    quoted = [Quoted(in_words(hit.record), {**provenance(hit.record), "score": round(hit.score, 6)}) for hit in recall]
    remarks = [f"{left_out} more did not fit into max_tokens."] if left_out else []
    explained = [f"Why memory {hit.rank}: {hit.why()}" for hit in recall] if explain else []
    text = "\n".join(
        [quote(quoted), *remarks, *explained, *(f"Warning: {visible(str(warning))}" for warning in recall.warnings)]
    )
    return Answer(shown(structured), text)


def remembered(record: Record) -> Answer:
    """What `remember` answers."""
    structured: RememberedAnswer = {
        "id": record.id,
        "created_at": str(iso(record.created_at)),
        "embedded": record.embedded,
    }
    return Answer(shown(structured), f"Remembered as {json.dumps(shown(record.id), ensure_ascii=False)}.")


def updated(record: Record, changed: Sequence[str]) -> Answer:
    """What `update` answers."""
    structured: UpdatedAnswer = {
        "id": record.id,
        "changed": list(changed),
        "kept": any(name in VERSIONED for name in changed),
        "embedded": record.embedded,
    }
    tail = "; the version before is kept." if structured["kept"] else "."
    name = json.dumps(shown(record.id), ensure_ascii=False)
    return Answer(shown(structured), f"Changed {', '.join(changed)} of {name}{tail}")


def forgotten(asked: Sequence[str], done: Forgotten) -> Answer:
    """What `forget` answers."""
    unknown = [id for id in dict.fromkeys(asked) if id not in done.ids]
    structured: ForgottenAnswer = {**wire_upkeep.forgotten(done), "unknown": unknown}
    parts = [f"Forgot {len(done.ids)}."]
    if unknown:
        parts.append(f"{len(unknown)} of the ids named no memory.")
    if done.reflections:
        parts.append(f"Themes: {themes_told(len(done.reflections), len(done.rebuilt))}.")
    return Answer(shown(structured), " ".join([*parts, *(f"Warning: {warning}." for warning in done.warnings)]))


def linked(edge: Edge, shape: EdgeShape) -> Answer:
    """What `link` answers."""
    structured: LinkedAnswer = {"link": shape}
    return Answer(shown(structured), f"Linked, kind {json.dumps(shown(edge.kind))}, weight {edge.weight:g}.")


def reflected(done: Reflected) -> Answer:
    """What `reflect` answers; themes are made of the memories' own words, so they are data too."""
    structured: ReflectedAnswer = {"notice": NOTICE, **wire_upkeep.reflected(done)}
    return _as_json(structured)


def results(recall: Recall) -> Answer:
    """What `search` answers; JSON text, as its clients expect."""
    structured: SearchAnswer = {
        "notice": NOTICE,
        "results": [{"id": hit.id, "title": title(hit.record), "url": uri(hit.id)} for hit in recall],
    }
    return _as_json(structured)


def fetched(record: Record) -> Answer:
    """What `fetch` answers; JSON text, as its clients expect."""
    structured: FetchAnswer = {
        "notice": NOTICE,
        "id": record.id,
        "title": title(record),
        "text": record.text,
        "url": uri(record.id),
        "metadata": {**provenance(record), **({"metadata": dict(record.metadata)} if record.metadata else {})},
    }
    return _as_json(structured)


def title(record: Record) -> str:
    """The essence, or the beginning of the text, on one line."""
    line = " ".join((record.essence or record.text).split())
    return line if len(line) <= TITLE_LENGTH else f"{line[: TITLE_LENGTH - 1]}…"


def uri(id: str) -> str:
    """The address of a memory as a resource."""
    from urllib.parse import quote as percent_encoded

    return f"thinkback://memory/{percent_encoded(id, safe='')}"


def _found(hit: Hit, explain: bool) -> FoundShape:
    record = hit.record
    return {
        "id": record.id,
        "rank": hit.rank,
        "score": hit.score,
        "text": record.text,
        "date": str(iso(record.date)),
        "kind": record.kind,
        "tags": list(record.tags),
        "thread": record.thread,
        "source": record.source,
        "trust": record.trust,
        "why": hit.why() if explain else "",
    }


def _as_json(structured: Any) -> Answer:
    plain = shown(structured)
    return Answer(plain, json.dumps(plain, ensure_ascii=False))
