"""Writing memories: text, postings, tags and vector together, inside the caller's transaction.

A few memories are one statement, many are copied. Every write begins with the row of its space locked, so numbers and counters
need no further care.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from thinkback.errors import Action, NotFound, Remedy, unknown_memory
from thinkback.fields import STANDING, VERSIONED
from thinkback.inputs import validate_changes
from thinkback.model import Access, Draft, Passages, StoredRecord, Vector
from thinkback.stores.base import EmbeddingSpace
from thinkback.stores.postgres import generations, words
from thinkback.stores.postgres.insertion import Batch, class_of, insertion, postings_of
from thinkback.stores.postgres.rows import COLUMNS, NAMES, TYPES, to_record, to_row
from thinkback.stores.postgres.session import Counters, Tx, counters_of
from thinkback.stores.sqlite.generations import Generation, unit_rows
from thinkback.stores.versions import first_version, id_taken, next_version, passages_checked, positions, refuse_twins

COPIED_FROM = 100  # so many memories at once are copied, not inserted
_LINES = 2000  # of postings that are sent together
_NO_VECTORS: tuple[list[int], Vector | None] = ([], None)


def add(
    tx: Tx, drafts: Sequence[Draft], now: int, space: EmbeddingSpace | None, new_ids: Callable[[int], Sequence[str]]
) -> list[StoredRecord]:
    """Writes validated drafts; `new_ids(n)` names those that have no name yet."""
    _refuse_taken(tx, [draft.id for draft in drafts if draft.id is not None])
    names = iter(new_ids(sum(draft.id is None for draft in drafts)))
    places = positions(drafts, partial(_last_positions, tx))
    records = [
        first_version(draft, draft.id or next(names), place, now) for draft, place in zip(drafts, places, strict=True)
    ]
    given = [place for place, draft in enumerate(drafts) if draft.vector is not None]
    live, unit = None, None
    if given:
        live = generations.live_for(tx, space)
        unit = unit_rows([drafts[place].vector for place in given], live.space.dimensions)
    long = () if live is None else long_ones([(draft.text, draft.passages) for draft in drafts], live)
    put(tx, Batch(records, [words.counted(record) for record in records], live, given, unit, long))
    return records


def long_ones(texts: Sequence[tuple[str, Passages | None]], live: Generation) -> list[tuple[int, Passages, Vector]]:
    return [
        (place, passages_checked(text, its), unit_rows(its.vectors, live.space.dimensions))
        for place, (text, its) in enumerate(texts)
        if its is not None
    ]


def _refuse_taken(tx: Tx, ids: Sequence[str]) -> None:
    refuse_twins(ids)
    sql = (
        "SELECT m.id FROM thinkback.memories m WHERE m.space = %(space)s AND m.id = ANY(%(ids)s::text[]) "
        "AND m.retired_at IS NULL LIMIT 1"
    )
    taken = tx.value(sql, tx.params(ids=list(ids))) if ids else None
    if taken is not None:
        raise id_taken(taken)


def _last_positions(tx: Tx, threads: Sequence[str]) -> dict[str, int]:
    sql = (
        "SELECT m.thread, max(m.position) FROM thinkback.memories m WHERE m.space = %(space)s "
        "AND m.thread = ANY(%(threads)s::text[]) AND m.retired_at IS NULL GROUP BY m.thread"
    )
    return dict(tx.rows(sql, tx.params(threads=list(threads))))


def put(tx: Tx, batch: Batch) -> Counters:
    """Writes a batch and moves the counters."""
    if len(batch.records) < COPIED_FROM:
        params = tx.params()
        found = counters_of(tx.rows(insertion(params, batch), params))
        tx.moved(found)
        return found
    found = tx.bump(contents=1, last_seq=len(batch.records), **batch.moved())
    _copy(tx, batch, found.last_seq - len(batch.records) + 1, found.changes)
    return found


# -- many at once


def _copy(tx: Tx, batch: Batch, first: int, changed: int) -> None:
    numbered = list(enumerate(batch.records, first))
    tx.copy(
        "memories",
        ("seq", "changed", *NAMES),
        ("int8", "int8", *TYPES),
        ((seq, changed, *to_row(record)) for seq, record in numbered),
    )
    tx.copy("memory_tags", ("tag", "seq"), ("text", "int8"), ((tag, seq) for seq, r in numbered for tag in r.tags))
    copy_postings(tx, postings_of(batch, first))
    if batch.live is not None and batch.vectors is not None:
        seqs = [first + place for place in batch.places]
        rows = generations.columns(batch.live.number, seqs, batch.vectors)
        tx.copy("vectors", generations.COPIED, generations.COPIED_TYPES, iter(rows))
    if batch.live is not None and batch.long:
        number = batch.live.number
        long = (
            row
            for place, its, unit in batch.long
            for row in generations.passage_rows(number, first + place, its.spans, unit)
        )
        tx.copy("passages", generations.PASSAGE_COLUMNS, generations.PASSAGE_TYPES, long)


def copy_postings(tx: Tx, rows: Iterable[tuple[int, str, int, int, int]]) -> None:
    """Writes many postings at once: class, term, number, frequency, length."""
    sql = "COPY thinkback.postings (space, class, term, seq, tf, len) FROM STDIN"
    lines = (f"{tx.space}\t{c}\t{_escaped(term)}\t{seq}\t{tf}\t{length}\n" for c, term, seq, tf, length in rows)
    with tx.connection.cursor() as cursor, cursor.copy(sql) as copy:
        while some := "".join(islice(lines, _LINES)):  # the server writes these while the next are made
            copy.write(some)


def _escaped(term: str) -> str:
    if term.isalnum():
        return term
    return term.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


# -- changing


def update(
    tx: Tx,
    id: str,
    changes: Mapping[str, Any],
    now: int,
    given: tuple[Vector, EmbeddingSpace | None, Passages | None] | None,
) -> StoredRecord:
    """Retires the present version and writes a new one; a vector made for the old text does not follow a new one."""
    checked = validate_changes(changes, VERSIONED)
    old_seq, old = present(tx, id)
    new = next_version(old, checked, now, partial(_last_positions, tx))
    keeps_vector = given is None and old.embedded and new.text == old.text
    new = replace(new, embedded=given is not None or keeps_vector)
    live, unit, long = None, None, []
    if given is not None:
        live = generations.live_for(tx, given[1])
        unit = unit_rows([given[0]], live.space.dimensions)
        long = long_ones([(new.text, given[2])], live)
    params = tx.params(retired=new.recorded_at, change=tx.counters.changes + 1, seq=old_seq)
    sql = (
        "UPDATE thinkback.memories m SET retired_at = %(retired)s, changed = %(change)s "
        "WHERE m.space = %(space)s AND m.seq = %(seq)s"
    )
    tx.run(sql, params)
    unpost(tx, [(old_seq, old)])
    found = put(tx, Batch([new], [words.counted(new)], live, [0] if given is not None else [], unit, long))
    if given is None and new.text == old.text:
        generations.copy(tx, old_seq, found.last_seq)
    return new


def unpost(tx: Tx, numbered: Sequence[tuple[int, StoredRecord]]) -> None:
    """Takes versions out of the postings, and their lengths from the counters."""
    batch = Batch([record for _, record in numbered], [words.counted(record) for _, record in numbered])
    rows = [
        (class_of(record), term, seq)
        for (seq, record), (terms, _) in zip(numbered, batch.terms, strict=True)
        for term in terms
    ]
    if rows:
        classes, terms, seqs = map(list, zip(*rows, strict=True))
        removed = tx.run(
            "DELETE FROM thinkback.postings p USING unnest(%(classes)s::smallint[], %(terms)s::text[], %(seqs)s::bigint[]) "
            "AS u(class, term, seq) WHERE p.space = %(space)s AND p.class = u.class AND p.term = u.term AND p.seq = u.seq",
            tx.params(classes=classes, terms=terms, seqs=seqs),
        )
        if removed != len(
            rows
        ):  # another release of the stemmer spelt some otherwise; no index names the terms of a version
            sql = "DELETE FROM thinkback.postings p WHERE p.space = %(space)s AND p.seq = ANY(%(seqs)s::bigint[])"
            tx.run(sql, tx.params(seqs=[seq for seq, _ in numbered]))
    moved = batch.moved()
    steps = ", ".join(f"{name} = {name} - %({name})s" for name in moved)
    tx.run(f"UPDATE thinkback.spaces s SET {steps} WHERE s.space = %(space)s", tx.params(**moved))
    tx.moved()


def present(tx: Tx, id: str) -> tuple[int, StoredRecord]:
    """The number and the record of the present version."""
    sql = (
        f"SELECT m.seq, {COLUMNS} FROM thinkback.memories m "
        "WHERE m.space = %(space)s AND m.id = %(id)s AND m.retired_at IS NULL"
    )
    rows = tx.rows(sql, tx.params(id=id))
    if not rows:
        raise unknown_memory(id)
    return rows[0][0], to_record(rows[0][1:])


def amend(tx: Tx, changes: Mapping[str, Mapping[str, Any]]) -> None:
    """Changes standing in place."""
    checked = {id: validate_changes(values, STANDING) for id, values in changes.items()}
    require(tx, list(checked))
    change = tx.bump().changes
    for id, values in checked.items():
        stored = {name: int(value) if isinstance(value, bool) else value for name, value in values.items()}
        assignments = "".join(f'"{name}" = %({name})s, ' for name in stored)
        sql = (
            f"UPDATE thinkback.memories m SET {assignments}changed = %(change_)s "
            "WHERE m.space = %(space)s AND m.id = %(id_)s AND m.retired_at IS NULL"
        )
        tx.run(sql, tx.params(change_=change, id_=id, **stored))


def require(tx: Tx, ids: Sequence[str]) -> None:
    """Raises NotFound unless all these memories exist."""
    sql = (
        "SELECT m.id FROM thinkback.memories m WHERE m.space = %(space)s AND m.id = ANY(%(ids)s::text[]) "
        "AND m.retired_at IS NULL"
    )
    there = {id for (id,) in tx.rows(sql, tx.params(ids=list(ids)))} if ids else set()
    missing = [id for id in ids if id not in there]
    if missing:
        others = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        raise NotFound(
            f"there is no memory {missing[0]!r}{others}", code="unknown_memory", remedy=Remedy(Action.LIST_MEMORIES)
        )


def touch(tx: Tx, recalled: Mapping[str, Access]) -> None:
    """Counts accesses; only the counter of touches moves, for nothing that is searched changed."""
    sql = (
        "UPDATE thinkback.memories m SET access_count = access_count + u.count, "
        "last_access = greatest(last_access, u.last) "
        "FROM unnest(%(ids)s::text[], %(counts)s::bigint[], %(lasts)s::bigint[]) AS u(id, count, last) "
        "WHERE m.space = %(space)s AND m.id = u.id AND m.retired_at IS NULL"
    )
    counts, lasts = [access.count for access in recalled.values()], [access.last for access in recalled.values()]
    tx.run(sql, tx.params(ids=list(recalled), counts=counts, lasts=lasts))
    tx.run("UPDATE thinkback.spaces s SET touches = touches + 1 WHERE s.space = %(space)s")
    tx.moved()


def forget(tx: Tx, ids: Sequence[str]) -> list[str]:
    """Removes memories with their links and returns the ids that existed; what is noted of them is for `journal.drop`."""
    sql = f"SELECT m.seq, {COLUMNS} FROM thinkback.memories m WHERE m.space = %(space)s AND m.id = ANY(%(ids)s::text[])"
    found = [(row[0], to_record(row[1:])) for row in tx.rows(sql, tx.params(ids=list(ids)))]
    if not found:
        return []
    unpost(tx, [(seq, record) for seq, record in found if record.retired_at is None])
    gone = {record.id for _, record in found}
    params = tx.params(seqs=[seq for seq, _ in found], ids=sorted(gone))
    for table in ("vectors", "passages", "memory_tags", "memories"):
        removed = tx.run(
            f"DELETE FROM thinkback.{table} m WHERE m.space = %(space)s AND m.seq = ANY(%(seqs)s::bigint[])", params
        )
        if table == "passages":
            generations.count_passages(tx, -removed)
    for end in ("from_id", "to_id"):
        tx.run(f"DELETE FROM thinkback.edges e WHERE e.space = %(space)s AND e.{end} = ANY(%(ids)s::text[])", params)
    tx.bump(contents=1)
    return [id for id in dict.fromkeys(ids) if id in gone]
