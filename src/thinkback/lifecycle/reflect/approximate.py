"""Proposals for nearest neighbours from a graph index (HNSW; Malkov and Yashunin, 2016), for when all pairs are too many.

Comparing all pairs is exact and, in blocks of matrix products, quicker up to some 100,000 memories at once; but it grows with
the square. The index is built by a single thread in an order drawn from a seed, so the same memories always give the same
proposals; in order of age, what was said together would form islands that no search leaves. Equal vectors form such islands too:
only one of them is put in, and they are proposed to each other. The index keeps a byte a number: proposals are compared again in
full by whoever asked for them.
"""

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from thinkback.lifecycle.reflect.nearest import Pairs, Rows
from thinkback.model import Vector

if TYPE_CHECKING:
    from usearch.index import Index

PROPOSED = 8  # neighbours of each row, itself among them
CONNECTIVITY = 16
BREADTH_BUILDING, BREADTH_ASKING = 96, 48  # of 100,000 sentences, 97 in 100 find their true neighbour
BATCH = 4096


def available() -> bool:
    """Whether the extra `ann` is installed."""
    return find_spec("usearch") is not None


def proposals(matrix: Vector, rows: Rows, progress: Callable[[int, int], None]) -> Iterator[Pairs]:
    """For these rows of the matrix, in batches, pairs of a row and another that may be its nearest."""
    first = _first_alike(matrix)
    copies = np.flatnonzero(first != np.arange(len(matrix)))
    yield copies, first[copies]
    singles = np.flatnonzero(first == np.arange(len(matrix)))
    asked = np.unique(first[rows])
    total = len(singles) + len(asked)
    index = _built(matrix, singles, lambda done: progress(done, total))
    for start in range(0, len(asked), BATCH):
        part = asked[start : start + BATCH]
        found = index.search(matrix[part], min(PROPOSED, len(singles))).keys.astype(np.intp)
        row, other = np.repeat(part, found.shape[1]), found.reshape(-1)
        progress(len(singles) + start + len(part), total)
        yield row[row != other], other[row != other]


def _first_alike(matrix: Vector) -> Rows:
    """For every row the first that is equal to it, bit for bit."""
    whole = np.ascontiguousarray(matrix).view(f"V{matrix.shape[1] * matrix.itemsize}").ravel()
    _, first, which = np.unique(whole, return_index=True, return_inverse=True)
    alike: Rows = first[which]
    return alike


def _built(matrix: Vector, rows: Rows, progress: Callable[[int], None]) -> "Index":
    # Loaded after usearch (2.26), onnxruntime ends the process with a segmentation fault; loaded before it, both work.
    import onnxruntime  # noqa: F401
    from usearch.index import Index

    index = Index(
        ndim=matrix.shape[1],
        metric="cos",
        dtype="i8",
        connectivity=CONNECTIVITY,
        expansion_add=BREADTH_BUILDING,
        expansion_search=BREADTH_ASKING,
    )
    order = np.random.default_rng(0).permutation(rows)
    for start in range(0, len(order), BATCH):
        keys = order[start : start + BATCH]
        index.add(keys, matrix[keys], threads=1)
        progress(start + len(keys))
    return index
