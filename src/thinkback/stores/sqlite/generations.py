"""Vectors in the file: float32, little endian, unit length, one generation per embedding space.

A vector is found by its place alone, which is made of its generation and of the version's number: `generation << 40 | seq`. So the
table needs no second tree, and the vectors of a generation lie together, in the order of their versions.
"""

from collections.abc import Iterable, Mapping, Sequence
from operator import is_
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from thinkback.errors import Action, EmbeddingSpaceMismatch, InvalidInput, NotFound, Remedy, StoreError
from thinkback.model import UNIT_TOLERANCE, Passages, StoredRecord, Vector
from thinkback.stores.base import EmbeddingSpace
from thinkback.stores.sqlite.rows import COLUMNS, SOURCE, listed, to_record
from thinkback.stores.versions import passages_checked
from thinkback.values import dataclass

STORED = np.dtype("<f4")
_BLOCK = 64  # rows normalised at a time, to stay in the processor's cache
_LARGEST = float(np.finfo(np.float32).max)
SEQ_BITS = 40  # the lower ones of a place
SEQS = (1 << SEQ_BITS) - 1


@dataclass(frozen=True, slots=True)
class Generation:
    """All vectors made by one model."""

    number: int
    space: EmbeddingSpace

    @property
    def places(self) -> tuple[int, int]:
        """The first and the last place that a vector of this generation can have."""
        return place(self.number, 0), place(self.number, SEQS)


def place(generation: int, seq: int) -> int:
    """Where the vector of a version is."""
    return generation << SEQ_BITS | seq


def unit_rows(rows: Sequence[Any] | NDArray[Any], dimensions: int) -> Vector:
    """Vectors normalised to unit length; InvalidInput names the first that cannot be used."""
    if not len(rows):
        return np.zeros((0, dimensions), dtype=STORED)
    for place, row in enumerate(rows):
        shape = row.shape if isinstance(row, np.ndarray) else np.shape(row)
        if shape != (dimensions,):
            message = f"vector {place} has shape {shape}; this store's vectors have {dimensions} numbers"
            raise InvalidInput(message, code="wrong_dimensions")
    given = np.asarray(rows)
    parts = [given[at : at + _BLOCK] for at in range(0, len(rows), _BLOCK)]
    blocks = [_normalised(part, number * _BLOCK) for number, part in enumerate(parts)]
    return given if all(map(is_, blocks, parts)) else np.concatenate(blocks)


def _normalised(rows: NDArray[Any], first: int) -> Vector:
    if rows.dtype.kind not in "fiu":
        raise InvalidInput(f"vectors must hold real numbers, not {rows.dtype}", code="not_numbers")
    exact = rows.astype(np.float64)
    if rows.dtype == STORED and (np.abs(np.vecdot(exact, exact) - 1) <= UNIT_TOLERANCE).all():
        return rows  # as their lengths are nearer to 1 than their squares are
    largest = np.abs(exact).max(axis=1)
    if not (largest.min() > 0 and largest.max() <= _LARGEST):  # nor if one is NaN
        raise _unusable(largest, first)
    scaled = exact / largest[:, None]
    lengths = np.sqrt(np.square(scaled, out=scaled).sum(axis=1)) * largest
    unit = np.where(np.abs(lengths - 1) <= UNIT_TOLERANCE, 1.0, lengths)
    return (exact if (unit == 1.0).all() else exact / unit[:, None]).astype(STORED)


def _unusable(largest: NDArray[np.float64], first: int) -> InvalidInput:
    """The error about the first vector that cannot be normalised."""
    for bad, what, code in (
        (~np.isfinite(largest), "holds NaN or infinity", "not_finite"),
        (largest > _LARGEST, "holds a number beyond 32 bits", "not_finite"),
        (largest == 0, "is a zero vector", "zero_vector"),
    ):
        if bad.any():
            place = first + int(np.flatnonzero(bad)[0])
            return InvalidInput(f"vector {place} {what} and cannot be normalised", code=code)
    raise AssertionError("every vector can be normalised")


def generation(connection: apsw.Connection, state: str = "live") -> Generation | None:
    """The generation that is searched, or the one that is being built."""
    sql = "SELECT generation, fingerprint, dimensions FROM generations WHERE state = ?"
    rows: list[Any] = connection.execute(sql, (state,)).fetchall()  # to its end, as it may be no part of a transaction
    return Generation(rows[0][0], EmbeddingSpace(*rows[0][1:])) if rows else None


def live_for(connection: apsw.Connection, space: EmbeddingSpace | None) -> Generation:
    """The live generation, opened if there is none yet; vectors of another space are refused."""
    live = generation(connection)
    if live is None:
        if space is None:
            raise InvalidInput(
                "vectors need the embedding space of the model that made them", code="no_embedding_space"
            )
        return _open(connection, space, "live")
    if space is not None and space != live.space:
        raise EmbeddingSpaceMismatch(
            f"the store's vectors were made by {live.space.fingerprint} ({live.space.dimensions} numbers), these by "
            f"{space.fingerprint} ({space.dimensions}); they cannot be compared",
            remedy=Remedy(Action.REEMBED),
        )
    return live


