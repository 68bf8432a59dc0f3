"""Forgetting with a receipt: what was removed where, and the proof that nothing is left.

A run of bytes that another memory holds too is no trace. The receipt itself says nothing of what the memories said.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from thinkback.clock import iso
from thinkback.lifecycle import proof as proofs
from thinkback.lifecycle.forget import forget
from thinkback.lifecycle.reflect.observations import pages
from thinkback.model import REFLECTION, Filter
from thinkback.reflections import members
from thinkback.stores.base import Store


@dataclass(frozen=True, slots=True)
class Receipt:
    """What forgetting came to; `verified` when there was something, nothing of it was found, and file and log were cleared.

    `too_short` counts texts and ids of less than 8 bytes, which cannot be told from chance in a file; the indexes are asked
    for them all the same.
    """

    forgotten: tuple[str, ...]
    unknown: tuple[str, ...]
    at: str
    store: str
    removed: Mapping[str, int]
    rebuilt: tuple[str, ...]
    searches: tuple[proofs.Search, ...]
    files: tuple[proofs.Scan, ...]
    too_short: int
    log_cleared: bool
    verified: bool
    notes: tuple[str, ...] = ()
    named_by: tuple[str, ...] = ()  # reflections written by hand that still name what was forgotten

    def to_dict(self) -> dict[str, Any]:
        """As JSON carries it."""
        return asdict(self)


def forget_verified(store: Store, ids: Sequence[str], now: int) -> Receipt:
    """Forgets, then looks everywhere."""
    with store.transaction():  # what is looked for is what goes, to the last version
        evidence = proofs.gather(store, ids)
        counts = _counts(store, evidence, now)
        done = forget(store, ids, now)
    cleared = store.scrub()
    searches = tuple(proofs.search(store, evidence, now))
    files, too_short = proofs.scan(store, evidence)
    clean = not any(one.found for one in searches) and not any(file.traces for file in files)
    return Receipt(
        forgotten=done.ids,
        unknown=tuple(id for id in dict.fromkeys(ids) if id not in evidence.ids),
        at=str(iso(now)),
        store=store.state().store_id,
        removed={**counts, "reflections": len(done.reflections)},
        rebuilt=done.rebuilt,
        searches=searches,
        files=tuple(files),
        too_short=too_short,
        log_cleared=cleared,
        verified=bool(done.ids) and clean and cleared,
        notes=tuple(_notes(done.ids, files)),
        named_by=tuple(_naming(store, done.ids, now)),
    )


def _naming(store: Store, gone: Sequence[str], now: int) -> Iterator[str]:
    for reflection in pages(store, Filter(now=now, kinds=(REFLECTION,), everything=True)):
        if set(gone).intersection(members(reflection)):
            yield reflection.id


def _notes(forgotten: Sequence[str], files: Sequence[proofs.Scan]) -> Iterator[str]:
    """What the numbers do not say."""
    if not forgotten:
        yield "there was nothing to forget, so nothing is proved"
    if not files:
        yield "no file was read: the store is in memory or on a server"
    for file in files:
        yield from (f"the id {id} still stands in {file.file}" for id in file.ids)


def _counts(store: Store, evidence: proofs.Evidence, now: int) -> dict[str, int]:
    ids = evidence.ids
    edges = store.edges(sorted(ids), Filter(now=now, everything=True), None, sequence=False)
    return {
        "memories": len(ids),
        "versions": sum(1 for _ in evidence.records()),
        "vectors": len(evidence.vectors),
        "links": len({(e.from_id, e.to_id, e.kind) for its in edges.values() for e in its}),
        "judgements": sum(judgement.memory_id in ids for judgement in store.judgements()),
    }
