"""Reading memories: by id, by page, by version."""

from collections.abc import Sequence
from typing import Any

import apsw
import numpy as np

from thinkback.errors import unknown_memory
from thinkback.inputs import check_integer
from thinkback.model import Filter, Scored, StoredRecord
from thinkback.stores.sqlite.catalogue import Catalogue
from thinkback.stores.sqlite.filters import Clause, clause
from thinkback.stores.sqlite.rows import ACCESSES, NO_LIMIT, SOURCE, listed, numbered, select

_MOST_WRITTEN = 10_000
_mention = StoredRecord.mentions.__set__  # type: ignore[attr-defined]
_AT = "m.recorded_at <= ? AND (m.retired_at IS NULL OR m.retired_at > ?)"


def get(connection: apsw.Connection, ids: Sequence[str], known_at: int | None) -> dict[str, StoredRecord]:
    """Records by id, in the given order."""
    version = "m.retired_at IS NULL" if known_at is None else _AT
    moments = () if known_at is None else (known_at, known_at)
    sql = f"WHERE m.id IN (SELECT value FROM json_each(?)) AND {version}"
    found = {record.id: record for record in select(connection, sql, (listed(ids), *moments))}
    return {id: found[id] for id in ids if id in found}


def present(connection: apsw.Connection, ids: Sequence[str], catalogue: Catalogue | None) -> dict[str, StoredRecord]:
    """Present records by id, in any order; a catalogue of the same state tells where those lie that a search found."""
    rows = {} if catalogue is None else catalogue.present(ids)
    others = [id for id in ids if id not in rows]
    found = get(connection, others, None) if others else {}
    if catalogue is not None and rows:
        places = np.fromiter(rows.values(), dtype=np.intp)
        records = numbered(connection, catalogue.seqs[places])
        if len(records) == len(places):  # as in a file that is not damaged
            for record, mentioned in zip(records, catalogue.mentioned(places).tolist(), strict=True):
                _mention(record, mentioned)
        found |= {record.id: record for record in records}
    return found


def ids_ending(connection: apsw.Connection, ending: str, limit: int) -> list[str]:
    """Ids of present memories that end with these letters."""
    sql = "SELECT id FROM memories WHERE retired_at IS NULL AND substr(id, ?) = ? ORDER BY id LIMIT ?"
    return [id for (id,) in connection.execute(sql, (-len(ending), ending, limit))]


def accesses(connection: apsw.Connection, ids: Sequence[str]) -> list[tuple[str, int, int | None]]:
    """Access count and last access of present memories."""
    sql = (
        f"SELECT m.id, {ACCESSES} FROM {SOURCE} WHERE m.id IN (SELECT value FROM json_each(?)) AND m.retired_at IS NULL"
    )
    found: list[Any] = connection.execute(sql, (listed(ids),)).fetchall()
    return found


def written_since(connection: apsw.Connection, since: int) -> list[str] | None:
    """Memories with a version of a later change count; None if many, or after a removal or a repair, which leave no ids."""
    sql = "SELECT removed_before > ?1 OR EXISTS (SELECT 1 FROM removed WHERE changed > ?1) FROM counters"
    if connection.execute(sql, (since,)).get:
        return None
    sql = "SELECT id FROM memories WHERE changed > ? LIMIT ?"
    ids = [id for (id,) in connection.execute(sql, (since, _MOST_WRITTEN + 1))]
    return ids if len(ids) <= _MOST_WRITTEN else None


def page(connection: apsw.Connection, filter: Filter, limit: int | None, after: str | None) -> list[StoredRecord]:
    """Records newest first, from the one after `after`."""
    most = NO_LIMIT if limit is None else check_integer(limit, "limit")
    passing = clause(filter)
    sql, bindings = passing.sql, passing.bindings
    if after is not None:
        sql, bindings = f"{sql} AND (m.created_at, m.id) < (?, ?)", (*bindings, _created(connection, after), after)
    return select(connection, f"WHERE {sql} ORDER BY m.created_at DESC, m.id DESC LIMIT ?", (*bindings, most))


def _created(connection: apsw.Connection, id: str) -> int:
    sql = "SELECT created_at FROM memories WHERE id = ? ORDER BY retired_at IS NOT NULL LIMIT 1"
    created = connection.execute(sql, (id,)).get
    if created is None:
        raise unknown_memory(id)
    return int(created)


def count(connection: apsw.Connection, filter: Filter) -> int:
    """How many memories pass."""
    passing = clause(filter)
    return int(connection.execute(f"SELECT count(*) FROM memories m WHERE {passing.sql}", passing.bindings).get)


def recent(connection: apsw.Connection, filter: Filter, limit: int) -> list[Scored]:
    """The newest by date; ties by id."""
    passing: Clause = clause(filter)
    sql = f"SELECT m.id, m.date FROM memories m WHERE {passing.sql} ORDER BY m.date DESC, m.id LIMIT ?"
    return [Scored(id, float(date)) for id, date in connection.execute(sql, (*passing.bindings, limit))]


def dated(connection: apsw.Connection, moment: int, filter: Filter, limit: int) -> list[Scored]:
    """The nearest by date to a moment; ties by id. Each side is an index scan with a limit."""
    passing: Clause = clause(filter)
    sides = (("<=", "m.date DESC, m.id"), (">", "m.date, m.id"))
    sql = " UNION ALL ".join(
        f"SELECT * FROM (SELECT m.id, m.date FROM memories m WHERE {passing.sql} AND m.date {side} ? ORDER BY {order} LIMIT ?)"
        for side, order in sides
    )
    found = connection.execute(sql, (*passing.bindings, moment, limit) * 2)
    near = [Scored(id, float(-abs(date - moment))) for id, date in found]
    return sorted(near, key=lambda hit: (-hit.score, hit.id))[:limit]


def about(connection: apsw.Connection, begin: int, end: int, filter: Filter, limit: int) -> list[Scored]:
    """Those whose text tells of a time that overlaps [begin, end), the nearest middle first; ties by id."""
    passing: Clause = clause(filter)
    sql = (
        f"SELECT m.id, abs((m.about_from + m.about_to) / 2 - ?) AS away FROM memories m WHERE m.about_from IS NOT NULL "
        f"AND m.about_from < ? AND m.about_to > ? AND {passing.sql} ORDER BY away, m.id LIMIT ?"
    )
    found = connection.execute(sql, ((begin + end) // 2, end, begin, *passing.bindings, max(limit, 0)))
    return [Scored(id, float(-away)) for id, away in found]


def history(connection: apsw.Connection, id: str) -> list[StoredRecord]:
    """Every version, the present one last."""
    return select(connection, "WHERE m.id = ? ORDER BY m.retired_at IS NULL, m.recorded_at, m.seq", (id,))
