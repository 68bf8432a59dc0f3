"""Keyword search with FTS5 itself: BM25 over text, essence and tags."""

import apsw

from recollect.errors import InvalidInput, StoreDamaged
from recollect.model import Filter, Scored
from recollect.query.keywords import KeywordQuery
from recollect.stores.sqlite.filters import clause
from recollect.stores.sqlite.texts import PRESENT, WEIGHTS


def search(connection: apsw.Connection, query: KeywordQuery, filter: Filter, limit: int) -> list[Scored]:
    """Best first, ties by id; an expression FTS5 refuses is retried once as its fallback."""
    if query.mode == "empty" or limit <= 0:
        return []
    try:
        return _matching(connection, query.expression, filter, limit)
    except apsw.SQLError as refused:
        _check_tables(refused)
        if query.fallback is None:
            raise InvalidInput(
                f"the full-text expression {query.expression[:200]!r} cannot be read: {refused}"
            ) from refused
    try:
        return _matching(connection, query.fallback, filter, limit)
    except apsw.SQLError as refused:
        raise InvalidInput(f"the full-text expression {query.fallback[:200]!r} cannot be read: {refused}") from refused


def _matching(connection: apsw.Connection, expression: str, filter: Filter, limit: int) -> list[Scored]:
    passing = clause(filter)
    score = f"-bm25({PRESENT}, {', '.join(map(str, WEIGHTS))})"
    sql = (
        f"SELECT m.id, {score} AS score FROM {PRESENT} f CROSS JOIN memories m ON m.seq = f.rowid "
        f"WHERE f.{PRESENT} MATCH ? AND {passing.sql} ORDER BY score DESC, m.id LIMIT ?"
    )
    return [Scored(id, score) for id, score in connection.execute(sql, (expression, *passing.bindings, limit))]


def _check_tables(error: apsw.SQLError) -> None:
    if "no such table" in str(error):
        raise StoreDamaged(
            f"the full-text index is gone ({error}); rebuild it with: recollect doctor --repair"
        ) from error
