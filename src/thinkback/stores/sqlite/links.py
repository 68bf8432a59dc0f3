"""Links between memories: stored edges, and thread order, which is derived."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import apsw

from thinkback.errors import InvalidInput
from thinkback.inputs import check_interval, check_name
from thinkback.model import SEQUENCE, Filter, StoredEdge, StoredRecord
from thinkback.stores.sqlite import counters
from thinkback.stores.sqlite.catalogue import Catalogue
from thinkback.stores.sqlite.filters import Clause, clause
from thinkback.stores.sqlite.rows import listed
from thinkback.stores.sqlite.writes import require
from thinkback.values import dataclass

Records = Callable[[Sequence[str]], Mapping[str, StoredRecord]]  # present ones by id
_HEAVIEST = sys.float_info.max
_FIELDS = "from_id, to_id, kind, weight, valid_from, valid_to, created_at"
_COLUMNS = ", ".join(f"e.{name}" for name in _FIELDS.split(", "))


def link(connection: apsw.Connection, edges: Sequence[StoredEdge], now: int) -> None:
    """Write edges; the same ends and kind again replaces weight and validity."""
    for edge in edges:
        check(edge)
    require(connection, list({id: None for edge in edges for id in (edge.from_id, edge.to_id)}))
    put(connection, edges, now)
    counters.bump(connection)


def put(connection: apsw.Connection, edges: Sequence[StoredEdge], now: int) -> None:
    """Write edges that were checked before."""
    sql = (
        f"INSERT INTO edges ({_FIELDS}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
        "weight = excluded.weight, valid_from = excluded.valid_from, valid_to = excluded.valid_to"
    )
    connection.executemany(sql, (row_of(edge, now) for edge in edges))


def check(edge: StoredEdge) -> None:
    """Refuse an invalid edge."""
    check_name(edge.kind, "an edge's kind")
    if edge.kind == SEQUENCE:
        raise InvalidInput(f"edges of kind {SEQUENCE!r} follow from thread and position; set those instead")
    if edge.from_id == edge.to_id:
        raise InvalidInput(f"the memory {edge.from_id!r} cannot be linked to itself")
    if isinstance(edge.weight, bool) or not isinstance(edge.weight, int | float) or not 0 <= edge.weight <= _HEAVIEST:
        raise InvalidInput(f"an edge's weight must be a number, 0 or more, not {edge.weight!r:.80}")
    check_interval(edge.valid_from, edge.valid_to)


def row_of(edge: StoredEdge, now: int) -> tuple[str, str, str, float, int | None, int | None, int]:
    return (
        edge.from_id,
        edge.to_id,
        edge.kind,
        float(edge.weight),
        edge.valid_from,
        edge.valid_to,
        edge.created_at or now,
    )


def unlink(connection: apsw.Connection, from_id: str, to_id: str, kind: str | None) -> int:
    """Remove the edges from one memory to another, of one kind or of all."""
    sql = "DELETE FROM edges WHERE from_id = ? AND to_id = ? AND (?3 IS NULL OR kind = ?3) RETURNING 1"
    gone = len(connection.execute(sql, (from_id, to_id, kind)).fetchall())
    if gone:
        counters.bump(connection)
    return gone


@dataclass(frozen=True, slots=True)
class Kinds:
    """Which kinds of edges are wanted: those of `only`, or all if it is empty, and none of `without`."""

    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    @property
    def sequence(self) -> bool:
        return SEQUENCE not in self.without and (not self.only or SEQUENCE in self.only)

    @property
    def stored(self) -> bool:
        """Whether a stored edge can be among them; thread order is not stored."""
        return set(self.only) != {SEQUENCE}

    def clause(self) -> Clause:
        """The condition on an edge `e`."""
        terms = [
            (f"e.kind {operator} (SELECT value FROM json_each(?))", listed(kinds))
            for operator, kinds in (("IN", self.only), ("NOT IN", self.without))
            if kinds
        ]
        return Clause("".join(f" AND {sql}" for sql, _ in terms), tuple(kinds for _, kinds in terms))


def around(
    connection: apsw.Connection,
    ids: Sequence[str],
    filter: Filter,
    limit_each: int | None,
    kinds: Kinds,
    catalogue: Catalogue | None = None,
    records: Records | None = None,
) -> dict[str, list[StoredEdge]]:
    """Per memory its edges in both directions, strongest first, then by the other end's id.

    A catalogue of the same state tells whether there are stored edges at all, and has the threads; then `records` gives present
    memories, which a search reads anyway.
    """
    others = filter if filter.ids is None else replace(filter, ids=None)
    found: dict[str, list[StoredEdge]] = {}
    if kinds.stored and (catalogue is None or catalogue.fact("edges", lambda: _any(connection))):
        for id, edge in _stored(connection, ids, others, limit_each, kinds):
            found.setdefault(id, []).append(edge)
    if kinds.sequence:
        if not found and catalogue is not None and records is not None and _masks(others):
            return _along_lines(connection, catalogue, ids, others, limit_each, records)
        for id, edge in _in_thread(connection, ids, others):
            found.setdefault(id, []).append(edge)
    return {
        id: sorted(found[id], key=lambda e: strength(e, id))[:limit_each] for id in dict.fromkeys(ids) if id in found
    }


def _any(connection: apsw.Connection) -> bool:
    return connection.execute("SELECT 1 FROM edges LIMIT 1").get is not None


def _masks(filter: Filter) -> bool:
    """Whether a mask of the present memories tells what passes, and is kept."""
    return filter.known_at is None and filter.where is None and not filter.metadata


def _along_lines(
    connection: apsw.Connection,
    catalogue: Catalogue,
    ids: Sequence[str],
    filter: Filter,
    limit_each: int | None,
    records: Records,
) -> dict[str, list[StoredEdge]]:
    """The neighbours in threads, without stored edges."""
    lines = catalogue.lines(connection, ids)
    mask = catalogue.mask(filter, connection)
    others: dict[str, list[StoredEdge]] = {}
    unread = [id for id in ids if id not in lines]
    for id, edge in _in_thread(connection, unread, filter) if unread else ():
        others.setdefault(id, []).append(edge)
    told = records([id for id, line in lines.items() if line is not None])
    found: dict[str, list[StoredEdge]] = {}
    for id in ids:
        placed = lines.get(id)
        if placed is None:
            edges = sorted(others.get(id, ()), key=lambda e: strength(e, id))
        else:
            edges = placed[0].around(placed[1], mask, catalogue.ids.__getitem__, told[id].created_at)
        if edges:
            found[id] = edges[:limit_each]
    return found


def strength(edge: StoredEdge, id: str) -> tuple[float, str, str, bool]:
    """The order of a memory's edges."""
    away = edge.from_id == id
    return -edge.weight, edge.to_id if away else edge.from_id, edge.kind, not away


