"""CrewAI: a `StorageBackend` for its unified memory.

    crew = Crew(..., memory=Memory(storage=ThinkbackStorage(memory), embedder=…))

CrewAI embeds, so open the memory with `embedder=None`: the vectors of its embedder are stored with the records, and its searches go
by them alone. Everything else of Thinkback, keywords among it, works on the same file.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np

from thinkback.integrations import needs
from thinkback.memory import Memory
from thinkback.model import Record

with needs("crewai"):
    from crewai.memory.types import MemoryRecord, ScopeInfo

SCOPE, OWN = "scope", "crewai"  # in the metadata: the path with a slash at its end, and what Thinkback has no field for
META = "meta."
_PAGE = 500


class ThinkbackStorage:
    """Records in a memory, beside whatever else it holds; scopes are paths, categories are tags."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def save(self, records: list[MemoryRecord]) -> None:
        """Store records; one that is there is replaced, one that a tombstone keeps out is left out."""
        known = self.memory.get_many([record.id for record in records])
        new = self.memory.unburied(_draft(record) for record in records if record.id not in known)
        self.memory.remember_many(new)
        for record in records:
            if record.id in known:
                self.update(record)

    def update(self, record: MemoryRecord) -> None:
        """Replace a record; nothing is kept of the older one."""
        self.memory.forget(record.id, tombstone=False)
        self.memory.remember_many([_draft(record)])

    def get_record(self, record_id: str) -> MemoryRecord | None:
        """One record, or None."""
        found = self.memory.get_many([record_id]).get(record_id)
        return None if found is None or OWN not in found.metadata else _record(found)

    def search(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        """Records by cosine, best first, with the cosine as their score."""
        vector = np.asarray(query_embedding, dtype=np.float32)
        if not vector.any():
            return []
        where = _where(scope_prefix, categories, metadata_filter)
        hits = self.memory.recall("", vector=vector, recipe="vector", limit=limit, where=where, counted=False)
        scored = [(hit, next((p.score for p in hit.placings if p.leg == "vector"), 0.0)) for hit in hits]
        return [(_record(hit.record), score) for hit, score in scored if score >= min_score]

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Forget the records that pass every criterion, for good; returns how many."""
        where = _where(scope_prefix, categories, metadata_filter)
        if record_ids:
            where["id"] = list(record_ids)
        if older_than is not None:
            where["created_at"] = {"lt": _aware(older_than)}
        return len(self.memory.forget(where=where))

    def list_records(self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0) -> list[MemoryRecord]:
        """Records of a scope, newest first."""
        found = self.memory.list(limit=offset + limit, where=_where(scope_prefix))
        return [_record(record) for record in found[offset:]]

    def get_scope_info(self, scope: str) -> ScopeInfo:
        """Counts, categories and dates of a scope."""
        records = list(self._all(scope))
        dates = sorted(record.created_at for record in records)
        return ScopeInfo(
            path=scope,
            record_count=len(records),
            categories=sorted({tag for record in records for tag in _record(record).categories}),
            oldest_record=dates[0] if dates else None,
            newest_record=dates[-1] if dates else None,
            child_scopes=self.list_scopes(scope),
        )

    def list_scopes(self, parent: str = "/") -> list[str]:
        """The scopes directly below one."""
        above = _path(parent)
        below = {record.metadata[SCOPE].removeprefix(above) for record in self._all(parent)}
        return sorted({f"{above}{rest.split('/')[0]}" for rest in below if rest})

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        """How many records each category has."""
        return dict(Counter(one for record in self._all(scope_prefix) for one in _record(record).categories))

    def count(self, scope_prefix: str | None = None) -> int:
        """How many records a scope and those below it have."""
        return self.memory.count(where=_where(scope_prefix))

    def reset(self, scope_prefix: str | None = None) -> None:
        """Forget the records of a scope, or all, for good."""
        self.delete(scope_prefix)

    def touch_records(self, record_ids: list[str]) -> None:
        """Nothing to do: Thinkback counts accesses itself."""

    async def asave(self, records: list[MemoryRecord]) -> None:
        """`save` in a thread."""
        await asyncio.to_thread(self.save, records)

    async def asearch(self, query_embedding: list[float], **options: Any) -> list[tuple[MemoryRecord, float]]:
        """`search` in a thread."""
        return await asyncio.to_thread(partial(self.search, query_embedding, **options))

    async def adelete(self, **criteria: Any) -> int:
        """`delete` in a thread."""
        return await asyncio.to_thread(partial(self.delete, **criteria))

    def _all(self, scope: str | None) -> Iterator[Record]:
        after = None
        while page := self.memory.list(limit=_PAGE, after=after, where=_where(scope)):
            yield from page
            after = page[-1].id


def _where(
    scope: str | None = None, categories: Sequence[str] | None = None, metadata: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """A condition on records of ours; texts between `/a/` and `/a0` are the paths below /a."""
    path = _path(scope or "/")
    where: dict[str, Any] = {f"metadata.{SCOPE}": {"gte": path, "lt": f"{path[:-1]}0"}}
    if categories:
        where["tags"] = {"any": list(categories)}
    return where | {f"metadata.{META}{key}": {"eq": value} for key, value in (metadata or {}).items()}


def _path(scope: str) -> str:
    inner = scope.strip("/")
    return f"/{inner}/" if inner else "/"


def _draft(record: MemoryRecord) -> dict[str, Any]:
    vector = None if not record.embedding or not any(record.embedding) else np.asarray(record.embedding, np.float32)
    own = record.model_dump(mode="json", exclude={"id", "content", "embedding"})
    return {
        "id": record.id,
        "text": record.content,
        "tags": record.categories,
        "importance": record.importance,
        "created_at": _aware(record.created_at),
        "source": record.source,
        "vector": vector,
        "metadata": {SCOPE: _path(record.scope), OWN: own, **{META + k: v for k, v in own["metadata"].items()}},
    }


def _record(record: Record) -> MemoryRecord:
    return MemoryRecord(id=record.id, content=record.text, **record.metadata[OWN])


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
