"""The vector leg: cosine similarity of the query's embedding and the memories'."""

from collections.abc import Sequence
from typing import ClassVar

from thinkback.model import ApproximateIndex, Filter, Run, Scored, StoredRecord, Vector
from thinkback.search.bounds import one_of
from thinkback.search.legs.base import NO_REFLECTIONS, NO_VECTOR, Leg, Stage, without_reflections
from thinkback.search.query.parse import Query
from thinkback.stores.base import Store
from thinkback.values import dataclass

HNSW = "hnsw"


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorLeg(Leg):
    """Hits below `floor` are left out; a cosine is never below -1, so that floor keeps all.

    A long memory counts by its best passage or, without `passages`, by the mean of all. Without `reflections`, those are left to
    their own leg. With `index` "hnsw" the search is approximate, for very large stores; the run says how good its index is.
    """

    name: ClassVar[str] = "vector"
    fills: ClassVar[bool] = True
    stage: ClassVar[Stage] = "vector"
    weight: float = 1.0
    limit: int = 100
    floor: float = -1.0
    reflections: bool = True
    passages: bool = True
    index: str = "exact"

    def __post_init__(self) -> None:
        one_of(("exact", HNSW), self.index, "index", " in legs.vector")

    def run(self, query: Query, store: Store, earlier: Sequence[Run]) -> Run:
        if query.vector is None:
            return Run(self.name, skipped=query.no_vector)
        filter = query.filter if self.reflections else without_reflections(query.filter)
        if self.index == HNSW:
            hits, used = _by_graph(query.vector, filter, self.limit, store, self.passages)
        else:
            search = nearest if self.passages else by_one_vector
            hits, used = search(query.vector, filter, self.limit, store), None
        if hits and hits[-1].score < self.floor:
            hits = [hit for hit in hits if hit.score >= self.floor]
        return Run(self.name, tuple(hits), index=used)

    def leaves_out(self, record: StoredRecord, query: Query, store: Store, earlier: Sequence[Run]) -> str | None:
        if not self.reflections and without_reflections(query.filter).rejects(record):
            return NO_REFLECTIONS
        if query.vector is None:
            return query.no_vector
        alone = nearest(query.vector, query.filter.only([record.id]), 1, store)
        return f"{alone[0].score:.6g}, below its floor of {self.floor:g}" if alone else NO_VECTOR


def _by_graph(
    vector: Vector, filter: Filter, limit: int, store: Store, passages: bool
) -> tuple[list[Scored], ApproximateIndex | None]:
    """Like `nearest`, by an approximate index; passages are searched exactly."""
    parts = store.search_passages(vector, filter, limit) if passages else []
    whole, used = store.search_hnsw(vector, filter, limit, long=not parts)
    return _merged(whole, parts, limit), used


def by_one_vector(vector: Vector, filter: Filter, limit: int, store: Store) -> list[Scored]:
    """Memories by the cosine of their own vector."""
    return store.search_vectors(vector, filter, limit)


def nearest(vector: Vector, filter: Filter, limit: int, store: Store) -> list[Scored]:
    """Memories by cosine, best first, ties by id; a long one by its best passage, because the mean of all blurs each."""
    parts = store.search_passages(vector, filter, limit)
    whole = store.search_vectors(vector, filter, limit, long=not parts)
    return _merged(whole, parts, limit)


def _merged(whole: list[Scored], parts: list[Scored], limit: int) -> list[Scored]:
    return sorted([*whole, *parts], key=lambda hit: (-hit.score, hit.id))[:limit] if parts else whole