def _stored(
    connection: apsw.Connection, ids: Sequence[str], filter: Filter, limit_each: int | None, kinds: Kinds
) -> list[tuple[str, StoredEdge]]:
    passing, of_kind = clause(filter), kinds.clause()
    when = filter.now if filter.as_of is None else filter.as_of
    known = "" if filter.known_at is None else " AND e.created_at <= ?"
    valid = (
        f"(e.valid_from IS NULL OR e.valid_from <= ?) AND (e.valid_to IS NULL OR e.valid_to > ?){known}{of_kind.sql}"
    )
    half = (
        "SELECT * FROM (SELECT {columns} FROM edges e JOIN memories m ON m.id = e.{far} WHERE e.{near} = ? AND {valid} "
        "AND {passing} ORDER BY e.weight DESC, e.{far}, e.kind LIMIT ?)"
    )
    sql = " UNION ALL ".join(
        half.format(columns=_COLUMNS, near=near, far=far, valid=valid, passing=passing.sql)
        for near, far in (("from_id", "to_id"), ("to_id", "from_id"))
    )
    moments = (when, when) if filter.known_at is None else (when, when, filter.known_at)
    rest = (*moments, *of_kind.bindings, *passing.bindings, -1 if limit_each is None else limit_each)
    # A statement for each memory: the limit is its own, and the index on weight ends the search of a hub.
    linked = _linked(connection, ids)
    return [(id, _edge(row)) for id in ids if id in linked for row in connection.execute(sql, (id, *rest, id, *rest))]


def _linked(connection: apsw.Connection, ids: Sequence[str]) -> set[str]:
    """The memories among these that have a stored edge; most have none, and each statement saved counts."""
    end = "EXISTS (SELECT 1 FROM edges e WHERE e.{} = j.value)"
    sql = f"SELECT j.value FROM json_each(?) j WHERE {end.format('from_id')} OR {end.format('to_id')}"
    return {id for (id,) in connection.execute(sql, (listed(ids),))}


