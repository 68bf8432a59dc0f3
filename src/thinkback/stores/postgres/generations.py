"""Vectors on the server: exact float32 beside a half-precision copy that is searched first; one generation per embedding space."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from thinkback.errors import Action, EmbeddingSpaceMismatch, InvalidInput, NotFound, Remedy, StoreError
from thinkback.model import Passages, StoredRecord, Vector
from thinkback.passages import Span
from thinkback.stores.base import EmbeddingSpace
from thinkback.stores.postgres.rows import COLUMNS, to_record
from thinkback.stores.postgres.schema import WIDEST_HEAD
from thinkback.stores.postgres.server import Half
from thinkback.stores.postgres.session import Tx
from thinkback.stores.sqlite.generations import STORED, Generation, unit_rows
from thinkback.stores.versions import passages_checked


def generation(tx: Tx, state: str = "live") -> Generation | None:
    """The generation that is searched, or the one that is being built."""
    if state == "live" and tx.counters.live is None:
        return None
    sql = (
        "SELECT g.generation, g.fingerprint, g.dimensions FROM thinkback.generations g "
        "WHERE g.space = %(space)s AND g.state = %(state)s"
    )
    rows = tx.rows(sql, tx.params(state=state))
    return Generation(rows[0][0], EmbeddingSpace(rows[0][1], rows[0][2])) if rows else None


def live_for(tx: Tx, space: EmbeddingSpace | None) -> Generation:
    """The live generation, opened if there is none yet; vectors of another space are refused."""
    live = generation(tx)
    if live is None:
        if space is None:
            raise InvalidInput(
                "vectors need the embedding space of the model that made them", code="no_embedding_space"
            )
        return _open(tx, space, "live")
    if space is not None and space != live.space:
        raise EmbeddingSpaceMismatch(
            f"the store's vectors were made by {live.space.fingerprint} ({live.space.dimensions} numbers), these by "
            f"{space.fingerprint} ({space.dimensions}); they cannot be compared",
            remedy=Remedy(Action.REEMBED),
        )
    return live


def _open(tx: Tx, space: EmbeddingSpace, state: str) -> Generation:
    if space.dimensions < 1 or not space.fingerprint:
        raise InvalidInput(f"not an embedding space: {space}; it needs a fingerprint and at least one dimension")
    live = ", live = last_generation + 1" if state == "live" else ""
    sql = (
        f"UPDATE thinkback.spaces s SET last_generation = last_generation + 1{live} WHERE s.space = %(space)s "
        "RETURNING last_generation"
    )
    number = int(tx.value(sql))
    tx.moved()
    params = tx.params(number=number, fingerprint=space.fingerprint, dimensions=space.dimensions, state=state)
    tx.run(
        "INSERT INTO thinkback.generations (space, generation, fingerprint, dimensions, state) "
        "VALUES (%(space)s, %(number)s, %(fingerprint)s, %(dimensions)s, %(state)s)",
        params,
    )
    return Generation(number, space)


def halves(rows: Vector) -> list[Half]:
    """Vectors in half precision, in pgvector's binary form: two counts, then numbers, all big endian."""
    head = np.array([rows.shape[1], 0], dtype=">u2").tobytes()
    return [Half(head + row.tobytes()) for row in rows.astype(">f2")]


def columns(number: int, numbered: Sequence[int], rows: Vector) -> list[tuple[Any, ...]]:
    """Rows of `vectors`: generation, seq, exact, head and wide; a head that would not fit into the index is `wide`."""
    rough = halves(rows)
    wide = rows.shape[1] > WIDEST_HEAD if len(rows) else False
    return [
        (number, seq, row.astype(STORED, copy=False).tobytes(), None if wide else half, half if wide else None)
        for seq, row, half in zip(numbered, rows, rough, strict=True)
    ]


COPIED = ("generation", "seq", "exact", "head", "wide")
COPIED_TYPES = ("int4", "int8", "bytea", "halfvec", "halfvec")


def put(tx: Tx, number: int, numbered: Sequence[int], rows: Vector) -> None:
    """Writes vectors of a generation by version number; they must be unit rows already."""
    if not len(numbered):
        return
    sql = (
        "DELETE FROM thinkback.vectors v WHERE v.space = %(space)s AND v.generation = %(generation)s "
        "AND v.seq = ANY(%(seqs)s::bigint[])"
    )
    tx.run(sql, tx.params(generation=number, seqs=list(numbered)))
    tx.copy("vectors", COPIED, COPIED_TYPES, iter(columns(number, numbered, rows)))


PASSAGE_COLUMNS = ("generation", "seq", "ordinal", "first", "last", "exact", "head", "wide")
PASSAGE_TYPES = ("int4", "int8", "int4", "int4", "int4", "bytea", "halfvec", "halfvec")


