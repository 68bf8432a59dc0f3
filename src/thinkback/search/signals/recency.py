"""Recency: 2^(−age / half-life), age in wall-clock time or in cycles, never both."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from thinkback.clock import DAY
from thinkback.model import Floats
from thinkback.search.bounds import above
from thinkback.search.query.parse import Query
from thinkback.search.signals.base import Scene, Signal, Skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Recency(Signal):
    """Age since the last update; in cycles as soon as the query names its cycle (engrava), else in days.

    Without `clock` it is skipped unless the query names its cycle.
    """

    name: ClassVar[str] = "recency"
    half_life_days: float = 7.0
    half_life_cycles: float = 50.0
    clock: bool = True

    def __post_init__(self) -> None:
        for name in ("half_life_days", "half_life_cycles"):
            above(0, getattr(self, name), f"signals.recency.{name}", "Write signals.recency = false to leave age out")

    def silent(self, query: Query) -> str | None:
        return None if self.clock or query.cycle is not None else "the query names no cycle"

    def values(self, scene: Scene) -> Floats | Skip:
        query = scene.query
        if query.cycle is not None:
            ages = np.array([max(query.cycle - (record.cycle or 0), 0) for record in scene.records], dtype=np.float64)
            return np.exp2(-ages / self.half_life_cycles)
        ages = np.array([max(query.now - record.updated_at, 0) for record in scene.records], dtype=np.float64)
        return np.exp2(-ages / (self.half_life_days * DAY))
