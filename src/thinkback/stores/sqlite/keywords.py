"""Keyword search: BM25 over text, essence and tags, by FTS5 itself or, for plain words, from postings in memory.

Both give the same scores to the last bit; the choice is one of speed alone.
"""

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import apsw

from thinkback.errors import InvalidInput
from thinkback.model import REFLECTION, Filter, KeywordQuery, KeywordTerm, Scored
from thinkback.stores.base import REFUSED
from thinkback.stores.segmentation import segment
from thinkback.stores.sqlite import damage
from thinkback.stores.sqlite.bm25 import BY_FORMS
from thinkback.stores.sqlite.catalogue import Catalogue
from thinkback.stores.sqlite.filters import clause
from thinkback.stores.sqlite.fulltext import EXACT, HISTORY, PRESENT, THEMES, WEIGHTS, homes
from thinkback.stores.sqlite.impact import Impact, tokens
from thinkback.stores.sqlite.index_cache import View
from thinkback.stores.stemming import STEMMED, by_forms, expression, forms

_RAREST = 3  # words that are looked for first
_PROBED = 64  # rows of a word that are read to tell how frequent it is
PAYS_FROM_ROWS = 1000  # in smaller stores FTS5 is fast enough
PAYS_FROM_SEARCH = 3  # a process that asks once or twice does not wait for the postings to be read


def plain_terms(connection: apsw.Connection, query: KeywordQuery) -> list[bytes] | None:
    """The query's terms as the index spells them, or None when it asks for more than single words."""
    if query.mode != "bare" or query.exact:
        return None
    found: list[bytes] = []
    for term in query.terms:
        words = tokens(connection, segment(term.text) if term.phrase else term.text)
        if term.prefix or len(words) > 1:
            return None
        found += words
    return found


def all_forms(connection: apsw.Connection, query: KeywordQuery) -> list[tuple[bytes, ...]]:
    """The query's terms, each with its forms in other languages."""
    return [
        tuple(word for form in (term.text, *forms(term.text)) for word in tokens(connection, form))
        for term in query.terms
    ]


def search_postings(
    connection: apsw.Connection, view: View, query: KeywordQuery, terms: Sequence[bytes], filter: Filter, limit: int
) -> list[Scored]:
    """Best first, ties by id, from postings in memory; `terms` are those of the query."""
    if view.impact is None or limit <= 0:
        return []
    if PRESENT not in homes(filter):
        return []
    asked = all_forms(connection, query) if view.impact.stemmed else terms
    found = view.impact.best(asked, view.catalogue, view.catalogue.mask(filter, connection), limit)
    return view.catalogue.best(*found, limit)


def search(connection: apsw.Connection, query: KeywordQuery, filter: Filter, limit: int) -> list[Scored]:
    """Best first, ties by id, by FTS5.

    By stem, reflections are scored among themselves, so that they do not change other scores; exact words are those of all.
    """
    tables = [EXACT] if query.exact else homes(filter)
    return joined((search_table(connection, table, query, filter, limit) for table in tables), limit)


def with_reflections(
    connection: apsw.Connection, others: list[Scored], query: KeywordQuery, filter: Filter, limit: int
) -> list[Scored]:
    """The results from the postings and the reflections, which have no postings."""
    if THEMES not in homes(filter):
        return others
    return joined((others, search_table(connection, THEMES, query, filter, limit)), limit)


def joined(runs: Iterable[list[Scored]], limit: int) -> list[Scored]:
    """The best of several searches, ties by id."""
    return sorted((hit for hits in runs for hit in hits), key=lambda hit: (-hit.score, hit.id))[: max(limit, 0)]


def search_table(
    connection: apsw.Connection, table: str, query: KeywordQuery, filter: Filter, limit: int
) -> list[Scored]:
    """Best first, ties by id, in one full-text table."""
    if limit <= 0:
        return []
    passing, (query, score) = clause(filter), asked(connection, table, query)
    sql = (
        f"SELECT m.id, {score} AS score FROM {table} f CROSS JOIN memories m ON m.seq = f.rowid "
        f"WHERE f.{table} MATCH ? AND {passing.sql} ORDER BY score DESC, m.id LIMIT ?"
    )
    found = first_accepted(
        query, lambda expression: connection.execute(sql, (expression, *passing.bindings, limit)).fetchall()
    )
    return [Scored(id, score) for id, score in found]


