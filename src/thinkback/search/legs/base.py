"""What a leg is: it retrieves one best-first run; filters apply inside it, before its limit."""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Protocol, runtime_checkable

from thinkback.model import REFLECTION, Filter, Run, StoredRecord
from thinkback.search.query.parse import Query
from thinkback.stores.base import Store

NOT_SPOKEN = "leaves reflections to their own leg"
NO_VECTOR = "it has no vector"


def spoken(filter: Filter) -> Filter:
    """The filter without reflections, unless they are what is asked for."""
    if REFLECTION in filter.kinds or REFLECTION in filter.without_kinds:
        return filter
    return replace(filter, without_kinds=(*filter.without_kinds, REFLECTION))


def reflections_alone(filter: Filter) -> bool:
    """Whether reflections are all that is asked for."""
    return set(filter.kinds) == {REFLECTION}


class Leg(Protocol):
    """`stage` says what must be there before it runs: "text" nothing, "vector" the query's vector, "time" all that
    is to be understood of the query, "runs" the other legs' runs.

    A leg that `fills` can score any memory it is asked about, so it can be run again over the candidates of the other legs.
    """

    name: ClassVar[str]
    stage: ClassVar[str]
    fills: ClassVar[bool]

    @property
    def weight(self) -> float: ...
    @property
    def limit(self) -> int: ...
    def run(self, query: Query, store: Store, earlier: Sequence[Run]) -> Run: ...


@runtime_checkable
class Particular(Protocol):
    """A leg that can say why it left a memory out; of others it is said that they do not match it."""

    def leaves_out(self, record: StoredRecord, query: Query, store: Store, earlier: Sequence[Run]) -> str | None: ...


def deep_enough(leg: Leg, limit: int, filter: Filter) -> Leg:
    """The leg, at least as deep as what was asked for, lest the results be too few.

    Reflections are a part of the results at most, so their own leg keeps its limit unless they are all that is asked for.
    """
    keeps = leg.stage == "runs" or (leg.name == "reflections" and not reflections_alone(filter))
    return leg if keeps or leg.limit >= limit else replace(leg, limit=limit)  # type: ignore[type-var]
