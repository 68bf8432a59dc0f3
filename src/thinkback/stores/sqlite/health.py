"""Health of a store: comparing every index with the text, rebuilding indexes, and statistics."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

import apsw
import numpy as np

from thinkback.model import REFLECTION
from thinkback.stores.base import Problem
from thinkback.stores.sqlite import counters, damage, fulltext, rows, schema, scrub
from thinkback.stores.sqlite.catalogue import Catalogue
from thinkback.stores.sqlite.generations import OF_ONE, SEQS, STORED, Generation, generation, place
from thinkback.stores.sqlite.tally import Tally

_NAMED = 20  # ids a problem lists
_CHUNK = 2000
_UNIT = 1e-3
_SEQ = {"vectors": f"(place & {SEQS})", "passages": "seq"}
ORPHANS = {
    "edges": "from_id NOT IN (SELECT id FROM memories WHERE retired_at IS NULL) "
    "OR to_id NOT IN (SELECT id FROM memories WHERE retired_at IS NULL)",
    "judgements": "memory_id NOT IN (SELECT id FROM memories WHERE retired_at IS NULL)",
    "vectors": f"{_SEQ['vectors']} NOT IN (SELECT seq FROM memories) "
    "OR generation NOT IN (SELECT generation FROM generations)",
    "passages": "seq NOT IN (SELECT seq FROM memories) OR generation NOT IN (SELECT generation FROM generations)",
    "memory_tags": "seq NOT IN (SELECT seq FROM memories)",
    "accesses": "seq NOT IN (SELECT seq FROM memories)",
    "recent_accesses": "seq NOT IN (SELECT seq FROM memories)",
}


def check(connection: apsw.Connection) -> list[Problem]:
    """Every index entry and row that does not agree with the text, and a pending scrub."""
    problems: list[Problem] = []
    examiners = (
        _file,
        _values,
        _rows,
        _full_text,
        _exact_words,
        _tags,
        _vectors,
        _passages,
        _orphans,
        _counters,
        scrub.problems,
    )
    for examine in examiners:
        try:
            problems += examine(connection)
        except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError) as error:
            problems.append(_damage(str(error)))
        except damage.FAULTS as error:
            if any(problem.area in ("file", *damage.TRUTH) for problem in problems):
                continue  # `_values` has named the row
            area = _INDEXES.get(examine)
            if area is None:
                raise
            problems.append(Problem(area, f"the index holds a value that cannot be read ({error})"))
    return list(dict.fromkeys(problems))


def _values(connection: apsw.Connection) -> Iterator[Problem]:
    """Rows with a value that cannot be; those of an index are found again when it is compared with the text."""
    for found in damage.find(connection):
        if not found.derived:
            message = f"{found}; restore a backup or salvage the file"
            yield Problem(found.table, message, repairable=False)


def _file(connection: apsw.Connection) -> Iterator[Problem]:
    for (finding,) in connection.execute("PRAGMA integrity_check"):
        if finding != "ok":
            yield _damage(str(finding))


def _damage(finding: str) -> Problem:
    """A problem that SQLite reported; a full-text index can be rebuilt, the rest cannot."""
    if "fts5" in finding.lower():
        return Problem("full text", finding)
    return Problem("file", f"{finding}; restore a backup or salvage the file", repairable=False)


def _rows(connection: apsw.Connection) -> Iterator[Problem]:
    """Rows that input checks would have rejected; they cannot be rebuilt."""
    found = _column(connection, "SELECT id FROM memories WHERE trim(text) = ''")
    if found:
        yield _problem("memories", f"{len(found)} versions have no text", found, repairable=False)


_INDEXED = {
    fulltext.PRESENT: f"m.retired_at IS NULL AND m.kind <> '{REFLECTION}'",
    fulltext.THEMES: f"m.retired_at IS NULL AND m.kind = '{REFLECTION}'",
    fulltext.HISTORY: "m.retired_at IS NOT NULL",
}


def _full_text(connection: apsw.Connection) -> Iterator[Problem]:
    there = set(_column(connection, "SELECT name FROM sqlite_schema WHERE type = 'table'"))
    for table, state in _INDEXED.items():
        if table not in there:
            yield Problem("full text", f"the full-text index {table} is gone")
            continue
        indexed = ", ".join(f"f.{name}" for name in fulltext.COLUMNS)
        sql = (
            f"SELECT m.id, m.kind, m.text, m.essence, m.tags, f.rowid, {indexed} "
            f"FROM memories m LEFT JOIN {table} f ON f.rowid = m.seq WHERE {state} AND json_valid(m.tags)"
        )
        wrong: dict[str, list[str]] = {"are not in the index": [], "are indexed with another text": []}
        for id, kind, text, essence, tags, seq, *found in connection.execute(sql):
            if seq is None:
                wrong["are not in the index"].append(id)
            elif tuple(found) != fulltext.columns_of(kind, text, essence, json.loads(tags)):
                wrong["are indexed with another text"].append(id)
        extra = f"SELECT rowid FROM {table} WHERE rowid NOT IN (SELECT m.seq FROM memories m WHERE {state})"
        wrong["are in the index and not in the store"] = [str(seq) for seq in _column(connection, extra)]
        yield from (
            _problem("full text", f"{len(ids)} rows of {table} {what}", ids) for what, ids in wrong.items() if ids
        )


def _exact_words(connection: apsw.Connection) -> Iterator[Problem]:
    """Compare the exact index, which keeps no text, with a new one made from the memories."""
    there = set(_column(connection, "SELECT name FROM sqlite_schema WHERE type = 'table'"))
    if fulltext.EXACT not in there:
        yield Problem("full text", f"the full-text index {fulltext.EXACT} is gone")
    else:
        with _exact_anew(connection) as pairs:
            for one, other in pairs:
                both = f"SELECT * FROM ({one} EXCEPT {other}) UNION ALL SELECT * FROM ({other} EXCEPT {one})"
                count = int(connection.execute(f"SELECT count(*) FROM ({both})").get)
                if count:
                    yield Problem("full text", f"{count} entries of {fulltext.EXACT} do not agree with the text")
                    break


@contextmanager
def _exact_anew(connection: apsw.Connection) -> Iterator[list[tuple[str, str]]]:
    """Pairs of queries that agree if the exact index is right: the rows with their lengths, and the words with their counts."""
    anew = "exact_anew"
    made = {anew: schema.full_text(f"temp.{anew}", exact=True)} | {
        name: f"CREATE VIRTUAL TABLE temp.{name} USING fts5vocab({schema_name}, {table}, row)"
        for name, schema_name, table in (("exact_kept", "main", fulltext.EXACT), ("exact_said", "temp", anew))
    }
    try:
        for sql in made.values():
            connection.execute(sql)
        connection.executemany(fulltext.insert_sql(f"temp.{anew}"), fulltext.present_as_spelt(connection))
        words = "SELECT term, doc, cnt FROM temp.{}"
        lengths = "SELECT id, sz FROM {}_docsize"
        yield [
            (lengths.format(f"main.{fulltext.EXACT}"), lengths.format(f"temp.{anew}")),
            (words.format("exact_kept"), words.format("exact_said")),
        ]
    finally:
        for name in reversed(made):
            connection.execute(f"DROP TABLE IF EXISTS temp.{name}")


def _tags(connection: apsw.Connection) -> Iterator[Problem]:
    listed = "SELECT DISTINCT t.value, m.seq FROM memories m, json_each(m.tags) t WHERE json_valid(m.tags)"
    pairs = "SELECT tag, seq FROM memory_tags"
    for what, sql in (("missing from", f"{listed} EXCEPT {pairs}"), ("left over in", f"{pairs} EXCEPT {listed}")):
        seqs = [seq for _, seq in connection.execute(sql)]
        if seqs:
            yield _problem("tags", f"{len(seqs)} entries are {what} the tag index", _ids(connection, seqs))


def _vectors(connection: apsw.Connection) -> Iterator[Problem]:
    for state in ("live", "building"):
        made = generation(connection, state)
        bad = [] if made is None else list(_bad_vectors(connection, made))
        if made is not None and bad:
            what = f"{len(bad)} vectors are not {made.space.dimensions} finite numbers of unit length"
            yield _problem("vectors", what, _ids(connection, bad))
    sql = f"SELECT m.id FROM memories m WHERE m.embedded <> {_HAS_LIVE}"
    flagged = _column(connection, sql)
    if flagged:
        yield _problem("vectors", f"{len(flagged)} versions are wrongly marked as embedded or not", flagged)


_HAS_LIVE = f"EXISTS (SELECT 1 FROM generations g CROSS JOIN vectors v WHERE g.state = 'live' AND {OF_ONE})"
WITHOUT_THEIR_VECTOR = f"SELECT m.seq, m.id FROM memories m WHERE m.embedded = 1 AND NOT {_HAS_LIVE} ORDER BY m.seq"


def _bad_vectors(connection: apsw.Connection, made: Generation, table: str = "vectors") -> Iterator[int]:
    dimensions, size = made.space.dimensions, made.space.dimensions * STORED.itemsize
    stored = connection.execute(f"SELECT {_SEQ[table]}, vector FROM {table} WHERE generation = ?", (made.number,))
    while chunk := list(islice(stored, _CHUNK)):
        sized: list[Any] = [(seq, blob) for seq, blob in chunk if len(blob) == size]
        yield from (seq for seq, blob in chunk if len(blob) != size)
        block = np.frombuffer(b"".join(blob for _, blob in sized), dtype=STORED).reshape(len(sized), dimensions)
        with np.errstate(all="ignore"):
            lengths = np.sqrt(np.square(block.astype(np.float64)).sum(axis=1))
        yield from (sized[row][0] for row in np.flatnonzero(~(np.abs(lengths - 1) <= _UNIT)))


def _passages(connection: apsw.Connection) -> Iterator[Problem]:
    for state in ("live", "building"):
        made = generation(connection, state)
        bad = set() if made is None else _bad_passages(connection, made)
        if bad:
            what = f"the passages of {len(bad)} versions have bad vectors or do not lie in the text"
            yield _problem("passages", what, _ids(connection, sorted(bad)))


def _bad_passages(connection: apsw.Connection, made: Generation) -> set[int]:
    """Versions of which a passage has an unusable vector, or lies outside the text."""
    sql = (
        "SELECT DISTINCT p.seq FROM passages p JOIN memories m USING (seq) "
        "WHERE p.generation = ? AND NOT (0 <= p.first AND p.first < p.last AND p.last <= length(m.text))"
    )
    outside = {seq for (seq,) in connection.execute(sql, (made.number,))}
    return outside | set(_bad_vectors(connection, made, "passages"))


def _drop_bad_passages(connection: apsw.Connection) -> None:
    """Delete the passages of versions with a bad one; embedding what is missing makes them again."""
    for state in ("live", "building"):
        made = generation(connection, state)
        if made is not None:
            bad = ((seq, made.number) for seq in _bad_passages(connection, made))
            connection.executemany("DELETE FROM passages WHERE seq = ? AND generation = ?", bad)


def _orphans(connection: apsw.Connection) -> Iterator[Problem]:
    for table, condition in ORPHANS.items():
        count = int(connection.execute(f"SELECT count(*) FROM {table} WHERE {condition}").get)
        if count:
            yield Problem(table, f"{count} rows of {table} refer to memories that do not exist")


def _counters(connection: apsw.Connection) -> Iterator[Problem]:
    sql = "SELECT last_seq, changes, coalesce(max(seq), 0), coalesce(max(changed), 0) FROM counters LEFT JOIN memories"
    last_seq, changes, seq, changed = next(connection.execute(sql))
    if last_seq < seq or changes < changed:
        yield Problem("counters", f"the counters ({last_seq}, {changes}) lag behind the rows ({seq}, {changed})")


_INDEXES: dict[object, str] = {
    _full_text: "full text",
    _exact_words: "full text",
    _tags: "tags",
    _vectors: "vectors",
    _passages: "passages",
}


def repair(connection: apsw.Connection, problems: Sequence[Problem]) -> None:
    """Rebuild derived data, inside the caller's transaction."""
    remedies: dict[str, Callable[[apsw.Connection], None]] = {
        "full text": _rebuild_full_text,
        "tags": _rebuild_tags,
        "vectors": _drop_bad_vectors,
        "passages": _drop_bad_passages,
        "counters": _raise_counters,
    }
    for area in dict.fromkeys(problem.area for problem in problems if problem.repairable):
        if area in ORPHANS:
            connection.execute(f"DELETE FROM {area} WHERE {ORPHANS[area]}")
        if area in remedies:
            remedies[area](connection)
    # Caches of every process were built from the damaged state, so they must be rebuilt instead of updated.
    change = counters.bump(connection)
    connection.execute("UPDATE counters SET removed_before = ?", (change,))


