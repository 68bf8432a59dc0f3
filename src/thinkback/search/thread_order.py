"""The positions of candidates in their threads, and their neighbours there."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from thinkback.model import SEQUENCE, Filter, StoredRecord
from thinkback.stores.base import Store
from thinkback.values import dataclass

FAR = 1_000_000  # between threads, and between memories that are no neighbours

Places = NDArray[np.int64]


def places(records: Sequence[StoredRecord], gaps: Mapping[tuple[str, str], int]) -> Places:
    """A number for every candidate: near neighbours in a thread differ by their distance, all others by FAR or more.

    `gaps` has, for candidates that follow each other in a thread, how many memories lie between them (default 0).
    """
    at = np.arange(len(records), dtype=np.int64) * -FAR  # those without a thread are far from all
    line = 0
    for before, after in _following(records):
        line += FAR if before is None else 1 + gaps.get((records[before].id, records[after].id), 0)
        at[after] = line
    return at


def gaps(records: Sequence[StoredRecord], filter: Filter, store: Store, steps: int) -> dict[tuple[str, str], int]:
    """How many memories of the thread lie between candidates that follow each other; FAR from `steps` on; one batch."""
    pairs = [
        (records[before].id, records[after].id)
        for before, after in _following(records)
        if before is not None and (records[after].position or 0) - (records[before].position or 0) > 1
    ]
    counts = store.between(pairs, filter, steps) if pairs else []
    return {pair: FAR if count >= steps else count for pair, count in zip(pairs, counts, strict=True)}


def _following(records: Sequence[StoredRecord]) -> list[tuple[int | None, int]]:
    """Rows of candidates that follow each other in a thread; nothing comes before the first of each."""
    threaded = [(r.thread, r.position or 0, r.id, row) for row, r in enumerate(records) if r.thread is not None]
    threaded.sort()
    return [
        (before[3] if before is not None and before[0] == after[0] else None, after[3])
        for before, after in zip([None, *threaded], threaded, strict=False)
    ]


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
