"""Audit: read the whole store and list duplicates, stale facts, unused memories, likely secrets and orphans; changes nothing."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from thinkback.clock import DAY, iso
from thinkback.lifecycle.confidence import FLOOR
from thinkback.lifecycle.repetition import by_age, repetitions
from thinkback.lifecycle.result import Result
from thinkback.lifecycle.secrets.detect import secrets, secrets_in_name
from thinkback.lifecycle.secrets.door import secrets_by_field
from thinkback.model import CONTESTED, REFLECTION, Filter, StoredEdge, StoredRecord, Vector
from thinkback.reflections import members
from thinkback.search.selection import canonical
from thinkback.stores.base import Store
from thinkback.values import dataclass

Vectors = Callable[[list[str]], Mapping[str, Vector]]
IN_ID = "an id cannot be redacted, so forget the memory and remember it under another"
OLD_ENOUGH = 30 * DAY  # minimum age of a memory that counts as never recalled


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem of one memory."""

    id: str
    what: str


@dataclass(frozen=True, slots=True, repr=False)
class AuditReport(Result):
    """The findings: groups of duplicates (ids, oldest first), then findings by concern."""

    memories: int
    duplicates: tuple[tuple[str, ...], ...]
    stale: tuple[Finding, ...]
    never_recalled: tuple[str, ...]
    secrets: tuple[Finding, ...]
    orphans: tuple[Finding, ...]

    @property
    def clean(self) -> bool:
        """Whether nothing needs attention; a memory that was never recalled does not."""
        return not (self.duplicates or self.stale or self.secrets or self.orphans)


def audit(store: Store, now: int) -> AuditReport:
    """Audit a store, including its history."""
    present = sorted(store.list(Filter(now=now, everything=True), None), key=lambda record: record.id)
    visible = [record for record in present if Filter(now=now).rejects(record) is None]
    edges = list(store.export_edges())
    return AuditReport(
        memories=len(present),
        duplicates=duplicates(visible, store.vectors),
        stale=tuple(_stale(present, edges, now)),
        never_recalled=tuple(
            r.id for r in visible if not r.access_count and r.kind != REFLECTION and now - r.recorded_at >= OLD_ENOUGH
        ),
        secrets=tuple(held_secrets(store)),
        orphans=tuple(_orphans(present, edges, store)),
    )


def duplicates(records: Iterable[StoredRecord], vectors: Vectors) -> tuple[tuple[str, ...], ...]:
    """Groups of memories, oldest first, that repeat each other or whose texts differ only in case and white space."""
    aged = sorted(records, key=by_age)
    oldest = {record.id: record.id for record in aged}

    def head(id: str) -> str:
        while oldest[id] != id:
            oldest[id] = oldest[oldest[id]]
            id = oldest[id]
        return id

    place = {record.id: number for number, record in enumerate(aged)}
    for pair in (*_same_text(aged), *_repeating(aged, vectors)):
        older, newer = sorted(map(head, pair), key=place.__getitem__)
        oldest[newer] = older
    groups: dict[str, list[str]] = defaultdict(list)
    for record in aged:
        groups[head(record.id)].append(record.id)
    return tuple(sorted(tuple(group) for group in groups.values() if len(group) > 1))


def _same_text(aged: Sequence[StoredRecord]) -> Iterator[tuple[str, str]]:
    first: dict[str, str] = {}
    for record in aged:
        yield record.id, first.setdefault(canonical(record.text), record.id)


def _repeating(aged: Sequence[StoredRecord], vectors: Vectors) -> Iterable[tuple[str, str]]:
    """Pairs that count as repetitions."""
    texts = ((record.id, record.text, record.source) for record in aged if record.kind != REFLECTION)
    return repetitions(texts, vectors).items()


def _stale(records: Sequence[StoredRecord], edges: Sequence[StoredEdge], now: int) -> Iterator[Finding]:
    there = {record.id for record in records}
    contested = {edge.from_id: edge.to_id for edge in edges if edge.kind == CONTESTED and edge.to_id in there}
    for record in records:
        if record.archived_at is not None:
            continue
        if record.valid_to is not None and record.valid_to <= now:
            yield Finding(record.id, f"no longer valid since {iso(record.valid_to)}")
        elif record.id in contested:
            yield Finding(record.id, f"contradicted by {contested[record.id]}, and still visible")
        elif record.expires_at is not None and record.expires_at <= now:
            yield Finding(record.id, f"expired at {iso(record.expires_at)}, not archived yet")
        elif record.confidence is not None and record.confidence <= FLOOR:
            yield Finding(record.id, "confidence fell to its minimum")


def held_secrets(store: Store) -> Iterator[Finding]:
    """Likely secrets in every version of every memory, in link kinds and in judged queries."""
    seen: set[Finding] = set()
    for record in store.export_records():
        when = "" if record.retired_at is None else f", in the version of {iso(record.recorded_at)}"
        for field, secret in secrets_by_field(partial(getattr, record)):
            seen.add(Finding(record.id, f"{secret.what} ({secret.hint}) in {field}{when}"))
        seen.update(Finding(record.id, f"{s.what} ({s.hint}) in its id; {IN_ID}") for s in secrets_in_name(record.id))
    edges = list(store.export_edges())
    kinds = {kind: secrets_in_name(kind) for kind in {edge.kind for edge in edges}}
    for edge in edges:
        seen.update(Finding(edge.from_id, f"{s.what} ({s.hint}) in the kind of a link") for s in kinds[edge.kind])
    for judgement in store.judgements():
        seen.update(
            Finding(judgement.memory_id, f"{s.what} ({s.hint}) in a judged query") for s in secrets(judgement.query)
        )
    yield from sorted(seen, key=lambda finding: (finding.id, finding.what))


def _orphans(records: Sequence[StoredRecord], edges: Sequence[StoredEdge], store: Store) -> Iterator[Finding]:
    """Links, reflections and judgements that refer to forgotten memories."""
    there = {record.id for record in records}
    for edge in edges:
        for id in {edge.from_id, edge.to_id} - there:
            yield Finding(edge.other(id), f"its link of kind {edge.kind} leads to {id}, which does not exist")
    for record in records:
        gone = [id for id in members(record) if id not in there]
        if gone:
            yield Finding(record.id, f"a reflection on {len(gone)} memories that do not exist")
    for judgement in store.judgements():
        if judgement.memory_id not in there:
            yield Finding(judgement.memory_id, "judged, but does not exist")
