"""An HNSW index over the vectors of one large space, made by an explicit command and used by recipes that ask for it.

It covers the rows of that space alone, so others pay nothing. How many of the nearest it finds is measured when it is built, and
kept as its comment with the number of memories.
"""

import json
from collections.abc import Sequence
from typing import Any

from psycopg import sql

from thinkback.errors import InvalidInput, StoreError
from thinkback.model import ApproximateIndex
from thinkback.stores.base import check_space, unknown_space
from thinkback.stores.postgres.schema import WIDEST_HEAD
from thinkback.stores.postgres.server import Connection, administered
from thinkback.stores.postgres.session import Tx
from thinkback.values import dataclass

METHOD = "hnsw"
_SEARCHED = 200  # candidates the search keeps; the higher, the better the recall
_WIDEST = 4000  # numbers of a half-precision vector that pgvector can index
_ASKED, _NEAREST = 50, 10  # vectors whose nearest are compared, and how many of them
_USE = (
    "SELECT obj_description(to_regclass(%(index)s)::oid, 'pg_class'), set_config('hnsw.ef_search', %(searched)s, true), "
    "set_config('hnsw.iterative_scan', 'strict_order', true)"
)


@dataclass(frozen=True, slots=True)
class SpaceIndex:
    """The index of a space."""

    space: str
    name: str
    memories: int
    recall: float


def name_of(space: int, generation: int) -> str:
    return f"vectors_hnsw_{space}_{generation}"


def column(dimensions: int) -> str:
    """The vectors as the index has them."""
    return f"{'head' if dimensions <= WIDEST_HEAD else 'wide'}::halfvec({dimensions})"


def used(tx: Tx, generation: int) -> ApproximateIndex | None:
    """The index of the space, made ready for this transaction; None if there is none."""
    name = name_of(tx.space, generation)
    told = tx.value(_USE, {"index": f"thinkback.{name}", "searched": str(_SEARCHED)})
    if told is None:
        return None
    facts = json.loads(told)
    return ApproximateIndex(METHOD, name, float(facts["recall"]), int(facts["memories"]))


def build(url: str, space: str) -> SpaceIndex:
    """Builds the index of a space, beside its use; one that is there already is built anew."""
    with administered(url) as connection:
        number, generation, dimensions = _live(connection, check_space(space))
        _drop(connection, number)
        name = name_of(number, generation)
        connection.execute(
            f"CREATE INDEX CONCURRENTLY {name} ON thinkback.vectors USING hnsw (({column(dimensions)}) halfvec_ip_ops) "
            f"WITH (m = 16, ef_construction = 128) WHERE space = {number} AND generation = {generation}"
        )
        memories, recall = _measured(connection, number, generation, dimensions)
        facts = sql.Literal(json.dumps({"recall": recall, "memories": memories}))
        connection.execute(sql.SQL("COMMENT ON INDEX {} IS {}").format(sql.Identifier("thinkback", name), facts))
        return SpaceIndex(space, name, memories, recall)


def drop(url: str, space: str) -> bool:
    """Drops the index of a space; whether there was one."""
    with administered(url) as connection:
        found = connection.execute("SELECT d.space FROM thinkback.directory d WHERE d.name = %s", (check_space(space),))
        row = found.fetchone()
        if row is None:
            raise unknown_space(space)
        return _drop(connection, row[0])


def listed(url: str) -> list[SpaceIndex]:
    """Every index, by the name of its space."""
    statement = (
        "SELECT d.name, i.indexname, obj_description(to_regclass('thinkback.' || i.indexname)::oid, 'pg_class') "
        "FROM thinkback.directory d JOIN pg_indexes i ON i.schemaname = 'thinkback' AND i.tablename = 'vectors' "
        r"AND i.indexname LIKE 'vectors\_hnsw\_' || d.space || '\_%' ORDER BY d.name"
    )
    with administered(url) as connection:
        rows = connection.execute(statement).fetchall()
    return [
        SpaceIndex(space, name, int(facts["memories"]), float(facts["recall"]))
        for space, name, facts in ((space, name, json.loads(told)) for space, name, told in rows if told)
    ]


def _live(connection: Connection, space: str) -> tuple[int, int, int]:
    row = connection.execute(
        "SELECT d.space, g.generation, g.dimensions FROM thinkback.directory d JOIN thinkback.spaces s ON s.space = d.space "
        "LEFT JOIN thinkback.generations g ON g.space = s.space AND g.generation = s.live WHERE d.name = %s",
        (space,),
    ).fetchone()
    if row is None:
        raise unknown_space(space)
    if row[1] is None:
        raise StoreError(f"the space {space!r} has no vectors to index", code="no_vectors")
    if row[2] > _WIDEST:
        raise InvalidInput(f"vectors of {row[2]} numbers; an index takes up to {_WIDEST}", code="wrong_dimensions")
    return row[0], row[1], row[2]


def _drop(connection: Connection, space: int) -> bool:
    pattern = rf"vectors\_hnsw\_{space}\_%"
    found = connection.execute(
        "SELECT i.indexname FROM pg_indexes i WHERE i.schemaname = 'thinkback' AND i.indexname LIKE %s", (pattern,)
    ).fetchall()
    for (name,) in found:
        connection.execute(sql.SQL("DROP INDEX CONCURRENTLY {}").format(sql.Identifier("thinkback", name)))
    return bool(found)


def _measured(connection: Connection, space: int, generation: int, dimensions: int) -> tuple[int, float]:
    """How many vectors there are, and the share of the nearest that the index finds, asked with vectors of the space itself."""
    of = f"FROM thinkback.vectors v WHERE v.space = {space} AND v.generation = {generation}"
    plain = column(dimensions).partition("::")[0]
    count = _one(connection, f"SELECT count(*) {of}")[0][0]
    step = max(count // _ASKED, 1)
    numbered = f"SELECT v.seq, row_number() OVER (ORDER BY v.seq) AS n {of}"
    asked = f"SELECT x.seq FROM ({numbered}) x WHERE x.n % {step} = 0 LIMIT {_ASKED}"
    found = wanted = 0
    with connection.transaction():
        connection.execute(f"SET LOCAL hnsw.ef_search = {_SEARCHED}")
        for (seq,) in _one(connection, asked):
            query = f"(SELECT v.{plain} {of} AND v.seq = {int(seq)})"
            exact = _one(connection, f"SELECT v.seq {of} ORDER BY v.{plain} <#> {query} LIMIT {_NEAREST}")
            near = _one(
                connection,
                f"SELECT v.seq {of} ORDER BY v.{column(dimensions)} <#> {query}::halfvec({dimensions}) LIMIT {_NEAREST}",
            )
            wanted += len(exact)
            found += len({seq for (seq,) in exact} & {seq for (seq,) in near})
    return int(count), found / wanted if wanted else 1.0


def _one(connection: Connection, statement: str) -> Sequence[tuple[Any, ...]]:
    return connection.execute(statement).fetchall()
