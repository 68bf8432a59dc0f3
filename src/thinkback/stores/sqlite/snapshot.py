"""Export and restore of versions."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import apsw
import numpy as np

from thinkback.errors import Action, InvalidInput, Remedy, StoreDamaged
from thinkback.inputs import validate
from thinkback.model import Draft, Passages, StoredRecord, Vector
from thinkback.stores.base import Snapshot
from thinkback.stores.sqlite import counters, fulltext, generations, journal, links, passages
from thinkback.stores.sqlite.rows import COLUMNS, SOURCE, listed, select, to_record, to_row
from thinkback.stores.sqlite.writes import insert

_DRAFTED = tuple(name for name in Draft.__dataclass_fields__ if name not in ("vector", "passages"))


def everything(connection: apsw.Connection) -> Iterator[StoredRecord]:
    """Every version of every memory, retired ones first, in order of recording."""
    sql = f"SELECT {COLUMNS} FROM {SOURCE} ORDER BY m.retired_at IS NULL, m.recorded_at, m.seq"
    return (to_record(row) for row in connection.execute(sql))


def snapshot(connection: apsw.Connection, vectors: bool, retired: bool = False) -> Snapshot:
    """Everything, as the connection's transaction sees it."""
    live = generations.generation(connection)
    return Snapshot(
        space=None if live is None else live.space,
        records=_with_vectors(connection, live if vectors else None, retired),
        edges=links.everything(connection),
        judgements=journal.judgements(connection),
        settings=dict(connection.execute("SELECT key, value FROM settings ORDER BY key")),
    )


def _with_vectors(
    connection: apsw.Connection, live: generations.Generation | None, retired: bool
) -> Iterator[tuple[StoredRecord, Vector | None, Passages | None]]:
    sql = f"SELECT m.seq, {COLUMNS} FROM {SOURCE} ORDER BY m.retired_at IS NULL, m.recorded_at, m.seq"
    # A join would make SQLite sort the vectors with the rows.
    of_one = "SELECT vector FROM vectors WHERE place = ?"
    for row in connection.execute(sql):
        record = to_record(row[1:])
        if live is None or not record.embedded or not (retired or record.retired_at is None):
            yield record, None, None
        else:
            stored = connection.execute(of_one, (generations.place(live.number, row[0]),)).get
            if not isinstance(stored, bytes):
                raise StoreDamaged(f"row {row[0]} of vectors is gone", code="damaged_row", remedy=Remedy(Action.REPAIR))
            vector = np.frombuffer(stored, dtype=generations.STORED)
            yield record, vector, passages.of_version(connection, row[0], live)


def restore(connection: apsw.Connection, records: Sequence[StoredRecord]) -> int:
    """Restore retired versions, except those that are in the store already."""
    new = _unknown(connection, [checked_version(record) for record in records])
    if not new:
        return 0
    seqs = counters.take_seqs(connection, len(new))
    insert(connection, seqs, new, counters.bump(connection))
    fulltext.put(connection, zip(seqs, new, strict=True), fulltext.HISTORY)
    return len(new)


def checked_version(record: StoredRecord) -> StoredRecord:
    """A version as it will be stored, or InvalidInput; only one that was replaced can be put back."""
    if record.retired_at is None or record.retired_at < record.recorded_at:
        raise InvalidInput(
            f"version of {record.id!r} recorded at {record.recorded_at} and retired at {record.retired_at}: "
            "only a version that was retired after it was recorded can be restored",
            code="not_retired",
        )
    draft = validate(Draft(**{name: getattr(record, name) for name in _DRAFTED}))
    return replace(record, tags=draft.tags, metadata=draft.metadata, essence=draft.essence, embedded=False)


def _unknown(connection: apsw.Connection, records: Sequence[StoredRecord]) -> list[StoredRecord]:
    """The versions that are not in the store; equal versions count as often as they occur."""
    ids = sorted({record.id for record in records})
    retired = select(
        connection, "WHERE m.id IN (SELECT value FROM json_each(?)) AND m.retired_at IS NOT NULL", (listed(ids),)
    )
    known = Counter(map(version_key, retired))
    new = []
    for record in records:
        known[version_key(record)] -= 1
        if known[version_key(record)] < 0:
            new.append(record)
    return new


def version_key(record: StoredRecord) -> tuple[Any, ...]:
    """What two records of one version share."""
    return to_row(replace(record, embedded=False))
