"""Priority: P1 1.0, P2 0.6, P3 0.3, P4 0."""

from dataclasses import dataclass
from typing import ClassVar

from thinkback.model import Floats
from thinkback.search.signals.base import Scene, Skip, of_records

VALUES = {"P1": 1.0, "P2": 0.6, "P3": 0.3, "P4": 0.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Priority:
    """How much the owner of the memory wants it seen."""

    name: ClassVar[str] = "priority"
    needs_links: ClassVar[int] = 0
    needs_places: ClassVar[int] = 0

    def values(self, scene: Scene) -> Floats | Skip:
        return of_records([VALUES[record.priority] for record in scene.records])
