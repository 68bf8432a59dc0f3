"""Writes of a caller: new memories, new versions, changes in place, archive and restore."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from thinkback.errors import unknown_memory
from thinkback.lifecycle import journal
from thinkback.lifecycle.about import GIVEN, retold, with_about
from thinkback.lifecycle.corroboration import confirm, reworded
from thinkback.lifecycle.journal import Action
from thinkback.lifecycle.reflect.promote import RAISED, raised
from thinkback.lifecycle.repetition import holding, repeated, repetitions, statement_in
from thinkback.lifecycle.speakers import respoken
from thinkback.lifecycle.tiers import lifetime, with_expiry, with_lifetime
from thinkback.model import REFLECTION, Draft, StoredRecord
from thinkback.stores.base import EmbeddingSpace, Store
from thinkback.stores.together import adds_unless_found, joined

BULK = 32  # repetitions in a batch of more memories are left to `tidy`, so that bulk writes stay fast


def remember(store: Store, drafts: Sequence[Draft], space: EmbeddingSpace | None, now: int) -> list[StoredRecord]:
    """Store drafts in one transaction, and raise the confidence of older memories that they repeat."""
    dated = [with_about(with_expiry(draft, now), now) for draft in drafts]
    if len(dated) > BULK:
        return store.add(dated, now, space)
    if len(dated) == 1 and (added := _said_first(store, dated[0], space, now)):
        return added
    with joined(store):
        # Repetitions are looked up inside the transaction: of two processes that write the same text, the second finds the first.
        known = repeated(store, dated, now)
        records = store.add(dated, now, space)
        repeats = _within(records, dated) | {records[place].id: old for place, old in known.items()}
        if repeats and (actions := confirm(store, repeats, now)):
            journal.log(store, actions, now, journal.new_batch("remember", now))
    return records


def _said_first(store: Store, draft: Draft, space: EmbeddingSpace | None, now: int) -> list[StoredRecord] | None:
    """A draft that repeats nothing, written at once by a store that can tell; else None, and nothing was written."""
    adding = adds_unless_found(store)
    if adding is None or store.in_transaction:
        return None
    statement = statement_in(draft)
    looked_for = [] if statement is None else [holding(statement.gist)]
    return adding.add_unless_found([draft], now, space, [query for query in looked_for if query.mode != "empty"])


def _within(records: Sequence[StoredRecord], drafts: Sequence[Draft]) -> dict[str, str]:
    """Memories that repeat an earlier one of the same batch."""
    vectors = {r.id: draft.vector for r, draft in zip(records, drafts, strict=True) if draft.vector is not None}
    return repetitions(((r.id, r.text, r.source) for r in records if r.kind != REFLECTION), lambda ids: vectors)


def new_version(
    store: Store,
    record: StoredRecord,
    changes: Mapping[str, Any],
    now: int,
    embedded: Draft,
    space: EmbeddingSpace | None = None,
) -> None:
    """Write a new version with the vectors of a draft; corroborations that no longer hold for its text or source are removed."""
    store.update(record.id, respoken(record, changes), now, embedded.vector, space, embedded.passages)
    if "text" in changes:
        retold(store, record, changes["text"], now)
    if changes.keys() & {"text", "source"}:
        reworded(store, record.id, now)


def change_standing(store: Store, record: StoredRecord, changes: Mapping[str, Any], now: int) -> None:
    """Change fields in place. A given confidence becomes the new claim; a given priority is no longer a promotion."""
    after = dict(with_lifetime(record, changes, now))
    if changes.keys() & set(GIVEN):
        after["about_given"] = True
    if "confidence" in changes:
        after |= {
            "claim": changes["confidence"],
            "claimed_at": now + 1,
        }  # corroborations up to now are part of the claim
    store.amend({record.id: after}, now)
    promoted = raised(store) if "priority" in changes else {}
    if promoted.pop(record.id, None) is not None:
        store.set_setting(RAISED, json.dumps(promoted, sort_keys=True))


def archive(store: Store, ids: Sequence[str], now: int) -> list[str]:
    """Hide memories from every search; returns the ids that were not archived before."""
    with store.transaction():
        records = [record for record in _existing(store, ids) if record.archived_at is None]
        actions = [Action("archive", r.id, {"archived_at": None}, {"archived_at": now}, "asked for") for r in records]
        journal.amend(store, actions, now, journal.new_batch("archive", now))
    return [action.id for action in actions]


def restore(store: Store, ids: Sequence[str], now: int) -> list[str]:
    """Make archived and expired memories visible again, with a new time to live; returns the ids that changed."""
    with store.transaction():
        actions = [action for record in _existing(store, ids) if (action := _restored(record, now)) is not None]
        journal.amend(store, actions, now, journal.new_batch("restore", now))
    return [action.id for action in actions]


def _restored(record: StoredRecord, now: int) -> Action | None:
    after: dict[str, object] = {} if record.archived_at is None else {"archived_at": None}
    if record.expires_at is not None and record.expires_at <= now:
        after |= lifetime(record.tier, now)
    before = {name: getattr(record, name) for name in after}
    return Action("restore", record.id, before, after, "asked for") if after else None


def _existing(store: Store, ids: Sequence[str]) -> list[StoredRecord]:
    found = store.get(ids)
    for id in ids:
        if id not in found:
            raise unknown_memory(id)
    return list(found.values())
