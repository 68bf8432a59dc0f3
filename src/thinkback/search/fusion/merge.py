"""Merge: runs one after the other, the first occurrence of each id, cut; no score is invented."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from thinkback.model import Run
from thinkback.search.fusion.base import Fused, keep, lay_out, weigh
from thinkback.search.fusion.normalize import raw
from thinkback.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """A candidate keeps the score of the first leg that found it, and its place in line."""

    name: ClassVar[str] = "merge"
    cut: int = 0

    def fuse(self, runs: Sequence[Run], weights: Mapping[str, float]) -> Fused:
        board = lay_out(runs)
        first = np.zeros_like(board.found)
        if board.ids:
            first[board.found.argmax(axis=0), np.arange(len(board.ids))] = True
        values = np.where(first, raw(board.scores, board.found), 0.0)
        merged = weigh(board, values, dict.fromkeys(board.legs, 1.0), "the first leg's own score")
        return keep(replace(merged, by_score=False), self.cut)
