"""What is kept beside the memories: judgements, the journal, settings."""

import json
from collections.abc import Sequence

import apsw

from recollect.drafts import canonical_json, check_integer, check_text
from recollect.errors import InvalidInput
from recollect.stores.base import JournalEntry, Judgement
from recollect.stores.sqlite.rows import listed
from recollect.stores.sqlite.writing import require


def judge(connection: apsw.Connection, judgements: Sequence[Judgement]) -> None:
    """Keeps the last word on each pair of query and memory."""
    for judgement in judgements:
        check_text(judgement.query, "a judged query")
        if check_integer(judgement.grade, "a grade") < 0:
            raise InvalidInput(f"a grade is 0 or more, not {judgement.grade}")
    require(connection, list(dict.fromkeys(j.memory_id for j in judgements)))
    sql = "INSERT OR REPLACE INTO judgements (query, memory_id, grade, judged_at) VALUES (?, ?, ?, ?)"
    connection.executemany(sql, ((j.query, j.memory_id, j.grade, j.judged_at) for j in judgements))


def unjudge(connection: apsw.Connection, query: str, memory_id: str) -> bool:
    connection.execute("DELETE FROM judgements WHERE query = ? AND memory_id = ?", (query, memory_id))
    return connection.changes() > 0


def judgements(connection: apsw.Connection) -> list[Judgement]:
    sql = "SELECT query, memory_id, grade, judged_at FROM judgements ORDER BY query, memory_id"
    return [Judgement(*row) for row in connection.execute(sql)]


def log(connection: apsw.Connection, entries: Sequence[JournalEntry]) -> None:
    """Appends entries; their ids are assigned here."""
    sql = "INSERT INTO journal (action, memory_id, before, after, at, batch, undone_at) VALUES (?, ?, ?, ?, ?, ?, ?)"
    connection.executemany(
        sql,
        (
            (
                e.action,
                e.memory_id,
                canonical_json(dict(e.before)),
                canonical_json(dict(e.after)),
                e.at,
                e.batch,
                e.undone_at,
            )
            for e in entries
        ),
    )


def journal(connection: apsw.Connection, batch: str | None, limit: int) -> list[JournalEntry]:
    """The last entries, of one batch or of all, newest first."""
    sql = (
        "SELECT id, action, memory_id, before, after, at, batch, undone_at FROM journal "
        "WHERE ?1 IS NULL OR batch = ?1 ORDER BY id DESC LIMIT ?2"
    )
    return [
        JournalEntry(id, action, memory, json.loads(before), json.loads(after), at, batch, undone)
        for id, action, memory, before, after, at, batch, undone in connection.execute(sql, (batch, limit))
    ]


def mark_undone(connection: apsw.Connection, entry_ids: Sequence[int], now: int) -> None:
    sql = "UPDATE journal SET undone_at = ? WHERE id IN (SELECT value FROM json_each(?))"
    connection.execute(sql, (now, listed(entry_ids)))


def setting(connection: apsw.Connection, key: str) -> str | None:
    row = connection.execute("SELECT value FROM settings WHERE key = ?", (key,)).fetchone()
    return None if row is None else str(row[0])


def set_setting(connection: apsw.Connection, key: str, value: str | None) -> None:
    """Keeps a value; None removes it."""
    if value is None:
        connection.execute("DELETE FROM settings WHERE key = ?", (key,))
    else:
        connection.execute(
            "INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)", (check_text(key, "a key"), value)
        )
