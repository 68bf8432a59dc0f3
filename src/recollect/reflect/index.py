"""Proposals for nearest neighbours from a graph index (HNSW; Malkov and Yashunin, 2016), for when all pairs are too many.

Comparing all pairs is exact and, in blocks of matrix products, quicker up to some 100,000 memories at once; but it grows with
the square. The index is built in order of id by a single thread, so the same memories always give the same proposals. It keeps
a byte a number: proposals are compared again in full by whoever asked for them.
"""

from collections.abc import Callable, Iterator
from importlib.util import find_spec

import numpy as np

from recollect.model import Vector
from recollect.reflect.nearest import Pairs, Rows

PROPOSED = 8  # neighbours of each row, itself among them
CONNECTIVITY = 16
BREADTH_BUILDING, BREADTH_ASKING = 96, 48  # of 100,000 sentences, 97 in 100 find their true neighbour
BATCH = 4096


def available() -> bool:
    """Whether the extra `ann` is installed."""
    return find_spec("usearch") is not None


def proposals(matrix: Vector, rows: Rows, progress: Callable[[int, int], None]) -> Iterator[Pairs]:
    """For these rows of the matrix, in batches, pairs of a row and another that may be its nearest."""
    from usearch.index import Index

    total = len(matrix) + len(rows)
    index = Index(
        ndim=matrix.shape[1],
        metric="cos",
        dtype="i8",
        connectivity=CONNECTIVITY,
        expansion_add=BREADTH_BUILDING,
        expansion_search=BREADTH_ASKING,
    )
    for start in range(0, len(matrix), BATCH):
        keys = np.arange(start, min(start + BATCH, len(matrix)))
        index.add(keys, matrix[keys], threads=1)
        progress(int(keys[-1]) + 1, total)
    for start in range(0, len(rows), BATCH):
        asked = rows[start : start + BATCH]
        found = index.search(matrix[asked], min(PROPOSED, len(matrix))).keys.astype(np.intp)
        row = np.repeat(asked, found.shape[1])
        other = found.reshape(-1)
        progress(len(matrix) + start + len(asked), total)
        yield row[row != other], other[row != other]
