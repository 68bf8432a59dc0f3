"""Vectors of coded rows, as they were read from the file; kept while they fit, as questions come back to the same memories."""

import threading
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from thinkback.model import Floats, Vector
from thinkback.stores.sqlite.generations import STORED

_MOST_BYTES = 64 << 20
Rows = NDArray[np.intp]
# Reads the vectors of rows from the file into the places given, and returns those of the rows that have one; they come first.
Read = Callable[[Rows, Vector], Rows]


class _Shelf:
    """Room for so many vectors; memory that is not written to costs nothing. Place 0 stays empty."""

    def __init__(self, rows: int, most: int, dimensions: int) -> None:
        self.places = np.zeros(rows, dtype=np.int32)
        self.vectors = np.empty((most + 1, dimensions), dtype=STORED)
        self.squares = np.empty(most + 1)
        self.taken = 1


class KeptVectors:
    """Vectors of the first `rows` rows of a catalogue, of one generation, whose vectors do not change.

    Threads share it: a place is named only once its vector stands there, and a full shelf is replaced, not cleared.
    """

    def __init__(self, rows: int, dimensions: int) -> None:
        self._rows, self._dimensions = rows, dimensions
        self._most = min(rows, _MOST_BYTES // (STORED.itemsize * dimensions))
        self._lock = threading.Lock()
        self._shelf: _Shelf | None = None

    def emptied(self) -> "KeptVectors":
        """One for the same rows that has none yet."""
        return KeptVectors(self._rows, self._dimensions)

    def get(self, rows: Rows, read: Read) -> tuple[Rows, Vector, Floats]:
        """The rows among these that have a vector, in any order, with the vectors and their squared lengths."""
        shelf = self._shelf
        if shelf is None:
            return self._read(rows, read)
        places = shelf.places[rows]
        if places.all():
            return rows, shelf.vectors[places], shelf.squares[places]
        here = places > 0
        if not here.any():
            return self._read(rows, read)
        new, vectors, squares = self._read(rows[~here], read)
        places = places[here]
        return (
            np.concatenate([rows[here], new]),
            np.concatenate([shelf.vectors[places], vectors]),
            np.concatenate([shelf.squares[places], squares]),
        )

    def _read(self, rows: Rows, read: Read) -> tuple[Rows, Vector, Floats]:
        """The same from the file; read onto the shelf, unless they are more than fit."""
        if len(rows) > self._most:
            vectors = np.empty((len(rows), self._dimensions), dtype=STORED)
            rows = read(rows, vectors)
            return rows, vectors[: len(rows)], squared(vectors[: len(rows)])
        shelf, start = self._reserved(len(rows))
        rows = read(rows, shelf.vectors[start : start + len(rows)])
        end = start + len(rows)
        vectors = shelf.vectors[start:end]
        squares = shelf.squares[start:end] = squared(vectors)
        shelf.places[rows] = np.arange(start, end)
        return rows, vectors, squares

    def _reserved(self, count: int) -> tuple[_Shelf, int]:
        """A shelf with so many places that nobody else writes to, and the first of them."""
        with self._lock:
            shelf = self._shelf
            if shelf is None or shelf.taken + count > self._most + 1:
                shelf = self._shelf = _Shelf(self._rows, self._most, self._dimensions)
            start = shelf.taken
            shelf.taken += count
            return shelf, start


_BLOCK = 32  # rows at once; the allocator returns larger blocks to the system after each search


def squared(vectors: Vector) -> Floats:
    """The squared length of each vector in float64."""
    return _by_blocks(vectors, lambda wide: (wide * wide).sum(axis=1))


def products(vectors: Vector, target: Floats) -> Floats:
    """The product of each vector with the target, in float64; each depends on the two alone."""
    return _by_blocks(vectors, lambda wide: (wide * target).sum(axis=1))


def _by_blocks(vectors: Vector, of: Callable[[Floats], Floats]) -> Floats:
    found = [of(vectors[at : at + _BLOCK].astype(np.float64)) for at in range(0, len(vectors), _BLOCK)]
    return found[0] if len(found) == 1 else np.concatenate(found) if found else np.zeros(0)
