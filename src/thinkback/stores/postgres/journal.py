"""What is kept beside the memories: judgements, the journal, settings."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from thinkback.errors import InvalidInput
from thinkback.inputs import canonical_json, check_integer, check_text
from thinkback.model import StoredEntry, StoredJudgement
from thinkback.stores.postgres.session import Tx
from thinkback.stores.postgres.writes import require
from thinkback.stores.sqlite.journal import others, without_names


def judge(tx: Tx, judgements: Sequence[StoredJudgement]) -> None:
    """Keeps the last word on each pair of query and memory."""
    for judgement in judgements:
        check_text(judgement.query, "a judged query")
        if check_integer(judgement.grade, "a grade") < 0:
            raise InvalidInput(f"a grade is 0 or more, not {judgement.grade}", code="out_of_range")
    require(tx, list(dict.fromkeys(j.memory_id for j in judgements)))
    last = {(j.memory_id, j.query): j for j in judgements}
    if not last:
        return
    rows = [(j.memory_id, _digest(j.query), j.query, j.grade, j.judged_at) for j in last.values()]
    ids, digests, queries, grades, times = map(list, zip(*rows, strict=True))
    tx.run(
        "INSERT INTO thinkback.judgements (space, memory_id, digest, query, grade, judged_at) SELECT %(space)s, u.* "
        "FROM unnest(%(ids)s::text[], %(digests)s::bytea[], %(queries)s::text[], %(grades)s::integer[], %(times)s::bigint[]) u "
        "ON CONFLICT (space, memory_id, digest) DO UPDATE SET grade = excluded.grade, judged_at = excluded.judged_at",
        tx.params(ids=ids, digests=digests, queries=queries, grades=grades, times=times),
    )


def _digest(query: str) -> bytes:
    return hashlib.sha256(query.encode()).digest()


def unjudge(tx: Tx, query: str, memory_id: str) -> bool:
    sql = (
        "DELETE FROM thinkback.judgements j WHERE j.space = %(space)s AND j.memory_id = %(id)s "
        "AND j.digest = %(digest)s::bytea"
    )
    return tx.run(sql, tx.params(id=memory_id, digest=_digest(query))) > 0


def judgements(tx: Tx) -> list[StoredJudgement]:
    sql = (
        "SELECT j.query, j.memory_id, j.grade, j.judged_at FROM thinkback.judgements j WHERE j.space = %(space)s "
        "ORDER BY j.query, j.memory_id"
    )
    return [StoredJudgement(*row) for row in tx.rows(sql)]


_ENTRY = ("id", "action", "memory_id", "before", "after", "at", "batch", "undone_at")
_TYPES = ("bigint", "text", "text", "text", "text", "bigint", "text", "bigint")


def log(tx: Tx, entries: Sequence[StoredEntry]) -> None:
    """Appends entries, whose ids are assigned here; one that has an id takes its old place again."""
    if not entries:
        return
    last = tx.counters.last_entry
    rows: dict[int, tuple[Any, ...]] = {}
    for e in entries:
        id = e.id or last + 1
        last = max(last, id)
        before, after = canonical_json(dict(e.before)), canonical_json(dict(e.after))
        rows[id] = (id, e.action, e.memory_id, before, after, e.at, e.batch, e.undone_at)
    columns = zip(*rows.values(), strict=True)
    params = tx.params(last=last, **{name: list(column) for name, column in zip(_ENTRY, columns, strict=True)})
    arrays = ", ".join(f"%({name})s::{type}[]" for name, type in zip(_ENTRY, _TYPES, strict=True))
    changed = ", ".join(f"{name} = excluded.{name}" for name in _ENTRY[1:])
    tx.run(
        f"INSERT INTO thinkback.journal (space, {', '.join(_ENTRY)}) SELECT %(space)s, u.* FROM unnest({arrays}) u "
        f"ON CONFLICT (space, id) DO UPDATE SET {changed}",
        params,
    )
    tx.run("UPDATE thinkback.spaces s SET last_entry = %(last)s WHERE s.space = %(space)s", params)
    tx.moved()


def journal(tx: Tx, batch: str | None, limit: int | None) -> list[StoredEntry]:
    """The last entries, of one batch or of all, newest first."""
    sql = (
        f"SELECT {', '.join(f'j.{name}' for name in _ENTRY)} FROM thinkback.journal j WHERE j.space = %(space)s "
        "AND (%(batch)s::text IS NULL OR j.batch = %(batch)s::text) ORDER BY j.id DESC LIMIT %(limit)s::bigint"
    )
    return [
        StoredEntry(id, action, memory, json.loads(before), json.loads(after), at, batch, undone)
        for id, action, memory, before, after, at, batch, undone in tx.rows(sql, tx.params(batch=batch, limit=limit))
    ]


def mark_undone(tx: Tx, entry_ids: Sequence[int], now: int) -> None:
    sql = (
        "UPDATE thinkback.journal j SET undone_at = %(now)s WHERE j.space = %(space)s AND j.id = ANY(%(ids)s::bigint[])"
    )
    tx.run(sql, tx.params(now=now, ids=list(entry_ids)))


def trim(tx: Tx, before: int) -> int:
    """Remove entries older than a moment."""
    sql = "DELETE FROM thinkback.journal j WHERE j.space = %(space)s AND j.at < %(before)s"
    return tx.run(sql, tx.params(before=before))


def setting(tx: Tx, key: str) -> str | None:
    sql = "SELECT k.value FROM thinkback.settings k WHERE k.space = %(space)s AND k.key = %(key)s"
    found = tx.value(sql, tx.params(key=key))
    return None if found is None else str(found)


def settings(tx: Tx) -> dict[str, str]:
    sql = "SELECT k.key, k.value FROM thinkback.settings k WHERE k.space = %(space)s ORDER BY k.key"
    return dict(tx.rows(sql))


def set_setting(tx: Tx, key: str, value: str | None) -> None:
    """Keeps a value; None removes it."""
    if value is None:
        tx.run("DELETE FROM thinkback.settings k WHERE k.space = %(space)s AND k.key = %(key)s", tx.params(key=key))
        return
    sql = (
        "INSERT INTO thinkback.settings (space, key, value) VALUES (%(space)s, %(key)s, %(value)s) "
        "ON CONFLICT (space, key) DO UPDATE SET value = excluded.value"
    )
    tx.run(sql, tx.params(key=check_text(key, "a key"), value=value))


# -- what forgetting takes


def drop(tx: Tx, ids: Sequence[str]) -> None:
    """Removes what is noted of forgotten memories, and their names from what is noted of others."""
    if not ids:
        return
    params = tx.params(ids=list(ids))
    for table in ("judgements", "journal"):
        tx.run(
            f"DELETE FROM thinkback.{table} j WHERE j.space = %(space)s AND j.memory_id = ANY(%(ids)s::text[])", params
        )
    gone = frozenset(ids)
    _drop_from_journal(tx, gone)
    _drop_from_settings(tx, gone)


def _drop_from_journal(tx: Tx, gone: frozenset[str]) -> None:
    quoted = [json.dumps(id, ensure_ascii=False) for id in sorted(gone)]
    sql = (
        "SELECT j.id, j.before, j.after FROM thinkback.journal j WHERE j.space = %(space)s AND EXISTS "
        "(SELECT 1 FROM unnest(%(quoted)s::text[]) AS u(id) WHERE strpos(j.before, u.id) > 0 OR strpos(j.after, u.id) > 0)"
    )
    for id, *both in tx.rows(sql, tx.params(quoted=quoted)):
        before, after = (canonical_json(without_names(json.loads(fields), gone)) for fields in both)
        sql = "UPDATE thinkback.journal j SET before = %(before)s, after = %(after)s WHERE j.space = %(space)s AND j.id = %(id)s"
        tx.run(sql, tx.params(before=before, after=after, id=id))


def _drop_from_settings(tx: Tx, gone: frozenset[str]) -> None:
    """Settings name memories as keys of an object or items of a list."""
    for key, value in settings(tx).items():
        try:
            held = json.loads(value)
        except ValueError:
            continue
        if isinstance(held, dict):
            left: Any = {name: item for name, item in held.items() if name not in gone}
        elif isinstance(held, list):
            left = others(held, gone)
        else:
            continue
        if left != held:
            set_setting(tx, key, json.dumps(left, sort_keys=True))
