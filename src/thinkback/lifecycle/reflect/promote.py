"""Promotion to P1, by a score of how useful a memory has proved to be.

score = .25 · recency + .20 · span + .20 · confirmation + .15 · confidence + .20 · frequency, each from 0 to 1:
recency 2^(−age / 7 d) since the last activity (an update or a recall); span (last activity − creation) / 30 d, at most 1;
confirmation corroborations / 5, at most 1; confidence itself, .5 when unknown; frequency recalls / 10, at most 1.
"""

import json
import math
from collections.abc import Iterable, Mapping

from thinkback.clock import DAY
from thinkback.lifecycle.reflect.model import Consolidation
from thinkback.model import StoredRecord
from thinkback.stores.base import Store
from thinkback.values import dataclass

WEIGHTS = {"recency": 0.25, "span": 0.20, "confirmation": 0.20, "confidence": 0.15, "frequency": 0.20}
HALF_LIFE = 7 * DAY
FULL_SPAN = 30 * DAY
FULL_CONFIRMATION = 5
FULL_FREQUENCY = 10
UNKNOWN_CONFIDENCE = 0.5
TOP = "P1"
RAISED = "reflect.raised"  # setting: the promoted memories with their former priority


@dataclass(frozen=True, slots=True)
class Standing:
    """The five values of one memory, each from 0 to 1."""

    recency: float
    span: float
    confirmation: float
    confidence: float
    frequency: float

    @property
    def score(self) -> float:
        return math.fsum(weight * getattr(self, name) for name, weight in WEIGHTS.items())


def standing(record: StoredRecord, corroborations: int, now: int) -> Standing:
    """The values of a memory at this time."""
    active = max(record.updated_at, record.last_access or record.updated_at)
    return Standing(
        recency=2.0 ** (-max(now - active, 0) / HALF_LIFE),
        span=_share(active - record.created_at, FULL_SPAN),
        confirmation=_share(corroborations, FULL_CONFIRMATION),
        confidence=UNKNOWN_CONFIDENCE if record.confidence is None else record.confidence,
        frequency=_share(record.access_count, FULL_FREQUENCY),
    )


def _share(value: int, full: int) -> float:
    return min(1.0, max(0.0, value / full))


def raised(store: Store) -> dict[str, str]:
    """Promoted memories with the priority they had before."""
    promoted: dict[str, str] = json.loads(store.setting(RAISED) or "{}")
    return promoted


def promotions(
    records: Iterable[StoredRecord], corroborations: Mapping[str, int], now: int, settings: Consolidation
) -> list[str]:
    """The memories to promote, best first, ties by id; limited per run, and to a share of the store in all."""
    everyone = list(records)
    at_top = sum(record.priority == TOP for record in everyone)
    room = min(settings.promote_most, int(settings.promote_share * len(everyone) + 1e-9) - at_top)
    scores = {r.id: standing(r, corroborations.get(r.id, 0), now).score for r in everyone if r.priority != TOP}
    risen = sorted((-score, id) for id, score in scores.items() if score > settings.promote_above)
    return [id for _, id in risen[: max(room, 0)]]
