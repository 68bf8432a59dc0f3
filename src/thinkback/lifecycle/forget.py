"""Forgetting for good: a memory, and everything that was derived from it."""

from collections.abc import Sequence
from dataclasses import dataclass

from thinkback.lifecycle.corroboration import retract
from thinkback.lifecycle.reflect.rebuild import derived_from, rebuild
from thinkback.stores.base import Store

LINGERING = (
    "text of what was forgotten may still stand in unused parts of the store's files, because somebody reads them or they are "
    "large; it goes with the next write or when the store is closed, once nobody reads, or with: thinkback doctor --repair"
)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What went, the reflections that went with it, those written anew in their place, and what is still to be done."""

    ids: tuple[str, ...]
    reflections: tuple[str, ...] = ()
    rebuilt: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def forget(store: Store, ids: Sequence[str], now: int) -> Forgotten:
    """Removes memories and rebuilds the reflections they were part of, in one transaction."""
    with store.transaction():
        derived = derived_from(store, ids, now)
        retract(store, ids, now)
        gone = store.forget([*ids, *(record.id for record in derived)])
        rebuilt = rebuild(store, derived, now)
    went = set(gone)
    return Forgotten(
        ids=tuple(id for id in dict.fromkeys(ids) if id in went),
        reflections=tuple(record.id for record in derived),
        rebuilt=tuple(rebuilt),
    )


def lingering(store: Store) -> tuple[str, ...]:
    """A warning while something forgotten may still stand in the files."""
    return (LINGERING,) if store.stats().get("scrub_owed") else ()