def passage_rows(number: int, seq: int, spans: Sequence[Span], rows: Vector) -> list[tuple[Any, ...]]:
    """Rows of `passages`: generation, seq, ordinal, first, last, exact, head and wide."""
    written = columns(number, [seq] * len(spans), rows)
    return [
        (number, seq, ordinal, span.start, span.end, exact, head, wide)
        for ordinal, (span, (_, _, exact, head, wide)) in enumerate(zip(spans, written, strict=True))
    ]


def put_passages(tx: Tx, made: Generation, passages: Mapping[int, Passages]) -> None:
    """Writes the passages of versions in a generation, instead of those they had in it."""
    if not passages:
        return
    sql = (
        "DELETE FROM thinkback.passages p WHERE p.space = %(space)s AND p.generation = %(generation)s "
        "AND p.seq = ANY(%(seqs)s::bigint[])"
    )
    gone = tx.run(sql, tx.params(generation=made.number, seqs=list(passages)))
    rows = [
        row
        for seq, its in passages.items()
        for row in passage_rows(made.number, seq, its.spans, unit_rows(its.vectors, made.space.dimensions))
    ]
    tx.copy("passages", PASSAGE_COLUMNS, PASSAGE_TYPES, iter(rows))
    count_passages(tx, len(rows) - gone)


def count_passages(tx: Tx, by: int) -> None:
    """Moves the counter of passages."""
    if by:
        sql = "UPDATE thinkback.spaces s SET passages = passages + %(by)s WHERE s.space = %(space)s"
        tx.run(sql, tx.params(by=by))
        tx.moved()


def _still_long(tx: Tx, passages: Mapping[int, Passages]) -> dict[int, Passages]:
    """The passages of versions that still exist, checked against their texts."""
    if not passages:
        return {}
    sql = "SELECT m.seq, m.text FROM thinkback.memories m WHERE m.space = %(space)s AND m.seq = ANY(%(seqs)s::bigint[])"
    texts = dict(tx.rows(sql, tx.params(seqs=list(passages))))
    return {seq: passages_checked(texts[seq], its) for seq, its in passages.items() if seq in texts}


def copy(tx: Tx, old: int, new: int) -> None:
    """Gives a new version the vectors of the one it replaces."""
    if tx.counters.passages:
        sql = (
            "INSERT INTO thinkback.passages (space, generation, seq, ordinal, first, last, exact, head, wide) "
            "SELECT p.space, p.generation, %(new)s, p.ordinal, p.first, p.last, p.exact, p.head, p.wide "
            "FROM thinkback.passages p WHERE p.space = %(space)s AND p.seq = %(old)s"
        )
        count_passages(tx, tx.run(sql, tx.params(old=old, new=new)))
    sql = (
        "INSERT INTO thinkback.vectors (space, generation, seq, exact, head, wide) "
        "SELECT v.space, v.generation, %(new)s, v.exact, v.head, v.wide FROM thinkback.vectors v "
        "WHERE v.space = %(space)s AND v.seq = %(old)s"
    )
    tx.run(sql, tx.params(old=old, new=new))


def of(tx: Tx, ids: Sequence[str]) -> dict[str, Vector]:
    """Live vectors of present memories."""
    if tx.counters.live is None:
        return {}
    sql = (
        "SELECT m.id, v.exact FROM thinkback.memories m JOIN thinkback.vectors v ON v.space = %(space)s AND v.seq = m.seq "
        "AND v.generation = %(live)s WHERE m.space = %(space)s AND m.id = ANY(%(ids)s::text[]) AND m.retired_at IS NULL"
    )
    found = dict(tx.rows(sql, tx.params(ids=list(ids), live=tx.counters.live)))
    return {id: np.frombuffer(found[id], dtype=STORED) for id in ids if id in found}


def unembedded(tx: Tx, limit: int) -> dict[int, StoredRecord]:
    """Versions without a live vector, oldest first."""
    sql = (
        f"SELECT m.seq, {COLUMNS} FROM thinkback.memories m WHERE m.space = %(space)s AND m.embedded = 0 "
        "ORDER BY m.seq LIMIT %(limit)s"
    )
    return {row[0]: to_record(row[1:]) for row in tx.rows(sql, tx.params(limit=limit))}


def put_live(tx: Tx, vectors: Mapping[int, Vector], space: EmbeddingSpace, passages: Mapping[int, Passages]) -> None:
    """Adds live vectors of versions; those that were forgotten meanwhile are passed over."""
    live = live_for(tx, space)
    seqs, rows = _still_there(tx, vectors, live.space.dimensions)
    put(tx, live.number, seqs, rows)
    put_passages(tx, live, _still_long(tx, passages))
    sql = (
        "UPDATE thinkback.memories m SET embedded = 1, changed = %(change)s "
        "WHERE m.space = %(space)s AND m.seq = ANY(%(seqs)s::bigint[])"
    )
    tx.run(sql, tx.params(change=tx.bump().changes, seqs=seqs))


