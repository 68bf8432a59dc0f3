"""Candidate pairs of nearest neighbours from an HNSW index (Malkov and Yashunin, 2016), for stores too large to compare all pairs.

Comparing all pairs is exact and, in blocks of matrix products, faster up to about 100,000 new memories; but its cost grows with
the square. One thread builds the index in an order drawn from a seed, so the same memories always give the same candidates; in
order of age, related memories would form islands that a search cannot leave. Equal vectors form such islands too: only the first
is indexed, and the copies are paired with it. The index keeps one byte per number; the caller compares candidates again in full.
"""

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from thinkback.lifecycle.reflect.nearest import Pairs, Rows
from thinkback.model import Vector
from thinkback.stores.index.graphs import Coder

if TYPE_CHECKING:
    from usearch.index import Index

CANDIDATES = 8  # neighbours of each row, itself included
CONNECTIVITY = 16
EXPANSION_ADD, EXPANSION_SEARCH = 96, 48  # recall .97 on 100,000 sentences
BATCH = 4096


def available() -> bool:
    """Whether the extra `ann` is installed."""
    return find_spec("usearch") is not None


def candidates(matrix: Vector, rows: Rows, progress: Callable[[int, int], None]) -> Iterator[Pairs]:
    """Pairs of one of these rows and another row that may be its nearest, in batches."""
    first = _first_equal(matrix)
    copies = np.flatnonzero(first != np.arange(len(matrix)))
    yield copies, first[copies]
    singles = np.flatnonzero(first == np.arange(len(matrix)))
    queries = np.unique(first[rows])
    total = len(singles) + len(queries)
    coder = Coder.of(matrix[singles])
    index = _build(matrix, singles, coder, lambda done: progress(done, total))
    for start in range(0, len(queries), BATCH):
        part = queries[start : start + BATCH]
        found = index.search(coder.codes(matrix[part]), min(CANDIDATES, len(singles))).keys.astype(np.intp)
        row, other = np.repeat(part, found.shape[1]), found.reshape(-1)
        progress(len(singles) + start + len(part), total)
        yield row[row != other], other[row != other]


def _first_equal(matrix: Vector) -> Rows:
    """For every row the first row that is equal to it, bit for bit."""
    whole = np.ascontiguousarray(matrix).view(f"V{matrix.shape[1] * matrix.itemsize}").ravel()
    _, first, which = np.unique(whole, return_index=True, return_inverse=True)
    equal: Rows = first[which]
    return equal


def _build(matrix: Vector, rows: Rows, coder: Coder, progress: Callable[[int], None]) -> "Index":
    # Loading onnxruntime after usearch (2.26) crashes the process; loading it first works.
    import onnxruntime  # noqa: F401
    from usearch.index import Index

    index = Index(
        ndim=matrix.shape[1],
        metric="l2sq",
        dtype="i8",
        connectivity=CONNECTIVITY,
        expansion_add=EXPANSION_ADD,
        expansion_search=EXPANSION_SEARCH,
    )
    order = np.random.default_rng(0).permutation(rows)
    for start in range(0, len(order), BATCH):
        keys = order[start : start + BATCH]
        index.add(keys, coder.codes(matrix[keys]), threads=1)
        progress(start + len(keys))
    return index
