"""The members leg: from the theme that matches the query best to the memories it was made from."""

from collections.abc import Sequence
from typing import ClassVar

from thinkback.model import CONSOLIDATED, Run, StoredRecord
from thinkback.reflections import LARGEST_THEME
from thinkback.search.legs.base import NO_VECTOR, Leg, Stage, without_reflections
from thinkback.search.legs.reflections import Reflections
from thinkback.search.legs.vector import nearest
from thinkback.search.query.parse import Query
from thinkback.stores.base import Store
from thinkback.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Members(Leg):
    """Starts from the first `themes` hits of the reflections leg, and adds members that no other leg found, by cosine.

    Members that other legs found get no extra score: on LoCoMo that would lift the theme's other members above the answer.
    """

    name: ClassVar[str] = "members"
    stage: ClassVar[Stage] = "runs"
    weight: float = 1.0
    limit: int = 20
    themes: int = 1

    def run(self, query: Query, store: Store, earlier: Sequence[Run]) -> Run:
        strong = [hit.id for run in earlier if run.leg == Reflections.name for hit in run.hits[: self.themes]]
        if query.vector is None:
            return Run(self.name, skipped=query.no_vector)
        if not strong:
            return Run(self.name, skipped="there is no theme to start from")
        found = {hit.id for run in earlier for hit in run.hits}
        edges = store.edges(strong, query.filter, LARGEST_THEME, kinds=(CONSOLIDATED,))
        reached = {edge.to_id for id, its_edges in edges.items() for edge in its_edges if edge.from_id == id}
        unseen = sorted(reached - found)
        if not unseen:
            return Run(self.name)
        return Run(
            self.name,
            tuple(nearest(query.vector, without_reflections(query.filter).only(unseen), self.limit, store)),
        )

    def leaves_out(self, record: StoredRecord, query: Query, store: Store, earlier: Sequence[Run]) -> str | None:
        if any(hit.id == record.id for run in earlier for hit in run.hits):
            return "adds only what no other leg found"
        return "it is not a member of a theme it starts from" if record.embedded else NO_VECTOR
