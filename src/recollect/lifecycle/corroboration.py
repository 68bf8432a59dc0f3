"""Corroboration and contradiction: what a new memory does to an older one. Text is never dropped."""

from collections.abc import Mapping, Sequence
from functools import reduce

from recollect.errors import InvalidInput, NotFound
from recollect.lifecycle import confidence, journal
from recollect.lifecycle.journal import Action
from recollect.model import Edge, Filter, Record
from recollect.reflect.observations import CORROBORATES
from recollect.stores.base import Store

CONTESTED = "contested_by"  # the kind of the edge from an older memory to the newer one that contradicts it
DECAYED_UNTIL = "tidy.decayed_until"
MOST_AT_ONCE = 32  # a batch of more is bulk, and left to `tidy`
_ALL = 1_000_000


def confirm(store: Store, repeats: Mapping[str, str], now: int) -> list[Action]:
    """Links new memories to the older ones they repeat, and lets these gain; inside the caller's transaction."""
    olds = store.get(sorted(set(repeats.values())))
    pairs = {new: old for new, old in repeats.items() if old in olds and old != new}
    if not pairs:
        return []
    heard = moments(store, list(olds), now)
    store.link([Edge(from_id=n, to_id=o, kind=CORROBORATES, created_at=now) for n, o in pairs.items()], now)
    actions = [Action("corroborate", new, {}, {CORROBORATES: old}) for new, old in pairs.items()]
    until = decayed_until(store)
    grown = [gain(olds[id], heard.get(id, []), [now], until) for id in sorted(set(pairs.values()))]
    actions += [action for action in grown if action is not None]
    store.amend({action.id: action.after for action in actions if action.action == "confirm"}, now)
    return actions


def gain(record: Record, before: Sequence[int], new: Sequence[int], until: int | None) -> Action | None:
    """What new corroborations make of a memory's confidence, if they count; what was lost in the silence before is lost."""
    known = confidence.counted(before)
    fresh = [moment for moment in confidence.counted([*before, *new]) if moment not in known]
    if record.confidence is None or not fresh:
        return None
    left = record.confidence
    for moment in fresh:
        since = max([record.recorded_at, *(m for m in (*before, *new) if m < moment)])
        left = confidence.grown(confidence.decayed(left, since, until, moment))
    why = "said again" if len(fresh) == 1 else f"said again on {len(fresh)} days"
    return Action("confirm", record.id, {"confidence": record.confidence}, {"confidence": left}, why)


def retract(store: Store, ids: Sequence[str], now: int) -> None:
    """Takes from others what memories about to be forgotten gave them; inside the caller's transaction."""
    going = set(ids)
    everything = Filter(now=now, everything=True)
    theirs = store.edges(ids, everything, _ALL, kinds=(CORROBORATES,))
    confirmed = sorted({edge.to_id for its in theirs.values() for edge in its} - going)
    all_said = store.edges(confirmed, everything, _ALL, kinds=(CORROBORATES,)) if confirmed else {}
    changes: dict[str, dict[str, object]] = {}
    for id, record in store.get(confirmed).items():
        said = [edge for edge in all_said.get(id, ()) if edge.to_id == id]
        left = [edge.created_at for edge in said if edge.from_id not in going]
        lost = len(confidence.counted(edge.created_at for edge in said)) - len(confidence.counted(left))
        if lost > 0 and record.confidence is not None:
            changes[id] = {"confidence": reduce(lambda c, _: confidence.ungrown(c), range(lost), record.confidence)}
    store.amend(changes, now)


def decayed_until(store: Store) -> int | None:
    """Up to when decay is in the confidences already."""
    until = store.setting(DECAYED_UNTIL)
    return None if until is None else int(until)


def moments(store: Store, ids: Sequence[str], now: int) -> dict[str, list[int]]:
    """When each memory was corroborated."""
    edges = store.edges(ids, Filter(now=now, everything=True), _ALL, sequence=False)
    return {
        id: [edge.created_at for edge in its if edge.kind == CORROBORATES and edge.to_id == id]
        for id, its in edges.items()
    }


def contest(store: Store, new_id: str, old_id: str, now: int, close: bool = False) -> Edge:
    """Marks that a newer memory contradicts an older one; both stand, unless `close` ends the older one where the newer begins."""
    if new_id == old_id:
        raise InvalidInput(f"the memory {new_id!r} cannot contradict itself; name two")
    with store.transaction():
        found = store.get([new_id, old_id])
        for id in (new_id, old_id):
            if id not in found:
                raise NotFound(f"there is no memory {id!r}; `recollect list` shows the ids")
        new, old = found[new_id], found[old_id]
        edge = Edge(from_id=old_id, to_id=new_id, kind=CONTESTED, created_at=now)
        store.link([edge], now)
        after: dict[str, object] = {CONTESTED: new_id}
        if close:
            after["valid_to"] = max(new.date, old.date)
            store.update(old_id, {"valid_to": after["valid_to"]}, now)
        before = {"valid_to": old.valid_to} if close else {}
        journal.log(store, [Action("contest", old_id, before, after)], now, journal.new_batch("contest", now))
    return edge
