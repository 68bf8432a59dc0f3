"""The leg protocol: a leg retrieves one best-first run; filters apply inside it, before its limit."""

from collections.abc import Sequence
from typing import ClassVar, Literal, Protocol

from thinkback.model import REFLECTION, Filter, Run, StoredRecord
from thinkback.search.query.parse import Query
from thinkback.stores.base import Store
from thinkback.values import replace

NO_REFLECTIONS = "leaves reflections to their own leg"
NO_VECTOR = "it has no vector"

Stage = Literal["text", "vector", "time", "runs"]


class Leg(Protocol):
    """Subclass it as a frozen dataclass with `weight`, `limit` and its parameters.

    `stage` is what the leg waits for: "text" nothing, "vector" the query's vector, "time" the complete query, "runs" the runs
    of the other legs. A leg that `fills` can score any memory, so it can be run again over the candidates of other legs.
    `only_kind` names the kind of memory that a leg for one kind finds.
    """

    __slots__ = ()
    name: ClassVar[str]
    stage: ClassVar[Stage] = "text"
    fills: ClassVar[bool] = False
    only_kind: ClassVar[str | None] = None

    @property
    def weight(self) -> float: ...
    @property
    def limit(self) -> int: ...
    def run(self, query: Query, store: Store, earlier: Sequence[Run]) -> Run: ...

    def leaves_out(self, record: StoredRecord, query: Query, store: Store, earlier: Sequence[Run]) -> str | None:
        """Why the leg does not find this memory; None if the memory just does not match."""
        return None


def without_reflections(filter: Filter) -> Filter:
    """The filter without reflections, unless it names them itself."""
    if REFLECTION in filter.kinds or REFLECTION in filter.without_kinds:
        return filter
    return replace(filter, without_kinds=(*filter.without_kinds, REFLECTION))


def deep_enough(leg: Leg, limit: int, filter: Filter) -> Leg:
    """The leg with at least this limit, so that it alone can fill the results.

    Legs that add to the results of others keep their limit, and so does a leg for one kind unless only that kind is requested.
    """
    adds = leg.stage == "runs" or (leg.only_kind is not None and set(filter.kinds) != {leg.only_kind})
    return leg if adds or leg.limit >= limit else replace(leg, limit=limit)
