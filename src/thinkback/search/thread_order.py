"""The positions of candidates in their threads, and their neighbours there."""

from collections.abc import Iterator, Mapping, Sequence

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
    line, rows, lines = 0, [], []
    for row, before in _following(records):
        line += FAR if before is None else 1 + gaps.get((records[before].id, records[row].id), 0)
        rows.append(row)
        lines.append(line)
    at[rows] = lines
    return at


def gaps(records: Sequence[StoredRecord], filter: Filter, store: Store, steps: int) -> dict[tuple[str, str], int]:
    """How many memories of the thread lie between candidates that follow each other; FAR from `steps` on; one batch."""
    pairs = [
        (records[before].id, records[row].id)
        for row, before in _following(records)
        if before is not None and (records[row].position or 0) - (records[before].position or 0) > 1
    ]
    counts = store.between(pairs, filter, steps) if pairs else []
    return {pair: FAR if count >= steps else count for pair, count in zip(pairs, counts, strict=True)}


def _following(records: Sequence[StoredRecord]) -> Iterator[tuple[int, int | None]]:
    """Rows of candidates in the order of their threads, each with that of the one before; None for the first of a thread."""
    threads: dict[str, list[int]] = {}
    for row, record in enumerate(records):
        thread = record.thread
        if thread is not None:
            threads.setdefault(thread, []).append(row)
    for thread in sorted(threads):
        rows, before = threads[thread], None
        if len(rows) > 1:
            rows.sort(key=lambda row: (records[row].position or 0, records[row].id))
        for row in rows:
            yield row, before
            before = row


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
