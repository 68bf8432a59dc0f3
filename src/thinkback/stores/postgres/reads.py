"""Reading memories: by id, by page, by version, by date; and all there is, for exports."""

from collections.abc import Iterator, Sequence

import numpy as np

from thinkback.errors import Action, NotFound, Remedy
from thinkback.inputs import check_integer
from thinkback.model import Filter, Passages, Scored, StoredRecord, Vector
from thinkback.stores.base import Snapshot
from thinkback.stores.postgres import generations, journal, links, passages
from thinkback.stores.postgres.filters import Params, clause
from thinkback.stores.postgres.rows import COLUMNS, select, to_record
from thinkback.stores.postgres.searches import Row
from thinkback.stores.postgres.session import Tx
from thinkback.stores.sqlite.generations import STORED
from thinkback.values import dataclass

_AT = "m.recorded_at <= %(at)s AND (m.retired_at IS NULL OR m.retired_at > %(at)s)"
_IN_ORDER = "WHERE m.space = %(space)s ORDER BY m.retired_at IS NULL, m.recorded_at, m.seq"
_PAGE = 500  # records read at once
Matching = list[int] | None


def get(tx: Tx, ids: Sequence[str], known_at: int | None) -> dict[str, StoredRecord]:
    """Records by id, in the order asked for."""
    if not ids:
        return {}
    version = "m.retired_at IS NULL" if known_at is None else _AT
    sql = f"WHERE m.space = %(space)s AND m.id = ANY(%(ids)s::text[]) AND {version}"
    found = {record.id: record for record in select(tx, sql, tx.params(ids=list(ids), at=known_at))}
    return {id: found[id] for id in ids if id in found}


def ids_ending(tx: Tx, ending: str, limit: int) -> list[str]:
    """Ids of present memories that end with these letters."""
    sql = (
        "SELECT m.id FROM thinkback.memories m WHERE m.space = %(space)s AND m.retired_at IS NULL "
        "AND right(m.id, %(letters)s::int) = %(ending)s ORDER BY m.id LIMIT %(most)s::bigint"
    )
    return [id for (id,) in tx.rows(sql, tx.params(ending=ending, letters=len(ending), most=limit))]


def accesses(tx: Tx, ids: Sequence[str]) -> list[tuple[str, int, int | None]]:
    """Access count and last access of present memories."""
    sql = (
        "SELECT m.id, m.access_count, m.last_access FROM thinkback.memories m WHERE m.space = %(space)s "
        "AND m.id = ANY(%(ids)s::text[]) AND m.retired_at IS NULL"
    )
    return tx.rows(sql, tx.params(ids=list(ids)))


def page(tx: Tx, filter: Filter, limit: int | None, after: str | None, matching: Matching) -> list[StoredRecord]:
    """Records newest first, from the one after `after`."""
    most = None if limit is None else check_integer(limit, "limit")
    params = tx.params(most=most)
    sql = clause(filter, params, matching=matching)
    if after is not None:
        sql += f" AND (m.created_at, m.id) < ({params.add(_created(tx, after), '::bigint')}, {params.add(after)})"
    return select(tx, f"WHERE {sql} ORDER BY m.created_at DESC, m.id DESC LIMIT %(most)s::bigint", params)


def _created(tx: Tx, id: str) -> int:
    sql = (
        "SELECT m.created_at FROM thinkback.memories m WHERE m.space = %(space)s AND m.id = %(id)s "
        "ORDER BY m.retired_at IS NOT NULL LIMIT 1"
    )
    created = tx.value(sql, tx.params(id=id))
    if created is None:
        raise NotFound(
            f"cannot continue after {id!r}: there is no such memory",
            code="unknown_memory",
            remedy=Remedy(Action.LIST_MEMORIES),
        )
    return int(created)


@dataclass(frozen=True, slots=True)
class Counted:
    """How many memories pass."""

    filter: Filter
    matching: Matching

    def sql(self, params: Params) -> str:
        passing = clause(self.filter, params, matching=self.matching)
        return (
            "SELECT NULL::text, NULL::float8, count(*), NULL::integer, NULL::integer, NULL::bytea "
            f"FROM thinkback.memories m WHERE {passing}"
        )

    def read(self, rows: list[Row]) -> int:
        return int(rows[0][2])


_DATED = "SELECT m.id, NULL::float8, m.date, NULL::integer, NULL::integer, NULL::bytea FROM thinkback.memories m"


@dataclass(frozen=True, slots=True)
class Recent:
    """The newest by date; ties by id."""

    filter: Filter
    limit: int
    matching: Matching

    def sql(self, params: Params) -> str:
        passing = clause(self.filter, params, matching=self.matching)
        most = params.add(max(self.limit, 0), "::bigint")
        return f"{_DATED} WHERE {passing} ORDER BY m.date DESC, m.id LIMIT {most}"

    def read(self, rows: list[Row]) -> list[Scored]:
        newest = sorted(rows, key=lambda row: (-row[2], row[0]))
        return [Scored(row[0], float(row[2])) for row in newest]


