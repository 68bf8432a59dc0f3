"""Graph boost: Σ edge weight · max(keyword, vector) of the neighbour · decay, over a candidate's strongest edges.

Only semantic scores travel (no priority, recency or graph score), so hubs do not cascade; it never adds candidates.
"""

from typing import ClassVar

import numpy as np

from thinkback.model import Floats
from thinkback.search.bounds import at_least
from thinkback.search.signals.base import Scene, Signal, Skip
from thinkback.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph(Signal):
    """At most `max_neighbours` edges of each candidate count, strongest first; thread order is among them with `sequence`."""

    name: ClassVar[str] = "graph"
    decay: float = 0.5
    max_neighbours: int = 5
    sequence: bool = True

    def __post_init__(self) -> None:
        at_least(0, self.decay, "signals.graph.decay")
        at_least(0, self.max_neighbours, "signals.graph.max_neighbours")

    @property
    def needs_links(self) -> int:
        return self.max_neighbours

    @property
    def follows_threads(self) -> bool:
        return self.sequence

    def values(self, scene: Scene) -> Floats | Skip:
        links = scene.links
        if links is None or not len(links.row):
            return Skip("no candidate is linked to another")
        boosts = np.zeros(len(scene.records))
        near = links.place < self.max_neighbours
        lifts = links.weight * scene.semantic()[links.other] * self.decay
        np.add.at(boosts, links.row[near], lifts[near])
        return boosts
