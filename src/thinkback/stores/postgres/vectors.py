"""Exact vector search: half-precision products select candidates, with a margin for their error; exact vectors decide.

The candidates are scored by the same function as on SQLite, in float64, so that a score depends on the two vectors alone.
"""

import numpy as np

from thinkback.model import Filter, Scored, Vector
from thinkback.stores.postgres import generations, hnsw
from thinkback.stores.postgres.filters import Params, clause, rare
from thinkback.stores.postgres.schema import WIDEST_HEAD
from thinkback.stores.postgres.searches import Row
from thinkback.stores.sqlite.generations import Generation, unit_rows
from thinkback.stores.sqlite.vector_search import cosines

_HALF = 2.0**-11  # relative error of rounding to half precision
_SINGLE = 2.0**-24
_LENGTH = 2e-6  # how far a stored vector's length may be from 1, twice
_FARTHEST = 10_000  # an index is followed no farther; then all vectors are compared
_MARGIN = 32  # candidates read beyond the limit, so that one statement is nearly always enough


class Nearest:
    """The nearest memories, best first, ties by id; without `long`, those that have no passages."""

    def __init__(
        self,
        live: Generation,
        vector: Vector,
        filter: Filter,
        limit: int,
        matching: list[int] | None,
        *,
        long: bool = True,
        approximate: bool = False,
    ) -> None:
        self._live, self._filter, self._matching, self._long = live, filter, matching, long
        self._limit, self._approximate = limit, approximate
        self._query = unit_rows([vector], live.space.dimensions)[0]
        self._most = limit + max(_MARGIN, limit // 2)
        self._reach = 4 * self._most  # how far an index is followed, as the filter may leave some out

    def sql(self, params: Params) -> str:
        head = "head" if self._live.space.dimensions <= WIDEST_HEAD else "wide"
        live, query = params.add(self._live.number), params.add_binary(generations.halves(self._query[None, :])[0])
        passing = clause(self._filter, params, matching=self._matching)
        no_passages = (
            "AND NOT EXISTS (SELECT 1 FROM thinkback.passages p WHERE p.space = %(space)s "
            f"AND p.generation = {live} AND p.seq = m.seq) "
        )
        # Of many, the inner sort needs the index alone, and memories are joined in its order, only as far as needed; of few
        # it is better to begin with the memories.
        near = (
            f"(SELECT v.seq, v.{head} <#> {query} AS distance FROM thinkback.vectors v "
            f"WHERE v.space = %(space)s AND v.generation = {live} {'' if few(self._filter) else 'ORDER BY distance'})"
        )
        if self._approximate:  # word by word as the index of the space has it, so that it gives the order
            rough = f"v.{hnsw.column(self._live.space.dimensions)} <#> {query}"
            near = (
                f"(SELECT v.seq, {rough} AS distance FROM thinkback.vectors v "
                f"WHERE v.space = {params['space']} AND v.generation = {self._live.number} ORDER BY {rough} "
                f"LIMIT {params.add(self._reach)})"
            )
        return (
            "SELECT n.id, n.distance, NULL::bigint, NULL::integer, NULL::integer, e.exact FROM ("
            f"SELECT m.id, r.seq, r.distance FROM {near} r "
            f"JOIN thinkback.memories m ON m.space = %(space)s AND m.seq = r.seq WHERE {passing} "
            f"{'' if self._long else no_passages}"
            f"ORDER BY r.distance LIMIT {params.add(self._most)}) n JOIN thinkback.vectors e "
            f"ON e.space = %(space)s AND e.generation = {live} AND e.seq = n.seq"
        )

    def read(self, rows: list[Row]) -> list[Scored] | None:
        if self._approximate and len(rows) < self._limit:  # the filter lets few through
            self._reach *= 8
            self._approximate = self._reach <= _FARTHEST
            return None
        distances = sorted(row[1] for row in rows)
        # A row farther than the last wanted one by more than the slack cannot be among the best.
        if (
            not self._approximate
            and len(rows) >= self._most
            and distances[-1] <= distances[self._limit - 1] + slack_of(self._query)
        ):
            self._most *= 4
            return None
        if not rows:
            return []
        exact = generations.unpacked((row[5] for row in rows), self._live.space.dimensions)
        scores = cosines(exact, self._query).tolist()
        best = sorted(zip(scores, (row[0] for row in rows), strict=True), key=lambda one: (-one[0], one[1]))
        return [Scored(id, score) for score, id in best[: self._limit]]


def few(filter: Filter) -> bool:
    """Whether an index of memories leads to the few that pass."""
    return rare(filter) or filter.ids is not None or bool(filter.threads) or bool(filter.tags)


def slack_of(query: Vector) -> float:
    """How far two rough products may mislead: rounding of the stored vectors, of the query, and of the sums."""
    exact = query.astype(np.float64)
    rounded = float(np.linalg.norm(exact - query.astype(np.float16).astype(np.float64)))
    return 2 * (1.01 * (_HALF + rounded + len(query) * _SINGLE) + _LENGTH)
