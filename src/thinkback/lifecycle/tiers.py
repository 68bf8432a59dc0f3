"""Tiers and their time to live: working memories 72 hours, episodic ones 30 days, all others until they are forgotten.

A recall restarts the time to live. A short-lived memory that is recalled often moves up: a working one becomes episodic at its
3rd recall, an episodic one semantic at its 10th. An expiry that the caller chose is never changed here.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from thinkback.clock import DAY, HOUR
from thinkback.model import Access, Draft, StoredRecord
from thinkback.stores.base import Store

TIME_TO_LIVE = {"working": 72 * HOUR, "episodic": 30 * DAY}


class Rise(NamedTuple):
    """The next tier, and the number of recalls that leads there."""

    tier: str
    recalls: int


RISES = {"working": Rise("episodic", 3), "episodic": Rise("semantic", 10)}


def lifetime(tier: str, start: int) -> dict[str, Any]:
    """The expiry fields of a memory of this tier whose time to live begins at `start`."""
    life = TIME_TO_LIVE.get(tier)
    return {"expires_at": None if life is None else start + life, "slides": life is not None}


def with_expiry(draft: Draft, now: int) -> Draft:
    """The draft with its tier's expiry, unless the caller gave one."""
    short_lived = isinstance(draft.tier, str) and draft.tier in TIME_TO_LIVE  # the store checks the type later
    return replace(draft, **lifetime(draft.tier, now)) if short_lived and draft.expires_at is None else draft


def with_lifetime(record: StoredRecord, changes: Mapping[str, Any], now: int) -> Mapping[str, Any]:
    """A caller's changes with their effect on the expiry: a given one stays fixed, a new tier brings its time to live."""
    if "expires_at" in changes:
        return {**changes, "slides": False}
    chosen_by_caller = record.expires_at is not None and not record.slides
    tier = changes.get("tier", record.tier)
    if tier == record.tier or chosen_by_caller or not isinstance(tier, str):
        return changes
    return {**changes, **lifetime(tier, now)}


def extended_expiry(record: StoredRecord, moment: int) -> int | None:
    """The new expiry of a memory that is recalled at this moment, or None if it does not change."""
    life = TIME_TO_LIVE.get(record.tier)
    if life is None or not record.slides or record.expires_at is None or record.expires_at <= moment:
        return None
    return moment + life if moment + life > record.expires_at else None


def touch(store: Store, accesses: Mapping[str, Access], now: int, sliding: Collection[str]) -> None:
    """Add access counts, and extend the expiries of sliding ones from the time of each recall, in one transaction."""
    with store.transaction():
        found = store.get(sorted(sliding)) if sliding else {}
        ends = {id: extended_expiry(record, accesses[id].last) for id, record in found.items()}
        store.touch(accesses)
        later = {id: {"expires_at": end} for id, end in ends.items() if end is not None}
        if later:
            store.amend(later, now)


def risen(record: StoredRecord, now: int) -> dict[str, Any] | None:
    """The tier that a memory has earned by its recalls, with the new expiry if it follows the tier; None if unchanged."""
    tier = record.tier
    while (rise := RISES.get(tier)) is not None and record.access_count >= rise.recalls:
        tier = rise.tier
    if tier == record.tier:
        return None
    start = now if record.last_access is None else record.last_access
    return {"tier": tier, **(lifetime(tier, start) if record.slides else {})}