def _rebuild_full_text(connection: apsw.Connection) -> None:
    for table, state in _INDEXED.items():
        _drop_full_text(connection, table)
        schema.create_full_text(connection, table)
        found = connection.execute(f"SELECT m.seq, {rows.COLUMNS} FROM {rows.SOURCE} WHERE {state}")
        while chunk := list(islice(found, _CHUNK)):
            fulltext.put(connection, ((row[0], rows.to_record(row[1:])) for row in chunk), table)
    _drop_full_text(connection, fulltext.EXACT)
    for _ in schema.exact_words(connection):
        pass


def _drop_full_text(connection: apsw.Connection, table: str) -> None:
    """Drop a full-text index, also one whose damaged version keeps SQLite from opening it."""
    try:
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    except apsw.SQLError:
        connection.execute(f"REPLACE INTO {table}_config (k, v) VALUES ('version', 4)")
        connection.execute(f"DROP TABLE {table}")


def _rebuild_tags(connection: apsw.Connection) -> None:
    connection.execute("DELETE FROM memory_tags")
    sql = "SELECT m.seq, m.tags FROM memories m WHERE json_valid(m.tags)"
    pairs = [(tag, seq) for seq, tags in connection.execute(sql) for tag in json.loads(tags)]
    connection.executemany("INSERT OR IGNORE INTO memory_tags (tag, seq) VALUES (?, ?)", pairs)


