"""Fusions: one algorithm a file, one row in this table."""

from recollect.fusion.base import Fused, Fusion
from recollect.fusion.comb import CombMnz, CombSum
from recollect.fusion.convex import Convex
from recollect.fusion.dbsf import Dbsf
from recollect.fusion.isr import Isr
from recollect.fusion.merge import Merge
from recollect.fusion.relative import RelativeScore
from recollect.fusion.rrf import Rrf
from recollect.fusion.weighted import Weighted

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
