"""Quality of a memory: salience × confidence × usage, and × recency for short-lived tiers, divided by the best candidate's.

salience = tier · (0.5 + 0.5 · importance), clamped to [0, 1]; usage = 1 + ln(1 + accesses);
short-lived tiers × exp(−age / (7 d · (1 + ln(1 + accesses)))), with age since the last access, else creation, and confidence 1.
"""

import math
from functools import lru_cache, partial
from typing import ClassVar

import numpy as np

from thinkback.clock import DAY
from thinkback.model import Floats, StoredRecord
from thinkback.search.once import Once
from thinkback.search.signals.base import Scene, Signal, Skip, of_records
from thinkback.values import dataclass

TIER_SALIENCE = {"procedural": 0.95, "semantic": 0.90, "episodic": 0.55, "working": 0.30, "unknown": 0.50}
SHORT_LIVED = ("working", "episodic")
SHORT_LIFE = 7 * DAY
UNSCORED_IMPORTANCE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality(Signal):
    """1 for the best candidate; with equal quality everywhere the order is that of relevance."""

    name: ClassVar[str] = "quality"

    def values(self, scene: Scene) -> Floats | Skip:
        qualities = of_records(_lasting.each(scene.records))
        for row in np.flatnonzero(np.isnan(qualities)):
            qualities[row] = _passing(scene.records[row], scene.query.now)
        best = qualities.max(initial=0.0)
        return qualities / best if best > 0 else qualities


def quality(record: StoredRecord, now: int) -> float:
    """The quality of one memory, before it is compared with others."""
    return _passing(record, now) if record.tier in SHORT_LIVED else _lasting(record)


@partial(Once, of_accesses=True)
def _lasting(record: StoredRecord) -> float:
    """The quality at any time; not a number for short-lived tiers."""
    if record.tier in SHORT_LIVED:
        return math.nan
    return salience(record) * (1.0 if record.confidence is None else record.confidence) * _usage(record.access_count)


def _passing(record: StoredRecord, now: int) -> float:
    usage = _usage(record.access_count)
    age = max(now - (record.created_at if record.last_access is None else record.last_access), 0)
    return salience(record) * usage * math.exp(-age / (SHORT_LIFE * usage))


@lru_cache(maxsize=1024)
def _usage(accesses: int) -> float:
    return 1.0 + math.log1p(accesses)


def salience(record: StoredRecord) -> float:
    """How much the tier and the owner's importance make of it."""
    return _salience(record.tier, record.importance)


@lru_cache(maxsize=1024)
def _salience(tier: str, scored: float | None) -> float:
    importance = UNSCORED_IMPORTANCE if scored is None else scored
    return min(1.0, max(0.0, TIER_SALIENCE[tier] * (0.5 + 0.5 * importance)))
