"""Two ways to group memories: label propagation over their links, and single linkage over all pairs.

Label propagation (Raghavan, Albert and Kumara, 2007): every node takes the label with the most weight among its neighbours. Nodes
are visited in an order drawn once from the seed, at most `rounds` times; ties go to the smallest label. The place of a node in that
order depends on its name alone, so a change in one part of the graph never reorders another.

Single linkage: two vectors are in one group when a chain of pairs at a cosine of at least `at` joins them.
"""

import hashlib
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from thinkback.lifecycle.reflect.nearest import BLOCK_COLUMNS, BLOCK_ROWS, cosines
from thinkback.model import Vector

Graph = Mapping[str, Mapping[str, float]]  # undirected: every link is listed under both ends
Rows = NDArray[np.intp]


def propagate(graph: Graph, seed: int = 0, rounds: int = 20) -> list[tuple[str, ...]]:
    """Groups of nodes with the same label, each sorted, in order of their first node; nodes without links are left out."""
    labels = {node: node for node, links in graph.items() if links}
    turns = sorted(labels, key=lambda node: (_draw(seed, node), node))
    around = {node: sorted(graph[node].items()) for node in turns}
    for _ in range(rounds):
        changed = False
        for node in turns:
            label = _heaviest(labels, around[node])
            changed |= label != labels[node]
            labels[node] = label
        if not changed:
            break
    return _groups(labels)


def _draw(seed: int, node: str) -> bytes:
    return hashlib.blake2b(f"{seed}:{node}".encode(), digest_size=8).digest()


def _heaviest(labels: Mapping[str, str], links: list[tuple[str, float]]) -> str:
    votes: dict[str, float] = {}
    for other, weight in links:
        votes[labels[other]] = votes.get(labels[other], 0.0) + weight
    most = max(votes.values())
    return min(label for label, vote in votes.items() if vote == most)


def _groups(labels: Mapping[str, str]) -> list[tuple[str, ...]]:
    groups: dict[str, list[str]] = {}
    for node, label in labels.items():
        groups.setdefault(label, []).append(node)
    return sorted(tuple(sorted(nodes)) for nodes in groups.values())


def link_all(matrix: Vector, at: float) -> list[Rows]:
    """Groups of two and more rows, each sorted, in order of their first row; compares all pairs in blocks."""
    groups = _Groups(len(matrix))
    for start in range(0, len(matrix), BLOCK_ROWS):
        rows = np.arange(start, min(start + BLOCK_ROWS, len(matrix)))
        for begin in range(start, len(matrix), BLOCK_COLUMNS):
            columns = np.arange(begin, min(begin + BLOCK_COLUMNS, len(matrix)))
            _join(groups, matrix, rows, columns, at)
    roots = groups.roots(np.arange(len(matrix)))
    order = np.argsort(roots, kind="stable")
    found = np.split(order, np.flatnonzero(np.diff(roots[order])) + 1)
    return [group for group in found if len(group) > 1]


def _join(groups: "_Groups", matrix: Vector, rows: Rows, columns: Rows, at: float) -> None:
    error = matrix.shape[1] * 2.0**-24
    products = matrix[rows] @ matrix[columns].T
    apart = groups.roots(rows)[:, None] != groups.roots(columns)[None, :]
    row, column = np.nonzero((products >= at - error) & apart)
    for part in np.array_split(np.arange(len(row)), len(row) // BLOCK_COLUMNS + 1):
        a, b = rows[row[part]], columns[column[part]]
        still = groups.roots(a) != groups.roots(b)
        a, b = a[still], b[still]
        for one, other in zip(*(side[cosines(matrix, a, b) >= at] for side in (a, b)), strict=True):
            groups.join(int(one), int(other))


class _Groups:
    """Union-find; a group is named by its smallest row."""

    def __init__(self, size: int) -> None:
        self._parent = np.arange(size)

    def roots(self, rows: Rows) -> Rows:
        roots = self._parent[rows]
        while not np.array_equal(above := self._parent[roots], roots):
            roots = above
        self._parent[rows] = roots
        return roots

    def join(self, a: int, b: int) -> None:
        ra, rb = self._root(a), self._root(b)
        if ra != rb:
            self._parent[max(ra, rb)] = min(ra, rb)

    def _root(self, row: int) -> int:
        while self._parent[row] != row:
            row = int(self._parent[row])
        return row
