"""Forgetting for good: a memory, and everything that was derived from it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from thinkback.errors import Action, Notice, Remedy
from thinkback.lifecycle.corroboration import retract
from thinkback.lifecycle.reflect.rebuild import derived_from, rebuild
from thinkback.stores.base import Store

LINGERING = Notice(
    "forgotten_text_lingers",
    "unused parts of the store's files may still hold forgotten text, because the files are large or another process reads them; "
    "it is removed with a later write or on closing",
    Remedy(Action.REPAIR),
)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What went, the reflections that went with it, those written anew in their place, and what is still to be done."""

    ids: tuple[str, ...]
    reflections: tuple[str, ...] = ()
    rebuilt: tuple[str, ...] = ()
    warnings: tuple[Notice, ...] = ()

    def __iter__(self) -> Iterator[str]:
        return iter(self.ids)

    def __len__(self) -> int:
        return len(self.ids)


def forget(store: Store, ids: Sequence[str], now: int, *, scrub: bool = False) -> Forgotten:
    """Removes memories and rebuilds the reflections they were part of, in one transaction; then clears large files if asked."""
    with store.transaction():
        derived = derived_from(store, ids, now)
        retract(store, ids, now)
        gone = store.forget([*ids, *(record.id for record in derived)])
        rebuilt = rebuild(store, derived, now)
    went = set(gone)
    lingers = bool(went) and bool(store.scrub_pending())
    if lingers and scrub and not store.in_transaction:
        lingers = not store.scrub()
    return Forgotten(
        ids=tuple(id for id in dict.fromkeys(ids) if id in went),
        reflections=tuple(record.id for record in derived),
        rebuilt=tuple(rebuilt),
        warnings=(LINGERING,) if lingers else (),
    )
