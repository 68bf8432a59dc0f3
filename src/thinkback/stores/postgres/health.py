"""Health of a space: comparing every index with the text, rebuilding indexes, statistics, and versions put back by an import."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from thinkback.fields import KINDS, PRIORITIES, TIERS
from thinkback.model import REFLECTION, StoredRecord
from thinkback.stores.base import Problem
from thinkback.stores.postgres import generations, words
from thinkback.stores.postgres.filters import Params
from thinkback.stores.postgres.insertion import Batch, class_of
from thinkback.stores.postgres.rows import COLUMNS, select, to_record
from thinkback.stores.postgres.session import Tx
from thinkback.stores.postgres.writes import copy_postings, put
from thinkback.stores.sqlite.generations import STORED, Generation
from thinkback.stores.sqlite.snapshot import checked_version, version_key

_NAMED = 20  # ids a problem lists
_PAGE = 1000
_UNIT = 1e-3
_NO_MEMORY = "NOT EXISTS (SELECT 1 FROM thinkback.memories m WHERE m.space = %(space)s AND {})"
_PRESENT = "m.id = x.{} AND m.retired_at IS NULL"
_ORPHANS = {
    "edges": f"{_NO_MEMORY.format(_PRESENT.format('from_id'))} OR {_NO_MEMORY.format(_PRESENT.format('to_id'))}",
    "judgements": _NO_MEMORY.format(_PRESENT.format("memory_id")),
    "vectors": f"{_NO_MEMORY.format('m.seq = x.seq')} OR NOT EXISTS (SELECT 1 FROM thinkback.generations g "
    "WHERE g.space = %(space)s AND g.generation = x.generation)",
    "passages": f"{_NO_MEMORY.format('m.seq = x.seq')} OR NOT EXISTS (SELECT 1 FROM thinkback.generations g "
    "WHERE g.space = %(space)s AND g.generation = x.generation)",
    "memory_tags": _NO_MEMORY.format("m.seq = x.seq"),
}


def check(tx: Tx) -> list[Problem]:
    """Every index entry and row that does not agree with the text."""
    found: list[Problem] = []
    for examine in (_rows, _postings, _tags, _vectors, _passages, _orphans, _counters):
        found += examine(tx)
    return found


def records_where(tx: Tx, where: str = "", params: Params | None = None) -> Iterator[tuple[int, StoredRecord]]:
    """Every version that passes a condition, by its number."""
    last = 0
    while True:
        sql = (
            f"SELECT m.seq, {COLUMNS} FROM thinkback.memories m WHERE m.space = %(space)s AND m.seq > %(last)s {where} "
            "ORDER BY m.seq LIMIT %(page)s"
        )
        rows = tx.rows(sql, {**(params or tx.params()), "last": last, "page": _PAGE})
        yield from ((row[0], to_record(row[1:])) for row in rows)
        if len(rows) < _PAGE:
            return
        last = rows[-1][0]


def _rows(tx: Tx) -> Iterator[Problem]:
    """Rows that input checks would have rejected; they cannot be rebuilt."""
    params = tx.params(kinds=list(KINDS), tiers=list(TIERS), priorities=list(PRIORITIES))
    sql = (
        "SELECT m.id FROM thinkback.memories m WHERE m.space = %(space)s AND (m.kind <> ALL(%(kinds)s::text[]) "
        "OR m.tier <> ALL(%(tiers)s::text[]) OR m.priority <> ALL(%(priorities)s::text[]) OR trim(m.text) = '' "
        "OR NOT m.tags IS JSON ARRAY OR NOT m.metadata IS JSON OBJECT)"
    )
    found = [id for (id,) in tx.rows(sql, params)]
    if found:
        yield _problem("memories", f"{len(found)} versions have impossible values", found, repairable=False)


_NOT_RETIRED = "AND m.retired_at IS NULL"


def _postings(tx: Tx) -> Iterator[Problem]:
    """Postings are counted per version and compared by a sum over terms, which no two sets share by chance."""
    sql = (
        "SELECT p.seq, array_agg(p.class || ' ' || p.term || ' ' || p.tf || ' ' || p.len) FROM thinkback.postings p "
        "WHERE p.space = %(space)s GROUP BY p.seq"
    )
    posted: dict[int, Any] = {seq: Counter(rows) for seq, rows in tx.rows(sql)}
    wrong = []
    for seq, record in records_where(tx, _NOT_RETIRED):
        terms, length = words.counted(record)
        wanted = Counter(f"{class_of(record)} {term} {count} {length}" for term, count in terms.items())
        if posted.pop(seq, Counter()) != wanted:
            wrong.append(record.id)
    if wrong:
        yield _problem("full text", f"{len(wrong)} memories are indexed with another text, or not at all", wrong)
    if posted:
        yield Problem("full text", f"{len(posted)} versions are in the index and not in the store")


def _tags(tx: Tx) -> Iterator[Problem]:
    kept = set(tx.rows("SELECT t.tag, t.seq FROM thinkback.memory_tags t WHERE t.space = %(space)s"))
    sql = "SELECT m.seq, m.tags FROM thinkback.memories m WHERE m.space = %(space)s AND m.tags <> '[]'"
    said = {(tag, seq) for seq, tags in tx.rows(sql) for tag in json.loads(tags)}
    for what, pairs in (("missing from", said - kept), ("left over in", kept - said)):
        if pairs:
            yield Problem("tags", f"{len(pairs)} entries are {what} the tag index")


def _vectors(tx: Tx) -> Iterator[Problem]:
    for state in ("live", "building"):
        made = generations.generation(tx, state)
        bad = [] if made is None else list(_bad_vectors(tx, made))
        if made is not None and bad:
            yield Problem(
                "vectors", f"{len(bad)} vectors are not {made.space.dimensions} finite numbers of unit length"
            )
    flagged = [id for (id,) in tx.rows(f"SELECT m.id {_FLAGGED}", tx.params(live=tx.counters.live))]
    if flagged:
        yield _problem("vectors", f"{len(flagged)} versions are wrongly marked as embedded or not", flagged)


_HAS_LIVE = (
    "EXISTS (SELECT 1 FROM thinkback.vectors v WHERE v.space = %(space)s AND v.seq = m.seq AND v.generation = %(live)s)"
)
_FLAGGED = f"FROM thinkback.memories m WHERE m.space = %(space)s AND (m.embedded = 1) <> {_HAS_LIVE}"


def _bad_vectors(tx: Tx, made: Generation) -> Iterator[int]:
    dimensions, last = made.space.dimensions, 0
    while True:
        sql = (
            "SELECT v.seq, v.exact FROM thinkback.vectors v WHERE v.space = %(space)s AND v.generation = %(number)s "
            "AND v.seq > %(last)s ORDER BY v.seq LIMIT %(page)s"
        )
        rows = tx.rows(sql, tx.params(number=made.number, last=last, page=_PAGE))
        sized = [(seq, exact) for seq, exact in rows if len(exact) == dimensions * STORED.itemsize]
        yield from (seq for seq, exact in rows if len(exact) != dimensions * STORED.itemsize)
        block = generations.unpacked((exact for _, exact in sized), dimensions)
        with np.errstate(all="ignore"):
            lengths = np.sqrt(np.square(block.astype(np.float64)).sum(axis=1))
        yield from (sized[row][0] for row in np.flatnonzero(~(np.abs(lengths - 1) <= _UNIT)))
        if len(rows) < _PAGE:
            return
        last = rows[-1][0]


def _passages(tx: Tx) -> Iterator[Problem]:
    for state in ("live", "building"):
        made = generations.generation(tx, state)
        bad = [] if made is None else sorted(_bad_passages(tx, made))
        if bad:
            yield Problem("passages", f"the passages of {len(bad)} versions have bad vectors or do not lie in the text")


def _bad_passages(tx: Tx, made: Generation) -> set[int]:
    """Versions of which a passage has an unusable vector, or lies outside the text."""
    if not tx.counters.passages:
        return set()
    sql = (
        "SELECT DISTINCT p.seq FROM thinkback.passages p JOIN thinkback.memories m ON m.space = %(space)s AND m.seq = p.seq "
        "WHERE p.space = %(space)s AND p.generation = %(number)s AND NOT (0 <= p.first AND p.first < p.last "
        "AND p.last <= char_length(m.text))"
    )
    outside = {seq for (seq,) in tx.rows(sql, tx.params(number=made.number))}
    sql = "SELECT p.seq, p.exact FROM thinkback.passages p WHERE p.space = %(space)s AND p.generation = %(number)s"
    size = made.space.dimensions * STORED.itemsize
    for seq, exact in tx.rows(sql, tx.params(number=made.number)):
        row = np.frombuffer(exact, dtype=STORED).astype(np.float64) if len(exact) == size else np.zeros(1)
        if not abs(float(np.sqrt(np.square(row).sum())) - 1) <= _UNIT:
            outside.add(seq)
    return outside


def _drop_bad_passages(tx: Tx) -> None:
    """Passages of versions with a bad one are dropped; embedding what is missing makes them again."""
    for state in ("live", "building"):
        made = generations.generation(tx, state)
        if made is not None:
            sql = (
                "DELETE FROM thinkback.passages p WHERE p.space = %(space)s AND p.generation = %(number)s "
                "AND p.seq = ANY(%(seqs)s::bigint[])"
            )
            tx.run(sql, tx.params(number=made.number, seqs=sorted(_bad_passages(tx, made))))


def _orphans(tx: Tx) -> Iterator[Problem]:
    for table, condition in _ORPHANS.items():
        count = tx.value(f"SELECT count(*) FROM thinkback.{table} x WHERE x.space = %(space)s AND ({condition})")
        if count:
            yield Problem(table, f"{count} rows of {table} name memories that are not there")


_COUNTED = (
    "SELECT count(DISTINCT p.seq) FILTER (WHERE p.class = 0), coalesce(sum(p.tf) FILTER (WHERE p.class = 0), 0)::bigint, "
    "count(DISTINCT p.seq) FILTER (WHERE p.class = 1), coalesce(sum(p.tf) FILTER (WHERE p.class = 1), 0)::bigint "
    "FROM thinkback.postings p WHERE p.space = %(space)s"
)


def _counters(tx: Tx) -> Iterator[Problem]:
    sql = (
        "SELECT coalesce(max(m.seq), 0), coalesce(max(m.changed), 0), "
        "count(*) FILTER (WHERE m.retired_at IS NULL AND m.kind <> %(reflection)s), "
        "count(*) FILTER (WHERE m.retired_at IS NULL AND m.kind = %(reflection)s) "
        "FROM thinkback.memories m WHERE m.space = %(space)s"
    )
    (seq, changed, documents, themes) = tx.rows(sql, tx.params(reflection=REFLECTION))[0]
    (_, tokens, _, theme_tokens) = tx.rows(_COUNTED)[0]
    kept = tx.counters
    if kept.last_seq < seq or kept.changes < changed:
        yield Problem(
            "counters", f"the counters ({kept.last_seq}, {kept.changes}) lag behind the rows ({seq}, {changed})"
        )
    said = (kept.documents, kept.tokens, kept.themes, kept.theme_tokens, kept.exact_tokens, kept.passages)
    if said != (documents, tokens, themes, theme_tokens, _exact_tokens(tx), tx.value(_PASSAGES)):
        yield Problem("counters", f"the statistics {said} are not those of the rows")


_PASSAGES = "SELECT count(*) FROM thinkback.passages p WHERE p.space = %(space)s"


def _exact_tokens(tx: Tx) -> int:
    return sum(words.exact_length(record) for _, record in records_where(tx, _NOT_RETIRED))


def repair(tx: Tx, problems: Sequence[Problem]) -> None:
    """Rebuilds what can be derived, inside the caller's transaction."""
    remedies: dict[str, Callable[[Tx], None]] = {
        "full text": _rebuild_postings,
        "tags": _rebuild_tags,
        "vectors": _drop_bad_vectors,
        "passages": _drop_bad_passages,
    }
    for area in dict.fromkeys(problem.area for problem in problems if problem.repairable):
        if area in _ORPHANS:
            tx.run(f"DELETE FROM thinkback.{area} x WHERE x.space = %(space)s AND ({_ORPHANS[area]})")
        if area in remedies:
            remedies[area](tx)
    _recount(tx)
    tx.bump(contents=1)


