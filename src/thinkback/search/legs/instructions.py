"""The instructions leg: standing instructions and preferences, which share few words with the questions they bear on.

"Could you show me how to implement a login?" must bring "Always format code with syntax highlighting when I ask about
implementation". Cosine over the memories of kind `preference` alone gives the nearest of them a few places.
"""

from collections.abc import Sequence
from typing import ClassVar

from thinkback.fields import Kind
from thinkback.model import Run, StoredRecord
from thinkback.search.legs.base import NO_VECTOR, Leg, Stage
from thinkback.search.legs.vector import nearest
from thinkback.search.query.parse import Query
from thinkback.stores.base import Store
from thinkback.values import dataclass, replace

STANDING: Kind = "preference"


@dataclass(frozen=True, slots=True, kw_only=True)
class Instructions(Leg):
    """The nearest `limit` memories of kind `preference`; skipped when the filter leaves none."""

    name: ClassVar[str] = "instructions"
    stage: ClassVar[Stage] = "vector"
    only_kind: ClassVar[str] = STANDING
    weight: float = 0.4
    limit: int = 5

    def run(self, query: Query, store: Store, earlier: Sequence[Run]) -> Run:
        if query.vector is None:
            return Run(self.name, skipped=query.no_vector)
        if STANDING in query.filter.without_kinds or (query.filter.kinds and STANDING not in query.filter.kinds):
            return Run(self.name, skipped="the filter leaves no preferences")
        standing = replace(query.filter, kinds=(STANDING,))
        return Run(self.name, tuple(nearest(query.vector, standing, self.limit, store)))

    def leaves_out(self, record: StoredRecord, query: Query, store: Store, earlier: Sequence[Run]) -> str | None:
        return NO_VECTOR if record.kind == STANDING else "it is no standing instruction or preference"
