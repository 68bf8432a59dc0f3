"""Derived dates: the time a memory tells of, read from its text when it is written, unless the caller gives it."""

from dataclasses import replace

from thinkback.model import REFLECTION, Draft, Filter, StoredRecord
from thinkback.search.query.about import about
from thinkback.stores.base import Store

GIVEN = ("about_from", "about_to")


def with_about(draft: Draft, now: int) -> Draft:
    """The draft with the time that its text tells of; one that the caller gave, or a memory with a date of its own, stays."""
    if draft.about_given or draft.kind == REFLECTION or draft.valid_from is not None:
        return draft
    if draft.about_from is not None or draft.about_to is not None:
        return replace(draft, about_given=True)
    found = about(draft.text, now if draft.created_at is None else draft.created_at)
    return draft if found is None else replace(draft, about_from=found[0], about_to=found[1])


def retold(store: Store, record: StoredRecord, text: str, now: int) -> None:
    """Read the time that a new text of a memory tells of."""
    if not _owned(record):
        store.amend({record.id: _read(text, record.created_at)}, now)


def reread(store: Store, now: int) -> set[str]:
    """Read the times of all memories again, but for those that callers gave; return which changed."""
    with store.transaction():
        records = store.list(Filter(now=now, everything=True), None, None)
        fresh = {record.id: _read(record.text, record.created_at) for record in records if not _owned(record)}
        known = {record.id: record for record in records}
        changed = {id: new for id, new in fresh.items() if new != {name: getattr(known[id], name) for name in GIVEN}}
        if changed:
            store.amend(changed, now)
    return set(changed)


def _owned(record: StoredRecord) -> bool:
    return record.about_given or record.valid_from is not None or record.kind == REFLECTION


def _read(text: str, said: int) -> dict[str, int | None]:
    found = about(text, said) or (None, None)
    return dict(zip(GIVEN, found, strict=True))
