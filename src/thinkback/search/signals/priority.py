"""Priority: P1 1.0, P2 0.6, P3 0.3, P4 0."""

from typing import ClassVar

from thinkback.model import Floats
from thinkback.search.signals.base import Scene, Signal, Skip, of_records
from thinkback.values import dataclass

VALUES = {"P1": 1.0, "P2": 0.6, "P3": 0.3, "P4": 0.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Priority(Signal):
    """How much the owner of the memory wants it seen."""

    name: ClassVar[str] = "priority"

    def values(self, scene: Scene) -> Floats | Skip:
        return of_records([VALUES[record.priority] for record in scene.records])
