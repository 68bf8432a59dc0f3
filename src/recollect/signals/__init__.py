"""Signals: one a file, one row in this table."""

from recollect.signals.base import Links, Scene, Signal, Skip
from recollect.signals.decay import Decay
from recollect.signals.graph import Graph
from recollect.signals.importance import Importance
from recollect.signals.neighbours import Neighbours
from recollect.signals.priority import Priority
from recollect.signals.quality import Quality
from recollect.signals.recency import Recency
from recollect.signals.reflection import Reflection
from recollect.signals.tags import Tags
from recollect.signals.temporal import Temporal
from recollect.signals.voice import Voice

SIGNALS: dict[str, type[Signal]] = {
    signal.name: signal
    for signal in (Quality, Recency, Importance, Priority, Temporal, Tags, Graph, Neighbours, Voice, Decay, Reflection)
}

__all__ = ["SIGNALS", "Links", "Scene", "Signal", "Skip"]
