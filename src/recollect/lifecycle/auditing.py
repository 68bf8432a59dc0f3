"""Auditing: what a look through the whole store turns up, as lists; it changes nothing."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from recollect.clock import DAY, iso
from recollect.lifecycle.confidence import FLOOR
from recollect.lifecycle.corroboration import CONTESTED
from recollect.lifecycle.secrets import secrets, strings
from recollect.model import REFLECTION, Edge, Filter, Record
from recollect.pipeline import members
from recollect.reflect.observations import pages
from recollect.selection import canonical
from recollect.stores.base import Store

OLD_ENOUGH = 30 * DAY  # to count as never recalled


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about one memory."""

    id: str
    what: str


@dataclass(frozen=True, slots=True)
class AuditReport:
    """What was found: ids of memories that say the same, then findings by concern."""

    memories: int
    duplicates: tuple[tuple[str, ...], ...]
    stale: tuple[Finding, ...]
    never_recalled: tuple[str, ...]
    secrets: tuple[Finding, ...]
    orphans: tuple[Finding, ...]

    @property
    def clean(self) -> bool:
        """Nothing that needs a hand; a memory may well never have been recalled."""
        return not (self.duplicates or self.stale or self.secrets or self.orphans)

    def to_dict(self) -> dict[str, Any]:
        """As JSON carries it."""
        return asdict(self)


def audit(store: Store, now: int) -> AuditReport:
    """Looks through a store, its history included."""
    present = sorted(pages(store, Filter(now=now, everything=True)), key=lambda record: record.id)
    visible = [record for record in present if Filter(now=now).rejects(record) is None]
    edges = list(store.export_edges())
    return AuditReport(
        memories=len(present),
        duplicates=duplicates(visible),
        stale=tuple(_stale(present, edges, now)),
        never_recalled=tuple(
            r.id for r in visible if not r.access_count and r.kind != REFLECTION and now - r.recorded_at >= OLD_ENOUGH
        ),
        secrets=tuple(_secrets(store)),
        orphans=tuple(_orphans(present, edges, store)),
    )


def duplicates(records: Iterable[Record]) -> tuple[tuple[str, ...], ...]:
    """Groups of memories whose texts differ in case and white space at most, oldest first."""
    alike: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        alike[canonical(record.text)].append(record)
    groups = (sorted(group, key=lambda r: (r.recorded_at, r.id)) for group in alike.values() if len(group) > 1)
    return tuple(sorted(tuple(record.id for record in group) for group in groups))


def _stale(records: Sequence[Record], edges: Sequence[Edge], now: int) -> Iterator[Finding]:
    there = {record.id for record in records}
    contested = {edge.from_id: edge.to_id for edge in edges if edge.kind == CONTESTED and edge.to_id in there}
    for record in records:
        if record.archived_at is not None:
            continue
        if record.valid_to is not None and record.valid_to <= now:
            yield Finding(record.id, f"stopped being true at {iso(record.valid_to)}")
        elif record.id in contested:
            yield Finding(record.id, f"contradicted by {contested[record.id]}, and still standing")
        elif record.expires_at is not None and record.expires_at <= now:
            yield Finding(record.id, f"expired at {iso(record.expires_at)}, not archived yet")
        elif record.confidence is not None and record.confidence <= FLOOR:
            yield Finding(record.id, "confidence fell to its floor; nothing confirmed it")


def _secrets(store: Store) -> Iterator[Finding]:
    """In every version of every memory, and in the queries of judgements."""
    seen: set[Finding] = set()
    for record in store.export_records():
        for field, text in _texts(record):
            for secret in secrets(text):
                when = "" if record.retired_at is None else f", in the version of {iso(record.recorded_at)}"
                seen.add(Finding(record.id, f"{secret.what} ({secret.hint}) in {field}{when}"))
    for judgement in store.judgements():
        seen.update(
            Finding(judgement.memory_id, f"{s.what} ({s.hint}) in a judged query") for s in secrets(judgement.query)
        )
    yield from sorted(seen, key=lambda finding: (finding.id, finding.what))


def _texts(record: Record) -> Iterator[tuple[str, str]]:
    yield "text", record.text
    yield from (("essence", text) for text in (record.essence,) if text)
    yield from (("source", text) for text in (record.source,) if text)
    yield from (("tags", tag) for tag in record.tags)
    yield from (("metadata", text) for text in strings(record.metadata))


def _orphans(records: Sequence[Record], edges: Sequence[Edge], store: Store) -> Iterator[Finding]:
    """What points to nothing."""
    there = {record.id for record in records}
    for edge in edges:
        for id in {edge.from_id, edge.to_id} - there:
            yield Finding(edge.other(id), f"its link of kind {edge.kind} leads to {id}, which is gone")
    for record in records:
        gone = [id for id in members(record) if id not in there]
        if gone:
            yield Finding(record.id, f"a reflection on {len(gone)} memories that are gone")
    for judgement in store.judgements():
        if judgement.memory_id not in there:
            yield Finding(judgement.memory_id, "judged, and gone")
