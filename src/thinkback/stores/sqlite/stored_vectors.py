"""Vectors as they are stored in the file."""

from collections.abc import Sequence
from contextlib import closing
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from thinkback.model import Vector
from thinkback.stores.sqlite.catalogue import Catalogue, Rows
from thinkback.stores.sqlite.generations import SEQS, STORED, Generation, place
from thinkback.stores.sqlite.rows import listed


def read_vectors(
    connection: apsw.Connection, seqs: Sequence[int], generation: Generation
) -> tuple[NDArray[np.int64], Vector]:
    """The versions among these that have a vector, and their vectors as rows."""
    sql = "SELECT place, vector FROM vectors WHERE place IN (SELECT value FROM json_each(?)) ORDER BY place"
    places = [place(generation.number, seq) for seq in seqs]
    found = connection.execute(sql, (listed(places),)).fetchall() if places else []
    return unpacked(found, generation.space.dimensions)


def unpacked(found: Sequence[Any], dimensions: int) -> tuple[NDArray[np.int64], Vector]:
    """The versions of rows of the table, and their vectors as rows."""
    seqs = np.array([place for place, _ in found], dtype=np.int64) & SEQS
    flat = np.frombuffer(b"".join([blob for _, blob in found]), dtype=STORED)
    return seqs, flat.reshape(len(found), dimensions)


def read_rows(
    connection: apsw.Connection, catalogue: Catalogue, generation: Generation, rows: Rows, into: Vector
) -> Rows:
    """Read the vectors of coded rows from the file; returns the rows that have one, in the order of what was read."""
    if not len(rows):
        return rows
    seqs = catalogue.seqs[rows].tolist()
    try:
        _read_each(connection, seqs, generation, into)
    except apsw.SQLError:  # not every one has a vector
        found, vectors = read_vectors(connection, seqs, generation)
        into[: len(vectors)] = vectors
        return catalogue.rows(found)
    return rows


def _read_each(connection: apsw.Connection, seqs: Sequence[int], generation: Generation, into: Vector) -> None:
    """The vectors of versions that all have one, read into their places, which costs less than a query and its values."""
    places, size = into.data.cast("B"), into.itemsize * into.shape[1]
    with closing(connection.blob_open("main", "vectors", "vector", place(generation.number, seqs[0]), False)) as blob:
        for at, seq in enumerate(seqs):
            if at:
                blob.reopen(place(generation.number, seq))
            if blob.length() != size:
                raise ValueError(f"the vector of version {seq} has {blob.length()} bytes instead of {size}")
            blob.read_into(places, at * size, size)
