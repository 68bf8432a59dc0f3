"""Archive and restore: out of sight without being lost."""

from collections.abc import Sequence

from thinkback.errors import unknown_memory
from thinkback.lifecycle import journal
from thinkback.lifecycle.journal import Action
from thinkback.lifecycle.tiers import lifetime
from thinkback.model import StoredRecord
from thinkback.stores.base import Store


def archive(store: Store, ids: Sequence[str], now: int) -> list[str]:
    """Hides memories from every search; returns the ids that were not archived before."""
    with store.transaction():
        records = [record for record in present(store, ids) if record.archived_at is None]
        actions = [Action("archive", r.id, {"archived_at": None}, {"archived_at": now}, "asked for") for r in records]
        journal.amend(store, actions, now, journal.new_batch("archive", now))
    return [action.id for action in actions]


def restore(store: Store, ids: Sequence[str], now: int) -> list[str]:
    """Brings archived and expired memories back, short-lived ones for the time of their tier; returns the ids that changed."""
    with store.transaction():
        actions = [action for record in present(store, ids) if (action := restored(record, now)) is not None]
        journal.amend(store, actions, now, journal.new_batch("restore", now))
    return [action.id for action in actions]


def restored(record: StoredRecord, now: int) -> Action | None:
    """What brings a memory back into sight, or None if it is there."""
    after: dict[str, object] = {}
    if record.archived_at is not None:
        after["archived_at"] = None
    if record.expires_at is not None and record.expires_at <= now:
        after |= lifetime(record.tier, now)
    before = {name: getattr(record, name) for name in after}
    return Action("restore", record.id, before, after, "asked for") if after else None


def present(store: Store, ids: Sequence[str]) -> list[StoredRecord]:
    """The memories of these ids, or NotFound."""
    found = store.get(ids)
    for id in ids:
        if id not in found:
            raise unknown_memory(id)
    return list(found.values())