def _rebuild_postings(tx: Tx) -> None:
    tx.run("DELETE FROM thinkback.postings p WHERE p.space = %(space)s")
    for seq, record in list(records_where(tx, _NOT_RETIRED)):
        terms, length = words.counted(record)
        copy_postings(tx, [(class_of(record), term, seq, count, length) for term, count in terms.items()])


def _rebuild_tags(tx: Tx) -> None:
    tx.run("DELETE FROM thinkback.memory_tags t WHERE t.space = %(space)s")
    pairs = [(tag, seq) for seq, record in records_where(tx) for tag in record.tags]
    tx.copy("memory_tags", ("tag", "seq"), ("text", "int8"), iter(pairs))


def _drop_bad_vectors(tx: Tx) -> None:
    """A vector that cannot be used is dropped; its memory waits to be embedded again."""
    for state in ("live", "building"):
        made = generations.generation(tx, state)
        if made is not None:
            params = tx.params(number=made.number, seqs=list(_bad_vectors(tx, made)))
            sql = (
                "DELETE FROM thinkback.vectors v WHERE v.space = %(space)s AND v.generation = %(number)s "
                "AND v.seq = ANY(%(seqs)s::bigint[])"
            )
            tx.run(sql, params)
    sql = f"UPDATE thinkback.memories m SET embedded = {_HAS_LIVE}::integer WHERE m.space = %(space)s"
    tx.run(sql, tx.params(live=tx.counters.live))


