"""Passages of long texts on the server: read, and searched by their best one, as `vectors` searches whole memories."""

from collections.abc import Iterable, Sequence
from itertools import groupby

import numpy as np

from thinkback.model import REFLECTION, Filter, Passages, Scored, StoredRecord, Vector
from thinkback.passages import Span
from thinkback.stores.postgres import generations
from thinkback.stores.postgres.filters import clause
from thinkback.stores.postgres.rows import COLUMNS, to_record
from thinkback.stores.postgres.schema import WIDEST_HEAD
from thinkback.stores.postgres.session import Tx
from thinkback.stores.postgres.vectors import slack_of
from thinkback.stores.sqlite.generations import STORED, Generation, unit_rows
from thinkback.stores.sqlite.vector_search import cosines

_MARGIN = 32  # memories read beyond the limit, so that one statement is nearly always enough
_Row = tuple[str, float, int, int, bytes]  # id, distance of the best passage, first and last character, exact vector


def search(
    tx: Tx, live: Generation, vector: Vector, filter: Filter, limit: int, matching: list[int] | None
) -> list[Scored]:
    """Memories by their best passage, best first, ties by id; of equal passages the earlier one."""
    dimensions = live.space.dimensions
    query = unit_rows([vector], dimensions)[0]
    if limit <= 0:
        return []
    slack = slack_of(query)
    most = limit + max(_MARGIN, limit // 2)
    while True:
        found = _nearest(tx, live, query, filter, most, slack, matching)
        distances = [next(rows)[1] for _, rows in groupby(found, lambda row: row[0])]
        if len(distances) < most or distances[-1] > distances[limit - 1] + slack:
            break
        most *= 4
    if not found:
        return []
    scores = cosines(generations.unpacked((row[4] for row in found), dimensions), query).tolist()
    best: dict[str, Scored] = {}
    for (id, _, first, last, _), score in sorted(zip(found, scores, strict=True), key=lambda one: (-one[1], one[0][2])):
        best.setdefault(id, Scored(id, score, Span(first, last)))
    return sorted(best.values(), key=lambda hit: (-hit.score, hit.id))[:limit]


def _nearest(
    tx: Tx, live: Generation, query: Vector, filter: Filter, most: int, slack: float, matching: list[int] | None
) -> list[_Row]:
    half = generations.halves(query[None, :])[0]
    params = tx.params(live=live.number, query=half, most=most, slack=slack)
    passing = clause(filter, params, matching=matching)
    head = "head" if live.space.dimensions <= WIDEST_HEAD else "wide"
    sql = (
        "SELECT n.id, n.distance, p.first, p.last, p.exact FROM (SELECT m.id, r.seq, r.distance FROM ("
        f"SELECT v.seq, min(v.{head} <#> %(query)b) AS distance FROM thinkback.passages v "
        "WHERE v.space = %(space)s AND v.generation = %(live)s GROUP BY v.seq ORDER BY distance) r "
        f"JOIN thinkback.memories m ON m.space = %(space)s AND m.seq = r.seq WHERE {passing} "
        "ORDER BY r.distance LIMIT %(most)s) n JOIN thinkback.passages p "
        "ON p.space = %(space)s AND p.generation = %(live)s AND p.seq = n.seq "
        f"AND p.{head} <#> %(query)b <= n.distance + %(slack)s ORDER BY n.distance, n.id"
    )
    return tx.rows(sql, params)


def of(tx: Tx, ids: Sequence[str]) -> dict[str, Passages]:
    """Live passages of present memories."""
    if tx.counters.live is None or not tx.counters.passages:
        return {}
    sql = (
        "SELECT m.id, p.first, p.last, p.exact FROM thinkback.memories m JOIN thinkback.passages p "
        "ON p.space = %(space)s AND p.seq = m.seq AND p.generation = %(live)s "
        "WHERE m.space = %(space)s AND m.id = ANY(%(ids)s::text[]) AND m.retired_at IS NULL ORDER BY m.id, p.ordinal"
    )
    found = groupby(tx.rows(sql, tx.params(ids=list(ids), live=tx.counters.live)), lambda row: row[0])
    return {id: _joined(row[1:] for row in rows) for id, rows in found}


def by_version(tx: Tx, seqs: Sequence[int], live: int | None) -> dict[int, Passages]:
    """Passages of versions in a generation."""
    if live is None or not tx.counters.passages:
        return {}
    sql = (
        "SELECT p.seq, p.first, p.last, p.exact FROM thinkback.passages p WHERE p.space = %(space)s "
        "AND p.generation = %(live)s AND p.seq = ANY(%(seqs)s::bigint[]) ORDER BY p.seq, p.ordinal"
    )
    found = groupby(tx.rows(sql, tx.params(seqs=list(seqs), live=live)), lambda row: row[0])
    return {seq: _joined(row[1:] for row in rows) for seq, rows in found}


def _joined(found: Iterable[tuple[int, int, bytes]]) -> Passages:
    rows = list(found)
    vectors = np.frombuffer(b"".join([row[2] for row in rows]), dtype=STORED).reshape(len(rows), -1)
    return Passages(tuple(Span(first, last) for first, last, _ in rows), vectors)


def unsplit(tx: Tx, longer_than: int, limit: int) -> dict[int, StoredRecord]:
    """Embedded versions with a long text and without passages, oldest first; reflections have none."""
    sql = (
        f"SELECT m.seq, {COLUMNS} FROM thinkback.memories m WHERE m.space = %(space)s AND m.embedded = 1 "
        "AND m.kind <> %(reflection)s "
        "AND octet_length(m.text) > %(longer)s AND NOT EXISTS (SELECT 1 FROM thinkback.passages p "
        "WHERE p.space = %(space)s AND p.seq = m.seq AND p.generation = %(live)s) ORDER BY m.seq LIMIT %(limit)s"
    )
    params = tx.params(longer=longer_than, reflection=REFLECTION, limit=limit, live=tx.counters.live)
    return {row[0]: to_record(row[1:]) for row in tx.rows(sql, params)}
