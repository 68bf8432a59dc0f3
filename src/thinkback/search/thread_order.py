"""The positions of candidates in their threads, and their neighbours there."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from thinkback.model import SEQUENCE, Filter, StoredRecord
from thinkback.search.traits import Traits, traits
from thinkback.stores.base import Store
from thinkback.values import dataclass

FAR = 1_000_000  # between threads, and between memories that are no neighbours

Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """Candidates, what is read of each, and those of them that are in threads, thread by thread, each in its order."""

    records: Sequence[StoredRecord]
    read: Traits
    rows: NDArray[np.intp]
    first: NDArray[np.bool_]  # which of them follow no other candidate
    positions: Places

    @classmethod
    def of(cls, records: Sequence[StoredRecord]) -> "Line":
        """Threads are told apart by a hash of their name."""
        read = traits(records)
        threads, positions = read["thread"], read["position"]
        rows = np.lexsort((positions, threads))
        rows = rows[threads[rows] != 0]
        threads, positions = threads[rows], positions[rows]
        first = np.ones(len(rows), dtype=np.bool_)
        first[1:] = threads[1:] != threads[:-1]
        if (~first[1:] & (positions[1:] == positions[:-1])).any():  # ties go by id
            ids = [records[row].id for row in rows.tolist()]
            order = sorted(range(len(rows)), key=lambda at: (threads[at], positions[at], ids[at]))
            rows = rows[order]
        return cls(records, read, rows, first, positions)

    def apart(self) -> list[tuple[int, tuple[str, str]]]:
        """Those that follow another candidate at a position that is not the next: the place in the line, and both ids."""
        wide = np.flatnonzero((self.positions[1:] - self.positions[:-1] > 1) & ~self.first[1:])
        ends = zip(wide.tolist(), self.rows[wide].tolist(), self.rows[wide + 1].tolist(), strict=True)
        return [(place + 1, (self.records[before].id, self.records[after].id)) for place, before, after in ends]

    def gaps(self, filter: Filter, store: Store, steps: int) -> dict[tuple[str, str], int]:
        """How many memories of the thread lie between candidates that follow each other; FAR from `steps` on; one batch."""
        pairs = [pair for _, pair in self.apart()]
        counts = store.between(pairs, filter, steps) if pairs else []
        return {pair: FAR if count >= steps else count for pair, count in zip(pairs, counts, strict=True)}

    def places(self, gaps: Mapping[tuple[str, str], int]) -> Places:
        """A number for every candidate: near neighbours in a thread differ by their distance, all others by FAR or more.

        `gaps` has, for candidates that follow each other in a thread, how many memories lie between them (default 0).
        """
        at = np.arange(len(self.records), dtype=np.int64) * -FAR  # those without a thread are far from all
        steps = np.where(self.first, FAR, 1)
        if gaps:
            for place, pair in self.apart():
                steps[place] += gaps.get(pair, 0)
        at[self.rows] = steps.cumsum()
        return at


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The memories around one in its thread, in the thread's order."""

    before: tuple[StoredRecord, ...] = ()
    after: tuple[StoredRecord, ...] = ()


def surroundings(ids: Sequence[str], steps: int, filter: Filter, store: Store) -> dict[str, Surroundings]:
    """The nearest `steps` memories on either side of each that pass the filter; one batch a step."""
    previous: dict[str, str] = {}
    following: dict[str, str] = {}
    ends = set(ids)
    for _ in range(steps):
        for id, edges in store.edges(sorted(ends), filter, 2, kinds=(SEQUENCE,)).items():
            for edge in edges:
                (following if edge.from_id == id else previous)[id] = edge.other(id)
        ends = {*previous.values(), *following.values()} - {*previous, *following}
    records = store.get(sorted({*previous.values(), *following.values()}), filter.known_at)

    def walk(id: str, step: Mapping[str, str]) -> list[StoredRecord]:
        path = [id]
        while len(path) <= steps and path[-1] in step:
            path.append(step[path[-1]])
        return [records[one] for one in path[1:] if one in records]

    return {id: Surroundings(tuple(reversed(walk(id, previous))), tuple(walk(id, following))) for id in ids}
