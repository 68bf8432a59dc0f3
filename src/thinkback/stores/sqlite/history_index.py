"""Keyword search in the versions that the store knew at an earlier moment.

The versions known then get a separate index in memory, so that only they count in the statistics of BM25 and a score is the
one the store would have given at that moment. Indexes of the last few moments are kept until the store changes.
"""

import json
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from thinkback.model import REFLECTION, Filter, KeywordQuery, Scored
from thinkback.stores.sqlite import schema
from thinkback.stores.sqlite.bm25 import BY_FORMS, Bm25
from thinkback.stores.sqlite.catalogue import Catalogue, retired, versions
from thinkback.stores.sqlite.filters import Clause, clause
from thinkback.stores.sqlite.fulltext import COLUMNS, EXACT, PRESENT, TABLES, THEMES, columns, homes, insert_sql
from thinkback.stores.sqlite.impact import Impact, best, known
from thinkback.stores.sqlite.index_cache import View
from thinkback.stores.sqlite.keywords import all_forms, asked, first_accepted
from thinkback.stores.sqlite.rows import listed

_MOMENTS_KEPT = 2
Earlier = tuple[Impact, Catalogue, NDArray[np.int64]]  # an index, its catalogue, and the retired versions in it


class HistoryIndex:
    """Indexes of earlier moments, by moment and change count."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._moments: OrderedDict[tuple[int, int, bool], apsw.Connection] = OrderedDict()
        self._last: tuple[int, Impact, Earlier] | None = None

    def search(
        self, connection: apsw.Connection, changes: int, query: KeywordQuery, filter: Filter, limit: int
    ) -> list[Scored]:
        """Best first, ties by id."""
        if limit <= 0:
            return []
        with self._lock:
            then = self._at(connection, changes, filter, query.exact)
            tables = [EXACT] if query.exact else homes(filter)
            found = [row for table in tables for row in _matching(then, table, query)]
        seqs = np.array([seq for seq, _ in found], dtype=np.int64)
        scores = np.array([score for _, score in found], dtype=np.float64)
        rows = best(scores, np.isin(seqs, versions(connection, filter)), limit)
        sql = "SELECT m.seq, m.id FROM memories m WHERE m.seq IN (SELECT value FROM json_each(?))"
        names = dict(connection.execute(sql, (listed(seqs[rows].tolist()),)))
        hits = [
            Scored(names[seq], score) for seq, score in zip(seqs[rows].tolist(), scores[rows].tolist(), strict=True)
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]

    def search_postings(
        self,
        connection: apsw.Connection,
        view: View,
        query: KeywordQuery,
        terms: Sequence[bytes],
        filter: Filter,
        limit: int,
    ) -> list[Scored]:
        """The same for plain words, from postings: those of the present, and of versions that were retired since."""
        if view.impact is None or filter.known_at is None or limit <= 0:
            return []
        impact, catalogue, past = self._earlier(connection, view, view.impact, filter.known_at)
        scores = impact.scores(all_forms(connection, query) if impact.stemmed else terms, catalogue)
        here = np.isin(past, retired(connection, filter))
        rows = best(scores, np.concatenate([view.catalogue.mask(filter, connection), here]), limit)
        gone = past[rows[rows >= view.catalogue.size] - view.catalogue.size].tolist()
        sql = "SELECT m.seq, m.id FROM memories m WHERE m.seq IN (SELECT value FROM json_each(?))"
        names = dict(connection.execute(sql, (listed(gone),))) if gone else {}
        ids = [
            view.catalogue.ids[row] if row < view.catalogue.size else names[int(past[row - view.catalogue.size])]
            for row in rows.tolist()
        ]
        hits = [Scored(id, score) for id, score in zip(ids, scores[rows].tolist(), strict=True)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]

    def _earlier(self, connection: apsw.Connection, view: View, impact: Impact, then: int) -> Earlier:
        with self._lock:
            last = self._last
            if last is None or last[0] != then or last[1] is not impact:
                last = self._last = (then, impact, known(impact, connection, view.catalogue, then))
            return last[2]

    def close(self) -> None:
        with self._lock:
            self._last = None
            while self._moments:
                self._moments.popitem()[1].close()

    def _at(self, connection: apsw.Connection, changes: int, filter: Filter, exact: bool) -> apsw.Connection:
        key = (filter.known_at or 0, changes, exact)
        if key not in self._moments:
            self._moments[key] = _indexed(connection, filter, exact)
        self._moments.move_to_end(key)
        while len(self._moments) > _MOMENTS_KEPT:
            self._moments.popitem(last=False)[1].close()
        return self._moments[key]


def _matching(then: apsw.Connection, table: str, query: KeywordQuery) -> list[tuple[Any, ...]]:
    query, score = asked(then, table, query)
    sql = f"SELECT rowid, {score} FROM {table} WHERE {table} MATCH ?"
    return first_accepted(query, lambda expression: then.execute(sql, (expression,)).fetchall())


def _indexed(connection: apsw.Connection, filter: Filter, exact: bool) -> apsw.Connection:
    """The versions known then: by what the indexes of stems hold, or by words as they are spelt in the memories themselves."""
    known = clause(Filter(now=filter.now, known_at=filter.known_at, everything=True))
    then = apsw.Connection(":memory:")
    then.register_fts5_function(BY_FORMS, Bm25())
    for table, kind in ((EXACT if exact else PRESENT, "<>"), (EXACT if exact else THEMES, "=")):
        then.execute(schema.full_text(f"IF NOT EXISTS {table}", exact))
        with then:
            then.executemany(insert_sql(table), _versions(connection, known, f"m.kind {kind} ?", exact))
    return then


def _versions(connection: apsw.Connection, known: Clause, of_kind: str, exact: bool) -> Iterable[tuple[Any, ...]]:
    if exact:
        sql = f"SELECT m.seq, m.text, m.essence, m.tags FROM memories m WHERE {known.sql} AND {of_kind}"
        found = connection.execute(sql, (*known.bindings, REFLECTION))
        return ((seq, *columns(text, essence, json.loads(tags))) for seq, text, essence, tags in found)
    held = ", ".join(f"f.{name}" for name in COLUMNS)
    sql = " UNION ALL ".join(
        f"SELECT m.seq, {held} FROM memories m JOIN {table} f ON f.rowid = m.seq WHERE {known.sql} AND {of_kind}"
        for table in TABLES
    )
    return connection.execute(sql, (*known.bindings, REFLECTION) * len(TABLES))