def _still_there(tx: Tx, vectors: Mapping[int, Vector], dimensions: int) -> tuple[list[int], Vector]:
    rows = unit_rows(list(vectors.values()), dimensions)
    sql = "SELECT m.seq FROM thinkback.memories m WHERE m.space = %(space)s AND m.seq = ANY(%(seqs)s::bigint[])"
    there = {seq for (seq,) in tx.rows(sql, tx.params(seqs=list(vectors)))}
    places = [place for place, seq in enumerate(vectors) if seq in there]
    return [seq for seq in vectors if seq in there], rows[places]


# -- from one embedding space to another

_LACKING = (
    "FROM thinkback.memories m WHERE m.space = %(space)s AND NOT EXISTS (SELECT 1 FROM thinkback.vectors v "
    "WHERE v.space = %(space)s AND v.seq = m.seq AND v.generation = %(generation)s)"
)


def begin(tx: Tx, space: EmbeddingSpace) -> int:
    """Opens a generation beside the live one, or goes on with one that was interrupted; returns how many versions it lacks."""
    building = generation(tx, "building")
    if building is not None and building.space != space:
        _discard(tx, building.number)
        building = None
    number = (building or _open(tx, space, "building")).number
    return int(tx.value(f"SELECT count(*) {_LACKING}", tx.params(generation=number)))


def lacking(tx: Tx, limit: int) -> dict[int, StoredRecord]:
    """Versions that lack a vector of the generation being built, oldest first."""
    params = tx.params(generation=_building(tx).number, limit=limit)
    sql = f"SELECT m.seq, {COLUMNS} {_LACKING} ORDER BY m.seq LIMIT %(limit)s"
    return {row[0]: to_record(row[1:]) for row in tx.rows(sql, params)}


def put_built(tx: Tx, vectors: Mapping[int, Vector], space: EmbeddingSpace, passages: Mapping[int, Passages]) -> None:
    """Writes vectors of the generation being built; they are not searched yet."""
    building = _building_for(tx, space)
    put(tx, building.number, *_still_there(tx, vectors, building.space.dimensions))
    put_passages(tx, building, _still_long(tx, passages))


def finish(tx: Tx, space: EmbeddingSpace) -> None:
    """Makes the new generation the live one and drops the old."""
    building = _building_for(tx, space)
    missing = tx.value(f"SELECT count(*) {_LACKING}", tx.params(generation=building.number))
    if missing:
        raise StoreError(
            f"{missing} versions of memories still lack a vector of {building.space.fingerprint}; embed them first",
            code="vectors_missing",
        )
    live = tx.counters.live
    if live is not None:
        _discard(tx, live)
    params = tx.params(number=building.number)
    where = "WHERE g.space = %(space)s AND g.generation = %(number)s"
    tx.run(f"UPDATE thinkback.generations g SET state = 'live' {where}", params)
    tx.run("UPDATE thinkback.spaces s SET live = %(number)s WHERE s.space = %(space)s", params)
    change = tx.bump().changes
    sql = "UPDATE thinkback.memories m SET embedded = 1, changed = %(change)s WHERE m.space = %(space)s AND m.embedded = 0"
    tx.run(sql, tx.params(change=change))


def _building(tx: Tx) -> Generation:
    building = generation(tx, "building")
    if building is None:
        raise NotFound("no re-embedding is in progress; begin one first", code="no_reembedding")
    return building


def _building_for(tx: Tx, space: EmbeddingSpace) -> Generation:
    """The generation being built, if it is this space's: somebody else may have begun another meanwhile."""
    building = _building(tx)
    if building.space != space:
        raise EmbeddingSpaceMismatch(
            f"another re-embedding, to {building.space.fingerprint}, replaced the one to {space.fingerprint}; "
            "the live vectors are unchanged. Wait for it to finish",
            code="reembedding_replaced",
            remedy=Remedy(Action.REEMBED),
        )
    return building


def _discard(tx: Tx, number: int) -> None:
    for table in ("vectors", "passages", "generations"):
        sql = f"DELETE FROM thinkback.{table} g WHERE g.space = %(space)s AND g.generation = %(number)s"
        gone = tx.run(sql, tx.params(number=number))
        if table == "passages":
            count_passages(tx, -gone)


def unpacked(found: Iterable[bytes], dimensions: int) -> Vector:
    """Exact vectors as rows."""
    flat = np.frombuffer(b"".join(found), dtype=STORED)
    rows: Vector = flat.reshape(-1, dimensions)
    return rows
