"""Neighbours: a memory gains from its neighbours in the thread, Σ decay^distance · the neighbour's score so far.

In a conversation the answer often stands next to the turn that matches the question. A step from a turn that asks to the turn
after it counts `reply` times as much: an answer inherits from its question. It never adds candidates.
"""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from thinkback.model import Floats
from thinkback.search.bounds import at_least
from thinkback.search.signals.base import Scene, Signal, Skip
from thinkback.values import dataclass

Walk = tuple[NDArray[np.intp], NDArray[np.intp], Floats]


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours(Signal):
    """Both directions count; distances are steps in the thread, including memories that are not candidates."""

    name: ClassVar[str] = "neighbours"
    decay: float = 0.4
    steps: int = 2
    reply: float = 1.75

    def __post_init__(self) -> None:
        for name in ("decay", "steps", "reply"):
            at_least(0, getattr(self, name), f"signals.neighbours.{name}")

    @property
    def needs_places(self) -> int:
        return self.steps

    def values(self, scene: Scene) -> Floats | Skip:
        walks = self.walks(scene)
        if not any(len(row) for row, _, _ in walks):
            return Skip("no two candidates stand near each other in a thread")
        sums = np.zeros(len(scene.records))
        for distance, (row, other, weight) in enumerate(walks, 1):
            np.add.at(sums, row, self.decay**distance * weight * scene.totals[other])
        return sums

    def walks(self, scene: Scene) -> list[Walk]:
        """The pairs at distance 1, 2, …, each with its weight; independent of the scores."""
        if scene.places is None:
            return []
        order = np.argsort(scene.places, kind="stable")
        line = scene.places[order]
        pairs = [(order[:-k], order[k:], line[k:] - line[:-k]) for k in range(1, min(self.steps, len(order) - 1) + 1)]
        walks = []
        for distance in range(1, self.steps + 1):
            before = np.concatenate([first[gap == distance] for first, _, gap in pairs] or [order[:0]])
            after = np.concatenate([second[gap == distance] for _, second, gap in pairs] or [order[:0]])
            asks = [distance == 1 and scene.records[row].text.rstrip().endswith("?") for row in before]
            weight = np.concatenate([np.where(asks, self.reply, 1.0), np.ones(len(before))])
            walks.append((np.concatenate([after, before]), np.concatenate([before, after]), weight))
        return walks
