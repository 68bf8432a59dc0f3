"""Keyword search in what a space knew at an earlier moment: the versions known then get an index of their own in memory."""

import json
import threading
from collections import OrderedDict
from typing import Any

import apsw

from thinkback.model import REFLECTION, Filter, KeywordQuery, Scored
from thinkback.stores.postgres.filters import clause
from thinkback.stores.postgres.session import Tx
from thinkback.stores.sqlite import fulltext, schema
from thinkback.stores.sqlite.bm25 import BY_FORMS, Bm25
from thinkback.stores.sqlite.keywords import asked, first_accepted

_MOMENTS_KEPT = 2


class HistoryIndex:
    """Indexes of the last few moments, kept until the space changes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._moments: OrderedDict[tuple[int, str, int, bool], apsw.Connection] = OrderedDict()

    def search(
        self, tx: Tx, query: KeywordQuery, filter: Filter, limit: int, matching: list[int] | None
    ) -> list[Scored]:
        """Best first, ties by id."""
        if limit <= 0:
            return []
        with self._lock:
            then = self._at(tx, filter, query.exact)
            tables = [fulltext.EXACT] if query.exact else fulltext.homes(filter)
            found = dict(row for table in tables for row in _matching(then, table, query))
        params = tx.params(seqs=list(found))
        passing = clause(filter, params, matching=matching)
        sql = f"SELECT m.seq, m.id FROM thinkback.memories m WHERE {passing} AND m.seq = ANY(%(seqs)s::bigint[])"
        hits = [Scored(id, found[seq]) for seq, id in tx.rows(sql, params)] if found else []
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]

    def close(self) -> None:
        with self._lock:
            while self._moments:
                self._moments.popitem()[1].close()

    def _at(self, tx: Tx, filter: Filter, exact: bool) -> apsw.Connection:
        key = (filter.known_at or 0, tx.counters.store_id, tx.counters.changes, exact)
        if key not in self._moments:
            self._moments[key] = _indexed(tx, filter, exact)
        self._moments.move_to_end(key)
        while len(self._moments) > _MOMENTS_KEPT:
            self._moments.popitem(last=False)[1].close()
        return self._moments[key]


def _matching(then: apsw.Connection, table: str, query: KeywordQuery) -> list[tuple[Any, ...]]:
    query, score = asked(then, table, query)
    sql = f"SELECT rowid, {score} FROM {table} WHERE {table} MATCH ?"
    return first_accepted(query, lambda expression: then.execute(sql, (expression,)).fetchall())


def _indexed(tx: Tx, filter: Filter, exact: bool) -> apsw.Connection:
    params = tx.params()
    known = clause(Filter(now=filter.now, known_at=filter.known_at, everything=True), params)
    sql = f"SELECT m.seq, m.kind, m.text, m.essence, m.tags FROM thinkback.memories m WHERE {known} ORDER BY m.seq"
    rows = tx.rows(sql, params)
    then = apsw.Connection(":memory:")
    then.register_fts5_function(BY_FORMS, Bm25())
    for table, themes in ((fulltext.PRESENT, False), (fulltext.THEMES, True)):
        place = fulltext.EXACT if exact else table
        then.execute(schema.full_text(f"IF NOT EXISTS {place}", exact))
        columns = (
            (seq, *fulltext.columns_of(kind, text, essence, json.loads(tags), exact))
            for seq, kind, text, essence, tags in rows
            if (kind == REFLECTION) is themes
        )
        with then:
            then.executemany(fulltext.insert_sql(place), columns)
    return then
