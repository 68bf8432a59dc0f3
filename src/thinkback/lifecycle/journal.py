"""The journal: what was done to memories on its own account, and how to undo it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from thinkback.ids import IdSource
from thinkback.stores.base import JournalEntry, Store


@dataclass(frozen=True, slots=True)
class Action:
    """One thing done, or in a dry run to be done: fields of standing before and after, and why."""

    action: str
    id: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    why: str = ""


def new_batch(verb: str, now: int) -> str:
    """A name for what is done, and undone, together."""
    return f"{verb}-{IdSource().take(1, now)[0]}"


def log(store: Store, actions: Iterable[Action], now: int, batch: str) -> None:
    """Writes actions down."""
    store.log([JournalEntry(0, a.action, a.id, a.before, a.after, now, batch) for a in actions])


def amend(store: Store, actions: Sequence[Action], now: int, batch: str) -> None:
    """Does and logs changes of standing; inside the transaction that read what they rest on."""
    changes: dict[str, dict[str, Any]] = {}
    for action in actions:
        changes.setdefault(action.id, {}).update(action.after)
    if changes:
        store.amend(changes, now)
        log(store, actions, now, batch)
