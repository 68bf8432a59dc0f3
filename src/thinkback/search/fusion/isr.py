"""Inverse square rank: score(d) = runs that found d × Σ w / rank(d)², ranks from 1 (Mourão, Martins and Magalhães, 2014)."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from thinkback.model import Run
from thinkback.search.fusion.base import Fused, keep, lay_out, weigh
from thinkback.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Isr:
    """Steeper than reciprocal rank: the second place is worth a quarter of the first."""

    name: ClassVar[str] = "isr"
    cut: int = 0

    def fuse(self, runs: Sequence[Run], weights: Mapping[str, float]) -> Fused:
        board = lay_out(runs)
        ranks = np.maximum(board.ranks, 1).astype(np.float64)
        values = np.where(board.found, 1.0 / ranks**2, 0.0) * board.found.sum(axis=0)
        return keep(weigh(board, values, weights, "{weight:g} × legs / rank²"), self.cut)
