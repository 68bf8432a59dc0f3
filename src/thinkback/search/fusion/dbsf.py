"""Distribution-based score fusion: each run scaled by its mean ± 3σ, then the weighted sum."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from thinkback.model import Run
from thinkback.search.fusion.base import Fused, keep, lay_out, weigh
from thinkback.search.fusion.normalize import distribution
from thinkback.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Dbsf:
    """One outlier stretches a run less than with min-max."""

    name: ClassVar[str] = "dbsf"
    cut: int = 0

    def fuse(self, runs: Sequence[Run], weights: Mapping[str, float]) -> Fused:
        board = lay_out(runs)
        return keep(
            weigh(board, distribution(board.scores, board.found), weights, "{weight:g} × score by mean ± 3σ"), self.cut
        )
