"""The matrix of a store: read from the file, and brought to a later state.

Few vectors are held as they are. Of many only codes are made, block by block, as the index has them: a quarter of the memory, and
what is scored exactly is read from the file, as where files are mapped. So the first process that searches a million memories
needs no room for all their vectors, and has their codes at hand when it writes the index.
"""

from dataclasses import replace
from itertools import islice

import apsw
import numpy as np

from thinkback.model import Vector
from thinkback.stores.index import codes
from thinkback.stores.index.blocks import Blocks
from thinkback.stores.index.codes import Block
from thinkback.stores.sqlite.catalogue import Catalogue, Delta, Mask, Rows
from thinkback.stores.sqlite.columns import extended
from thinkback.stores.sqlite.generations import STORED, Generation, place
from thinkback.stores.sqlite.kept_vectors import KeptVectors
from thinkback.stores.sqlite.stored_vectors import read_vectors, unpacked
from thinkback.stores.sqlite.vector_search import Matrix, Questions

MANY = 65_536  # rows, of which codes are made
BLOCK_ROWS = 16_384  # of codes; as many as a segment of the index has
_CHUNK = 256  # vectors read at once; they stay in the processor's cache
_LEAST_ROOM = 1024


def load(connection: apsw.Connection, generation: Generation, catalogue: Catalogue) -> Matrix:
    """Read every live vector of the catalogue's rows."""
    return (_as_codes if catalogue.size >= MANY else _as_they_are)(connection, generation, catalogue)


def _as_they_are(connection: apsw.Connection, generation: Generation, catalogue: Catalogue) -> Matrix:
    # Room for later writes: untouched memory costs nothing, but moving all rows does.
    room = max(_LEAST_ROOM, catalogue.size // 4)
    vectors = np.zeros((catalogue.size + room, generation.space.dimensions), dtype=STORED)
    rows = _read(connection, generation, catalogue, slice(catalogue.size), vectors)
    own, filled = np.zeros(len(vectors), dtype=np.intp), np.zeros(catalogue.size, dtype=np.bool_)
    own[: len(rows)], filled[rows] = rows, True
    return Matrix(generation, filled, own, vectors, len(rows))


def _as_codes(connection: apsw.Connection, generation: Generation, catalogue: Catalogue) -> Matrix:
    filled, blocks = np.zeros(catalogue.size, dtype=np.bool_), []
    coded = np.empty(
        (catalogue.size, generation.space.dimensions), dtype=np.int8
    )  # in one, which goes back to the system
    found = np.empty((BLOCK_ROWS, generation.space.dimensions), dtype=STORED)
    for start in range(0, catalogue.size, BLOCK_ROWS):
        some = slice(start, min(start + BLOCK_ROWS, catalogue.size))
        rows = _read(connection, generation, catalogue, some, found)
        vectors = found[: some.stop - start]
        if len(rows) < len(vectors):
            vectors = np.zeros_like(vectors)
            vectors[rows - start] = found[: len(rows)]
        arrays = codes.encode(vectors)
        coded[some] = arrays["codes"]
        blocks.append(Block.of(arrays | {"codes": coded[some]}))
        filled[rows] = True
    return Matrix(
        generation,
        filled=filled,
        own=np.zeros(0, dtype=np.intp),
        vectors=np.zeros((0, generation.space.dimensions), dtype=STORED),
        held=0,
        blocks=Blocks(blocks),
        coded=filled.copy(),
        kept=KeptVectors(catalogue.size, generation.space.dimensions),
    )


def _read(connection: apsw.Connection, generation: Generation, catalogue: Catalogue, some: slice, into: Vector) -> Rows:
    """Read the vectors of some rows one after the other; returns the rows that have one."""
    seqs = catalogue.seqs[some]
    if not len(seqs):
        return np.zeros(0, dtype=np.intp)
    ends = place(generation.number, int(seqs[0])), place(generation.number, int(seqs[-1]))
    stored = connection.execute("SELECT place, vector FROM vectors WHERE place BETWEEN ? AND ?", ends)
    rows, held = list[Rows](), 0
    while chunk := list(islice(stored, _CHUNK)):
        known, read = unpacked(chunk, generation.space.dimensions)
        places, here = catalogue.find(known)
        end = held + int(here.sum())
        into[held:end] = read if here.all() else read[here]
        rows.append(places[here])
        held = end
    return np.concatenate(rows) if rows else np.zeros(0, dtype=np.intp)


def follow(old: Matrix, connection: apsw.Connection, catalogue: Catalogue, delta: Delta) -> Matrix:
    """The matrix beside a newer catalogue; of a changed row the vector is taken from the file, as it may be new."""
    filled = _grown(old.filled, catalogue.size)
    coded = None if old.coded is None else _grown(old.coded, catalogue.size)
    seqs = catalogue.seqs[np.concatenate([delta.appended, delta.changed])].tolist()
    found, vectors = read_vectors(connection, seqs, old.generation)
    rows = catalogue.rows(found)
    known = filled[rows] if coded is None else filled[rows] & ~coded[rows]
    if not _holds(old, rows[known], vectors[known]):
        return load(connection, old.generation, catalogue)
    filled[rows] = True
    if coded is not None:
        coded[rows] = False
    own = extended(old.own, old.held, rows[~known])
    kept, questions = old.kept, old.questions
    if kept is not None and (len(delta.changed) or len(delta.died)):
        kept, questions = kept.emptied(), Questions()
    return replace(
        old,
        kept=kept,
        questions=questions,
        filled=filled,
        own=own,
        vectors=extended(old.vectors, old.held, vectors[~known]),
        held=old.held + len(rows) - int(known.sum()),
        coded=coded,
        chosen={},
    )


def _grown(mask: Mask, size: int) -> Mask:
    return np.concatenate([mask, np.zeros(size - len(mask), dtype=np.bool_)])


def _holds(matrix: Matrix, rows: Rows, vectors: Vector) -> bool:
    """Whether these rows have these vectors in memory; only a repair writes the vector of a version anew."""
    if not len(rows):
        return True
    own = matrix.own[: matrix.held]
    order = np.argsort(own, kind="stable")
    places = order[np.searchsorted(own, rows, sorter=order)]
    return np.array_equal(matrix.vectors[places], vectors)