def _drop_bad_vectors(connection: apsw.Connection) -> None:
    """Delete unusable vectors and mark their memories as not embedded."""
    for state in ("live", "building"):
        made = generation(connection, state)
        if made is not None:
            bad = [(place(made.number, seq),) for seq in _bad_vectors(connection, made)]
            connection.executemany("DELETE FROM vectors WHERE place = ?", bad)
    connection.execute(f"UPDATE memories AS m SET embedded = {_HAS_LIVE} WHERE m.embedded <> {_HAS_LIVE}")


def _raise_counters(connection: apsw.Connection) -> None:
    for counter, column in (("last_seq", "seq"), ("changes", "changed")):
        connection.execute(
            f"UPDATE counters SET {counter} = max({counter}, (SELECT coalesce(max({column}), 0) FROM memories))"
        )


def _problem(area: str, message: str, ids: Sequence[str], repairable: bool = True) -> Problem:
    return Problem(area, message, tuple(dict.fromkeys(ids))[:_NAMED], repairable)


def _column(connection: apsw.Connection, sql: str) -> list[Any]:
    return [value for (value,) in connection.execute(sql)]


def _ids(connection: apsw.Connection, seqs: Sequence[int]) -> list[str]:
    sql = "SELECT id FROM memories WHERE seq IN (SELECT value FROM json_each(?))"
    return [id for (id,) in connection.execute(sql, (rows.listed(seqs),))]


