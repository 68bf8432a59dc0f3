"""Temporal targeting: 1 within the tolerance of the time the query names, falling linearly to 0 at 3 × tolerance."""

from dataclasses import dataclass
from typing import ClassVar

from thinkback.model import Floats
from thinkback.search.signals.base import Scene, Signal, Skip, of_records


@dataclass(frozen=True, slots=True, kw_only=True)
class Temporal(Signal):
    """Dated by `valid_from`, else `created_at`; skipped when the query names no time, or only a vague one ("lately")."""

    name: ClassVar[str] = "temporal"
    raise_only: ClassVar[bool] = True

    def values(self, scene: Scene) -> Floats | Skip:
        anchor = scene.query.anchor
        if anchor is None:
            return Skip("the query names no time")
        if anchor.vague:
            return Skip("the query names only a vague time")
        return of_records([anchor.proximity(record.date) for record in scene.records])
