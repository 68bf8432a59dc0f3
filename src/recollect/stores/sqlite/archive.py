"""Versions going out to an export and coming back from one."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import apsw

from recollect.drafts import validate
from recollect.errors import InvalidInput
from recollect.model import Draft, Record
from recollect.stores.sqlite import counters, texts
from recollect.stores.sqlite.rows import COLUMNS, listed, to_record
from recollect.stores.sqlite.writing import insert

_DRAFTED = tuple(name for name in Draft.__dataclass_fields__ if name != "vector")


def everything(connection: apsw.Connection) -> Iterator[Record]:
    """Every version of every memory, retired ones first, in order of recording."""
    sql = f"SELECT {COLUMNS} FROM memories m ORDER BY m.retired_at IS NULL, m.recorded_at, m.seq"
    return (to_record(row) for row in connection.execute(sql))


def restore(connection: apsw.Connection, records: Sequence[Record]) -> int:
    """Puts retired versions back; those already there are passed over."""
    new = _unknown(connection, [_checked(record) for record in records])
    if not new:
        return 0
    seqs = counters.take_seqs(connection, len(new))
    insert(connection, seqs, new, counters.bump(connection))
    texts.put(connection, zip(seqs, new, strict=True), texts.HISTORY)
    return len(new)


def _checked(record: Record) -> Record:
    if record.retired_at is None or record.retired_at < record.recorded_at:
        raise InvalidInput(
            f"version of {record.id!r} recorded at {record.recorded_at} and retired at {record.retired_at}: "
            "only a version that was replaced, after it was recorded, can be put back"
        )
    draft = validate(Draft(**{name: getattr(record, name) for name in _DRAFTED}))
    return replace(record, tags=draft.tags, metadata=draft.metadata, essence=draft.essence, embedded=False)


def _unknown(connection: apsw.Connection, records: Sequence[Record]) -> list[Record]:
    """The versions not in the store yet; a version is known by its memory, its span and its text."""
    sql = (
        "SELECT m.id, m.recorded_at, m.retired_at, m.text FROM memories m "
        "WHERE m.id IN (SELECT value FROM json_each(?)) AND m.retired_at IS NOT NULL"
    )
    known = set(connection.execute(sql, (listed(sorted({record.id for record in records})),)))
    return list({_key(record): record for record in records if _key(record) not in known}.values())


def _key(record: Record) -> tuple[str, int, int | None, str]:
    return record.id, record.recorded_at, record.retired_at, record.text
