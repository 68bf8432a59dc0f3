"""Reflection boost: a factor for memories of kind `reflection`."""

from typing import ClassVar

from thinkback.model import REFLECTION, Floats
from thinkback.search.bounds import at_least
from thinkback.search.signals.base import Scene, Signal, Skip, of_records
from thinkback.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflection(Signal):
    """Skipped when it would change nothing."""

    name: ClassVar[str] = "reflection"
    boost: float = 1.0

    def __post_init__(self) -> None:
        at_least(0, self.boost, "signals.reflection.boost")

    def values(self, scene: Scene) -> Floats | Skip:
        kinds = [] if self.boost == 1.0 else [record.kind == REFLECTION for record in scene.records]
        if not any(kinds):
            return Skip("no reflection to boost")
        return of_records([self.boost if is_reflection else 1.0 for is_reflection in kinds])
