"""The reflections leg: cosine over the consolidated themes alone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from thinkback.model import REFLECTION, Run, StoredRecord
from thinkback.search.legs.base import NO_VECTOR, Leg, Stage
from thinkback.search.query.parse import Query
from thinkback.stores.base import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflections(Leg):
    """A run of their own for themes, so that single memories cannot crowd them out."""

    name: ClassVar[str] = "reflections"
    stage: ClassVar[Stage] = "vector"
    only_kind: ClassVar[str] = REFLECTION
    weight: float = 1.0
    limit: int = 10

    def run(self, query: Query, store: Store, earlier: Sequence[Run]) -> Run:
        if query.vector is None:
            return Run(self.name, skipped=query.no_vector)
        if REFLECTION in query.filter.without_kinds or (query.filter.kinds and REFLECTION not in query.filter.kinds):
            return Run(self.name, skipped="the filter leaves no reflections")
        themes = replace(query.filter, kinds=(REFLECTION,))
        return Run(self.name, tuple(store.search_vectors(query.vector, themes, self.limit)))

    def leaves_out(self, record: StoredRecord, query: Query, store: Store, earlier: Sequence[Run]) -> str | None:
        return NO_VECTOR if record.kind == REFLECTION else "it is not a reflection"