def holding_all(
    connection: apsw.Connection, terms: Sequence[KeywordTerm], filter: Filter, limit: int
) -> list[str] | None:
    """The ids of all that hold every one of these words, in no order, and perhaps of others that hold the rarest of them.

    None if they are more. Nothing is scored: BM25 reads every row of every word, and so would a search for frequent words.
    """
    if homes(filter) != [PRESENT] or not terms:
        return None
    by_stem = _is_stemmed(connection, PRESENT)
    single = (KeywordQuery("expert", (term,), (), expression(term)) for term in terms)
    words = [(by_forms(query)[0] if by_stem else query).expression for query in single]
    rarest = sorted(words, key=lambda word: _reached(connection, word), reverse=True)
    passing = clause(filter)
    sql = (
        f"SELECT m.id FROM {PRESENT} f CROSS JOIN memories m ON m.seq = f.rowid "
        f"WHERE f.{PRESENT} MATCH ? AND {passing.sql} LIMIT {limit + 1}"
    )
    for some in (rarest[:_RAREST], rarest):
        found: list[Any] = connection.execute(sql, (" AND ".join(some), *passing.bindings)).fetchall()
        if len(found) <= limit:
            return [id for (id,) in found]
    return None


def _reached(connection: apsw.Connection, word: str) -> int:
    """The row in which a word stands for the so-many-th time: the later, the rarer it is."""
    sql = f"SELECT rowid FROM {PRESENT} WHERE {PRESENT} MATCH ? LIMIT 1 OFFSET {_PROBED}"
    row: int | None = connection.execute(sql, (word,)).get
    return sys.maxsize if row is None else row


def asked(connection: apsw.Connection, table: str, query: KeywordQuery) -> tuple[KeywordQuery, str]:
    """The query as a full-text table is asked it, and the SQL of its scores: by all forms, where it has stems of languages."""
    if query.mode == "empty" or table not in (PRESENT, HISTORY) or not _is_stemmed(connection, table):
        return query, score_sql(table)
    query, sizes = by_forms(query)
    return query, f"{BY_FORMS}({table}, '{sizes}')" if sizes else score_sql(table)


def _is_stemmed(connection: apsw.Connection, table: str) -> bool:
    found = connection.execute(f"SELECT 1 FROM {table} WHERE {table} MATCH ? LIMIT 1", (f'"{STEMMED}"',)).get
    return found is not None


def frequencies(connection: apsw.Connection, words: Sequence[str]) -> tuple[int, dict[str, int]]:
    """The number of present memories without reflections, and the number that contain each word."""
    sql = "SELECT count(*) FROM memories WHERE retired_at IS NULL AND kind <> ?"
    total = int(connection.execute(sql, (REFLECTION,)).get)
    connection.execute(f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.terms USING fts5vocab(main, {PRESENT}, row)")
    sql = "SELECT doc FROM temp.terms WHERE term = CAST(? AS TEXT)"

    def count(term: bytes) -> int:
        return int(connection.execute(sql, (term,)).get or 0)

    return total, _rarest(connection, words, count, stemmed=bool(words) and count(STEMMED.encode()) > 0)


def known_frequencies(
    connection: apsw.Connection, impact: Impact, catalogue: Catalogue, words: Sequence[str]
) -> tuple[int, dict[str, int]]:
    """The same from postings, which need not be read for it."""
    return impact.alive, _rarest(connection, words, lambda term: impact.count(term, catalogue), impact.stemmed)


def _rarest(
    connection: apsw.Connection, words: Sequence[str], count: Callable[[bytes], int], stemmed: bool
) -> dict[str, int]:
    """The count of each word in all its forms, or of its rarest part."""
    found = {word: min(map(count, tokens(connection, segment(word))), default=0) for word in words}
    if stemmed:
        for word in words:
            found[word] += sum(count(term) for form in forms(word) for term in tokens(connection, form))
    return found


def score_sql(table: str) -> str:
    """BM25 as we give it: higher is better."""
    return f"-bm25({table}, {', '.join(map(str, WEIGHTS))})"


def first_accepted(query: KeywordQuery, run: Callable[[str], Any]) -> list[tuple[Any, ...]]:
    """The rows for the query's expression or, where FTS5 refuses that one, for its fallback."""
    if query.mode == "empty":
        return []
    try:
        return run(query.expression)  # type: ignore[no-any-return]
    except apsw.SQLError as refused:
        if damage.of_an_index(refused):
            raise
        if query.fallback is None:
            raise _unreadable(query.expression, refused) from refused
    try:
        return run(query.fallback)  # type: ignore[no-any-return]
    except apsw.SQLError as refused:
        raise _unreadable(query.fallback, refused) from refused


def _unreadable(expression: str, refused: apsw.SQLError) -> InvalidInput:
    message = f"the full-text expression {expression[:200]!r} cannot be read: {refused}"
    return InvalidInput(message, code=REFUSED)
