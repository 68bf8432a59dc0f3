"""Forgetting for good: a memory and everything derived from it; on request with a receipt that proves it.

The proof ignores bytes that another memory contains too. A receipt contains no text of the memories.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from thinkback.clock import from_us
from thinkback.errors import Action, Notice, Remedy, StoreError
from thinkback.lifecycle import proof
from thinkback.lifecycle.backup import held_in_backups
from thinkback.lifecycle.corroboration import retract
from thinkback.lifecycle.reflect.rebuild import derived_from, rebuild
from thinkback.lifecycle.result import Result
from thinkback.lifecycle.tombstones import bury
from thinkback.model import REFLECTION, Filter
from thinkback.reflections import members
from thinkback.stores.base import Store
from thinkback.values import dataclass

_NAMED = 3  # memories that a warning names
LINGERING = Notice(
    "forgotten_text_lingers",
    "unused parts of the store's files may still hold forgotten text, because the files are large or another process reads them; "
    "it is removed with a later write or on closing",
    Remedy(Action.REPAIR),
)


@dataclass(frozen=True, slots=True, repr=False)
class Forgotten(Result):
    """The ids that existed, the reflections removed with them, and those rebuilt from the remaining members.

    A dry run removes nothing and has the ids and reflections that would go. `tombstones` keep what was forgotten from coming back.
    """

    ids: tuple[str, ...]
    reflections: tuple[str, ...] = ()
    rebuilt: tuple[str, ...] = ()
    dry_run: bool = False
    tombstones: tuple[str, ...] = ()
    warnings: tuple[Notice, ...] = ()

    def __iter__(self) -> Iterator[str]:
        return iter(self.ids)

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True, repr=False)
class Receipt(Result):
    """The proof of a forgetting.

    `verified`: something was forgotten, no trace of it was found, and files and log were cleared. `too_short` counts texts and ids
    of less than 8 bytes, which occur in files by chance; they are looked up in the indexes only. `named_by` are reflections written
    by hand that still list a forgotten memory. `tombstones` are keyed hashes that keep the memories from coming back.
    """

    forgotten: tuple[str, ...]
    unknown: tuple[str, ...]
    at: datetime
    store: str
    removed: Mapping[str, int]
    rebuilt: tuple[str, ...]
    searches: tuple[proof.Search, ...]
    files: tuple[proof.Scan, ...]
    too_short: int
    log_cleared: bool
    verified: bool
    named_by: tuple[str, ...] = ()
    tombstones: tuple[str, ...] = ()
    warnings: tuple[Notice, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """The messages of the warnings."""
        return tuple(warning.message for warning in self.warnings)


log = logging.getLogger("thinkback")


def forget(store: Store, ids: Sequence[str], now: int, *, scrub: bool = False, tombstone: bool = False) -> Forgotten:
    """Remove memories and rebuild the reflections on them, in one transaction; `scrub` clears large files at once too."""
    with store.transaction():
        marks = bury(store, ids, now) if tombstone else ()
        derived = derived_from(store, ids, now)
        retract(store, ids, now)
        removed = set(store.forget([*ids, *(record.id for record in derived)]))
        rebuilt = rebuild(store, derived, now)
        backups = held_in_backups(store) if removed else ()  # here: once it is committed, nothing may fail
    lingers = bool(removed) and _lingers(store, scrub)
    log.info("forgot %d memories; %d themes rebuilt or removed", len(removed) - len(derived), len(derived))
    return Forgotten(
        ids=tuple(id for id in dict.fromkeys(ids) if id in removed),
        reflections=tuple(record.id for record in derived),
        rebuilt=tuple(rebuilt),
        tombstones=marks,
        warnings=((LINGERING,) if lingers else ()) + backups,
    )


def would_forget(store: Store, ids: Sequence[str], now: int) -> Forgotten:
    """What `forget` would remove."""
    found = store.get(ids)
    there = tuple(id for id in dict.fromkeys(ids) if id in found)
    return Forgotten(there, tuple(record.id for record in derived_from(store, ids, now)), dry_run=True)


def _lingers(store: Store, scrub: bool) -> bool:
    """Whether files may still hold forgotten text; the forgetting is committed, so nothing that fails here undoes it."""
    try:
        pending = store.scrub_pending()
        return pending and not (scrub and not store.in_transaction and store.scrub())
    except StoreError:
        return True


def forget_verified(store: Store, ids: Sequence[str], now: int, *, tombstone: bool = False) -> Receipt:
    """Forget, then search every index and file for traces."""
    with store.transaction():  # so that the evidence is exactly what is removed
        before = store.state()
        evidence = proof.gather(store, ids)
        counts = _counts(store, evidence, now)
        done = forget(store, ids, now, tombstone=tombstone)
    proved = _prove(store, evidence, done.ids, now)
    return Receipt(
        forgotten=done.ids,
        unknown=tuple(id for id in dict.fromkeys(ids) if id not in evidence.ids),
        at=from_us(now),
        store=before.store_id,
        removed={**counts, "reflections": len(done.reflections)},
        rebuilt=done.rebuilt,
        searches=proved.searches,
        files=proved.files,
        too_short=proved.too_short,
        log_cleared=proved.cleared,
        verified=bool(done.ids) and proved.clean and proved.cleared,
        named_by=proved.named_by,
        tombstones=done.tombstones,
        warnings=(*proved.warnings, *(w for w in done.warnings if w is not LINGERING)),
    )


@dataclass(frozen=True, slots=True)
class _Proof:
    """What was looked for after a forgetting, and found."""

    searches: tuple[proof.Search, ...] = ()
    files: tuple[proof.Scan, ...] = ()
    too_short: int = 0
    cleared: bool = False
    clean: bool = False
    named_by: tuple[str, ...] = ()
    warnings: tuple[Notice, ...] = ()


def _prove(store: Store, evidence: proof.Evidence, forgotten: Sequence[str], now: int) -> _Proof:
    """Search every index and file; the forgetting is committed, so a search that fails makes a receipt that proves nothing."""
    try:
        cleared = store.scrub()
        searches = tuple(proof.search(store, evidence, now))
        files, too_short = proof.scan(store, evidence)
        clean = not any(one.found for one in searches) and not any(file.traces for file in files)
        named_by = tuple(_naming(store, forgotten, now))
        judged = proof.judged(store, evidence)
    except (StoreError, OSError) as error:
        failed = StoreError(str(error), code="not_verified") if isinstance(error, OSError) else error
        return _Proof(warnings=(failed.notice("the memories were forgotten, but that could not be verified"),))
    warnings = (*_warnings(forgotten, files), *_judged_elsewhere(judged))
    return _Proof(searches, tuple(files), too_short, cleared, clean, named_by, warnings)


def _judged_elsewhere(ids: Sequence[str]) -> Iterator[Notice]:
    if ids:
        named = ", ".join(ids[:_NAMED]) + (f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else "")
        yield Notice(
            "word_in_judged_query",
            f"a word of what was forgotten, found in no other memory, stands in judged queries about {named}; "
            "it stays until those judgements are taken back",
        )


def _naming(store: Store, forgotten: Sequence[str], now: int) -> Iterator[str]:
    for reflection in store.list(Filter(now=now, kinds=(REFLECTION,), everything=True), None):
        if set(forgotten).intersection(members(reflection)):
            yield reflection.id


def _warnings(forgotten: Sequence[str], files: Sequence[proof.Scan]) -> Iterator[Notice]:
    if not forgotten:
        yield Notice("nothing_forgotten", "there was nothing to forget, so nothing is proved")
    if not files:
        yield Notice("no_file_read", "no file was read: the store is in memory or on a server")
    for file in files:
        yield from (Notice("id_in_file", f"the id {id} still occurs in {file.file}") for id in file.ids)


def _counts(store: Store, evidence: proof.Evidence, now: int) -> dict[str, int]:
    ids = evidence.ids
    edges = store.edges(sorted(ids), Filter(now=now, everything=True), None, sequence=False)
    return {
        "memories": len(ids),
        "versions": sum(1 for _ in evidence.records()),
        "vectors": len(evidence.vectors),
        "links": len({(e.from_id, e.to_id, e.kind) for its in edges.values() for e in its}),
        "judgements": sum(judgement.memory_id in ids for judgement in store.judgements()),
    }
