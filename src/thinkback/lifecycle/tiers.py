"""Tiers and their time to live: working memories 72 hours, episodic ones 30 days, all others until they are forgotten.

A recall starts the time anew. A memory of a short-lived tier that keeps being recalled rises: a working one becomes episodic at its
3rd recall, an episodic one semantic at its 10th. An expiry the caller chose is not the tier's, and nothing here moves it.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from thinkback.clock import DAY, HOUR
from thinkback.model import Draft, StoredRecord
from thinkback.stores.base import Store

TIME_TO_LIVE = {"working": 72 * HOUR, "episodic": 30 * DAY}


@dataclass(frozen=True, slots=True)
class Rise:
    """Where a memory rises to, and at how many recalls."""

    tier: str
    recalls: int


@dataclass(frozen=True, slots=True)
class Access:
    """How often a memory was recalled, and when last."""

    count: int
    last: int


RISES = {"working": Rise("episodic", 3), "episodic": Rise("semantic", 10)}


def lifetime(tier: str, start: int) -> dict[str, Any]:
    """The standing of a memory that lives by its tier, its time counted from `start`."""
    life = TIME_TO_LIVE.get(tier)
    return {"expires_at": None if life is None else start + life, "slides": life is not None}


def with_expiry(draft: Draft, now: int) -> Draft:
    """The draft, expiring as its tier does unless the caller said when."""
    short_lived = isinstance(draft.tier, str) and draft.tier in TIME_TO_LIVE  # the store has yet to check it
    return replace(draft, **lifetime(draft.tier, now)) if short_lived and draft.expires_at is None else draft


def with_lifetime(record: StoredRecord, changes: Mapping[str, Any], now: int) -> Mapping[str, Any]:
    """A caller's changes, and what follows: an expiry that is given is the caller's, a new tier brings its time to live."""
    if "expires_at" in changes:
        return {**changes, "slides": False}
    chosen_by_caller = record.expires_at is not None and not record.slides
    tier = changes.get("tier", record.tier)
    if tier == record.tier or chosen_by_caller or not isinstance(tier, str):
        return changes
    return {**changes, **lifetime(tier, now)}


def slid(record: StoredRecord, moment: int) -> int | None:
    """When a memory expires after being recalled at this moment, or None if nothing changes."""
    life = TIME_TO_LIVE.get(record.tier)
    if life is None or not record.slides or record.expires_at is None or record.expires_at <= moment:
        return None
    return moment + life if moment + life > record.expires_at else None


def touch(store: Store, accesses: Mapping[str, Access], now: int) -> None:
    """Counts recalls and slides what lives by them from the moment of the recall, in one transaction."""
    together: dict[int, dict[str, int]] = defaultdict(dict)
    for id, access in accesses.items():
        together[access.last][id] = access.count
    with store.transaction():
        found = store.get(list(accesses))
        ends = {id: slid(record, accesses[id].last) for id, record in found.items()}
        for moment, counts in together.items():
            store.touch(counts, moment)
        later = {id: {"expires_at": end} for id, end in ends.items() if end is not None}
        if later:
            store.amend(later, now)


def risen(record: StoredRecord, now: int) -> dict[str, Any] | None:
    """The tier a memory has earned by its recalls, with that tier's time to live if it lives by its tier; or None."""
    tier = record.tier
    while (rise := RISES.get(tier)) is not None and record.access_count >= rise.recalls:
        tier = rise.tier
    if tier == record.tier:
        return None
    start = now if record.last_access is None else record.last_access
    return {"tier": tier, **(lifetime(tier, start) if record.slides else {})}
