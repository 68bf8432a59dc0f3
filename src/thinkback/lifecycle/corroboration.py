"""Corroboration and contradiction between a newer and an older memory. No text is ever dropped."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from thinkback.clock import iso
from thinkback.errors import Action as Act
from thinkback.errors import InvalidInput, Remedy, StoreDamaged, unknown_memory
from thinkback.lifecycle import confidence, journal
from thinkback.lifecycle.journal import Action
from thinkback.lifecycle.repetition import by_age, repetitions, statement_of
from thinkback.model import CONTESTED, CORROBORATES, Filter, StoredEdge, StoredRecord
from thinkback.stores.base import Store

DECAYED_UNTIL = "tidy.decayed_until"  # setting: the time up to which decay is applied
_EQUAL = 1e-9  # confidences that differ by less are equal


def confirm(store: Store, repeats: Mapping[str, str], now: int) -> list[Action]:
    """Link new memories to the older ones they repeat and raise the confidence of these; inside the caller's transaction."""
    olds = store.get(sorted(set(repeats.values())))
    pairs = {new: old for new, old in repeats.items() if old in olds and old != new}
    if not pairs:
        return []
    heard = corroborated_at(store, list(olds), now)
    store.link([StoredEdge(from_id=n, to_id=o, kind=CORROBORATES, created_at=now) for n, o in pairs.items()], now)
    actions = [Action("corroborate", new, {}, {CORROBORATES: old}) for new, old in pairs.items()]
    counted = (updated_confidence(olds[id], [*heard[id], now], now) for id in sorted(set(pairs.values())))
    grown = [action for action in counted if action is not None]
    store.amend({action.id: action.after for action in grown}, now)
    return [*actions, *grown]


def updated_confidence(record: StoredRecord, heard: Sequence[int], now: int) -> Action | None:
    """The change that brings a memory's confidence up to date, or None."""
    if record.confidence is None or record.claim is None or record.claimed_at is None:
        return None
    left = confidence.current(record.claim, record.claimed_at, record.recorded_at, heard, now)
    if abs(left - record.confidence) < _EQUAL:
        return None
    before, after = {"confidence": record.confidence}, {"confidence": left}
    if left > record.confidence:
        return Action("confirm", record.id, before, after, "repeated")
    since = max(record.claimed_at, record.recorded_at, *heard)
    return Action("decay", record.id, before, after, f"not confirmed since {iso(since)}")


def retract(store: Store, ids: Sequence[str], now: int) -> None:
    """Remove the effect of memories that are about to be forgotten; inside the caller's transaction."""
    _remove(store, _corroborations(store, ids, now), now, set(ids))


def reworded(store: Store, id: str, now: int) -> None:
    """Remove corroborations that no longer hold for a changed memory; inside the caller's transaction."""
    edges = _corroborations(store, [id], now)
    ends = sorted({end for edge in edges for end in (edge.from_id, edge.to_id)})
    records, vectors = store.get(ends), store.vectors(ends)
    statements = {end: statement_of(record) for end, record in records.items()}

    def holds(edge: StoredEdge) -> bool:
        newer, older = statements[edge.from_id], statements[edge.to_id]
        return newer is not None and newer.repeats(older, vectors.get(edge.from_id), vectors.get(edge.to_id))

    _remove(store, [edge for edge in edges if not holds(edge)], now)


def _remove(store: Store, edges: Sequence[StoredEdge], now: int, going: Collection[str] = ()) -> None:
    """Remove corroborations and update confidences; orphaned repetitions are linked to the oldest one left."""
    orphans: dict[str, list[str]] = defaultdict(list)
    for edge in edges:
        store.unlink(edge.from_id, edge.to_id, CORROBORATES)
        if edge.from_id not in going:
            orphans[edge.to_id].append(edge.from_id)
    linked_at = {edge.from_id: edge.created_at for edge in edges}
    relinked: dict[str, str] = {}
    for left in orphans.values():
        relinked |= _repetitions_among(store, left)
    store.link(
        [StoredEdge(from_id=n, to_id=o, kind=CORROBORATES, created_at=linked_at[n]) for n, o in relinked.items()], now
    )
    _update_confidences(store, sorted({*(edge.to_id for edge in edges), *relinked.values()} - set(going)), now)


def _repetitions_among(store: Store, ids: Sequence[str]) -> dict[str, str]:
    records = sorted(store.get(ids).values(), key=by_age)
    return repetitions(((record.id, record.text, record.source) for record in records), store.vectors)


def _update_confidences(store: Store, ids: Sequence[str], now: int) -> None:
    """Compute confidences again as of the time of their last update."""
    heard, tidied = corroborated_at(store, ids, now), decayed_until(store) or 0
    actions = (
        updated_confidence(record, heard[id], max(record.claimed_at or 0, tidied, *heard[id]))
        for id, record in store.get(ids).items()
    )
    store.amend({action.id: action.after for action in actions if action is not None}, now)


def _corroborations(store: Store, ids: Sequence[str], now: int) -> list[StoredEdge]:
    """All corroborations by and of these memories."""
    edges = store.edges(ids, Filter(now=now, everything=True), None, kinds=(CORROBORATES,)) if ids else {}
    return list({(edge.from_id, edge.to_id): edge for its in edges.values() for edge in its}.values())


def decayed_until(store: Store) -> int | None:
    """The time up to which confidences include decay."""
    until = store.setting(DECAYED_UNTIL)
    if until is None or until.removeprefix("-").isdecimal():
        return None if until is None else int(until)
    raise StoreDamaged(
        f"the setting {DECAYED_UNTIL} is not a time: {until[:40]!r}", code="damaged_row", remedy=Remedy(Act.CHECK)
    )


def corroborated_at(store: Store, ids: Sequence[str], now: int) -> dict[str, list[int]]:
    """The times at which each memory was corroborated."""
    found: dict[str, list[int]] = {id: [] for id in ids}
    for edge in _corroborations(store, ids, now):
        if edge.to_id in found:
            found[edge.to_id].append(edge.created_at)
    return found


def contest(store: Store, new_id: str, old_id: str, now: int, close: bool = False) -> StoredEdge:
    """Record that a newer memory contradicts an older one; with `close`, the older one's validity ends where the newer begins."""
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
    """The new end of the older one's validity, unless it ends earlier already."""
    if new.date < old.date:
        raise InvalidInput(
            f"{new.id!r} is dated {iso(new.date)}, before {old.id!r} ({iso(old.date)}), so it cannot end it; "
            "name the newer one first, or give it a valid_from",
            code="older_than_contested",
        )
    return {"valid_to": new.date} if old.valid_to is None or old.valid_to > new.date else {}
