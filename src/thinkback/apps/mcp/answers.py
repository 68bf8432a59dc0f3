"""The results of the tools: the shapes of their structured content, and the text beside it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar
from urllib.parse import quote as percent_encoded

from typing_extensions import TypedDict

from thinkback.apps import wire, wire_upkeep
from thinkback.apps.mcp.envelope import (
    NOTICE,
    Quoted,
    heading,
    in_store,
    provenance,
    quote,
    short_id,
    shown,
    visible,
)
from thinkback.apps.mcp.stores import Found, Stores
from thinkback.apps.wire import EdgeShape
from thinkback.apps.wire_upkeep import ForgottenShape, ReflectedShape
from thinkback.apps.words import in_words, theme_changes
from thinkback.clock import iso
from thinkback.errors import Action, Notice
from thinkback.fields import VERSIONED
from thinkback.lifecycle.forget import Forgotten
from thinkback.lifecycle.reflect.model import Reflected
from thinkback.model import Edge, Hit, Record
from thinkback.values import dataclass

T = TypeVar("T")
TITLE_LENGTH = 80
_LISTED = 10  # memories that a dry run shows

# How a language model acts on a remedy; what has no tool is for the person it works for.
WORDS: Mapping[Action, str] = {
    Action.LIST_MEMORIES: "recall and search find ids.",
    Action.LIST_BATCHES: "The result of reflect names its batch.",
    Action.EMBED_MISSING: "To embed them, the user can run: thinkback embed --missing",
    Action.REEMBED: "To embed everything with the model in use, the user can run: thinkback embed",
    Action.REFLECT: "To write themes again, call reflect.",
    Action.AUDIT: "The user can list them with: thinkback audit",
    Action.JUDGE: "The user can judge answers with: thinkback judge",
    Action.CHOOSE_EMBEDDER: "The user can have it read with: thinkback reembed --embedder {subject}",
    Action.CHECK: "The user can see what is wrong with: thinkback doctor",
    Action.REPAIR: "The user can repair it with: thinkback doctor --repair",
    Action.SALVAGE: "The user can restore a backup, or save what can be read: thinkback salvage FILE NEW",
    Action.RENEW_BACKUPS: "The user can make new ones with `thinkback backup` and delete the old.",
    Action.PULL_MODEL: "The user can fetch it with: thinkback models pull {subject}",
    Action.INSTALL_EXTRA: "The user can install it with: pip install 'thinkback[{subject}]'",
}


class FoundShape(TypedDict):
    """One recalled memory."""

    id: str
    rank: int
    score: float
    relevance: float
    text: str  # of a long memory, the passage that fits the query
    passage: str | None  # where in the memory that is
    date: str
    kind: str
    tags: list[str]
    thread: str | None
    user: str | None
    source: str | None
    store: str | None  # repository or user, if both were searched
    trust: float
    supersedes: list[str]  # ids of memories whose value it seems to replace; a guess
    why: str


class FoundAnswer(TypedDict):
    """The memories a search found, best first; `left_out` did not fit into max_tokens.

    `answered` is whether they likely hold an answer, `relevance` of a memory the probability that it does.
    """

    answered: bool
    memories: list[FoundShape]
    backends_used: list[str]
    left_out: int
    warnings: list[str]


class RememberedAnswer(TypedDict):
    """The stored memory; without an embedding it is found by keywords only."""

    id: str
    created_at: str
    embedded: bool
    warnings: list[str]


class UpdatedAnswer(TypedDict):
    """The changed fields; `kept` is whether the previous version is kept: not if only the importance changed."""

    id: str
    changed: list[str]
    kept: bool
    embedded: bool
    warnings: list[str]


class ForgottenAnswer(ForgottenShape):
    """The removed memories, what happened to their themes, and the ids that do not exist."""

    unknown: list[str]


class LinkedAnswer(TypedDict):
    """The link."""

    link: EdgeShape


class ReflectedAnswer(ReflectedShape):
    """The result of a consolidation, or its plan in a dry run."""


class ResultShape(TypedDict):
    """A search result in the form that search-and-fetch clients expect."""

    id: str
    title: str
    url: str


class SearchAnswer(TypedDict):
    """Results to choose from; `fetch` returns the whole text."""

    notice: str
    results: list[ResultShape]


class FetchAnswer(TypedDict):
    """One memory with its whole text."""

    notice: str
    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """What a program gets, and what a language model reads."""

    structured: T
    text: str


def found(result: Found, explain: bool) -> Answer[FoundAnswer]:
    """The result of a search: every memory quoted, with its store if there are several, and as data."""
    answered = any(recall.answered for recall in result.recalls)
    notices = dict.fromkeys(notice for recall in result.recalls for notice in recall.warnings)
    structured: FoundAnswer = {
        "answered": answered,
        "memories": [_found(hit, store, explain) for store, hit in result.hits],
        "backends_used": list(dict.fromkeys(leg for one in result.recalls for leg in one.trace.backends_used)),
        "left_out": result.left_out,
        "warnings": wire.warnings(list(notices), WORDS),
    }
    quoted = [Quoted.of(hit.record, hit.passage, store) for store, hit in result.hits]
    remarks = [f"{result.left_out} more did not fit into max_tokens."] if result.left_out else []
    if not quoted and (
        irrelevant := sum(drop.code == "relevance" for one in result.recalls for drop in one.trace.drops)
    ):
        remarks.append(f"{irrelevant} found are less relevant than min_relevance.")
    if quoted and not answered and any(recall.trace.relevance.evidence for recall in result.recalls):
        remarks.append("The memory likely holds no answer to this.")
    remarks += [
        f"{hit.id} seems to supersede {', '.join(hit.supersedes)}: another value of what is asked, told later. "
        "If so, link them, kind supersedes."
        for _, hit in result.hits
        if hit.supersedes
    ]
    explained = [_explained(hit) for _, hit in result.hits] if explain else []
    warnings = _warned(structured["warnings"])
    return Answer(shown(structured), "\n".join([quote(quoted), *remarks, *explained, *warnings]))


def remembered(record: Record, heard: Sequence[Notice] = ()) -> Answer[RememberedAnswer]:
    """The result of `remember`."""
    structured: RememberedAnswer = {
        "id": record.id,
        "created_at": str(iso(record.created_at)),
        "embedded": record.embedded,
        "warnings": wire.warnings(heard, WORDS),
    }
    return Answer(
        shown(structured), " ".join([f"Remembered as {short_id(record.id)}.", *_warned(structured["warnings"])])
    )


def updated(record: Record, changed: Sequence[str], heard: Sequence[Notice] = ()) -> Answer[UpdatedAnswer]:
    """The result of `update`."""
    structured: UpdatedAnswer = {
        "id": record.id,
        "changed": list(changed),
        "kept": any(name in VERSIONED for name in changed),
        "embedded": record.embedded,
        "warnings": wire.warnings(heard, WORDS),
    }
    tail = "; the previous version is kept." if structured["kept"] else "."
    text = f"Changed {', '.join(changed)} of {short_id(record.id)}{tail}"
    return Answer(shown(structured), " ".join([text, *_warned(structured["warnings"])]))


def listed(stores: Stores, where: Mapping[str, Any]) -> str:
    """The first memories that a condition holds for, quoted by their beginnings."""
    found = ((name, memory.list(limit=_LISTED, everything=True, where=where)) for name, memory in stores.named.items())
    named = [(name, record) for name, records in found for record in records][:_LISTED]
    return quote([Quoted(title(record), in_store(heading(record), name)) for name, record in named])


def forgotten(asked: Sequence[str], done: Forgotten, shown_first: str = "") -> Answer[ForgottenAnswer]:
    """The result of `forget`; a dry run shows the first memories that would go."""
    unknown = [id for id in dict.fromkeys(asked) if id not in done.ids]
    structured: ForgottenAnswer = {**wire_upkeep.forgotten(done, WORDS), "unknown": unknown}
    parts = [f"Would forget {len(done.ids)}." if done.dry_run else f"Forgot {len(done.ids)}."]
    if unknown:
        parts.append(f"{len(unknown)} of the ids do not exist.")
    if done.reflections:
        parts.append(f"Themes: {theme_changes(len(done.reflections), len(done.rebuilt))}.")
    parts += _warned(structured["warnings"])
    if done.dry_run and done.ids:
        parts.append("Nothing was removed: call again with dry_run false to do it.")
    return Answer(shown(structured), "\n".join([" ".join(parts), *([shown_first] if shown_first else [])]))


def linked(edge: Edge) -> Answer[LinkedAnswer]:
    """The result of `link`."""
    structured: LinkedAnswer = {"link": wire.edge(edge)}
    return Answer(shown(structured), f"Linked, kind {_quoted(edge.kind)}, weight {edge.weight:g}.")


def contested(edge: Edge, closed: bool) -> Answer[LinkedAnswer]:
    """The result of `link` with a kind that contests the older memory."""
    structured: LinkedAnswer = {"link": wire.edge(edge)}
    ended = ", which ended where that begins" if closed else ""
    return Answer(shown(structured), f"{short_id(edge.to_id)} contests {short_id(edge.from_id)}{ended}; both are kept.")


def reflected(done: Reflected) -> Answer[ReflectedAnswer]:
    """The result of `reflect`; themes contain words of the memories, so they are quoted too."""
    structured: ReflectedAnswer = {**wire_upkeep.reflected(done, WORDS)}
    plan = "A plan: " if done.dry_run else ""
    counts = f"{plan}{len(done.promoted)} promoted, {done.linked} linked, {len(done.themes)} themes."
    themes = [Quoted(", ".join(theme.keywords), f"theme of {len(theme.members)}") for theme in done.themes]
    warnings = _warned(structured["warnings"])
    return Answer(shown(structured), "\n".join([counts, *([quote(themes)] if themes else []), *warnings]))


def results(result: Found) -> Answer[SearchAnswer]:
    """The result of `search`, as JSON text, which its clients expect."""
    structured: SearchAnswer = {
        "notice": NOTICE,
        "results": [{"id": hit.id, "title": title(hit.record), "url": uri(hit.id)} for _, hit in result.hits],
    }
    return _as_json(structured)


def fetched(record: Record) -> Answer[FetchAnswer]:
    """The result of `fetch`, as JSON text, which its clients expect."""
    structured: FetchAnswer = {
        "notice": NOTICE,
        "id": record.id,
        "title": title(record),
        "text": in_words(record),
        "url": uri(record.id),
        "metadata": {**provenance(record), **({"metadata": dict(record.metadata)} if record.metadata else {})},
    }
    return _as_json(structured)


def title(record: Record) -> str:
    """The essence, or the beginning of the text, on one line."""
    line = " ".join((record.essence or in_words(record)).split())
    return line if len(line) <= TITLE_LENGTH else f"{line[: TITLE_LENGTH - 1]}…"


def uri(id: str) -> str:
    """The URI of a memory as a resource."""
    return f"thinkback://memory/{percent_encoded(id, safe='')}"


def _explained(hit: Hit) -> str:
    known = json.dumps(shown(provenance(hit.record)), ensure_ascii=False)
    return f"Memory {hit.rank}: score {hit.score:.6g}, {known}. {hit.why()}"


def _part(hit: Hit) -> dict[str, str]:
    """Where in a long memory the passage shown stands."""
    if hit.passage is None:
        return {}
    return {"passage": f"characters {hit.passage.start} to {hit.passage.end} of {len(hit.text)}; fetch returns all"}


def _found(hit: Hit, store: str, explain: bool) -> FoundShape:
    record = hit.record
    return {
        "id": record.id,
        "rank": hit.rank,
        "score": hit.score,
        "relevance": hit.relevance,
        "text": hit.shown,
        "passage": _part(hit).get("passage"),
        "date": str(iso(record.date)),
        "kind": record.kind,
        "tags": list(record.tags),
        "thread": record.thread,
        "user": record.user,
        "source": record.source,
        "store": store or None,
        "trust": record.trust,
        "supersedes": list(hit.supersedes),
        "why": hit.why() if explain else "",
    }


def _warned(warnings: Sequence[str]) -> list[str]:
    return [f"Warning: {visible(warning)}" for warning in warnings]


def _quoted(text: str) -> str:
    return json.dumps(shown(text), ensure_ascii=False)


def _as_json(structured: T) -> Answer[T]:
    plain = shown(structured)
    return Answer(plain, json.dumps(plain, ensure_ascii=False))
