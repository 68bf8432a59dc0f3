"""Exact vector search over a matrix in memory.

One float32 product selects candidates, with a margin for its rounding error, so the result is exact. Candidates are scored again
in float64, row by row, so that a score depends on the two vectors alone, not on the layout of the rows or the processor.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from thinkback.model import Filter, Floats, Scored, Vector
from thinkback.stores.sqlite.catalogue import Catalogue, Delta, Mask, Rows, extended, versions
from thinkback.stores.sqlite.generations import STORED, Generation, unit_rows
from thinkback.stores.sqlite.rows import listed

_ROUNDING = 2.0**-24  # relative error of one float32 operation
_LENGTH_ERROR = 2e-6  # how far a stored vector's length may be from 1, twice
_BLOCK = 24  # rows scored at once; the allocator returns larger blocks to the system after each search
_CHUNK = 4096  # vectors read at once
_LEAST_ROOM = 1024
_FEW = 8  # if fewer than one row in so many passes, gathering them is cheaper than multiplying all


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """The live vectors, one row per row of the catalogue; a memory without a vector has an empty row."""

    generation: Generation
    rows: Vector
    filled: Mask

    def nearest(self, query: Vector, passing: Mask, limit: int) -> tuple[Rows, Floats]:
        """The rows nearest to a unit query, including ties with the last one, and their cosines; unordered."""
        candidates = np.flatnonzero(passing & self.filled)
        if limit <= 0 or not len(candidates):
            return candidates[:0], np.zeros(0)
        if len(candidates) > limit:
            rough = self._products(query, candidates)
            slack = 2 * (1.01 * self.rows.shape[1] * _ROUNDING + _LENGTH_ERROR)
            floor = np.partition(rough, len(rough) - limit)[len(rough) - limit] - slack
            candidates = candidates[rough >= floor]
        return candidates, cosines(self.rows[candidates], query)

    def _products(self, query: Vector, candidates: Rows) -> Vector:
        # vecdot runs on one thread: a threaded product would wait for cores that other searches use.
        size = len(self.filled)
        if len(candidates) * _FEW < size:
            gathered: Vector = np.vecdot(self.rows[candidates], query)
            return gathered
        products: Vector = np.vecdot(self.rows[:size], query)
        return products if len(candidates) == size else products[candidates]


def cosines(rows: Vector, query: Vector) -> Floats:
    """The cosine of each row with the query in float64; each depends on its two vectors only."""
    target = query.astype(np.float64)
    blocks = [_cosines(rows[at : at + _BLOCK], target) for at in range(0, len(rows), _BLOCK)]
    return np.concatenate(blocks) if blocks else np.zeros(0)


def _cosines(rows: Vector, target: Floats) -> Floats:
    wide = rows.astype(np.float64)
    lengths = np.sqrt((wide * wide).sum(axis=1) * (target * target).sum())
    cosine: Floats = (wide * target).sum(axis=1) / lengths
    return cosine.clip(-1.0, 1.0)


def load(connection: apsw.Connection, generation: Generation, catalogue: Catalogue) -> Matrix:
    """Read every live vector of the catalogue's rows."""
    dimensions = generation.space.dimensions
    # Room for later writes: untouched memory costs nothing, but moving all rows does.
    room = max(_LEAST_ROOM, catalogue.size // 4)
    rows = np.zeros((catalogue.size + room, dimensions), dtype=STORED)
    filled = np.zeros(catalogue.size, dtype=np.bool_)
    stored = connection.execute("SELECT seq, vector FROM vectors WHERE generation = ?", (generation.number,))
    while chunk := list(islice(stored, _CHUNK)):
        seqs, vectors = _unpacked(chunk, dimensions)
        places, here = catalogue.find(seqs)
        rows[places[here]], filled[places[here]] = vectors[here], True
    return Matrix(generation, rows, filled)


def follow(old: Matrix, connection: apsw.Connection, catalogue: Catalogue, delta: Delta) -> Matrix:
    """The matrix beside a newer catalogue; vectors of changed rows are read again only where they may be new."""
    grown = _with_rows(old, connection, catalogue, delta.appended)
    seqs, vectors = read_vectors(connection, catalogue.seqs[delta.changed].tolist(), old.generation)
    if not len(seqs):
        return grown
    places = catalogue.rows(seqs)
    if grown.filled[places].all() and np.array_equal(grown.rows[places], vectors):
        return grown
    rows, filled = grown.rows.copy(), grown.filled.copy()
    rows[places], filled[places] = vectors, True
    return Matrix(old.generation, rows, filled)


def _with_rows(old: Matrix, connection: apsw.Connection, catalogue: Catalogue, appended: Rows) -> Matrix:
    if not len(appended):
        return old
    start = len(old.filled)
    seqs, vectors = read_vectors(connection, catalogue.seqs[appended].tolist(), old.generation)
    places = catalogue.rows(seqs) - start
    tail = np.zeros((len(appended), old.generation.space.dimensions), dtype=STORED)
    filled = np.zeros(len(appended), dtype=np.bool_)
    tail[places], filled[places] = vectors, True
    return Matrix(old.generation, extended(old.rows, start, tail), np.concatenate([old.filled, filled]))


def read_vectors(
    connection: apsw.Connection, seqs: Sequence[int], generation: Generation
) -> tuple[NDArray[np.int64], Vector]:
    """The versions among these that have a vector, and their vectors as rows."""
    sql = (
        "SELECT seq, vector FROM vectors WHERE seq IN (SELECT value FROM json_each(?)) AND generation = ? ORDER BY seq"
    )
    found = connection.execute(sql, (listed(seqs), generation.number)).fetchall()
    return _unpacked(found, generation.space.dimensions)


def _unpacked(found: Sequence[Any], dimensions: int) -> tuple[NDArray[np.int64], Vector]:
    seqs = np.array([seq for seq, _ in found], dtype=np.int64)
    flat = np.frombuffer(b"".join([blob for _, blob in found]), dtype=STORED)
    return seqs, flat.reshape(len(found), dimensions)


def search(
    connection: apsw.Connection, catalogue: Catalogue, matrix: Matrix, vector: Vector, filter: Filter, limit: int
) -> list[Scored]:
    """The nearest memories, best first, ties by id; retired versions are read from the file."""
    query = unit_rows([vector], matrix.generation.space.dimensions)[0]
    if filter.known_at is None:
        passing, elsewhere = catalogue.mask(filter, connection), []
    else:
        wanted = versions(connection, filter)
        places, here = catalogue.find(wanted)
        passing = np.zeros(catalogue.size, dtype=np.bool_)
        passing[places[here]] = True
        elsewhere = wanted[~here].tolist()
    rows, scores = matrix.nearest(query, passing, limit)
    hits = [Scored(catalogue.ids[row], score) for row, score in zip(rows.tolist(), scores.tolist(), strict=True)]
    if elsewhere:
        hits += _retired(connection, matrix, query, elsewhere)
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]


def _retired(connection: apsw.Connection, matrix: Matrix, query: Vector, seqs: Sequence[int]) -> list[Scored]:
    found, rows = read_vectors(connection, seqs, matrix.generation)
    sql = "SELECT m.seq, m.id FROM memories m WHERE m.seq IN (SELECT value FROM json_each(?))"
    ids = dict(connection.execute(sql, (listed(found.tolist()),)))
    return [Scored(ids[seq], score) for seq, score in zip(found.tolist(), cosines(rows, query).tolist(), strict=True)]
