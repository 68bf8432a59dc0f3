"""Exact vector search: half-precision products select candidates, with a margin for their error; exact vectors decide.

The candidates are scored by the same function as on SQLite, in float64, so that a score depends on the two vectors alone.
"""

import numpy as np

from thinkback.model import Filter, Scored, Vector
from thinkback.stores.postgres import generations, hnsw
from thinkback.stores.postgres.filters import Params, clause, nearly_all, rare
from thinkback.stores.postgres.schema import WIDEST_HEAD
from thinkback.stores.postgres.searches import Row
from thinkback.stores.sqlite.generations import Generation, unit_rows
from thinkback.stores.sqlite.vector_search import cosines

_HALF = 2.0**-11  # relative error of rounding to half precision
_SINGLE = 2.0**-24
_LENGTH = 2e-6  # how far a stored vector's length may be from 1, twice
_FARTHEST = 10_000  # an index is followed no farther; then all vectors are compared
_FOLLOWED = 32
_WIDEST = 512


class Margin:
    """How many candidates a search reads beyond its limit, so that one statement is enough; more where it was not."""

    def __init__(self) -> None:
        self.rows = 16

    def widen(self) -> None:
        self.rows = min(4 * self.rows, _WIDEST)


class Nearest:
    """The nearest memories, best first, ties by id; without `long`, those that have no passages."""

    def __init__(
        self,
        live: Generation,
        vector: Vector,
        filter: Filter,
        limit: int,
        matching: list[int] | None,
        margin: Margin,
        *,
        long: bool = True,
        approximate: bool = False,
    ) -> None:
        self._live, self._filter, self._matching, self._long = live, filter, matching, long
        self._limit, self._approximate, self._margin = limit, approximate, margin
        self._query = unit_rows([vector], live.space.dimensions)[0]
        self._most = limit + margin.rows
        self._reach = 4 * (
            limit + max(_FOLLOWED, limit // 2)
        )  # how far an index is followed, as the filter may leave some out
        self._top = not approximate and matching is None and nearly_all(filter)

    def sql(self, params: Params) -> str:
        head = "head" if self._live.space.dimensions <= WIDEST_HEAD else "wide"
        live, query = params.add(self._live.number), params.add_binary(generations.halves(self._query[None, :])[0])
        passing = clause(self._filter, params, matching=self._matching)
        if not self._long:
            passing += (
                " AND NOT EXISTS (SELECT 1 FROM thinkback.passages p WHERE p.space = %(space)s "
                f"AND p.generation = {live} AND p.seq = m.seq)"
            )
        near = f"SELECT v.seq, v.{head} <#> {query} AS distance FROM thinkback.vectors v"
        if self._approximate:  # word by word as the index of the space has it, so that it gives the order
            rough = f"v.{hnsw.column(self._live.space.dimensions)} <#> {query}"
            near = (
                f"SELECT v.seq, {rough} AS distance FROM thinkback.vectors v WHERE v.space = {params['space']} "
                f"AND v.generation = {self._live.number} ORDER BY {rough} LIMIT {self._reach:d}"
            )
        else:
            near += f" WHERE v.space = %(space)s AND v.generation = {live}"
        # Of many, the inner sort needs the index alone, and memories are joined in its order, only as far as needed; of few
        # it is better to begin with the memories.
        if self._top:
            near += f" ORDER BY distance LIMIT {self._looked_at:d}"
        elif not self._approximate and not few(self._filter):
            near += " ORDER BY distance"
        memories = f"FROM ({near}) r {'LEFT ' if self._top else ''}JOIN thinkback.memories m ON m.space = %(space)s"
        order = "" if self._top else f"ORDER BY r.distance LIMIT {self._most:d}"
        # Exact vectors are the most of what is sent: only those that can be among the best are read.
        wanted = (
            "coalesce((SELECT w.distance FROM n w WHERE w.id IS NOT NULL ORDER BY w.distance "
            f"OFFSET {self._limit - 1:d} LIMIT 1), 'infinity') + {params.add(slack_of(self._query), '::float8')}"
        )
        return (
            f"WITH n AS MATERIALIZED (SELECT m.id, m.seq, r.distance {memories} AND m.seq = r.seq AND {passing} {order}) "
            "SELECT n.id, n.distance, NULL::bigint, NULL::integer, NULL::integer, e.exact FROM n "
            f"LEFT JOIN thinkback.vectors e ON e.space = %(space)s AND e.generation = {live} AND e.seq = n.seq "
            f"AND n.distance <= {wanted}"
        )

    @property
    def _looked_at(self) -> int:
        """How many of the nearest vectors are looked at, where nearly all memories pass; long ones may be left out."""
        return self._most if self._long else 2 * self._most

    def read(self, rows: list[Row]) -> list[Scored] | None:
        found = [row for row in rows if row[0] is not None]  # where nearly all pass, the others are told without an id
        if self._approximate and len(found) < self._limit:  # the filter lets few through
            self._reach *= 8
            self._approximate = self._reach <= _FARTHEST
            return None
        if not self._approximate and not self._reached(rows, found):
            self._most *= 1 if self._top and len(found) < self._limit else 4
            self._top = False
            self._margin.widen()
            return None
        near = [row for row in found if row[5] is not None]
        if not near:
            return []
        exact = generations.unpacked((row[5] for row in near), self._live.space.dimensions)
        scores = cosines(exact, self._query).tolist()
        best = sorted(zip(scores, (row[0] for row in near), strict=True), key=lambda one: (-one[0], one[1]))
        return [Scored(id, score) for score, id in best[: self._limit]]

    def _reached(self, rows: list[Row], found: list[Row]) -> bool:
        """Whether no other can be among the best: it is farther than the last wanted one by more than the slack."""
        if len(rows) < (self._looked_at if self._top else self._most):
            return True
        if len(found) < self._limit:
            return False
        distances = sorted(row[1] for row in found)
        return bool(max(row[1] for row in rows) > distances[self._limit - 1] + slack_of(self._query))


def few(filter: Filter) -> bool:
    """Whether an index of memories leads to the few that pass."""
    return rare(filter) or filter.ids is not None or bool(filter.threads) or bool(filter.tags)


def slack_of(query: Vector) -> float:
    """How far two rough products may mislead: rounding of the stored vectors, of the query, and of the sums."""
    exact = query.astype(np.float64)
    rounded = float(np.linalg.norm(exact - query.astype(np.float16).astype(np.float64)))
    return 2 * (1.01 * (_HALF + rounded + len(query) * _SINGLE) + _LENGTH)
