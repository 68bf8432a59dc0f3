"""Neighbours: what surrounds a memory speaks for it; Σ decay^distance · path weight · the neighbour's score so far.

In a conversation the answer often stands next to the turn that matches the question. Distances are steps along edges,
thread order among them; a neighbour counts once, at its shortest distance.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from recollect.model import Floats
from recollect.signals.base import Links, Scene, Skip

Walk = tuple[NDArray[np.intp], NDArray[np.intp], Floats]


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """Edges of a kind in `without` do not carry."""

    name: ClassVar[str] = "neighbours"
    decay: float = 0.45
    steps: int = 2
    max_neighbours: int = 6
    without: tuple[str, ...] = ("consolidated_from", "contested_by", "corroborates")

    @property
    def needs_links(self) -> int:
        return self.max_neighbours

    def values(self, scene: Scene) -> Floats | Skip:
        walks = self.walks(scene.links, len(scene.records))
        if not walks:
            return Skip("no candidate is linked to another")
        sums = np.zeros(len(scene.records))
        for distance, (row, other, weight) in enumerate(walks, 1):
            np.add.at(sums, row, self.decay**distance * weight * scene.totals[other])
        return sums

    def walks(self, links: Links | None, size: int) -> list[Walk]:
        """Who reaches whom at distance 1, 2, …, whatever the scores; empty where nothing is linked."""
        edges = None if links is None else _edges(links, self.max_neighbours, self.without)
        return [] if edges is None or not len(edges[0]) else _walks(edges, size, self.steps)


def _edges(links: Links, most: int, without: tuple[str, ...]) -> Walk:
    carries = links.place < most
    if without:
        carries &= np.array([kind not in without for kind in links.kind], dtype=bool)
    return links.row[carries], links.other[carries], links.weight[carries]


def _walks(edges: Walk, size: int, steps: int) -> list[Walk]:
    """Pairs at distance 1, 2, …, each pair once, with the weight of its strongest path."""
    seen = np.arange(size) * (
        size + 1
    )  # every candidate is its own neighbour at distance 0; a pair (i, j) is i · size + j
    starts = np.searchsorted(np.sort(edges[0]), np.arange(size + 1))
    by_row = np.argsort(edges[0], kind="stable")
    fan, fan_weight = edges[1][by_row], edges[2][by_row]
    walks: list[Walk] = []
    frontier = _unseen(edges, size, seen)
    for _ in range(steps):
        walks.append(frontier)
        row, other, weight = frontier
        seen = np.concatenate([seen, row * size + other])
        counts = starts[other + 1] - starts[other]
        at = np.repeat(starts[other] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        further = (np.repeat(row, counts), fan[at], np.repeat(weight, counts) * fan_weight[at])
        frontier = _unseen(further, size, seen)
    return walks


def _unseen(walk: Walk, size: int, seen: NDArray[np.intp]) -> Walk:
    row, other, weight = walk
    pairs = row * size + other
    strongest = np.lexsort((-weight, pairs))
    pairs, weight = pairs[strongest], weight[strongest]
    first = np.ones(len(pairs), dtype=bool)
    first[1:] = pairs[1:] != pairs[:-1]
    first &= ~np.isin(pairs, seen)
    return pairs[first] // size, pairs[first] % size, weight[first]
