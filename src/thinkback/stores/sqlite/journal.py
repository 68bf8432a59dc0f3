"""Judgements, the journal and settings."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import apsw

from thinkback.errors import InvalidInput
from thinkback.fields import STANDING
from thinkback.inputs import canonical_json, check_integer, check_text
from thinkback.model import StoredEntry, StoredJudgement
from thinkback.stores.sqlite.rows import NO_LIMIT, listed
from thinkback.stores.sqlite.writes import require


def judge(connection: apsw.Connection, judgements: Sequence[StoredJudgement]) -> None:
    """Write judgements; a new one replaces an older one of the same query and memory."""
    for judgement in judgements:
        check_text(judgement.query, "a judged query")
        if check_integer(judgement.grade, "a grade") < 0:
            raise InvalidInput(f"a grade is 0 or more, not {judgement.grade}", code="out_of_range")
    require(connection, list(dict.fromkeys(j.memory_id for j in judgements)))
    sql = "INSERT OR REPLACE INTO judgements (query, memory_id, grade, judged_at) VALUES (?, ?, ?, ?)"
    connection.executemany(sql, ((j.query, j.memory_id, j.grade, j.judged_at) for j in judgements))


def unjudge(connection: apsw.Connection, query: str, memory_id: str) -> bool:
    connection.execute("DELETE FROM judgements WHERE query = ? AND memory_id = ?", (query, memory_id))
    return connection.changes() > 0


def judgements(connection: apsw.Connection) -> list[StoredJudgement]:
    sql = "SELECT query, memory_id, grade, judged_at FROM judgements ORDER BY query, memory_id"
    return [StoredJudgement(*row) for row in connection.execute(sql)]


def log(connection: apsw.Connection, entries: Sequence[StoredEntry]) -> None:
    """Append entries, whose ids are assigned here; one that has an id takes its old place again."""
    sql = (
        "INSERT OR REPLACE INTO journal (id, action, memory_id, before, after, at, batch, undone_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    )
    connection.executemany(
        sql,
        (
            (
                e.id or None,
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


def journal(connection: apsw.Connection, batch: str | None, limit: int | None) -> list[StoredEntry]:
    """The last entries, of one batch or of all, newest first."""
    sql = (
        "SELECT id, action, memory_id, before, after, at, batch, undone_at FROM journal "
        "WHERE ?1 IS NULL OR batch = ?1 ORDER BY id DESC LIMIT ?2"
    )
    return [
        StoredEntry(id, action, memory, json.loads(before), json.loads(after), at, batch, undone)
        for id, action, memory, before, after, at, batch, undone in connection.execute(
            sql, (batch, NO_LIMIT if limit is None else limit)
        )
    ]


def mark_undone(connection: apsw.Connection, entry_ids: Sequence[int], now: int) -> None:
    sql = "UPDATE journal SET undone_at = ? WHERE id IN (SELECT value FROM json_each(?))"
    connection.execute(sql, (now, listed(entry_ids)))


def trim(connection: apsw.Connection, before: int) -> int:
    """Remove entries older than a moment."""
    connection.execute("DELETE FROM journal WHERE at < ?", (before,))
    return connection.changes()


def setting(connection: apsw.Connection, key: str) -> str | None:
    row = connection.execute("SELECT value FROM settings WHERE key = ?", (key,)).fetchone()
    return None if row is None else str(row[0])


def set_setting(connection: apsw.Connection, key: str, value: str | None) -> None:
    """Set a value; None removes it."""
    if value is None:
        connection.execute("DELETE FROM settings WHERE key = ?", (key,))
    else:
        connection.execute(
            "INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)", (check_text(key, "a key"), value)
        )


# -- forgetting


def drop(connection: apsw.Connection, ids: Sequence[str]) -> None:
    """Remove the judgements and journal entries of forgotten memories, and their ids from other entries and settings."""
    if not ids:
        return
    named, bound = "memory_id IN (SELECT value FROM json_each(?))", (listed(ids),)
    connection.execute(f"DELETE FROM judgements WHERE {named}", bound)
    connection.execute(f"DELETE FROM journal WHERE {named}", bound)
    gone = frozenset(ids)
    _drop_from_journal(connection, gone)
    _drop_from_settings(connection, gone)


def _drop_from_journal(connection: apsw.Connection, gone: Collection[str]) -> None:
    holds = (
        "EXISTS (SELECT 1 FROM json_tree({}) t WHERE t.type = 'text' AND t.atom IN (SELECT value FROM json_each(?1)))"
    )
    sql = f"SELECT id, before, after FROM journal WHERE {holds.format('before')} OR {holds.format('after')}"
    found: list[Any] = connection.execute(sql, (listed(sorted(gone)),)).fetchall()
    connection.executemany(
        "UPDATE journal SET before = ?, after = ? WHERE id = ?",
        ((*(canonical_json(without_names(json.loads(fields), gone)) for fields in both), id) for id, *both in found),
    )


def without_names(fields: Mapping[str, Any], gone: Collection[str]) -> dict[str, Any]:
    """Fields without these ids; standing fields hold no ids, even if a memory has the id P2."""
    kept: dict[str, Any] = {}
    for name, value in fields.items():
        if name in STANDING or not isinstance(value, str | list):
            kept[name] = value
        elif isinstance(value, list):
            kept[name] = others(value, gone)
        elif value not in gone:
            kept[name] = value
    return kept


def others(items: Sequence[Any], gone: Collection[str]) -> list[Any]:
    return [item for item in items if not isinstance(item, str) or item not in gone]


def _drop_from_settings(connection: apsw.Connection, gone: Collection[str]) -> None:
    """Settings name memories as keys of an object or items of a list."""
    rows: list[Any] = connection.execute("SELECT key, value FROM settings WHERE json_valid(value)").fetchall()
    for key, value in rows:
        held = json.loads(value)
        if isinstance(held, dict):
            left: Any = {name: item for name, item in held.items() if name not in gone}
        elif isinstance(held, list):
            left = others(held, gone)
        else:
            continue
        if left != held:
            set_setting(connection, key, json.dumps(left, sort_keys=True))
