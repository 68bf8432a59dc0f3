"""Legs: one a file, one row in this table."""

from thinkback.search.legs.base import Leg, deep_enough
from thinkback.search.legs.dates import Dates
from thinkback.search.legs.graph import GraphWalk
from thinkback.search.legs.instructions import Instructions
from thinkback.search.legs.keyword import Keyword
from thinkback.search.legs.members import Members
from thinkback.search.legs.recent import Recent
from thinkback.search.legs.reflections import Reflections
from thinkback.search.legs.vector import VectorLeg

LEGS: dict[str, type[Leg]] = {
    leg.name: leg for leg in (Keyword, VectorLeg, GraphWalk, Dates, Recent, Reflections, Members, Instructions)
}

__all__ = [
    "LEGS",
    "Dates",
    "GraphWalk",
    "Instructions",
    "Keyword",
    "Leg",
    "Members",
    "Recent",
    "Reflections",
    "VectorLeg",
    "deep_enough",
]
