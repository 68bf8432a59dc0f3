"""The recent leg: the newest memories, whatever their text."""

from collections.abc import Sequence
from typing import ClassVar

from thinkback.model import Run
from thinkback.search.legs.base import Leg
from thinkback.search.query.parse import Query
from thinkback.stores.base import Store
from thinkback.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Recent(Leg):
    """Scores are dates in microseconds; fusions scale them."""

    name: ClassVar[str] = "recent"
    weight: float = 1.0
    limit: int = 20

    def run(self, query: Query, store: Store, earlier: Sequence[Run]) -> Run:
        return Run(self.name, tuple(store.recent(query.filter, self.limit)))
