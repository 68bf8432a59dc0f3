"""Updates: an older memory whose value a newer one seems to replace comes directly after it (see `search/updates.py`)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from thinkback.model import Floats
from thinkback.search.signals.base import Scene, Signal, Skip
from thinkback.search.updates import replaced


@dataclass(frozen=True, slots=True, kw_only=True)
class Updates(Signal):
    """The difference to the newer one's score where that is lower, among the `top` best candidates; else 0."""

    name: ClassVar[str] = "updates"
    top: int = 12

    def values(self, scene: Scene) -> Floats | Skip:
        values = np.zeros(len(scene.records))
        best = np.argsort(-scene.totals, kind="stable")[: self.top]
        rows = {scene.records[row].id: int(row) for row in best}
        found = replaced([scene.records[row] for row in best], scene.query.text)
        if not found:
            return Skip("no candidate seems to replace another")
        for older, newer in found.items():
            lead = scene.totals[rows[older]] - scene.totals[rows[newer]]
            if lead >= 0:
                values[rows[older]] = -lead - 1e-6
        return values
