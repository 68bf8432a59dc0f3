"""Why a memory is not among the hits."""

from dataclasses import replace
from typing import Any

from recollect.errors import RecollectError
from recollect.legs import Leg, deep_enough
from recollect.model import Run
from recollect.stores.base import Store
from recollect.trace import Trace, WhyNot

NO_LIMIT = 1_000_000_000


def absence(id: str, trace: Trace, store: Store) -> WhyNot:
    """Unknown, filtered, dropped after ranking, or not retrieved: the first that holds, with where each leg has it."""
    filter = trace.query.filter
    record = store.get([id], filter.known_at).get(id)
    if record is None:
        then = " at the moment asked for" if filter.known_at is not None else ""
        return WhyNot(id, f"there is no memory {id!r}{then}")
    if reason := filter.rejects(record):
        return WhyNot(id, f"filtered out: it {reason}")
    return WhyNot(id, _verdict(id, trace), _legs(id, trace, store))


def _verdict(id: str, trace: Trace) -> str:
    for drop in trace.drops:
        if drop.id == id:
            return f"ranked {drop.rank} with score {drop.score:.6g}, then dropped: {drop.reason}"
    if id not in trace.order:
        return "no leg retrieved it"
    score = trace.ledger.totals[trace.ledger.ids.index(id)]
    return (
        f"ranked {trace.order.index(id) + 1} with score {score:.6g}, below the limit of {trace.recipe.selection.limit}"
    )


def _legs(id: str, trace: Trace, store: Store) -> tuple[str, ...]:
    ran = {run.leg: run for run in trace.runs}
    legs = [deep_enough(leg, trace.recipe.selection.limit, trace.query.filter) for leg in trace.recipe.legs]
    return tuple(_in_leg(id, leg, ran[leg.name], trace, store) for leg in legs if leg.name in ran)


def _in_leg(id: str, leg: Leg, run: Run, trace: Trace, store: Store) -> str:
    if run.skipped is not None:
        return f"{leg.name}: did not run, {run.skipped}"
    if place := _place(id, run):
        return f"{leg.name}: rank {place[0]} with {place[1]:.6g}"
    deep: Any = replace(leg, limit=NO_LIMIT)  # type: ignore[type-var]
    later = {leg.name for leg in trace.recipe.legs if leg.stage == "runs"}  # these do not see each other
    earlier = [other for other in trace.runs if other.leg not in later]
    try:
        place = _place(id, deep.run(trace.query, store, earlier))
    except RecollectError as error:
        return f"{leg.name}: cannot say, {error}"
    if place is None:
        return f"{leg.name}: does not match it at all"
    return f"{leg.name}: rank {place[0]} with {place[1]:.6g}, below its limit of {leg.limit}"


def _place(id: str, run: Run) -> tuple[int, float] | None:
    return next(((rank, hit.score) for rank, hit in enumerate(run.hits, 1) if hit.id == id), None)
