"""Signals: one a file, one row in this table."""

from thinkback.search.signals.base import Links, Scene, Signal, Skip
from thinkback.search.signals.decay import Decay
from thinkback.search.signals.graph import Graph
from thinkback.search.signals.importance import Importance
from thinkback.search.signals.neighbours import Neighbours
from thinkback.search.signals.priority import Priority
from thinkback.search.signals.quality import Quality
from thinkback.search.signals.ranker import Ranker
from thinkback.search.signals.recency import Recency
from thinkback.search.signals.reflection import Reflection
from thinkback.search.signals.tags import Tags
from thinkback.search.signals.temporal import Temporal
from thinkback.search.signals.updates import Updates
from thinkback.search.signals.voice import Voice

SIGNALS: dict[str, type[Signal]] = {
    signal.name: signal
    for signal in (
        Quality,
        Recency,
        Importance,
        Priority,
        Temporal,
        Tags,
        Graph,
        Neighbours,
        Voice,
        Decay,
        Reflection,
        Ranker,
        Updates,
    )
}

__all__ = ["SIGNALS", "Links", "Scene", "Signal", "Skip"]
