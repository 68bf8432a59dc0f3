"""Importance: the memory's own, 0 to 1; unscored counts as the middle."""

from dataclasses import dataclass
from typing import ClassVar

from thinkback.model import Floats
from thinkback.search.signals.base import Scene, Skip, of_records


@dataclass(frozen=True, slots=True, kw_only=True)
class Importance:
    """`unscored` is what a memory without an importance gets."""

    name: ClassVar[str] = "importance"
    needs_links: ClassVar[int] = 0
    needs_places: ClassVar[int] = 0
    unscored: float = 0.5

    def values(self, scene: Scene) -> Floats | Skip:
        return of_records([self.unscored if r.importance is None else r.importance for r in scene.records])
