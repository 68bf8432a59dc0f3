"""Graphs over the vectors of several segments (HNSW, Malkov and Yashunin, 2016): approximate, and asked for by name.

A graph is built by one thread in an order drawn from a seed and never changed, so for a given index the answer is always the
same. Its recall is measured when it is built: the share of the nearest rows by exact cosine that it returns, over questions made of
its own rows. A question is less specific than a memory and not like it in everything, so each is a row moved towards the mean of
all, and to a side (docs/experiments.md). For a rare question a search misses everything near; only many questions show how rare.

The library is given codes of eight bits that are made here, of what is left of a vector without the mean of all, at one scale, so
that they have all the steps there are; its own would give the numbers of unit vectors only a few. The distance of two codes is
nearly that of their vectors. Equal vectors would form islands that a search cannot leave, so only the first of them is in the graph
and brings its copies.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thinkback.errors import MissingExtra
from thinkback.model import Vector
from thinkback.stores.index.codes import Codes, rounded, scale_of
from thinkback.stores.index.folder import Arrays
from thinkback.values import dataclass

if TYPE_CHECKING:
    from usearch.index import Index

EXTRA = "ann"
NEAREST = 50  # neighbours looked for where the recall is measured
_CONNECTIVITY = 20
_EXPANSION_ADD = 128
_MORE = 10  # one more row is taken from a graph for so many that are wanted,
_AT_LEAST = 4  # but so many at the least
_EXPANSIONS = (
    64,
    96,
    128,
    160,
    192,
    256,
    384,
    512,
    1024,
)  # candidates followed in a search: the first that is good enough
_GOOD_ENOUGH = 0.995
_SAMPLE = 256  # rows that the recall is measured on,
_TO_MEAN = 3  # each with so many times the mean of all,
_ASIDE = 0.5  # and moved to a side by so much of its distance from the mean
_AT_ONCE = 64  # questions compared with all rows
_NEARLY = 1e-6  # by which products may differ
_BATCH = 4096

Rows = NDArray[np.intp]


def require() -> None:
    """Raise MissingExtra if the library is not installed."""
    from importlib.util import find_spec

    if find_spec("usearch") is None:
        raise MissingExtra.of("an HNSW index", EXTRA)


@dataclass(frozen=True, slots=True, eq=False)
class Coder:
    """Makes the codes of the vectors of a graph, and of those that are looked for in it."""

    mean: Vector
    scale: float

    @classmethod
    def of(cls, vectors: Vector) -> "Coder":
        """One for these rows, none of which has a number that does not fit."""
        mean = vectors.mean(axis=0)
        largest = max(float((vectors.max(axis=0) - mean).max()), float((mean - vectors.min(axis=0)).max()))
        return cls(mean, scale_of(largest))

    def codes(self, vectors: Vector) -> Codes:
        return rounded(vectors - self.mean, self.scale)


@dataclass(frozen=True)
class Graph:
    """A graph over the rows from `first` to `end` of a catalogue; `name` is that of its file."""

    name: str
    first: int
    end: int
    expansion: int
    recall: float
    arrays: Arrays

    @cached_property
    def _index(self) -> "Index":
        found = _index_class().restore(memoryview(self.arrays["graph"].data), view=True)
        if found is None:
            raise ValueError(f"{self.name} holds no graph")
        found.expansion_search = self.expansion
        return found

    @cached_property
    def _coder(self) -> "Coder":
        return Coder(self.arrays["mean"], float(self.arrays["scale"][0]))

    def near(self, query: Vector, count: int) -> tuple[Rows, Vector]:
        """More than so many rows near to a unit query, to be scored exactly, and how far each seems to be; in no order."""
        coder = self._coder
        found = self._index.search(coder.codes(query), min(_taken(count), len(self._index)), threads=1)
        rows, far = np.asarray(found.keys, dtype=np.intp), np.asarray(found.distances) * np.float32(coder.scale**2)
        copied = self.arrays["copied"]
        if len(copied) and (here := np.isin(copied, rows)).any():
            order = np.argsort(rows)
            far = np.concatenate([far, far[order[np.searchsorted(rows, copied[here], sorter=order)]]])
            rows = np.concatenate([rows, self.arrays["copies"][here].astype(np.intp)])
        return rows + self.first, far


def nearest(found: Sequence[tuple[Rows, Vector]], count: int) -> Rows:
    """Of what several graphs found, as many rows as one graph would return, with ties; in no order."""
    rows = np.concatenate([rows for rows, _ in found])
    if len(found) == 1 or len(rows) <= _taken(count):
        return rows
    far = np.concatenate([far for _, far in found])
    kept: Rows = rows[far <= np.partition(far, _taken(count) - 1)[_taken(count) - 1]]
    return kept


def _taken(count: int) -> int:
    """How many rows are taken from a graph, whose vectors are of one byte a number, for so many that are wanted."""
    return count + max(_AT_LEAST, -(-count // _MORE))


def build(vectors: Vector, stopped: Callable[[], bool]) -> tuple[dict[str, NDArray[Any]], int, float] | None:
    """The arrays of a graph over unit rows, how far it must look, and its recall; rows of zeros are left out.

    None if it was stopped, or if there is nothing to search.
    """
    same, here = _first_equal(vectors), vectors.any(axis=1)
    singles = np.flatnonzero((same == np.arange(len(vectors))) & here)
    copies = np.flatnonzero((same != np.arange(len(vectors))) & here)
    if not len(singles):
        return None
    index = _index_class()(
        ndim=vectors.shape[1], metric="l2sq", dtype="i8", connectivity=_CONNECTIVITY, expansion_add=_EXPANSION_ADD
    )
    apart = vectors[singles]
    coder = Coder.of(apart)
    order = np.random.default_rng(0).permutation(singles)
    for start in range(0, len(order), _BATCH):
        if stopped():
            return None
        keys = order[start : start + _BATCH]
        index.add(keys, coder.codes(vectors[keys]), threads=1)
    expansion, recall = _measured(index, apart, singles, coder)
    graph = np.frombuffer(bytes(index.save()), dtype=np.uint8)
    arrays: dict[str, NDArray[Any]] = {"graph": graph, "mean": coder.mean, "scale": np.array([coder.scale])}
    return arrays | {"copies": copies, "copied": same[copies]}, expansion, recall


def _measured(index: "Index", vectors: Vector, keys: Rows, coder: Coder) -> tuple[int, float]:
    """The smallest expansion that is good enough, or the largest, and the recall with it."""
    asked = _questions(vectors, coder.mean)
    count, expansion, recall = min(NEAREST, len(keys)), _EXPANSIONS[0], 0.0
    floors = np.concatenate(
        [_at_rank(asked[at : at + _AT_ONCE] @ vectors.T, count) for at in range(0, len(asked), _AT_ONCE)]
    )
    codes = coder.codes(asked)
    for expansion in _EXPANSIONS:
        index.expansion_search = expansion
        found = np.asarray(index.search(codes, min(_taken(count), len(keys)), threads=1).keys)
        places = np.searchsorted(keys, found.reshape(len(asked), -1))
        near = np.einsum("ijk,ik->ij", vectors[places], asked) >= floors[:, None] - _NEARLY
        recall = float(np.minimum(near.sum(axis=1), count).mean() / count)
        if recall >= _GOOD_ENOUGH:
            break
    return expansion, recall


def _questions(vectors: Vector, mean: Vector) -> Vector:
    """Unit vectors as those of questions that rows would answer."""
    some = vectors[np.unique(np.linspace(0, len(vectors) - 1, _SAMPLE).astype(np.intp))]
    sides = np.random.default_rng(0).standard_normal(some.shape, dtype=np.float32)
    sides *= _ASIDE * _lengths(some - mean) / _lengths(sides)
    asked = some + _TO_MEAN * mean + sides
    asked /= np.maximum(_lengths(asked), _NEARLY)
    return asked


def _lengths(vectors: Vector) -> Vector:
    found: Vector = np.linalg.norm(vectors, axis=1, keepdims=True)
    return found


def _at_rank(cosines: Vector, rank: int) -> Vector:
    """The value at a rank of each row, counted from 1."""
    at = cosines.shape[1] - rank
    found: Vector = np.partition(cosines, at, axis=1)[:, at]
    return found


def _first_equal(vectors: Vector) -> Rows:
    """For every row the first row that is equal to it, bit for bit; by digests, as sorting rows would copy them twice."""
    first: dict[bytes, int] = {}
    digests = (blake2b(row.tobytes(), digest_size=16).digest() for row in vectors)
    return np.array([first.setdefault(digest, row) for row, digest in enumerate(digests)], dtype=np.intp)


def _index_class() -> "type[Index]":
    # Loading onnxruntime after usearch (2.26) crashes the process; loading it first works.
    import onnxruntime  # noqa: F401
    from usearch.index import Index

    found: type[Index] = Index
    return found