def _recount(tx: Tx) -> None:
    (_, tokens, _, theme_tokens) = tx.rows(_COUNTED)[0]
    sql = (
        "UPDATE thinkback.spaces s SET tokens = %(tokens)s, theme_tokens = %(theme_tokens)s, exact_tokens = %(exact)s, "
        "passages = %(passages)s, documents = r.documents, "
        "themes = r.themes, last_seq = greatest(s.last_seq, r.seq), changes = greatest(s.changes, r.changed) "
        "FROM (SELECT coalesce(max(m.seq), 0) AS seq, coalesce(max(m.changed), 0) AS changed, "
        "count(*) FILTER (WHERE m.retired_at IS NULL AND m.kind <> %(reflection)s) AS documents, "
        "count(*) FILTER (WHERE m.retired_at IS NULL AND m.kind = %(reflection)s) AS themes "
        "FROM thinkback.memories m WHERE m.space = %(space)s) r WHERE s.space = %(space)s"
    )
    lengths = {
        "tokens": tokens,
        "theme_tokens": theme_tokens,
        "exact": _exact_tokens(tx),
        "passages": tx.value(_PASSAGES),
    }
    tx.run(sql, tx.params(reflection=REFLECTION, **lengths))
    tx.moved()


def _problem(area: str, message: str, ids: Sequence[str], repairable: bool = True) -> Problem:
    return Problem(area, message, tuple(dict.fromkeys(ids))[:_NAMED], repairable)


