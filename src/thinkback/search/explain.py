"""Why a memory is not among the hits."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from thinkback.errors import ThinkbackError
from thinkback.model import Run, StoredRecord
from thinkback.search.legs import Leg, deep_enough
from thinkback.search.ranking import NEWEST, active
from thinkback.search.trace import Trace, WhyNot
from thinkback.stores.base import Store

NO_LIMIT = 1_000_000_000


def absence(id: str, trace: Trace, store: Store) -> WhyNot:
    """The first reason that applies: unknown, filtered, dropped after ranking, cut, or not retrieved; and its rank in each leg."""
    filter = trace.query.filter
    record = store.get([id], filter.known_at).get(id)
    if record is None:
        then = " at the requested time" if filter.known_at is not None else ""
        return WhyNot(id, f"there is no memory {id!r}{then}")
    if reason := filter.rejects(record):
        return WhyNot(id, f"filtered out: it {reason}")
    return WhyNot(id, _verdict(id, trace), _legs(record, trace, store))


def _verdict(id: str, trace: Trace) -> str:
    limit = trace.recipe.selection.limit
    for drop in trace.drops:
        if drop.id == id:
            return f"ranked {drop.rank} with score {drop.score:.6g}, then dropped: {drop.reason}"
    if id in trace.order:
        score = trace.ledger.totals[trace.ledger.ids.index(id)]
        return f"ranked {trace.order.index(id) + 1} with score {score:.6g}, below the limit of {limit}"
    if any(hit.id == id for run in trace.runs for hit in (*run.hits, *run.filled)):
        return _cut(id, trace)
    if any(run.leg == NEWEST for run in trace.runs):
        return "there was nothing to search by, and it is not among the newest"
    return "no leg retrieved it"


def _cut(id: str, trace: Trace) -> str:
    """The rank that the fusion gave it before its cut."""
    fusion: Any = trace.recipe.fusion
    cut = getattr(fusion, "cut", 0)
    if cut <= 0:
        return f"the {fusion.name} fusion left it out"
    runs = [run for run in trace.runs if run.skipped is None]
    whole = replace(fusion, cut=0).fuse(runs, active(trace.recipe, runs, trace.query)[0])
    row = whole.ledger.ids.index(id)
    order = whole.ledger.order() if whole.by_score else np.arange(len(whole.ledger.ids))
    rank = int(np.flatnonzero(order == row)[0]) + 1
    return f"the {fusion.name} fusion had it at rank {rank} with {whole.ledger.totals[row]:.6g}, below its cut of {cut}"


def _legs(record: StoredRecord, trace: Trace, store: Store) -> tuple[str, ...]:
    ran = {run.leg: run for run in trace.runs}
    later = {leg.name for leg in trace.recipe.legs if leg.stage == "runs"}  # these do not see each other
    earlier = [run for run in trace.runs if run.leg not in later]
    legs = [deep_enough(leg, trace.recipe.selection.limit, trace.query.filter) for leg in trace.recipe.legs]
    return tuple(
        f"{leg.name}: {_in_leg(record, leg, ran[leg.name], trace, store, earlier)}" for leg in legs if leg.name in ran
    )


def _in_leg(record: StoredRecord, leg: Leg, run: Run, trace: Trace, store: Store, earlier: Sequence[Run]) -> str:
    if run.skipped is not None:
        return f"did not run: {run.skipped}"
    if place := _place(record.id, run):
        return f"rank {place[0]} with {place[1]:.6g}"
    deep: Any = replace(leg, limit=NO_LIMIT)  # type: ignore[type-var]
    try:
        place = _place(record.id, deep.run(trace.query, store, earlier))
        reason = leg.leaves_out(record, trace.query, store, earlier)
    except ThinkbackError as error:
        return f"cannot tell: {error}"
    if place is None:
        return reason or "does not match it at all"
    why = f"below its limit of {leg.limit}" if place[0] > leg.limit else "which it was not then: the store has changed"
    return f"rank {place[0]} with {place[1]:.6g}, {why}"


def _place(id: str, run: Run) -> tuple[int, float] | None:
    return next(((rank, hit.score) for rank, hit in enumerate(run.hits, 1) if hit.id == id), None)
