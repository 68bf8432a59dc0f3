"""What a signal is: a pure batch function, one value per candidate; it never sorts and never changes a candidate."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from thinkback.model import Floats, Run, StoredEdge, StoredRecord
from thinkback.search.query.parse import Query
from thinkback.search.traits import Traits, traits
from thinkback.values import dataclass


@dataclass(frozen=True, slots=True)
class Skip:
    """Why a signal does not apply here; the scores stay as they are, bit for bit."""

    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """Edges between candidates, a row for each (candidate, neighbour); `place` counts a candidate's edges, strongest first."""

    row: NDArray[np.intp]
    other: NDArray[np.intp]
    weight: Floats
    place: NDArray[np.intp]
    kind: tuple[str, ...]

    @classmethod
    def between(cls, ids: Sequence[str], edges: Mapping[str, Sequence[StoredEdge]]) -> "Links":
        """The edges whose two ends are both candidates."""
        rows = {id: row for row, id in enumerate(ids)}
        found = [
            (rows[id], rows[edge.other(id)], edge.weight, place, edge.kind)
            for id, its_edges in edges.items()
            if id in rows
            for place, edge in enumerate(its_edges)
            if edge.other(id) in rows
        ]
        row, other, weight, place, kind = zip(*found, strict=True) if found else ((), (), (), (), ())
        as_rows = [np.array(numbers, dtype=np.intp) for numbers in (row, other, place)]
        return cls(as_rows[0], as_rows[1], np.array(weight, dtype=np.float64), as_rows[2], tuple(kind))


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """What a signal may read: the query, the candidates, their scores so far, each leg's values, and the links between them.

    `places` lays all threads on one line: two candidates of a thread differ by their distance in it.
    """

    query: Query
    records: tuple[StoredRecord, ...]
    totals: Floats
    legs: Mapping[str, Floats] = field(default_factory=dict)
    links: Links | None = None
    places: NDArray[np.int64] | None = None
    read: Traits | None = None
    runs: Sequence[Run] = ()

    def traits(self) -> Traits:
        """The traits of the candidates."""
        return traits(self.records) if self.read is None else self.read

    def semantic(self) -> Floats:
        """The better of the keyword and the vector value; the only score that may travel along edges."""
        values = [self.legs[leg] for leg in ("keyword", "vector") if leg in self.legs]
        return np.max(values, axis=0) if values else np.zeros(len(self.records))


class Signal(Protocol):
    """Subclass it as a frozen dataclass with its parameters.

    A signal that is `raise_only` never lowers a score: a weight of 0 or less switches it off.
    """

    __slots__ = ()
    name: ClassVar[str]
    raise_only: ClassVar[bool] = False

    @property
    def needs_links(self) -> int:
        """How many of each candidate's strongest edges the pipeline must read."""
        return 0

    @property
    def follows_threads(self) -> bool:
        """Whether thread order is among the edges that it needs."""
        return True

    @property
    def needs_places(self) -> int:
        """Up to which distance in threads the pipeline must place the candidates."""
        return 0

    def silent(self, query: Query) -> str | None:
        """Why the signal takes no part in this query, so that its weight is redistributed; None if it does."""
        return None

    def values(self, scene: Scene) -> Floats | Skip: ...


def of_records(values: Sequence[float]) -> Floats:
    """A column from plain numbers."""
    return np.array(values, dtype=np.float64)
