"""Backups: copies of a store, remembered in it, so that forgetting can tell of them."""

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from thinkback.clock import from_us, iso
from thinkback.errors import Action, Notice, Remedy, StoreError
from thinkback.lifecycle.result import Result
from thinkback.stores.base import Copied, Store
from thinkback.values import dataclass

KNOWN = "backups"  # the setting: when each copy was made, by path


@dataclass(frozen=True, slots=True, repr=False)
class BackedUp(Result):
    """A copy that was opened and found sound."""

    file: str
    at: datetime
    bytes: int


def back_up(store: Store, path: Path, now: int, replace: bool) -> BackedUp:
    """Copy a store to a file as of one moment, check the copy, and remember it."""
    if not isinstance(store, Copied):
        raise StoreError("a database is backed up with its own tools, such as pg_dump", code="no_backup")
    target = path.absolute()
    store.copy_to(target, replace)
    if not store.read_only:
        store.set_setting(KNOWN, json.dumps({**_known(store), str(target): now}))
    return BackedUp(str(target), from_us(now), target.stat().st_size)


def held_in_backups(store: Store) -> tuple[Notice, ...]:
    """The warning that known copies may still hold what was forgotten here."""
    if not isinstance(store, Copied):
        return ()
    known = {path: at for path, at in _known(store).items() if Path(path).exists()}
    if not known:
        return ()
    last = iso(from_us(max(known.values())))
    said = f"{len(known)} known {'backups' if len(known) > 1 else 'backup'} (the last of {last}) may still hold it"
    return (Notice("held_in_backup", said, Remedy(Action.RENEW_BACKUPS, ", ".join(sorted(known)))),)


def _known(store: Store) -> Mapping[str, int]:
    return dict(json.loads(store.setting(KNOWN) or "{}"))
