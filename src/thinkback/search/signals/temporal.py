"""Temporal targeting: 1 within the tolerance of the time the query names, falling linearly to 0 at 3 × tolerance.

The time that a memory's text tells of counts like its date, times (length of the query's window) / (length of that time) where it
is longer: "last year" says little about a day.
"""

from typing import ClassVar

from thinkback.model import Floats, StoredRecord
from thinkback.search.query.time import Anchor
from thinkback.search.signals.base import Scene, Signal, Skip, of_records
from thinkback.values import dataclass


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
        return of_records([max(anchor.proximity(one.date), _told(one, anchor)) for one in scene.records])


def _told(record: StoredRecord, anchor: Anchor) -> float:
    """How near the time that the text tells of is, the less the vaguer it is."""
    if record.about_from is None or record.about_to is None:
        return 0.0
    length = max(record.about_to - record.about_from, 1)
    return anchor.proximity(record.about_from, record.about_to - 1) * min(1.0, 2 * anchor.tolerance_us / length)
