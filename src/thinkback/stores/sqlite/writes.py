"""Writing memories: text, full text, tags and vector together, inside the caller's transaction."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import apsw

from thinkback.errors import Action, NotFound, Remedy, unknown_memory
from thinkback.fields import STANDING, VERSIONED
from thinkback.inputs import validate_changes
from thinkback.model import Draft, Passages, StoredRecord, Vector
from thinkback.stores.base import EmbeddingSpace
from thinkback.stores.sqlite import accesses, counters, fulltext, generations, rows
from thinkback.stores.versions import first_version, id_taken, next_version, passages_checked, positions, refuse_twins


def add(
    connection: apsw.Connection,
    drafts: Sequence[Draft],
    now: int,
    space: EmbeddingSpace | None,
    new_ids: Callable[[int], Sequence[str]],
) -> list[StoredRecord]:
    """Write validated drafts; `new_ids(n)` gives ids to those without one."""
    records = _records(connection, drafts, now, new_ids)
    seqs = counters.take_seqs(connection, len(records))
    _put_vectors(connection, seqs, drafts, space)
    insert(connection, seqs, records, counters.bump(connection))
    fulltext.put(connection, zip(seqs, records, strict=True))
    return records


def _records(
    connection: apsw.Connection, drafts: Sequence[Draft], now: int, new_ids: Callable[[int], Sequence[str]]
) -> list[StoredRecord]:
    _refuse_taken(connection, [draft.id for draft in drafts if draft.id is not None])
    names = iter(new_ids(sum(draft.id is None for draft in drafts)))
    places = positions(drafts, partial(_last_positions, connection))
    return [
        first_version(draft, draft.id or next(names), position, now)
        for draft, position in zip(drafts, places, strict=True)
    ]


def _refuse_taken(connection: apsw.Connection, ids: Sequence[str]) -> None:
    refuse_twins(ids)
    sql = "SELECT m.id FROM json_each(?) j CROSS JOIN memories m ON m.id = j.value WHERE m.retired_at IS NULL LIMIT 1"
    taken = connection.execute(sql, (rows.listed(ids),)).get if ids else None
    if taken is not None:
        raise id_taken(taken)


def _last_positions(connection: apsw.Connection, threads: Sequence[str]) -> dict[str, int]:
    sql = (
        "SELECT j.value, (SELECT max(m.position) FROM memories m WHERE m.thread = j.value AND m.retired_at IS NULL) AS last "
        "FROM json_each(?) j WHERE last IS NOT NULL"
    )
    return dict(connection.execute(sql, (rows.listed(threads),)))


def _put_vectors(
    connection: apsw.Connection, seqs: Sequence[int], drafts: Sequence[Draft], space: EmbeddingSpace | None
) -> None:
    given = [draft.vector for draft in drafts if draft.vector is not None]
    if given:
        live = generations.live_for(connection, space)
        unit = generations.unit_rows(given, live.space.dimensions)
        having = [seq for seq, draft in zip(seqs, drafts, strict=True) if draft.vector is not None]
        generations.put_new(connection, live.number, having, unit)
        long = {
            seq: passages_checked(draft.text, draft.passages)
            for seq, draft in zip(seqs, drafts, strict=True)
            if draft.passages is not None
        }
        generations.put_passages(connection, live, long)


def insert(connection: apsw.Connection, seqs: Sequence[int], records: Sequence[StoredRecord], change: int) -> None:
    """Write rows and tags; the caller writes full text and vectors."""
    made = map(rows.to_row, records)
    connection.executemany(rows.INSERT, ((*row, seq, change) for seq, row in zip(seqs, made, strict=True)))
    tagged = ((tag, seq) for seq, record in zip(seqs, records, strict=True) for tag in record.tags)
    connection.executemany("INSERT INTO memory_tags (tag, seq) VALUES (?, ?)", tagged)


def update(
    connection: apsw.Connection,
    id: str,
    changes: Mapping[str, Any],
    now: int,
    given: tuple[Vector, EmbeddingSpace | None, Passages | None] | None,
) -> StoredRecord:
    """Retire the present version and write a new one; the vector is kept only if the text is unchanged."""
    checked = validate_changes(changes, VERSIONED)
    old_seq, old = present(connection, id)
    new = next_version(old, checked, now, partial(_last_positions, connection))
    keeps_vector = given is None and old.embedded and new.text == old.text
    new = replace(new, embedded=given is not None or keeps_vector)
    change = counters.bump(connection)
    (seq,) = counters.take_seqs(connection, 1)
    connection.execute(
        "UPDATE memories SET retired_at = ?, changed = ? WHERE seq = ?", (new.recorded_at, change, old_seq)
    )
    fulltext.retire(connection, old_seq)
    insert(connection, [seq], [new], change)
    fulltext.put(connection, [(seq, new)])
    if given is not None:
        live = generations.live_for(connection, given[1])
        generations.put(connection, live.number, [(seq, generations.unit_rows([given[0]], live.space.dimensions)[0])])
        if given[2] is not None:
            generations.put_passages(connection, live, {seq: passages_checked(new.text, given[2])})
    elif new.text == old.text:
        generations.copy(connection, old_seq, seq)
    return new


def present(connection: apsw.Connection, id: str) -> tuple[int, StoredRecord]:
    """The row number and the record of the present version."""
    sql = f"SELECT m.seq, {rows.COLUMNS} FROM {rows.SOURCE} WHERE m.id = ? AND m.retired_at IS NULL"
    row = connection.execute(sql, (id,)).fetchone()
    if row is None:
        raise unknown_memory(id)
    return row[0], rows.to_record(row[1:])


def amend(connection: apsw.Connection, changes: Mapping[str, Mapping[str, Any]]) -> None:
    """Change standing fields in place."""
    checked = {id: validate_changes(values, STANDING) for id, values in changes.items()}
    require(connection, list(checked))
    change = counters.bump(connection)
    for id, values in checked.items():
        assignments = "".join(f"{name} = ?, " for name in values)
        sql = f"UPDATE memories SET {assignments}changed = ? WHERE id = ? AND retired_at IS NULL"
        connection.execute(sql, (*values.values(), change, id))


def require(connection: apsw.Connection, ids: Sequence[str]) -> None:
    """Raise NotFound unless all these memories exist."""
    sql = (
        "SELECT j.value FROM json_each(?) j WHERE NOT EXISTS "
        "(SELECT 1 FROM memories m WHERE m.id = j.value AND m.retired_at IS NULL)"
    )
    missing = [id for (id,) in connection.execute(sql, (rows.listed(ids),))]
    if missing:
        others = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        raise NotFound(
            f"there is no memory {missing[0]!r}{others}", code="unknown_memory", remedy=Remedy(Action.LIST_MEMORIES)
        )


def forget(connection: apsw.Connection, ids: Sequence[str]) -> list[str]:
    """Remove memories with their links and return the ids that existed; their journal entries are removed by `journal.drop`."""
    sql = "SELECT m.seq, m.id, m.tags FROM memories m WHERE m.id IN (SELECT value FROM json_each(?)) ORDER BY m.seq"
    found: list[Any] = connection.execute(sql, (rows.listed(ids),)).fetchall()
    if not found:
        return []
    seqs, gone = [seq for seq, _, _ in found], {id for _, id, _ in found}
    _drop_rows(connection, seqs)
    _drop_links(connection, sorted(gone))
    counters.note_removed(connection, seqs, counters.bump(connection))
    return [id for id in dict.fromkeys(ids) if id in gone]


def _drop_rows(connection: apsw.Connection, seqs: Sequence[int]) -> None:
    bound = (rows.listed(seqs),)
    fulltext.drop(connection, seqs)
    generations.drop(connection, seqs)
    accesses.drop(connection, seqs)
    tagged = (
        "SELECT t.value, m.seq FROM memories m, json_each(m.tags) t WHERE m.seq IN (SELECT value FROM json_each(?))"
    )
    connection.execute(f"DELETE FROM memory_tags WHERE (tag, seq) IN ({tagged})", bound)
    connection.execute("DELETE FROM memories WHERE seq IN (SELECT value FROM json_each(?))", bound)


def _drop_links(connection: apsw.Connection, ids: Sequence[str]) -> None:
    named = "IN (SELECT value FROM json_each(?))"
    bound = (rows.listed(ids),)
    connection.execute(f"DELETE FROM edges WHERE from_id {named}", bound)
    connection.execute(f"DELETE FROM edges WHERE to_id {named}", bound)
