"""A few new memories in one round trip: the lock, the statement and the commit are sent together."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from thinkback.errors import StoreUnreachable
from thinkback.model import Draft, StoredRecord
from thinkback.stores.base import EmbeddingSpace
from thinkback.stores.postgres import reads, words, writes
from thinkback.stores.postgres.asks import Asks
from thinkback.stores.postgres.filters import Params
from thinkback.stores.postgres.insertion import Batch, insertion
from thinkback.stores.postgres.session import Sessions, Tx
from thinkback.stores.postgres.writes import COPIED_FROM, long_ones
from thinkback.stores.sqlite.generations import Generation, unit_rows
from thinkback.stores.versions import first_version, refuse_twins


def add(
    sessions: Sessions,
    asks: Asks,
    drafts: Sequence[Draft],
    now: int,
    space: EmbeddingSpace | None,
    new_ids: Callable[[int], Sequence[str]],
    unless: Sequence[Sequence[str]] = (),
) -> list[StoredRecord] | None:
    """Writes validated drafts; None if they need more than one round trip, and nothing was written then.

    So it is if a present memory holds all terms of one of `unless`.

    A name that is taken, or vectors of another model, are left to `writes.add`, which says what is wrong.
    """
    places = _new_places(drafts)
    if sessions.current is not None or sessions.server.read_only or len(drafts) >= COPIED_FROM or places is None:
        return None
    live = None
    if any(draft.vector is not None for draft in drafts):
        live = asks.caches.live[1] or sessions.read(asks.live)
        if live is None or space not in (None, live.space):
            return None
    refuse_twins([draft.id for draft in drafts if draft.id is not None])
    names = iter(new_ids(sum(draft.id is None for draft in drafts)))
    records = [first_version(draft, draft.id or next(names), draft.position, now) for draft in drafts]
    params = Params(sessions.space)
    try:
        rows = sessions.at_once(insertion(params, _batch(drafts, records, live), places, unless), params)
    except StoreUnreachable:
        return sessions.write(lambda tx: _again(tx, drafts, records, now, space))
    if not rows:
        return None
    return [replace(record, position=place) for record, place in zip(records, rows[0][-1], strict=True)]


def _again(
    tx: Tx, drafts: Sequence[Draft], records: Sequence[StoredRecord], now: int, space: EmbeddingSpace | None
) -> list[StoredRecord]:
    """What an attempt has written whose connection was lost, else written now under the same names.

    The row of the space is locked: an attempt that is still on its way will find its names taken, and fail.
    """
    kept = reads.get(tx, [record.id for record in records], None)
    if len(kept) == len(records) and all(replace(r, position=kept[r.id].position) == kept[r.id] for r in records):
        return list(kept.values())
    named = [replace(draft, id=record.id) for draft, record in zip(drafts, records, strict=True)]
    return writes.add(tx, named, now, space, lambda _: ())


def _batch(drafts: Sequence[Draft], records: Sequence[StoredRecord], live: Generation | None) -> Batch:
    terms = [words.counted(record) for record in records]
    if live is None:
        return Batch(records, terms)
    given = [place for place, draft in enumerate(drafts) if draft.vector is not None]
    unit = unit_rows([drafts[place].vector for place in given], live.space.dimensions)
    return Batch(records, terms, live, given, unit, long_ones([(d.text, d.passages) for d in drafts], live))


def _new_places(drafts: Sequence[Draft]) -> list[int | None] | None:
    """For each draft that needs a position, the how manieth of its thread it is; None if others of the thread have one."""
    placed = {draft.thread for draft in drafts if draft.thread is not None and draft.position is not None}
    counts: Counter[str] = Counter()
    found: list[int | None] = []
    for draft in drafts:
        if draft.thread is None or draft.position is not None:
            found.append(None)
            continue
        counts[draft.thread] += 1
        found.append(counts[draft.thread])
    return None if placed & counts.keys() else found
