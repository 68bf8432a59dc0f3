"""Recency: 2^(−age / half-life), age in wall-clock time or in cycles, never both."""

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from thinkback.clock import DAY
from thinkback.model import Floats, StoredRecord
from thinkback.search.bounds import above, one_of
from thinkback.search.query.parse import Query
from thinkback.search.signals.base import Scene, Signal, Skip
from thinkback.values import dataclass

_SINCE: dict[str, Callable[[StoredRecord], int]] = {
    "update": lambda record: record.updated_at,
    "access": lambda record: record.created_at if record.last_access is None else record.last_access,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recency(Signal):
    """Age since the last update; in cycles as soon as the query names its cycle (engrava), else in days.

    By the clock, `since` says what age is counted from: the last "update", or the last "access" (memini), else creation. Without
    `clock` it is skipped unless the query names its cycle; with `beside_vector`, unless it has a vector.
    """

    name: ClassVar[str] = "recency"
    half_life_days: float = 7.0
    half_life_cycles: float = 50.0
    clock: bool = True
    beside_vector: bool = False
    since: str = "update"

    def __post_init__(self) -> None:
        one_of(_SINCE, self.since, "signals.recency.since")
        for name in ("half_life_days", "half_life_cycles"):
            above(0, getattr(self, name), f"signals.recency.{name}", "Write signals.recency = false to leave age out")

    def silent(self, query: Query) -> str | None:
        if self.beside_vector and query.vector is None:
            return query.no_vector
        return None if self.clock or query.cycle is not None else "the query names no cycle"

    def values(self, scene: Scene) -> Floats | Skip:
        query = scene.query
        if query.cycle is not None:
            ages = np.array([max(query.cycle - (record.cycle or 0), 0) for record in scene.records], dtype=np.float64)
            return np.exp2(-ages / self.half_life_cycles)
        ages = np.array([max(query.now - _SINCE[self.since](r), 0) for r in scene.records], dtype=np.float64)
        return np.exp2(-ages / (self.half_life_days * DAY))
