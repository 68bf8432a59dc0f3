"""CombSUM and CombMNZ of Fox and Shaw (1994): the sum of scaled scores, and that sum times the number of legs that found it."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from thinkback.model import Run
from thinkback.search.bounds import one_of
from thinkback.search.fusion.base import Fused, keep, lay_out, weigh
from thinkback.search.fusion.normalize import NORMALIZERS
from thinkback.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CombSum:
    """Σ scaled score; `scale` is a name of `normalize.NORMALIZERS`."""

    name: ClassVar[str] = "combsum"
    scale: str = "min-max"
    cut: int = 0

    def __post_init__(self) -> None:
        one_of(NORMALIZERS, self.scale, "fusion.scale")

    def fuse(self, runs: Sequence[Run], weights: Mapping[str, float]) -> Fused:
        board = lay_out(runs)
        return keep(
            weigh(board, NORMALIZERS[self.scale](board.scores, board.found), weights, "{weight:g} × scaled score"),
            self.cut,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CombMnz:
    """legs that found it × Σ scaled score."""

    name: ClassVar[str] = "combmnz"
    scale: str = "min-max"
    cut: int = 0

    def __post_init__(self) -> None:
        one_of(NORMALIZERS, self.scale, "fusion.scale")

    def fuse(self, runs: Sequence[Run], weights: Mapping[str, float]) -> Fused:
        board = lay_out(runs)
        values = NORMALIZERS[self.scale](board.scores, board.found) * board.found.sum(axis=0)
        return keep(weigh(board, values, weights, "{weight:g} × legs × scaled score"), self.cut)