# -- versions that an import puts back


def restore(tx: Tx, records: Sequence[StoredRecord]) -> int:
    """Puts retired versions back; those already there are passed over."""
    checked = [checked_version(record) for record in records]
    sql = "WHERE m.space = %(space)s AND m.id = ANY(%(ids)s::text[]) AND m.retired_at IS NOT NULL"
    known = Counter(map(version_key, select(tx, sql, tx.params(ids=sorted({record.id for record in checked})))))
    new = []
    for record in checked:
        known[version_key(record)] -= 1
        if known[version_key(record)] < 0:
            new.append(record)
    if new:
        put(tx, Batch(new, ()))
    return len(new)


# -- statistics

_NUMBERS = """
SELECT count(*) FILTER (WHERE m.retired_at IS NULL) AS memories,
    count(*) AS versions,
    count(*) FILTER (WHERE m.retired_at IS NULL AND m.archived_at IS NOT NULL) AS archived,
    count(*) FILTER (WHERE m.retired_at IS NULL AND m.embedded = 1) AS embedded,
    count(*) FILTER (WHERE m.retired_at IS NULL AND m.embedded = 0) AS unembedded,
    count(DISTINCT m.thread) FILTER (WHERE m.retired_at IS NULL) AS threads
FROM thinkback.memories m WHERE m.space = %(space)s
"""
_NAMES = ("memories", "versions", "archived", "embedded", "unembedded", "threads")
_GROUPED = {"kinds": "kind", "tiers": "tier", "priorities": "priority"}


def stats(tx: Tx) -> dict[str, Any]:
    """Counts, ready for JSON."""
    kept = tx.counters
    tags = (
        "SELECT count(DISTINCT t.tag) FROM thinkback.memory_tags t JOIN thinkback.memories m ON m.space = %(space)s "
        "AND m.seq = t.seq WHERE t.space = %(space)s AND m.retired_at IS NULL"
    )
    return {
        "store_id": kept.store_id,
        "changes": kept.changes,
        "touches": kept.touches,
        **dict(zip(_NAMES, tx.rows(_NUMBERS)[0], strict=True)),
        "tags": tx.value(tags),
        "passages": tx.value(_LIVE_PASSAGES, tx.params(live=kept.live)) if kept.passages else 0,
        **{
            table: tx.value(f"SELECT count(*) FROM thinkback.{table} x WHERE x.space = %(space)s")
            for table in ("edges", "judgements", "journal")
        },
        **{name: _grouped(tx, column) for name, column in _GROUPED.items()},
        "embedding_space": _space(tx, "live"),
        "reembedding_to": _space(tx, "building"),
        "scrub_pending": False,
    }


_LIVE_PASSAGES = (
    "SELECT count(*) FROM thinkback.passages p JOIN thinkback.memories m ON m.space = %(space)s AND m.seq = p.seq "
    "WHERE p.space = %(space)s AND p.generation = %(live)s AND m.retired_at IS NULL"
)


def _grouped(tx: Tx, column: str) -> Mapping[str, int]:
    sql = (
        f"SELECT m.{column}, count(*) FROM thinkback.memories m WHERE m.space = %(space)s AND m.retired_at IS NULL "
        f"GROUP BY m.{column} ORDER BY 2 DESC, 1"
    )
    return dict(tx.rows(sql))


def _space(tx: Tx, state: str) -> dict[str, Any] | None:
    found = generations.generation(tx, state)
    return None if found is None else {"fingerprint": found.space.fingerprint, "dimensions": found.space.dimensions}