def _open(connection: apsw.Connection, space: EmbeddingSpace, state: str) -> Generation:
    if space.dimensions < 1 or not space.fingerprint:
        raise InvalidInput(f"not an embedding space: {space}; it needs a fingerprint and at least one dimension")
    sql = "INSERT INTO generations (fingerprint, dimensions, state) VALUES (?, ?, ?) RETURNING generation"
    return Generation(int(connection.execute(sql, (space.fingerprint, space.dimensions, state)).get), space)


_INTO = "INTO vectors (place, generation, vector) VALUES (?, ?, ?)"


def put(connection: apsw.Connection, number: int, rows: Iterable[tuple[int, Vector]]) -> None:
    """Write unit vectors of a generation by row number."""
    connection.executemany(
        f"INSERT OR REPLACE {_INTO}",
        ((place(number, seq), number, vector.astype(STORED, copy=False).tobytes()) for seq, vector in rows),
    )


def put_new(connection: apsw.Connection, number: int, seqs: Sequence[int], unit: Vector) -> None:
    """The same for new row numbers, whose unit vectors are the rows of a matrix."""
    held, size = np.ascontiguousarray(unit, STORED).data.cast("B"), STORED.itemsize * unit.shape[1]
    first = place(number, 0)
    rows = ((first | seq, number, held[at * size : (at + 1) * size]) for at, seq in enumerate(seqs))
    connection.executemany(f"INSERT {_INTO}", rows)


_PUT_PASSAGE = "INSERT INTO passages (seq, generation, ordinal, first, last, vector) VALUES (?, ?, ?, ?, ?, ?)"


def put_passages(connection: apsw.Connection, made: Generation, passages: Mapping[int, Passages]) -> None:
    """Write the passages of versions in a generation, instead of those they had in it."""
    for seq, its in passages.items():
        connection.execute("DELETE FROM passages WHERE seq = ? AND generation = ?", (seq, made.number))
        rows = unit_rows(its.vectors, made.space.dimensions)
        connection.executemany(
            _PUT_PASSAGE,
            (
                (seq, made.number, ordinal, span.start, span.end, row.tobytes())
                for ordinal, (span, row) in enumerate(zip(its.spans, rows, strict=True))
            ),
        )


def copy(connection: apsw.Connection, old: int, new: int) -> None:
    """Copy the vectors of a version to the one that replaces it."""
    for number in _held(connection):
        sql = (
            "INSERT INTO vectors (place, generation, vector) SELECT ?, generation, vector FROM vectors WHERE place = ?"
        )
        connection.execute(sql, (place(number, new), place(number, old)))
    sql = (
        "INSERT INTO passages (seq, generation, ordinal, first, last, vector) "
        "SELECT ?, generation, ordinal, first, last, vector FROM passages WHERE seq = ? ORDER BY number"
    )
    connection.execute(sql, (new, old))


def drop(connection: apsw.Connection, seqs: Sequence[int]) -> None:
    """Delete the vectors and passages of versions in every generation."""
    for number in _held(connection):
        places = listed([place(number, seq) for seq in seqs])
        connection.execute("DELETE FROM vectors WHERE place IN (SELECT value FROM json_each(?))", (places,))
    connection.execute("DELETE FROM passages WHERE seq IN (SELECT value FROM json_each(?))", (listed(seqs),))


def _held(connection: apsw.Connection) -> list[int]:
    """The generations that have vectors, by a jump from each to the next; a damaged store may not list them all."""
    found: list[int] = []
    sql = "SELECT min(place) FROM vectors WHERE place >= ?"
    while (first := connection.execute(sql, (place(found[-1] + 1, 0) if found else 0,)).get) is not None:
        found.append(int(first) >> SEQ_BITS)
    return found


OF_ONE = f"v.place = g.generation << {SEQ_BITS} | m.seq"  # the vector `v` of version `m` in generation `g`


def of(connection: apsw.Connection, ids: Sequence[str]) -> dict[str, Vector]:
    """Live vectors of present memories."""
    sql = (
        f"SELECT m.id, v.vector FROM memories m JOIN generations g JOIN vectors v ON {OF_ONE} "
        "WHERE m.id IN (SELECT value FROM json_each(?)) AND m.retired_at IS NULL AND g.state = 'live'"
    )
    return {id: np.frombuffer(blob, dtype=STORED) for id, blob in connection.execute(sql, (listed(ids),))}


