"""The reflections leg: cosine over the consolidated themes alone."""

from collections.abc import Sequence
from typing import ClassVar

from thinkback.errors import Notice
from thinkback.model import REFLECTION, Run, Scored, StoredRecord
from thinkback.search.legs.base import NO_VECTOR, Leg, Stage
from thinkback.search.query.parse import Query
from thinkback.stores.base import Store
from thinkback.values import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflections(Leg):
    """A separate run for themes, so that single memories cannot crowd them out.

    With `unembedded`, themes without a vector take part with 0, and so do all without a vector of the query.
    """

    name: ClassVar[str] = "reflections"
    stage: ClassVar[Stage] = "vector"
    only_kind: ClassVar[str] = REFLECTION
    weight: float = 1.0
    limit: int = 10
    unembedded: bool = False

    def run(self, query: Query, store: Store, earlier: Sequence[Run]) -> Run:
        if query.vector is None and not self.unembedded:
            return Run(self.name, skipped=query.no_vector)
        if REFLECTION in query.filter.without_kinds or (query.filter.kinds and REFLECTION not in query.filter.kinds):
            return Run(self.name, skipped="the filter leaves no reflections")
        themes = replace(query.filter, kinds=(REFLECTION,))
        found = [] if query.vector is None else list(store.search_vectors(query.vector, themes, self.limit))
        warnings = () if query.vector is not None else (Notice("no_query_vector", f"unranked: {query.no_vector}"),)
        if self.unembedded:
            known = {hit.id for hit in found}
            found += [Scored(record.id, 0.0) for record in store.list(themes, self.limit) if record.id not in known]
            found = sorted(found, key=lambda hit: (-hit.score, hit.id))[: self.limit]
        return Run(self.name, tuple(found), warnings=warnings)

    def leaves_out(self, record: StoredRecord, query: Query, store: Store, earlier: Sequence[Run]) -> str | None:
        return NO_VECTOR if record.kind == REFLECTION else "it is not a reflection"
