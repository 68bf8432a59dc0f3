"""Fusions: one algorithm a file, one row in this table."""

from thinkback.search.fusion.base import Fused, Fusion
from thinkback.search.fusion.comb import CombMnz, CombSum
from thinkback.search.fusion.convex import Convex
from thinkback.search.fusion.dbsf import Dbsf
from thinkback.search.fusion.isr import Isr
from thinkback.search.fusion.merge import Merge
from thinkback.search.fusion.relative import RelativeScore
from thinkback.search.fusion.rrf import Rrf
from thinkback.search.fusion.weighted import Weighted

FUSIONS: dict[str, type[Fusion]] = {
    fusion.name: fusion for fusion in (Rrf, Convex, Weighted, Merge, CombSum, CombMnz, Isr, Dbsf, RelativeScore)
}

__all__ = [
    "FUSIONS",
    "CombMnz",
    "CombSum",
    "Convex",
    "Dbsf",
    "Fused",
    "Fusion",
    "Isr",
    "Merge",
    "RelativeScore",
    "Rrf",
    "Weighted",
]
