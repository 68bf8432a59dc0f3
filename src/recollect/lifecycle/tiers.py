"""Tiers and their time to live: working memories 72 hours, episodic ones 30 days, all others until they are forgotten.

A recall starts the time anew. A memory of a short-lived tier that keeps being recalled rises: a working one becomes episodic at its
3rd recall, an episodic one semantic at its 10th.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from recollect.clock import DAY, HOUR
from recollect.model import Draft, Record
from recollect.stores.base import Store

TIME_TO_LIVE = {"working": 72 * HOUR, "episodic": 30 * DAY}


@dataclass(frozen=True, slots=True)
class Rise:
    """Where a memory rises to, and at how many recalls."""

    tier: str
    recalls: int


RISES = {"working": Rise("episodic", 3), "episodic": Rise("semantic", 10)}


def with_expiry(draft: Draft, now: int) -> Draft:
    """The draft, expiring as its tier does unless the caller said when."""
    life = TIME_TO_LIVE.get(draft.tier) if isinstance(draft.tier, str) else None  # the store has yet to check it
    return draft if life is None or draft.expires_at is not None else replace(draft, expires_at=now + life)


def slid(record: Record, now: int) -> int | None:
    """When a memory expires after being recalled now, or None if nothing changes.

    Only the time to live of its tier slides; an expiry the caller chose stays what it is.
    """
    life = TIME_TO_LIVE.get(record.tier)
    if life is None or record.expires_at is None or record.expires_at <= now:
        return None
    starts = (record.last_access, record.recorded_at, record.created_at)
    later = now + life
    return later if record.expires_at - life in starts and later > record.expires_at else None


def touch(store: Store, accesses: Mapping[str, int], now: int) -> None:
    """Counts recalls and slides what lives by them, in one transaction."""
    with store.transaction():
        found = store.get(list(accesses))
        later = {id: {"expires_at": end} for id, r in found.items() if (end := slid(r, now)) is not None}
        store.touch(accesses, now)
        if later:
            store.amend(later, now)


def risen(record: Record, now: int) -> dict[str, object] | None:
    """The tier and expiry a memory has earned by its recalls, or None."""
    rise = RISES.get(record.tier)
    if rise is None or record.access_count < rise.recalls:
        return None
    life = TIME_TO_LIVE.get(rise.tier)
    start = now if record.last_access is None else record.last_access
    return {"tier": rise.tier, "expires_at": None if life is None else start + life}
