"""Links between memories: stored ones, and the order of a thread, which is derived."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from thinkback.model import SEQUENCE, Filter, StoredEdge, StoredRecord
from thinkback.stores.postgres.filters import Params, clause
from thinkback.stores.postgres.rows import COLUMNS
from thinkback.stores.postgres.session import Tx
from thinkback.stores.postgres.writes import require
from thinkback.stores.sqlite.links import Kinds, check, row_of, strength
from thinkback.values import dataclass

_FIELDS = ("from_id", "to_id", "kind", "weight", "valid_from", "valid_to", "created_at")
_COLUMNS = ", ".join(f"e.{name}" for name in _FIELDS)
_TYPES = ("text", "text", "text", "float8", "bigint", "bigint", "bigint")
Matching = list[int] | None


def link(tx: Tx, edges: Sequence[StoredEdge], now: int) -> None:
    """Writes edges; the same ends and kind again replaces weight and validity."""
    for edge in edges:
        check(edge)
    require(tx, list({id: None for edge in edges for id in (edge.from_id, edge.to_id)}))
    # One statement may not change a row twice; of two equal edges the last counts, with the first one's time.
    rows: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for edge in edges:
        row = row_of(edge, now)
        rows[row[:3]] = (*row[:-1], rows[row[:3]][-1]) if row[:3] in rows else row
    if rows:
        columns = list(zip(*rows.values(), strict=True))
        params = tx.params(**{name: list(column) for name, column in zip(_FIELDS, columns, strict=True)})
        arrays = ", ".join(f"%({name})s::{type}[]" for name, type in zip(_FIELDS, _TYPES, strict=True))
        tx.run(
            f"INSERT INTO thinkback.edges (space, {', '.join(_FIELDS)}) SELECT %(space)s, u.* FROM unnest({arrays}) u "
            "ON CONFLICT (space, from_id, to_id, kind) DO UPDATE SET "
            "weight = excluded.weight, valid_from = excluded.valid_from, valid_to = excluded.valid_to",
            params,
        )
    tx.bump()


def unlink(tx: Tx, from_id: str, to_id: str, kind: str | None) -> int:
    """Removes the edges from one memory to another, of one kind or of all."""
    sql = (
        "DELETE FROM thinkback.edges e WHERE e.space = %(space)s AND e.from_id = %(from)s AND e.to_id = %(to)s "
        "AND (%(kind)s::text IS NULL OR e.kind = %(kind)s::text)"
    )
    gone = tx.run(sql, tx.params(**{"from": from_id, "to": to_id, "kind": kind}))
    if gone:
        tx.bump()
    return gone


@dataclass(frozen=True, slots=True)
class Around:
    """The edges of some memories that are asked for."""

    ids: Sequence[str]
    filter: Filter
    limit_each: int | None
    kinds: Kinds
    matching: Matching

    def parts(self, params: Params, linked: bool) -> list[str]:
        if not self.ids:
            return []
        others = replace(self.filter, ids=None)
        ids = params.add(list(self.ids), "::text[]")
        stored = (
            []
            if not (linked and self.kinds.stored)
            else _stored(ids, others, self.kinds, params, self.matching, self.limit_each)
        )
        return [*stored, _in_thread(ids, others, params, self.matching)] if self.kinds.sequence else stored


def around(tx: Tx, asked: Sequence[Around]) -> list[dict[str, list[StoredEdge]]]:
    """Per memory its edges in both directions, strongest first, then by the other end's id; one statement for all."""
    params = tx.params()
    parts = [
        f"SELECT {at}, x.* FROM ({part}) x" for at, one in enumerate(asked) for part in one.parts(params, tx.linked)
    ]
    found: list[dict[str, list[StoredEdge]]] = [{} for _ in asked]
    for at, id, *edge in tx.rows(" UNION ALL ".join(parts), params) if parts else ():
        found[at].setdefault(id, []).append(_edge(edge))
    return [
        {id: sorted(its[id], key=lambda e: strength(e, id))[: one.limit_each] for id in one.ids if id in its}
        for one, its in zip(asked, found, strict=True)
    ]


def _stored(
    ids: str, filter: Filter, kinds: Kinds, params: Params, matching: Matching, limit_each: int | None
) -> list[str]:
    passing = clause(filter, params, matching=matching)
    when = params.add(filter.now if filter.as_of is None else filter.as_of, "::bigint")
    terms = [f"(e.valid_from IS NULL OR e.valid_from <= {when}) AND (e.valid_to IS NULL OR e.valid_to > {when})"]
    if filter.known_at is not None:
        terms.append(f"e.created_at <= {params.add(filter.known_at, '::bigint')}")
    if kinds.only:
        terms.append(f"e.kind = ANY({params.add(list(kinds.only), '::text[]')})")
    if kinds.without:
        terms.append(f"e.kind <> ALL({params.add(list(kinds.without), '::text[]')})")
    # Each direction is cut to the limit on the server, so that a hub costs what few links cost.
    most = params.add(limit_each, "::bigint")
    return [
        f"SELECT j.id, x.* FROM unnest({ids}) AS j(id) CROSS JOIN LATERAL (SELECT {_COLUMNS} "
        f"FROM thinkback.edges e JOIN thinkback.memories m ON m.space = %(space)s AND m.id = e.{far} "
        f"WHERE e.space = %(space)s AND e.{near} = j.id AND {' AND '.join(terms)} AND {passing} "
        f"ORDER BY e.weight DESC, e.{far}, e.kind LIMIT {most}) x"
        for near, far in (("from_id", "to_id"), ("to_id", "from_id"))
    ]