# -- statistics

_ARCHIVED = "SELECT count(*) FROM memories WHERE retired_at IS NULL AND archived_at IS NOT NULL"
_UNEMBEDDED = "SELECT count(*) FROM memories WHERE retired_at IS NULL AND embedded = 0"
_COUNTED = {
    # In this order: from the few passages to their memories, not from every memory to its passages.
    "passages": "SELECT count(*) FROM passages p CROSS JOIN generations g USING (generation) "
    "CROSS JOIN memories m USING (seq) WHERE g.state = 'live' AND m.retired_at IS NULL",
    "edges": "SELECT count(*) FROM edges",
    "judgements": "SELECT count(*) FROM judgements",
    "journal": "SELECT count(*) FROM journal",
}
_GROUPED = {"kinds": "kind", "tiers": "tier", "priorities": "priority"}


def stats(
    connection: apsw.Connection,
    path: str,
    tally: Tally,
    catalogue: Catalogue | None,
) -> Mapping[str, Any]:
    """Counts, sizes and versions, ready for JSON; what a catalogue tells is not counted in the file."""
    state = counters.state(connection)
    grouped = (
        {column: _grouped(connection, column) for column in _GROUPED.values()}
        if catalogue is None
        else catalogue.groups()
    )
    archived = int(connection.execute(_ARCHIVED).get) if catalogue is None else catalogue.archived()
    memories = sum(grouped["kind"].values())
    unembedded = int(connection.execute(_UNEMBEDDED).get)
    counted = {name: int(connection.execute(sql).get) for name, sql in _COUNTED.items()}
    return {
        "store_id": state.store_id,
        "changes": state.changes,
        "touches": state.touches,
        "memories": memories,
        "versions": tally.versions,
        "archived": archived,
        "embedded": memories - unembedded,
        "unembedded": unembedded,
        "threads": len(tally.threads or ()),
        "tags": len(tally.tags),
        **counted,
        **{name: grouped[column] for name, column in _GROUPED.items()},
        "embedding_space": _space(connection, "live"),
        "reembedding_to": _space(connection, "building"),
        "scrub_pending": scrub.PendingScrub.read(connection) is not None,
        "engine": {
            "name": "sqlite",
            "version": apsw.sqlite_lib_version(),
            "schema_version": schema.version(connection),
            "path": path,
            "file_bytes": _size(path),
            "log_bytes": _size(f"{path}-wal"),
        },
    }


def _grouped(connection: apsw.Connection, column: str) -> dict[str, int]:
    sql = f"SELECT {column}, count(*) FROM memories WHERE retired_at IS NULL GROUP BY {column} ORDER BY 2 DESC, 1"
    return dict(connection.execute(sql))


def _space(connection: apsw.Connection, state: str) -> dict[str, Any] | None:
    found = generation(connection, state)
    return None if found is None else {"fingerprint": found.space.fingerprint, "dimensions": found.space.dimensions}


def _size(path: str) -> int:
    return os.path.getsize(path) if os.path.exists(path) else 0
