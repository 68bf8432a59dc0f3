"""Redaction: secrets are taken out of every version of a memory, as if they had never been written.

A memory that holds one is forgotten and written again without it, under its id, with its history, links and judgements, in one
transaction; so no index keeps the secret. Its vector is made anew from the redacted text.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from recollect.errors import RecollectError
from recollect.lifecycle import journal
from recollect.lifecycle.auditing import audit
from recollect.lifecycle.journal import Action
from recollect.lifecycle.secrets import redacted, redacted_json
from recollect.model import Draft, Edge, Filter, Record
from recollect.reflect.rebuilding import derived_from, rebuild
from recollect.stores.base import EmbeddingSpace, Store

Fill = Callable[[Sequence[Draft]], tuple[list[Draft], EmbeddingSpace | None, RecollectError | None]]
_ALL = 1_000_000
_OF_A_DRAFT = [field.name for field in fields(Draft) if field.name != "vector"]


@dataclass(frozen=True, slots=True)
class Redacted:
    """The memories that were rewritten, and whether the log was cleared of what they held."""

    ids: tuple[str, ...]
    log_cleared: bool = True


def redact(store: Store, ids: Sequence[str] | None, now: int, fill: Fill) -> Redacted:
    """Takes likely secrets out of these memories, or out of all; a memory without any is not touched."""
    chosen = list(ids) if ids is not None else list(dict.fromkeys(f.id for f in audit(store, now).secrets))
    before = {id: store.history(id) for id in chosen}
    after = {id: [_clean(record) for record in versions] for id, versions in before.items()}
    judged = [judgement for judgement in store.judgements() if judgement.memory_id in before]
    unclean = {j.memory_id for j in judged if redacted(j.query) != j.query}
    dirty = [id for id in chosen if before[id] and (after[id] != before[id] or id in unclean)]
    if not dirty:
        return Redacted(())
    present = {id: after[id][-1] for id in dirty}
    drafts, space, _ = fill([_draft(record) for record in present.values()])
    with store.transaction():
        edges = _edges(store, dirty, now)
        derived = derived_from(store, dirty, now)
        store.forget([*dirty, *(record.id for record in derived)])
        store.add(drafts, now, space)
        store.restore_versions([record for id in dirty for record in after[id][:-1]])
        gone = {record.id for record in derived}
        store.link([edge for edge in edges if not {edge.from_id, edge.to_id} & gone], now)
        store.judge([replace(j, query=redacted(j.query)) for j in judged if j.memory_id in present])
        rebuild(store, derived, now)
        journal.log(
            store, [Action("redact", id, {}, {"redacted": True}) for id in dirty], now, journal.new_batch("redact", now)
        )
    return Redacted(tuple(dirty), store.scrub())


def _clean(record: Record) -> Record:
    return replace(
        record,
        text=redacted(record.text),
        essence=None if record.essence is None else redacted(record.essence),
        source=None if record.source is None else redacted(record.source),
        tags=tuple(dict.fromkeys(redacted(tag) for tag in record.tags)),
        metadata=redacted_json(record.metadata),
    )


def _draft(record: Record) -> Draft:
    given: Mapping[str, Any] = {name: getattr(record, name) for name in _OF_A_DRAFT}
    return Draft(**given)


def _edges(store: Store, ids: Sequence[str], now: int) -> list[Edge]:
    around = store.edges(ids, Filter(now=now, everything=True), _ALL, sequence=False)
    return list({(e.from_id, e.to_id, e.kind): e for its in around.values() for e in its}.values())
