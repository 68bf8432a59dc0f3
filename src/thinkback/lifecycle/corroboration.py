"""Corroboration and contradiction: what a new memory does to an older one. Text is never dropped."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from thinkback.clock import iso
from thinkback.errors import InvalidInput, unknown_memory
from thinkback.lifecycle import confidence, journal
from thinkback.lifecycle.journal import Action
from thinkback.lifecycle.repetition import by_age, repetitions, saying_of
from thinkback.model import CONTESTED, CORROBORATES, Filter, StoredEdge, StoredRecord
from thinkback.stores.base import Store

DECAYED_UNTIL = "tidy.decayed_until"
MOST_AT_ONCE = 32  # a batch of more is bulk, and left to `tidy`
_EQUAL = 1e-9  # two confidences that differ by less are one


def confirm(store: Store, repeats: Mapping[str, str], now: int) -> list[Action]:
    """Links new memories to the older ones they repeat, and lets these gain; inside the caller's transaction."""
    olds = store.get(sorted(set(repeats.values())))
    pairs = {new: old for new, old in repeats.items() if old in olds and old != new}
    if not pairs:
        return []
    heard = moments(store, list(olds), now)
    store.link([StoredEdge(from_id=n, to_id=o, kind=CORROBORATES, created_at=now) for n, o in pairs.items()], now)
    actions = [Action("corroborate", new, {}, {CORROBORATES: old}) for new, old in pairs.items()]
    counted = (settled(olds[id], [*heard[id], now], now) for id in sorted(set(pairs.values())))
    grown = [action for action in counted if action is not None]
    store.amend({action.id: action.after for action in grown}, now)
    return [*actions, *grown]


def settled(record: StoredRecord, heard: Sequence[int], now: int) -> Action | None:
    """What brings a memory's confidence up to date, if it is not."""
    if record.confidence is None or record.claim is None or record.claimed_at is None:
        return None
    left = confidence.current(record.claim, record.claimed_at, record.recorded_at, heard, now)
    if abs(left - record.confidence) < _EQUAL:
        return None
    before, after = {"confidence": record.confidence}, {"confidence": left}
    if left > record.confidence:
        return Action("confirm", record.id, before, after, "said again")
    since = max(record.claimed_at, record.recorded_at, *heard)
    return Action("decay", record.id, before, after, f"not heard again since {iso(since)}")


def retract(store: Store, ids: Sequence[str], now: int) -> None:
    """Makes others as if memories about to be forgotten had never been heard; inside the caller's transaction."""
    _sever(store, _heard(store, ids, now), now, set(ids))


def reworded(store: Store, id: str, now: int) -> None:
    """Ends the corroborations by and of a memory that says something else now; inside the caller's transaction."""
    edges = _heard(store, [id], now)
    ends = sorted({end for edge in edges for end in (edge.from_id, edge.to_id)})
    records, vectors = store.get(ends), store.vectors(ends)
    sayings = {end: saying_of(record) for end, record in records.items()}

    def stands(edge: StoredEdge) -> bool:
        said = sayings[edge.from_id]
        theirs = vectors.get(edge.from_id), vectors.get(edge.to_id)
        return said is not None and said.repeats(sayings[edge.to_id], *theirs)

    _sever(store, [edge for edge in edges if not stands(edge)], now)


def _sever(store: Store, edges: Sequence[StoredEdge], now: int, going: Collection[str] = ()) -> None:
    """Takes corroborations away and counts anew; those who repeated what is gone repeat the oldest among themselves."""
    orphans: dict[str, list[str]] = defaultdict(list)
    for edge in edges:
        store.unlink(edge.from_id, edge.to_id, CORROBORATES)
        if edge.from_id not in going:
            orphans[edge.to_id].append(edge.from_id)
    said = {edge.from_id: edge.created_at for edge in edges}
    adopted: dict[str, str] = {}
    for left in orphans.values():
        adopted |= _who_repeats_whom(store, left)
    store.link([StoredEdge(from_id=n, to_id=o, kind=CORROBORATES, created_at=said[n]) for n, o in adopted.items()], now)
    _count_anew(store, sorted({*(edge.to_id for edge in edges), *adopted.values()} - set(going)), now)


def _who_repeats_whom(store: Store, ids: Sequence[str]) -> dict[str, str]:
    records = sorted(store.get(ids).values(), key=by_age)
    return repetitions(((record.id, record.text, record.source) for record in records), store.vectors)


def _count_anew(store: Store, ids: Sequence[str], now: int) -> None:
    """Brings confidences to what they would have been when they were last counted."""
    heard, tidied = moments(store, ids, now), decayed_until(store) or 0
    actions = (
        settled(record, heard[id], max(record.claimed_at or 0, tidied, *heard[id]))
        for id, record in store.get(ids).items()
    )
    store.amend({action.id: action.after for action in actions if action is not None}, now)


def _heard(store: Store, ids: Sequence[str], now: int) -> list[StoredEdge]:
    """All corroborations by and of these memories."""
    edges = store.edges(ids, Filter(now=now, everything=True), None, kinds=(CORROBORATES,)) if ids else {}
    return list({(edge.from_id, edge.to_id): edge for its in edges.values() for edge in its}.values())


def decayed_until(store: Store) -> int | None:
    """Up to when decay is in the confidences already."""
    until = store.setting(DECAYED_UNTIL)
    return None if until is None else int(until)


def moments(store: Store, ids: Sequence[str], now: int) -> dict[str, list[int]]:
    """When each memory was corroborated."""
    found: dict[str, list[int]] = {id: [] for id in ids}
    for edge in _heard(store, ids, now):
        if edge.to_id in found:
            found[edge.to_id].append(edge.created_at)
    return found


def contest(store: Store, new_id: str, old_id: str, now: int, close: bool = False) -> StoredEdge:
    """Marks that a newer memory contradicts an older one; both stand, unless `close` ends the older one where the newer begins."""
    if new_id == old_id:
        raise InvalidInput(f"the memory {new_id!r} cannot contradict itself; name two", code="contests_itself")
    with store.transaction():
        found = store.get([new_id, old_id])
        for id in (new_id, old_id):
            if id not in found:
                raise unknown_memory(id)
        edge = StoredEdge(from_id=old_id, to_id=new_id, kind=CONTESTED, created_at=now)
        links = store.edges([old_id], Filter(now=now, everything=True), None, kinds=(CONTESTED,)).get(old_id, ())
        known = any((link.from_id, link.to_id) == (old_id, new_id) for link in links)
        ending = _ending(found[new_id], found[old_id]) if close else {}
        if ending:
            store.update(old_id, ending, now)
        if not known:
            store.link([edge], now)
        if ending or not known:
            before = {name: getattr(found[old_id], name) for name in ending} | ({CONTESTED: new_id} if known else {})
            action = Action("contest", old_id, before, {CONTESTED: new_id, **ending})
            journal.log(store, [action], now, journal.new_batch("contest", now))
    return edge


def _ending(new: StoredRecord, old: StoredRecord) -> dict[str, int]:
    """The end of the older one's validity, if it does not end before."""
    if new.date < old.date:
        raise InvalidInput(
            f"{new.id!r} is dated {iso(new.date)}, before {old.id!r} ({iso(old.date)}), so it cannot end it; "
            "name the newer one first, or give it a valid_from",
            code="older_than_contested",
        )
    return {"valid_to": new.date} if old.valid_to is None or old.valid_to > new.date else {}
