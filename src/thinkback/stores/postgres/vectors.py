"""Exact vector search: half-precision products select candidates, with a margin for their error; exact vectors decide.

The candidates are scored by the same function as on SQLite, in float64, so that a score depends on the two vectors alone.
"""

import numpy as np

from thinkback.model import Filter, Scored, Vector
from thinkback.stores.postgres import generations
from thinkback.stores.postgres.filters import clause
from thinkback.stores.postgres.schema import WIDEST_HEAD
from thinkback.stores.postgres.session import Tx
from thinkback.stores.sqlite.generations import Generation, unit_rows
from thinkback.stores.sqlite.vector_search import cosines

_HALF = 2.0**-11  # relative error of rounding to half precision
_SINGLE = 2.0**-24
_LENGTH = 2e-6  # how far a stored vector's length may be from 1, twice
_MARGIN = 32  # candidates read beyond the limit, so that one statement is nearly always enough


_NO_PASSAGES = (
    "AND NOT EXISTS (SELECT 1 FROM thinkback.passages p WHERE p.space = %(space)s AND p.generation = %(live)s "
    "AND p.seq = m.seq) "
)


def search(
    tx: Tx,
    live: Generation,
    vector: Vector,
    filter: Filter,
    limit: int,
    matching: list[int] | None,
    *,
    long: bool = True,
) -> list[Scored]:
    """The nearest memories, best first, ties by id; without `long`, those that have no passages."""
    dimensions = live.space.dimensions
    query = unit_rows([vector], dimensions)[0]
    if limit <= 0:
        return []
    slack = slack_of(query)
    most = limit + max(_MARGIN, limit // 2)
    while True:
        found = _nearest(tx, live, query, filter, most, matching, "" if long else _NO_PASSAGES)
        # Distances rise, and a row farther than the last wanted one by more than the slack cannot be among the best.
        if len(found) < most or found[-1][1] > found[limit - 1][1] + slack:
            break
        most *= 4
    if not found:
        return []
    scores = cosines(generations.unpacked((exact for _, _, exact in found), dimensions), query)
    hits = [Scored(id, score) for (id, _, _), score in zip(found, scores.tolist(), strict=True)]
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]


def slack_of(query: Vector) -> float:
    """How far two rough products may mislead: rounding of the stored vectors, of the query, and of the sums."""
    exact = query.astype(np.float64)
    rounded = float(np.linalg.norm(exact - query.astype(np.float16).astype(np.float64)))
    return 2 * (1.01 * (_HALF + rounded + len(query) * _SINGLE) + _LENGTH)


def _nearest(
    tx: Tx, live: Generation, query: Vector, filter: Filter, most: int, matching: list[int] | None, also: str
) -> list[tuple[str, float, bytes]]:
    params = tx.params(live=live.number, query=generations.halves(query[None, :])[0], most=most)
    passing = clause(filter, params, matching=matching)
    head = "head" if live.space.dimensions <= WIDEST_HEAD else "wide"
    # The inner sort needs the index alone; memories are joined in its order, only as far as needed.
    sql = (
        "SELECT n.id, n.distance, e.exact FROM (SELECT m.id, r.seq, r.distance FROM ("
        f"SELECT v.seq, v.{head} <#> %(query)b AS distance FROM thinkback.vectors v "
        "WHERE v.space = %(space)s AND v.generation = %(live)s ORDER BY distance) r "
        f"JOIN thinkback.memories m ON m.space = %(space)s AND m.seq = r.seq WHERE {passing} {also}"
        "ORDER BY r.distance LIMIT %(most)s) n JOIN thinkback.vectors e "
        "ON e.space = %(space)s AND e.generation = %(live)s AND e.seq = n.seq ORDER BY n.distance"
    )
    return tx.rows(sql, params)
