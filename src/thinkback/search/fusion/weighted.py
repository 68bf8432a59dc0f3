"""Weighted signals: the keyword score min-max scaled, the vector score as raw cosine, each times its weight.

The recipe's recency, priority and graph terms are added by the re-rank; weights of what is unavailable are redistributed there.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from thinkback.model import Run
from thinkback.search.fusion.base import Fused, by_id, keep, lay_out, weigh
from thinkback.search.fusion.normalize import min_max, raw
from thinkback.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighted:
    """Legs named in `raw_legs` keep their own scale; `all_equal` is the value of a run whose scores are all equal.

    Candidates of equal scores stay in the order they were first seen in or, with `ties_by_id`, in that of their ids.
    """

    name: ClassVar[str] = "weighted"
    raw_legs: tuple[str, ...] = ("vector",)
    all_equal: float = 1.0
    ties_by_id: bool = False
    cut: int = 0

    def fuse(self, runs: Sequence[Run], weights: Mapping[str, float]) -> Fused:
        board = lay_out(runs)
        as_is = np.array([leg in self.raw_legs for leg in board.legs], dtype=bool)[:, None]
        scaled = min_max(board.scores, board.found, self.all_equal)
        values = np.where(as_is, raw(board.scores, board.found), scaled)
        fused = weigh(board, values, weights, "{weight:.4g} × value")
        return keep(by_id(fused) if self.ties_by_id else fused, self.cut)
