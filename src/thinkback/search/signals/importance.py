"""Importance: the memory's own, 0 to 1; unscored counts as the middle."""

from typing import ClassVar

from thinkback.model import Floats
from thinkback.search.signals.base import Scene, Signal, Skip, of_records
from thinkback.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Importance(Signal):
    """`unscored` is what a memory without an importance gets."""

    name: ClassVar[str] = "importance"
    unscored: float = 0.5

    def values(self, scene: Scene) -> Floats | Skip:
        return of_records([self.unscored if r.importance is None else r.importance for r in scene.records])
