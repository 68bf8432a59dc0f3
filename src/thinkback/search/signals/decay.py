"""Time decay: min(1, recency · (1 + ln(1 + recalls))) · importance.

recency = floor + (1 − floor) · exp(−age/τ). τ by kind, or by a tag of that name: task 7 d, work 90 d, context 180 d, else 30 d. The
floor keeps old memories alive: .6; .9 for canonical ones or importance ≥ 4 of 5; .15 for tasks. importance = .8 + .4 · eff/5 with
eff in [1, 5] = the base adjusted by net votes sign(net)·ln(1+|net|); unscored memories with votes start from 3, others count 1.0.
Canonical and votes stand in the metadata (`canonical`, `votes`); `canonical` may be a tag too.
"""

import math
from typing import ClassVar

from thinkback.clock import DAY
from thinkback.model import Floats, StoredRecord
from thinkback.search.signals.base import Scene, Signal, Skip, of_records
from thinkback.values import dataclass

TAU_DAYS = {"task": 7.0, "work": 90.0, "context": 180.0}
OTHER_TAU_DAYS = 30.0
FLOOR, CANONICAL_FLOOR, TASK_FLOOR = 0.6, 0.9, 0.15
SCALE = 5.0  # importance is thought of as 1 to 5
IMPORTANT = 4.0
UNSCORED = 3.0  # where votes on an unscored memory start from


@dataclass(frozen=True, slots=True, kw_only=True)
class Decay(Signal):
    """A factor to multiply with; old memories fade, recalled ones less."""

    name: ClassVar[str] = "decay"

    def values(self, scene: Scene) -> Floats | Skip:
        return of_records([decay(record, scene.query.now) for record in scene.records])


def decay(record: StoredRecord, now: int) -> float:
    """The factor of one memory."""
    lively = recency(record, now) * (1.0 + math.log1p(record.access_count))
    return min(1.0, lively) * importance_factor(record)


def recency(record: StoredRecord, now: int) -> float:
    """How fresh a memory still is, never below its floor."""
    low = floor(record)
    age_days = max(now - record.created_at, 0) / DAY
    tau = next((days for name, days in TAU_DAYS.items() if _is(record, name)), OTHER_TAU_DAYS)
    return low + (1.0 - low) * math.exp(-age_days / tau)


def floor(record: StoredRecord) -> float:
    """What age can never take away."""
    canonical = record.metadata.get("canonical") is True or _is(record, "canonical")
    if canonical or (record.importance or 0.0) * SCALE >= IMPORTANT:
        return CANONICAL_FLOOR
    return TASK_FLOOR if _is(record, "task") else FLOOR


def _is(record: StoredRecord, name: str) -> bool:
    return record.kind == name or name in record.tags


def importance_factor(record: StoredRecord) -> float:
    """0.88 to 1.2, and 1 for a memory that nobody scored or voted on."""
    net = record.metadata.get("votes", 0)
    votes = math.copysign(math.log1p(abs(net)), net) if isinstance(net, int | float) and net else 0.0
    if record.importance is None and not votes:
        return 1.0
    base = UNSCORED if record.importance is None else record.importance * SCALE
    effective = min(SCALE, max(1.0, base + votes))
    return 0.8 + 0.4 * effective / SCALE
