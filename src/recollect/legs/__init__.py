"""Legs: one a file, one row in this table."""

from recollect.legs.base import Leg, Particular, deep_enough, reflections_alone
from recollect.legs.dates import Dates
from recollect.legs.graph import GraphWalk
from recollect.legs.keyword import Keyword
from recollect.legs.members import Members
from recollect.legs.recent import Recent
from recollect.legs.reflections import Reflections
from recollect.legs.vector import VectorLeg

LEGS: dict[str, type[Leg]] = {
    leg.name: leg for leg in (Keyword, VectorLeg, GraphWalk, Dates, Recent, Reflections, Members)
}

__all__ = [
    "LEGS",
    "Dates",
    "GraphWalk",
    "Keyword",
    "Leg",
    "Members",
    "Particular",
    "Recent",
    "Reflections",
    "VectorLeg",
    "deep_enough",
    "reflections_alone",
]