def _in_thread(ids: str, filter: Filter, params: Params, matching: Matching) -> str:
    """The neighbours before and after, among the memories of the same thread that pass."""
    passing = clause(filter, params, "n", matching)
    here = clause(Filter(now=filter.now, known_at=filter.known_at, everything=True), params)
    sides = []
    for side, order, ends in (("<", "DESC", "x.id, m.id"), (">", "ASC", "m.id, x.id")):
        sides.append(
            f"SELECT m.id, {ends}, '{SEQUENCE}', 1.0::float8, NULL::bigint, NULL::bigint, m.created_at "
            "FROM thinkback.memories m CROSS JOIN LATERAL (SELECT n.id FROM thinkback.memories n "
            f"WHERE {passing} AND n.thread = m.thread AND n.position {side}= m.position "
            f"AND (n.position, n.id) {side} (m.position, m.id) "
            f"ORDER BY n.position {order}, n.id {order} LIMIT 1) x "
            f"WHERE {here} AND m.id = ANY({ids}) AND m.thread IS NOT NULL"
        )
    return " UNION ALL ".join(sides)


def _edge(row: Sequence[Any]) -> StoredEdge:
    return StoredEdge(**dict(zip(_FIELDS, row, strict=True)))


Pair = tuple[StoredRecord, StoredRecord]


def between(tx: Tx, pairs: Sequence[Pair | None], filter: Filter, most: int, matching: Matching) -> list[int]:
    """How many memories lie between the two of each pair in their thread, counted up to `most`; None is no pair."""
    asked = [
        (at, pair)
        for at, pair in enumerate(pairs)
        if pair and pair[0].thread is not None and pair[0].thread == pair[1].thread
    ]
    found = [most] * len(pairs)
    if not asked:
        return found
    params = tx.params(most=most, ats=[at for at, _ in asked], threads=[first.thread for _, (first, _) in asked])
    for end, name in enumerate(("first", "last")):
        params[f"{name}_ids"] = [pair[end].id for _, pair in asked]
        params[f"{name}_places"] = [pair[end].position for _, pair in asked]
    passing = clause(replace(filter, ids=None), params, "n", matching)
    sql = (
        "SELECT j.at, (SELECT count(*) FROM (SELECT 1 FROM thinkback.memories n WHERE "
        f"{passing} AND n.thread = j.thread AND n.position BETWEEN j.first AND j.last "
        "AND (n.position, n.id) > (j.first, j.first_id) AND (n.position, n.id) < (j.last, j.last_id) "
        "LIMIT %(most)s::bigint) c) FROM unnest(%(ats)s::bigint[], %(threads)s::text[], %(first_places)s::bigint[], "
        "%(first_ids)s::text[], %(last_places)s::bigint[], %(last_ids)s::text[]) "
        "AS j(at, thread, first, first_id, last, last_id)"
    )
    for at, count in tx.rows(sql, params):
        found[at] = int(count)
    return found


Gaps = dict[tuple[str, str], int]


def with_gaps(
    tx: Tx, ids: Sequence[str], missing: Sequence[str], filter: Filter, most: int, matching: Matching
) -> tuple[list[tuple[Any, ...]], Gaps]:
    """Rows of present memories, and how many lie between those that follow each other in a thread; one statement.

    A row has id, access count, last access and, of those that are `missing`, the columns of a record.
    """
    params = tx.params(ids=list(ids), missing=list(missing), most=most)
    passing = clause(replace(filter, ids=None), params, "n", matching)
    sql = (
        "SELECT c.id, c.before, (SELECT count(*) FROM (SELECT 1 FROM thinkback.memories n WHERE "
        f"{passing} AND n.thread = c.thread AND n.position BETWEEN c.start AND c.position "
        "AND (n.position, n.id) > (c.start, c.before) AND (n.position, n.id) < (c.position, c.id) "
        "AND c.position - c.start > 1 LIMIT %(most)s::bigint) x), c.access_count, c.last_access, m.id IS NULL, "
        f"{COLUMNS} FROM (SELECT o.id, o.thread, o.position, o.access_count, o.last_access, lag(o.id) OVER w AS before, "
        "lag(o.position) OVER w AS start FROM thinkback.memories o WHERE o.space = %(space)s "
        "AND o.id = ANY(%(ids)s::text[]) AND o.retired_at IS NULL "
        "WINDOW w AS (PARTITION BY o.thread ORDER BY o.position, o.id)) c "
        # By the limit each is looked up by its id; joined at once, they may be searched for again and again.
        "LEFT JOIN LATERAL (SELECT * FROM thinkback.memories m WHERE m.space = %(space)s AND m.id = c.id "
        "AND m.retired_at IS NULL AND c.id = ANY(%(missing)s::text[]) LIMIT 1) m ON true"
    )
    rows = tx.rows(sql, params)
    gaps = {(row[1], row[0]): int(row[2]) for row in rows if row[1] is not None}
    return [(row[0], row[3], row[4], *([] if row[5] else row[6:])) for row in rows], gaps


def everything(tx: Tx) -> list[StoredEdge]:
    """Every stored edge."""
    sql = f"SELECT {_COLUMNS} FROM thinkback.edges e WHERE e.space = %(space)s ORDER BY e.from_id, e.to_id, e.kind"
    return [_edge(row) for row in tx.rows(sql)]
