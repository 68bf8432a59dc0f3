"""Score fusion: each run scaled so that its best is 1 and its worst 0, then the weighted sum.

All equal scale to 1. With weights (alpha, 1 - alpha) this is the convex combination of Bruch, Gai and Ingber (2023).
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from thinkback.model import Run
from thinkback.search.fusion.base import Fused, keep, lay_out, weigh
from thinkback.search.fusion.normalize import min_max
from thinkback.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Convex:
    """Weights are taken as they are."""

    name: ClassVar[str] = "convex"
    cut: int = 0

    def fuse(self, runs: Sequence[Run], weights: Mapping[str, float]) -> Fused:
        board = lay_out(runs)
        return keep(
            weigh(board, min_max(board.scores, board.found), weights, "{weight:g} × min-max of the leg's score"),
            self.cut,
        )
