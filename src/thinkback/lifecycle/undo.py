"""Undo a batch of the journal, newest action first; memories changed since are skipped and reported."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace

from thinkback.errors import Action, NotFound, Remedy
from thinkback.fields import STANDING
from thinkback.lifecycle.corroboration import DECAYED_UNTIL
from thinkback.lifecycle.reflect.promote import RAISED, raised
from thinkback.lifecycle.reflect.rebuild import rebuild
from thinkback.lifecycle.reflect.themes import as_written
from thinkback.lifecycle.result import Result
from thinkback.model import CONTESTED, CORROBORATES, JournalEntry, StoredEntry, StoredRecord
from thinkback.stores.base import Store
from thinkback.values import dataclass

_MAX_NAMED = 3


@dataclass(frozen=True, slots=True, repr=False)
class Undone(Result):
    """The memories that were changed back, and those skipped with the reason.

    `passed_over`: if no batch was named, later batches of which nothing could be undone, with the reason for each memory.
    """

    batch: str
    undone: tuple[str, ...]
    skipped: Mapping[str, str]
    passed_over: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def undo(store: Store, batch: str | None, now: int) -> Undone:
    """Undo a batch; by default the last one of which anything can be undone."""
    with store.transaction():
        if batch is not None:
            entries = store.journal(batch)
            if not entries:
                remedy = Remedy(Action.LIST_BATCHES)
                raise NotFound(f"the journal has no batch {batch!r}", code="unknown_batch", remedy=remedy)
            return _undo_batch(store, batch, entries, now)
        passed_over: dict[str, Mapping[str, str]] = {}
        left = (entry.batch for entry in store.journal() if entry.undone_at is None)
        for last in dict.fromkeys(left):
            undone = _undo_batch(store, last, store.journal(last), now)
            if undone.undone:
                return replace(undone, passed_over=passed_over)
            passed_over[last] = undone.skipped
    why = "; ".join(f"{last}: {why_left(skipped)}" for last, skipped in passed_over.items())
    message = "the journal has nothing left to undo" + (f"; skipped {why}" if why else "")
    raise NotFound(message, code="nothing_to_undo")


def why_left(reasons: Mapping[str, str]) -> str:
    """Why memories were skipped: `was forgotten (m0, m1, m2 and 4 more); was changed since: tier (m9)`."""
    ids: dict[str, list[str]] = {}
    for id, reason in reasons.items():
        ids.setdefault(reason, []).append(id)
    more = {reason: len(its) - _MAX_NAMED for reason, its in ids.items()}
    return "; ".join(
        f"{reason} ({', '.join(its[:_MAX_NAMED])}{f' and {more[reason]} more' if more[reason] > 0 else ''})"
        for reason, its in ids.items()
    )


def barred(entry: StoredEntry | JournalEntry) -> str | None:
    """Why an action can never be undone, or None."""
    if entry.action == "redact":
        return "a redaction cannot be undone"
    if not entry.before and not entry.after:  # forgetting a memory removes its id from other entries
        return "its subject was forgotten"
    if entry.action not in _SPECIAL and not (entry.before and set(entry.before) <= set(STANDING)):
        return f"a {entry.action} cannot be undone"
    return None


def _undo_batch(store: Store, batch: str, entries: Sequence[StoredEntry], now: int) -> Undone:
    done: list[StoredEntry] = []
    skipped: dict[str, str] = {}
    for entry in entries:
        reason = "was undone already" if entry.undone_at is not None else _undo(store, entry, now)
        if reason is None:
            done.append(entry)
        else:
            skipped[entry.memory_id or entry.action] = reason
    store.mark_undone([entry.id for entry in done], now)
    return Undone(batch, tuple(dict.fromkeys(e.memory_id for e in done if e.memory_id)), skipped)


def _undo(store: Store, entry: StoredEntry, now: int) -> str | None:
    """Undo one action; returns the reason if it cannot."""
    never = barred(entry)
    if never is not None:
        return never
    special = _SPECIAL.get(entry.action)
    if special is not None:
        return special(store, entry, now)
    record = store.get([entry.memory_id]).get(entry.memory_id)
    reason = _changed_since(record, entry.after)
    if reason is None:
        store.amend({entry.memory_id: entry.before}, now)
        _update_promotions(store, entry)
    return reason


def _changed_since(record: StoredRecord | None, after: Mapping[str, object]) -> str | None:
    if record is None:
        return "was forgotten"
    other = [name for name, value in after.items() if getattr(record, name) != value]
    return f"was changed since: {', '.join(other)}" if other else None


def _update_promotions(store: Store, entry: StoredEntry) -> None:
    """Keep the record of promoted memories in step."""
    if entry.action not in ("promote", "demote"):
        return
    promoted = raised(store)
    if entry.action == "promote":
        promoted.pop(entry.memory_id, None)
    else:
        promoted[entry.memory_id] = str(entry.after["priority"])
    store.set_setting(RAISED, json.dumps(promoted, sort_keys=True))


def _unlink(store: Store, entry: StoredEntry, now: int) -> str | None:
    gone = store.unlink(entry.memory_id, str(entry.after[CORROBORATES]), CORROBORATES)
    return None if gone else "the link does not exist any more"


def _uncontest(store: Store, entry: StoredEntry, now: int) -> str | None:
    before, after = dict(entry.before), dict(entry.after)
    other, known = after.pop(CONTESTED, None), before.pop(CONTESTED, None)
    record = store.get([entry.memory_id]).get(entry.memory_id)
    reason = _changed_since(record, after)
    if reason is None:
        if known is None and other is not None:  # the validity can be restored even if the newer memory was forgotten
            store.unlink(entry.memory_id, str(other), CONTESTED)
        if before:
            store.update(entry.memory_id, before, now)
    return reason


def _unreflect(store: Store, entry: StoredEntry, now: int) -> str | None:
    if not store.forget([entry.memory_id]):
        return "was forgotten"
    store.log([replace(entry, undone_at=now)])  # the entry was removed with the theme; keep it as undone
    return None


def _reflect_again(store: Store, entry: StoredEntry, now: int) -> str | None:
    if not entry.before.get("members"):
        return "its subject was forgotten"
    return (
        None if rebuild(store, [as_written(entry.memory_id, entry.before["members"])], now) else "its members changed"
    )


def _decay_clock(store: Store, entry: StoredEntry, now: int) -> str | None:
    if store.setting(DECAYED_UNTIL) == str(entry.after["until"]):
        before = entry.before["until"]
        store.set_setting(DECAYED_UNTIL, None if before is None else str(before))
    return None


_SPECIAL: dict[str, Callable[[Store, StoredEntry, int], str | None]] = {
    "corroborate": _unlink,
    "contest": _uncontest,
    "reflect": _unreflect,
    "unreflect": _reflect_again,
    "decayed-until": _decay_clock,
}