def unembedded(connection: apsw.Connection, limit: int) -> dict[int, StoredRecord]:
    """Versions without a live vector, oldest first."""
    sql = f"SELECT m.seq, {COLUMNS} FROM {SOURCE} WHERE m.embedded = 0 ORDER BY m.seq LIMIT ?"
    return {row[0]: to_record(row[1:]) for row in connection.execute(sql, (limit,))}


def put_live(
    connection: apsw.Connection,
    vectors: Mapping[int, Vector],
    space: EmbeddingSpace,
    change: int,
    passages: Mapping[int, Passages],
) -> None:
    """Add live vectors of versions; versions that no longer exist are ignored."""
    live = live_for(connection, space)
    rows = _still_there(connection, vectors, live.space.dimensions)
    put(connection, live.number, rows.items())
    put_passages(connection, live, _still_long(connection, passages))
    sql = "UPDATE memories SET embedded = 1, changed = ? WHERE seq = ?"
    connection.executemany(sql, ((change, seq) for seq in rows))


def _still_there(connection: apsw.Connection, vectors: Mapping[int, Vector], dimensions: int) -> dict[int, Vector]:
    rows = dict(zip(vectors, unit_rows(list(vectors.values()), dimensions), strict=True))
    found = connection.execute(
        "SELECT seq FROM memories WHERE seq IN (SELECT value FROM json_each(?))", (listed(list(rows)),)
    )
    return {seq: rows[seq] for (seq,) in found}


def _still_long(connection: apsw.Connection, passages: Mapping[int, Passages]) -> dict[int, Passages]:
    """The passages of versions that still exist, checked against their texts."""
    texts = {seq: connection.execute("SELECT text FROM memories WHERE seq = ?", (seq,)).get for seq in passages}
    return {seq: passages_checked(texts[seq], its) for seq, its in passages.items() if texts[seq] is not None}


# -- from one embedding space to another

_LACKING = f"WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.place = ? << {SEQ_BITS} | m.seq)"


def begin(connection: apsw.Connection, space: EmbeddingSpace) -> int:
    """Open a generation beside the live one, or resume it; returns how many versions still lack its vector."""
    building = generation(connection, "building")
    if building is not None and building.space != space:
        _discard(connection, building)
        building = None
    number = (building or _open(connection, space, "building")).number
    return int(connection.execute(f"SELECT count(*) FROM memories m {_LACKING}", (number,)).get)


def lacking(connection: apsw.Connection, limit: int) -> dict[int, StoredRecord]:
    """Versions that lack a vector of the generation being built, oldest first."""
    sql = f"SELECT m.seq, {COLUMNS} FROM {SOURCE} {_LACKING} ORDER BY m.seq LIMIT ?"
    return {row[0]: to_record(row[1:]) for row in connection.execute(sql, (_building(connection).number, limit))}


def put_built(
    connection: apsw.Connection,
    vectors: Mapping[int, Vector],
    space: EmbeddingSpace,
    passages: Mapping[int, Passages],
) -> None:
    """Write vectors of the generation being built; they are not searched yet."""
    building = _building_for(connection, space)
    rows = _still_there(connection, vectors, building.space.dimensions)
    put(connection, building.number, rows.items())
    put_passages(connection, building, _still_long(connection, passages))


def finish(connection: apsw.Connection, space: EmbeddingSpace, change: int) -> None:
    """Make the new generation the live one and drop the old."""
    building = _building_for(connection, space)
    missing = connection.execute(f"SELECT count(*) FROM memories m {_LACKING}", (building.number,)).get
    if missing:
        raise StoreError(
            f"{missing} versions of memories still lack a vector of {building.space.fingerprint}; embed them first",
            code="vectors_missing",
        )
    live = generation(connection)
    if live is not None:
        _discard(connection, live)
    connection.execute("UPDATE generations SET state = 'live' WHERE generation = ?", (building.number,))
    connection.execute("UPDATE memories SET embedded = 1, changed = ? WHERE embedded = 0", (change,))


def _building(connection: apsw.Connection) -> Generation:
    building = generation(connection, "building")
    if building is None:
        raise NotFound("no re-embedding is in progress; begin one first", code="no_reembedding")
    return building


def _building_for(connection: apsw.Connection, space: EmbeddingSpace) -> Generation:
    """The generation being built; an error if another process replaced it by one of another space."""
    building = _building(connection)
    if building.space != space:
        raise EmbeddingSpaceMismatch(
            f"another re-embedding, to {building.space.fingerprint}, replaced the one to {space.fingerprint}; "
            "the live vectors are unchanged. Wait for it to finish",
            code="reembedding_replaced",
            remedy=Remedy(Action.REEMBED),
        )
    return building


def _discard(connection: apsw.Connection, made: Generation) -> None:
    connection.execute("DELETE FROM vectors WHERE place BETWEEN ? AND ?", made.places)
    connection.execute("DELETE FROM passages WHERE generation = ?", (made.number,))
    connection.execute("DELETE FROM generations WHERE generation = ?", (made.number,))
