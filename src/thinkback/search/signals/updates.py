"""Updates: a memory that seems to replace the value of an older one comes directly before it (see `search/updates.py`)."""

from typing import ClassVar

import numpy as np

from thinkback.model import Floats
from thinkback.search.signals.base import Scene, Signal, Skip
from thinkback.search.updates import asks_for_value, replaced
from thinkback.values import dataclass

_STEP = 1e-6
_NONE = Skip("no candidate seems to replace another")


@dataclass(frozen=True, slots=True, kw_only=True)
class Updates(Signal):
    """The difference to the older one's score where that is higher, among the `top` best candidates; else 0."""

    name: ClassVar[str] = "updates"
    top: int = 12

    def values(self, scene: Scene) -> Floats | Skip:
        if not asks_for_value(scene.query.text):
            return _NONE
        best = np.argsort(-scene.totals, kind="stable")[: self.top]
        rows = {scene.records[row].id: int(row) for row in best}
        found = replaced([scene.records[row] for row in best], scene.query.text)
        if not found:
            return _NONE
        raised = scene.totals.copy()
        pairs = [(rows[newer], rows[older]) for older, newer in found.items()]
        for newer, older in sorted(
            pairs, key=lambda pair: scene.records[pair[0]].date
        ):  # each after what it replaces is raised
            raised[newer] = max(raised[newer], raised[older] + _STEP)
        return raised - scene.totals
