"""The dates leg: memories dated at the time the query names, or telling of it, so that they are found even if no word matches."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import ClassVar

from thinkback.clock import iso
from thinkback.model import REFLECTION, Filter, Run, Scored, StoredRecord
from thinkback.search.legs.base import Leg, Stage, without_reflections
from thinkback.search.query.parse import Query
from thinkback.search.query.time import Anchor
from thinkback.stores.base import Store
from thinkback.values import dataclass

CROWD = 50  # from this many on, a time that most memories share does not tell them apart


@dataclass(frozen=True, slots=True, kw_only=True)
class Dates(Leg):
    """Nearest to the middle of the window first, by distance in tolerances.

    Skipped when the query names no time, or one that most memories share.
    """

    name: ClassVar[str] = "dates"
    stage: ClassVar[Stage] = "time"
    weight: float = 1.0
    limit: int = 50

    def run(self, query: Query, store: Store, earlier: Sequence[Run]) -> Run:
        anchor = query.anchor
        if anchor is None:
            return Run(self.name, skipped="the query names no time")
        if anchor.vague:
            return Run(self.name, skipped="the query names only a vague time")
        everything = without_reflections(query.filter)  # reflections have no date of their own
        window = within(everything, anchor)
        near = store.dated(anchor.centre_us, window, self.limit)
        if len(near) >= min(self.limit, CROWD) and store.count(window) * 2 > store.count(everything):
            return Run(self.name, skipped="most memories are of the time the query names")
        start, end = anchor.reach
        told = store.about(start, end + 1, everything, self.limit)
        best: dict[str, float] = {}
        for hit in (*near, *told):
            best[hit.id] = max(hit.score / max(anchor.tolerance_us, 1), best.get(hit.id, -inf))
        nearest = sorted(best.items(), key=lambda item: (-item[1], item[0]))[: self.limit]
        return Run(self.name, tuple(Scored(id, score) for id, score in nearest))

    def leaves_out(self, record: StoredRecord, query: Query, store: Store, earlier: Sequence[Run]) -> str | None:
        if record.kind == REFLECTION and without_reflections(query.filter).rejects(record):
            return "a reflection has no date of its own"
        return f"it is dated {iso(record.date)} and tells of no other time, outside the time the query names"


def within(filter: Filter, anchor: Anchor) -> Filter:
    """The filter, narrowed to the anchor's window and the period it names."""
    start, end = anchor.reach
    since = start if filter.since is None else max(start, filter.since)
    until = end + 1 if filter.until is None else min(end + 1, filter.until)
    return replace(filter, since=since, until=until)
