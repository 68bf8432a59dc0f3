"""Links between memories: stored ones, and the order of a thread, which is derived."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from thinkback.model import SEQUENCE, Filter, StoredEdge
from thinkback.stores.postgres.filters import Params, clause
from thinkback.stores.postgres.session import Tx
from thinkback.stores.postgres.writes import require
from thinkback.stores.sqlite.links import Kinds, check, row_of, strength

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


def around(
    tx: Tx, ids: Sequence[str], filter: Filter, limit_each: int | None, kinds: Kinds, matching: Matching
) -> dict[str, list[StoredEdge]]:
    """Per memory its edges in both directions, strongest first, then by the other end's id; one statement."""
    params = tx.params(ids=list(ids))
    others = replace(filter, ids=None)
    parts = []
    if kinds.stored:
        parts += _stored(others, kinds, params, matching, limit_each)
    if kinds.sequence:
        parts.append(_in_thread(others, params, matching))
    found: dict[str, list[StoredEdge]] = {}
    for id, *edge in tx.rows(" UNION ALL ".join(parts), params) if parts and ids else ():
        found.setdefault(id, []).append(_edge(edge))
    return {id: sorted(found[id], key=lambda e: strength(e, id))[:limit_each] for id in ids if id in found}


def _stored(filter: Filter, kinds: Kinds, params: Params, matching: Matching, limit_each: int | None) -> list[str]:
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
        f"SELECT j.id, x.* FROM unnest(%(ids)s::text[]) AS j(id) CROSS JOIN LATERAL (SELECT {_COLUMNS} "
        f"FROM thinkback.edges e JOIN thinkback.memories m ON m.space = %(space)s AND m.id = e.{far} "
        f"WHERE e.space = %(space)s AND e.{near} = j.id AND {' AND '.join(terms)} AND {passing} "
        f"ORDER BY e.weight DESC, e.{far}, e.kind LIMIT {most}) x"
        for near, far in (("from_id", "to_id"), ("to_id", "from_id"))
    ]


def _in_thread(filter: Filter, params: Params, matching: Matching) -> str:
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
            f"WHERE {here} AND m.id = ANY(%(ids)s::text[]) AND m.thread IS NOT NULL"
        )
    return " UNION ALL ".join(sides)


def _edge(row: Sequence[Any]) -> StoredEdge:
    return StoredEdge(**dict(zip(_FIELDS, row, strict=True)))


def between(tx: Tx, pairs: Sequence[tuple[str, str]], filter: Filter, most: int, matching: Matching) -> list[int]:
    """How many memories lie between the two of each pair in their thread, counted up to `most`."""
    if not pairs:
        return []
    params = tx.params(first=[a for a, _ in pairs], last=[b for _, b in pairs], most=most)
    passing = clause(replace(filter, ids=None), params, "n", matching)
    ends = Filter(now=filter.now, known_at=filter.known_at, everything=True)
    sql = (
        "SELECT CASE WHEN a.thread = b.thread THEN (SELECT count(*) FROM (SELECT 1 FROM thinkback.memories n "
        f"WHERE {passing} AND n.thread = a.thread AND n.position BETWEEN a.position AND b.position "
        "AND (n.position, n.id) > (a.position, a.id) AND (n.position, n.id) < (b.position, b.id) "
        "LIMIT %(most)s::bigint) c) ELSE %(most)s::bigint END "
        "FROM unnest(%(first)s::text[], %(last)s::text[]) WITH ORDINALITY AS j(first, last, ord) "
        f"LEFT JOIN thinkback.memories a ON a.id = j.first AND {clause(ends, params, 'a')} "
        f"LEFT JOIN thinkback.memories b ON b.id = j.last AND {clause(ends, params, 'b')} ORDER BY j.ord"
    )
    return [int(found) for (found,) in tx.rows(sql, params)]


def everything(tx: Tx) -> list[StoredEdge]:
    """Every stored edge."""
    sql = f"SELECT {_COLUMNS} FROM thinkback.edges e WHERE e.space = %(space)s ORDER BY e.from_id, e.to_id, e.kind"
    return [_edge(row) for row in tx.rows(sql)]
