"""Quality of a memory: salience × confidence × usage, and × recency for short-lived tiers, divided by the best candidate's.

salience = tier · (0.5 + 0.5 · importance), clamped to [0, 1]; usage = 1 + ln(1 + accesses);
short-lived tiers × exp(−age / (7 d · (1 + ln(1 + accesses)))), with age since the last access, else creation, and confidence 1.
"""

import math
from typing import ClassVar

import numpy as np

from thinkback.clock import DAY
from thinkback.model import Floats, StoredRecord
from thinkback.search.signals.base import Scene, Signal, Skip
from thinkback.search.traits import SHORT_LIVED, lasting_quality, salience, usage
from thinkback.values import dataclass

SHORT_LIFE = 7 * DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality(Signal):
    """1 for the best candidate; with equal quality everywhere the order is that of relevance."""

    name: ClassVar[str] = "quality"

    def values(self, scene: Scene) -> Floats | Skip:
        qualities: Floats = np.array(scene.traits()["quality"])
        for row in np.flatnonzero(np.isnan(qualities)):
            qualities[row] = _passing(scene.records[row], scene.query.now)
        best = qualities.max(initial=0.0)
        return qualities / best if best > 0 else qualities


def quality(record: StoredRecord, now: int) -> float:
    """The quality of one memory, before it is compared with others."""
    return _passing(record, now) if record.tier in SHORT_LIVED else lasting_quality(record)


def _passing(record: StoredRecord, now: int) -> float:
    used = usage(record.access_count)
    age = max(now - (record.created_at if record.last_access is None else record.last_access), 0)
    return salience(record) * used * math.exp(-age / (SHORT_LIFE * used))
