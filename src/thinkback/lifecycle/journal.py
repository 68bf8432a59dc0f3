"""The journal: changes that the engine made to memories, grouped in batches that can be undone."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from thinkback.ids import IdSource
from thinkback.model import StoredEntry, with_datetimes
from thinkback.stores.base import Store
from thinkback.values import dataclass


@dataclass(frozen=True, slots=True)
class Action:
    """One change, done or planned: the fields before and after, and why."""

    action: str
    id: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    why: str = ""

    def with_datetimes(self) -> "Action":
        """The same for callers, with times as datetimes."""
        return replace(self, before=with_datetimes(self.before), after=with_datetimes(self.after))


def new_batch(verb: str, now: int) -> str:
    """A name for changes that are undone together."""
    return f"{verb}-{IdSource().take(1, now)[0]}"


def log(store: Store, actions: Iterable[Action], now: int, batch: str) -> None:
    """Write actions to the journal."""
    store.log([StoredEntry(0, a.action, a.id, a.before, a.after, now, batch) for a in actions])


def amend(store: Store, actions: Sequence[Action], now: int, batch: str) -> None:
    """Apply and log changes; inside the transaction that read what they are based on."""
    changes: dict[str, dict[str, Any]] = {}
    for action in actions:
        changes.setdefault(action.id, {}).update(action.after)
    if changes:
        store.amend(changes, now)
        log(store, actions, now, batch)
