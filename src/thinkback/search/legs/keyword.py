"""The keyword leg: BM25 over text, essence and tags."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from thinkback.model import Run, StoredRecord
from thinkback.search.legs.base import NO_REFLECTIONS, Leg, without_reflections
from thinkback.search.query.parse import Query
from thinkback.stores.base import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyword(Leg):
    """Skipped when the query has no words; without `reflections`, those are left to their own leg."""

    name: ClassVar[str] = "keyword"
    fills: ClassVar[bool] = True
    weight: float = 1.0
    limit: int = 100
    reflections: bool = True

    def run(self, query: Query, store: Store, earlier: Sequence[Run]) -> Run:
        if query.keywords.mode == "empty":
            return Run(self.name, skipped="the query has no words")
        filter = query.filter if self.reflections else without_reflections(query.filter)
        return Run(self.name, tuple(store.search_keywords(query.keywords, filter, self.limit)))

    def leaves_out(self, record: StoredRecord, query: Query, store: Store, earlier: Sequence[Run]) -> str | None:
        return NO_REFLECTIONS if not self.reflections and without_reflections(query.filter).rejects(record) else None
