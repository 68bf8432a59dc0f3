"""Relative-score fusion: min-max scaled runs, weights divided by their sum, so that the best possible score is 1."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from thinkback.model import Run
from thinkback.search.fusion.base import Fused, keep, lay_out, weigh
from thinkback.search.fusion.normalize import min_max
from thinkback.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RelativeScore:
    """Scores of different questions become comparable: they share the ceiling 1."""

    name: ClassVar[str] = "relative"
    cut: int = 0

    def fuse(self, runs: Sequence[Run], weights: Mapping[str, float]) -> Fused:
        board = lay_out(runs)
        total = sum(weights.get(leg, 1.0) for leg in board.legs) or 1.0
        shares = {leg: weights.get(leg, 1.0) / total for leg in board.legs}
        return keep(
            weigh(board, min_max(board.scores, board.found), shares, "{weight:.4g} × min-max of the leg's score"),
            self.cut,
        )
