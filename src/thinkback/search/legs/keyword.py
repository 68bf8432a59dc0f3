"""The keyword leg: BM25 over text, essence and tags."""

import logging
from collections.abc import Sequence
from typing import ClassVar

from thinkback.errors import InvalidInput, Notice
from thinkback.model import Filter, KeywordQuery, Run, StoredRecord
from thinkback.search.legs.base import NO_REFLECTIONS, Leg, without_reflections
from thinkback.search.query.parse import Query
from thinkback.stores.base import REFUSED, Store
from thinkback.values import dataclass, replace

log = logging.getLogger("thinkback")
_UNREADABLE = "the keyword query cannot be read as an expression"
_RETRIED = "its words were searched for instead, without those it excludes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyword(Leg):
    """Skipped when the query is blank; one without a word finds nothing. Without `reflections`, those are left to their own leg."""

    name: ClassVar[str] = "keyword"
    fills: ClassVar[bool] = True
    weight: float = 1.0
    limit: int = 100
    reflections: bool = True

    def run(self, query: Query, store: Store, earlier: Sequence[Run]) -> Run:
        if not query.text.strip():
            return Run(self.name, skipped="the query has no words")
        if query.keywords.mode == "empty":
            return Run(self.name)
        filter = query.filter if self.reflections else without_reflections(query.filter)
        try:
            found = store.search_keywords(replace(query.keywords, fallback=None), filter, self.limit)
        except InvalidInput as refused:
            if refused.code != REFUSED:
                raise
            return self._again(query.keywords, filter, store)
        return Run(self.name, tuple(found))

    def _again(self, refused: KeywordQuery, filter: Filter, store: Store) -> Run:
        """Results of the fallback for an expression that the full-text index rejected, if the query has one."""
        log.info("full text refused a keyword query of %d characters", len(refused.expression))
        if not refused.fallback:
            return Run(self.name, warnings=(Notice(REFUSED, f"{_UNREADABLE}; no keyword hits"),))
        bare = replace(refused, mode="bare", expression=refused.fallback, fallback=None)
        found = store.search_keywords(bare, filter, self.limit)
        return Run(self.name, tuple(found), warnings=(Notice(REFUSED, f"{_UNREADABLE}; {_RETRIED}"),))

    def leaves_out(self, record: StoredRecord, query: Query, store: Store, earlier: Sequence[Run]) -> str | None:
        return NO_REFLECTIONS if not self.reflections and without_reflections(query.filter).rejects(record) else None
