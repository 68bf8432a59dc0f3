"""Reciprocal rank fusion: score(d) = Σ w / (k + rank(d)).

Cormack, Clarke and Büttcher (2009). "RRF" names several things: here `first_rank` says whether ranks count from 0 or 1.
A small k trusts the head of each run; over deep pools k = 60 lets two mediocre ranks beat one leg's best hit (2/(60+20) > 1/60).
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from thinkback.model import Run
from thinkback.search.bounds import at_least
from thinkback.search.fusion.base import Fused, keep, lay_out, weigh
from thinkback.values import dataclass

FALLBACK_K = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rrf:
    """The recipes memini (k=5, first_rank=0) and gorag (k=60, first_rank=1) use it; k ≤ 0 means 5, cut ≤ 0 means all."""

    name: ClassVar[str] = "rrf"
    k: float = FALLBACK_K
    first_rank: int = 0
    cut: int = 0

    def __post_init__(self) -> None:
        at_least(0, self.first_rank, "fusion.first_rank", "Ranks are counted from 0 or from 1")

    def fuse(self, runs: Sequence[Run], weights: Mapping[str, float]) -> Fused:
        board = lay_out(runs)
        k = self.k if self.k > 0 else FALLBACK_K
        values = np.where(board.found, 1.0 / (k + (board.ranks - 1 + self.first_rank)), 0.0)
        return keep(
            weigh(board, values, weights, f"{{weight:g}} / ({k:g} + rank), ranks from {self.first_rank}"), self.cut
        )