def _edge(row: Sequence[object]) -> StoredEdge:
    if not all(isinstance(name, str) for name in row[:3]):
        raise TypeError("a link between no names")  # which `damage` then names
    return StoredEdge(**dict(zip(_FIELDS.split(", "), row, strict=True)))  # type: ignore[arg-type]


def _in_thread(connection: apsw.Connection, ids: Sequence[str], filter: Filter) -> list[tuple[str, StoredEdge]]:
    """The neighbours before and after, among the memories of the same thread that pass."""
    passing = clause(filter, "n")
    here = clause(Filter(now=filter.now, known_at=filter.known_at, everything=True), "m")
    near = (
        "(SELECT n.id FROM memories n WHERE n.thread = m.thread AND (n.position, n.id) {side} (m.position, m.id) "
        f"AND {passing.sql} ORDER BY n.position {{order}}, n.id {{order}} LIMIT 1)"
    )
    sql = (
        f"SELECT m.id, m.created_at, {near.format(side='<', order='DESC')}, {near.format(side='>', order='ASC')} "
        f"FROM memories m WHERE m.id IN (SELECT value FROM json_each(?)) AND m.thread IS NOT NULL AND {here.sql}"
    )
    rows = connection.execute(sql, (*passing.bindings, *passing.bindings, listed(ids), *here.bindings))
    found = []
    for id, created, before, after in rows:
        if before is not None:
            found.append((id, StoredEdge(from_id=before, to_id=id, kind=SEQUENCE, created_at=created)))
        if after is not None:
            found.append((id, StoredEdge(from_id=id, to_id=after, kind=SEQUENCE, created_at=created)))
    return found


def between(
    connection: apsw.Connection,
    pairs: Sequence[tuple[str, str]],
    filter: Filter,
    most: int,
    catalogue: Catalogue | None = None,
) -> list[int]:
    """How many memories lie between the two of each pair in their thread, counted up to `most`."""
    filter = filter if filter.ids is None else replace(filter, ids=None)
    if catalogue is None or not _masks(filter):
        return _between(connection, pairs, filter, most)
    lines = catalogue.lines(connection, list(dict.fromkeys(id for pair in pairs for id in pair)))
    mask = catalogue.mask(filter, connection)
    unread = [pair for pair in pairs if pair[0] not in lines or pair[1] not in lines]
    counted = iter(_between(connection, unread, filter, most) if unread else ())
    counts = []
    for first, last in pairs:
        if first not in lines or last not in lines:
            counts.append(next(counted))
            continue
        begin, end = lines[first], lines[last]
        if begin is None or end is None or begin[0] is not end[0]:
            counts.append(most)
        else:
            counts.append(min(most, sum(begin[0].passes(mask)[begin[1] + 1 : end[1]])))
    return counts


def _between(connection: apsw.Connection, pairs: Sequence[tuple[str, str]], filter: Filter, most: int) -> list[int]:
    passing = clause(filter, "n")
    first, last = (clause(Filter(now=filter.now, known_at=filter.known_at, everything=True), end) for end in "ab")
    sql = (
        "SELECT CASE WHEN a.thread = b.thread THEN (SELECT count(*) FROM (SELECT 1 FROM memories n "
        "WHERE n.thread = a.thread AND (n.position, n.id) > (a.position, a.id) AND (n.position, n.id) < (b.position, b.id) "
        f"AND {passing.sql} LIMIT ?)) ELSE ? END FROM json_each(?) j "
        f"LEFT JOIN memories a ON a.id = j.value ->> 0 AND {first.sql} "
        f"LEFT JOIN memories b ON b.id = j.value ->> 1 AND {last.sql} ORDER BY j.key"
    )
    bindings = (*passing.bindings, most, most, json.dumps(list(pairs)), *first.bindings, *last.bindings)
    return [count for (count,) in connection.execute(sql, bindings)]


def everything(connection: apsw.Connection) -> list[StoredEdge]:
    """Every stored edge."""
    sql = f"SELECT {_COLUMNS} FROM edges e ORDER BY e.from_id, e.to_id, e.kind"
    return [_edge(row) for row in connection.execute(sql)]
