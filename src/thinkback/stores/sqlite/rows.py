"""Records as rows and back."""

import json
from collections.abc import Sequence
from typing import Any

import apsw

from thinkback.input_checks import canonical_json
from thinkback.model import StoredRecord

FIELDS = (
    "id", "text", "essence", "kind", "tier", "priority", "importance", "confidence", "tags", "metadata", "thread", "position",
    "created_at", "updated_at", "recorded_at", "retired_at", "valid_from", "valid_to", "expires_at", "archived_at", "cycle",
    "access_count", "last_access", "source", "trust", "embedded",
    "slides", "claim", "claimed_at",
)  # fmt: skip
COLUMNS = ", ".join(f"m.{field}" for field in FIELDS)  # of a query that calls memories `m`
_MARKS = ", ".join("?" * (len(FIELDS) + 2))
INSERT = f"INSERT INTO memories ({', '.join(FIELDS)}, seq, changed) VALUES ({_MARKS})"  # to_row, then seq and changed


def to_record(row: Sequence[Any]) -> StoredRecord:
    """The record of a row that was selected with COLUMNS."""
    return StoredRecord(
        id=row[0],
        text=row[1],
        essence=row[2],
        kind=row[3],
        tier=row[4],
        priority=row[5],
        importance=row[6],
        confidence=row[7],
        tags=() if row[8] == "[]" else tuple(json.loads(row[8])),
        metadata={} if row[9] == "{}" else json.loads(row[9]),
        thread=row[10],
        position=row[11],
        created_at=row[12],
        updated_at=row[13],
        recorded_at=row[14],
        retired_at=row[15],
        valid_from=row[16],
        valid_to=row[17],
        expires_at=row[18],
        archived_at=row[19],
        cycle=row[20],
        access_count=row[21],
        last_access=row[22],
        source=row[23],
        trust=row[24],
        embedded=bool(row[25]),
        slides=bool(row[26]),
        claim=row[27],
        claimed_at=row[28],
    )


def to_row(record: StoredRecord) -> tuple[Any, ...]:
    """The values of FIELDS."""
    return (
        record.id,
        record.text,
        record.essence,
        record.kind,
        record.tier,
        record.priority,
        record.importance,
        record.confidence,
        canonical_json(record.tags) if record.tags else "[]",
        canonical_json(record.metadata) if record.metadata else "{}",
        record.thread,
        record.position,
        record.created_at,
        record.updated_at,
        record.recorded_at,
        record.retired_at,
        record.valid_from,
        record.valid_to,
        record.expires_at,
        record.archived_at,
        record.cycle,
        record.access_count,
        record.last_access,
        record.source,
        record.trust,
        int(record.embedded),
        int(record.slides),
        record.claim,
        record.claimed_at,
    )


NO_LIMIT = -1  # LIMIT -1 returns every row


def select(connection: apsw.Connection, tail: str, bindings: Sequence[Any] = ()) -> list[StoredRecord]:
    """The records of `SELECT … FROM memories m <tail>`."""
    return [to_record(row) for row in connection.execute(f"SELECT {COLUMNS} FROM memories m {tail}", bindings)]


def listed(values: Sequence[str] | Sequence[int]) -> str:
    """A list as one binding, for `IN (SELECT value FROM json_each(?))`."""
    return json.dumps(list(values))