@dataclass(frozen=True, slots=True)
class Dated:
    """The nearest by date to a moment; ties by id. Each side is walked along the index, and only as far as needed."""

    moment: int
    filter: Filter
    limit: int
    matching: Matching

    def sql(self, params: Params) -> str:
        passing = clause(self.filter, params, matching=self.matching)
        moment, most = params.add(self.moment, "::bigint"), params.add(max(self.limit, 0), "::bigint")
        sides = (("<=", "m.date DESC, m.id"), (">", "m.date, m.id"))
        return " UNION ALL ".join(
            f"({_DATED} WHERE {passing} AND m.date {side} {moment} ORDER BY {order} LIMIT {most})"
            for side, order in sides
        )

    def read(self, rows: list[Row]) -> list[Scored]:
        near = [Scored(row[0], float(-abs(row[2] - self.moment))) for row in rows]
        return sorted(near, key=lambda hit: (-hit.score, hit.id))[: max(self.limit, 0)]


@dataclass(frozen=True, slots=True)
class About:
    """Those whose text tells of a time that overlaps [begin, end), the nearest middle first; ties by id."""

    begin: int
    end: int
    filter: Filter
    limit: int
    matching: Matching

    def sql(self, params: Params) -> str:
        passing = clause(self.filter, params, matching=self.matching)
        middle, most = params.add((self.begin + self.end) // 2, "::bigint"), params.add(max(self.limit, 0), "::bigint")
        begin, end = params.add(self.begin, "::bigint"), params.add(self.end, "::bigint")
        return (
            f"SELECT m.id, NULL::float8, abs((m.about_from + m.about_to) / 2 - {middle}) AS away, NULL::integer, "
            "NULL::integer, NULL::bytea FROM thinkback.memories m "
            f"WHERE m.about_from IS NOT NULL AND m.about_from < {end} AND m.about_to > {begin} AND {passing} "
            f"ORDER BY away, m.id LIMIT {most}"
        )

    def read(self, rows: list[Row]) -> list[Scored]:
        return [Scored(row[0], float(-row[2])) for row in sorted(rows, key=lambda row: (row[2], row[0]))]


def history(tx: Tx, id: str) -> list[StoredRecord]:
    """Every version, the present one last."""
    sql = "WHERE m.space = %(space)s AND m.id = %(id)s ORDER BY m.retired_at IS NULL, m.recorded_at, m.seq"
    return select(tx, sql, tx.params(id=id))


def tags(tx: Tx) -> dict[str, int]:
    """Every tag of present memories with its count."""
    sql = (
        "SELECT t.tag, count(*) FROM thinkback.memory_tags t JOIN thinkback.memories m ON m.space = %(space)s "
        "AND m.seq = t.seq WHERE t.space = %(space)s AND m.retired_at IS NULL GROUP BY t.tag ORDER BY t.tag"
    )
    return dict(tx.rows(sql))


# -- all there is


def everything(
    tx: Tx, vectors: bool = False, retired: bool = False
) -> Iterator[tuple[StoredRecord, Vector | None, Passages | None]]:
    """Every version of every memory, retired ones first, in order of recording; with live vectors of present ones if wanted."""
    live = tx.counters.live if vectors else None
    seqs = [seq for (seq,) in tx.rows(f"SELECT m.seq FROM thinkback.memories m {_IN_ORDER}")]
    for at in range(0, len(seqs), _PAGE):
        for record, vector, its in _page_of(tx, seqs[at : at + _PAGE], live):
            wanted = retired or record.retired_at is None
            yield (record, vector, its) if wanted else (record, None, None)


def _page_of(
    tx: Tx, seqs: Sequence[int], live: int | None
) -> Iterator[tuple[StoredRecord, Vector | None, Passages | None]]:
    params: Params = tx.params(seqs=list(seqs), live=live)
    sql = f"SELECT m.seq, {COLUMNS} FROM thinkback.memories m WHERE m.space = %(space)s AND m.seq = ANY(%(seqs)s::bigint[])"
    records = {row[0]: to_record(row[1:]) for row in tx.rows(sql, params)}
    stored = {}
    if live is not None:
        sql = (
            "SELECT v.seq, v.exact FROM thinkback.vectors v WHERE v.space = %(space)s AND v.generation = %(live)s "
            "AND v.seq = ANY(%(seqs)s::bigint[])"
        )
        stored = {seq: np.frombuffer(exact, dtype=STORED) for seq, exact in tx.rows(sql, params)}
    long = passages.by_version(tx, seqs, live)
    for seq in seqs:
        yield records[seq], stored.get(seq), long.get(seq)


def snapshot(tx: Tx, vectors: bool, retired: bool) -> Snapshot:
    """All there is in a view."""
    live = generations.generation(tx)
    return Snapshot(
        space=None if live is None else live.space,
        records=everything(tx, vectors, retired),
        edges=links.everything(tx),
        judgements=journal.judgements(tx),
        settings=journal.settings(tx),
    )
