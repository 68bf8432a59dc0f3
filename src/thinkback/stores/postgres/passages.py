"""Passages of long texts on the server: read, and searched by their best one, as `vectors` searches whole memories."""

from collections.abc import Iterable, Sequence
from itertools import groupby

import numpy as np

from thinkback.model import REFLECTION, Filter, Passages, Scored, StoredRecord, Vector
from thinkback.passages import Span
from thinkback.stores.postgres import generations
from thinkback.stores.postgres.filters import Params, clause
from thinkback.stores.postgres.rows import COLUMNS, to_record
from thinkback.stores.postgres.schema import WIDEST_HEAD
from thinkback.stores.postgres.searches import Row
from thinkback.stores.postgres.session import Tx
from thinkback.stores.postgres.vectors import slack_of
from thinkback.stores.sqlite.generations import STORED, Generation, unit_rows
from thinkback.stores.sqlite.vector_search import cosines

_MARGIN = 32  # memories read beyond the limit, so that one statement is nearly always enough


class NearestPassages:
    """Memories by their best passage, best first, ties by id; of equal passages the earlier one."""

    def __init__(
        self, live: Generation, vector: Vector, filter: Filter, limit: int, matching: list[int] | None
    ) -> None:
        self._live, self._filter, self._matching = live, filter, matching
        self._limit = limit
        self._query = unit_rows([vector], live.space.dimensions)[0]
        self._slack = slack_of(self._query)
        self._most = limit + max(_MARGIN, limit // 2)

    def sql(self, params: Params) -> str:
        head = "head" if self._live.space.dimensions <= WIDEST_HEAD else "wide"
        live, query = params.add(self._live.number), params.add_binary(generations.halves(self._query[None, :])[0])
        passing = clause(self._filter, params, matching=self._matching)
        return (
            "SELECT n.id, n.distance, NULL::bigint, p.first, p.last, p.exact FROM (SELECT m.id, r.seq, r.distance FROM ("
            f"SELECT v.seq, min(v.{head} <#> {query}) AS distance FROM thinkback.passages v "
            f"WHERE v.space = %(space)s AND v.generation = {live} GROUP BY v.seq ORDER BY distance) r "
            f"JOIN thinkback.memories m ON m.space = %(space)s AND m.seq = r.seq WHERE {passing} "
            f"ORDER BY r.distance LIMIT {params.add(self._most)}) n JOIN thinkback.passages p "
            f"ON p.space = %(space)s AND p.generation = {live} AND p.seq = n.seq "
            f"AND p.{head} <#> {query} <= n.distance + {params.add(self._slack, '::float8')}"
        )

    def read(self, rows: list[Row]) -> list[Scored] | None:
        distances = sorted({row[0]: row[1] for row in rows}.values())
        if len(distances) >= self._most and distances[-1] <= distances[self._limit - 1] + self._slack:
            self._most *= 4
            return None
        if not rows:
            return []
        exact = generations.unpacked((row[5] for row in rows), self._live.space.dimensions)
        scores = cosines(exact, self._query).tolist()
        best: dict[str, Scored] = {}
        for row, score in sorted(zip(rows, scores, strict=True), key=lambda one: (-one[1], one[0][3])):
            best.setdefault(row[0], Scored(row[0], score, Span(row[3], row[4])))
        return sorted(best.values(), key=lambda hit: (-hit.score, hit.id))[: self._limit]


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
