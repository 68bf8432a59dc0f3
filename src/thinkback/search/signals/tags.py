"""Tag boost: a factor min(cap, 1 + step · overlap) from the tags inferred from the query; 1 at no overlap."""

from typing import ClassVar

from thinkback.model import Floats
from thinkback.search.bounds import at_least
from thinkback.search.signals.base import Scene, Signal, Skip, of_records
from thinkback.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Tags(Signal):
    """A soft boost, never a filter; skipped when no tag was inferred."""

    name: ClassVar[str] = "tags"
    step: float = 0.15
    cap: float = 1.5

    def __post_init__(self) -> None:
        at_least(0, self.step, "signals.tags.step")
        at_least(0, self.cap, "signals.tags.cap")

    def values(self, scene: Scene) -> Floats | Skip:
        wanted = {inferred.tag for inferred in scene.query.tags}
        if not wanted:
            return Skip("no tag was inferred from the query")
        return of_records([min(self.cap, 1.0 + self.step * len(wanted & set(r.tags))) for r in scene.records])
