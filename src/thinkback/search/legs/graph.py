"""The graph leg: a walk along edges from the other legs' best hits."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from thinkback.model import Run, Scored, StoredRecord
from thinkback.search.bounds import between
from thinkback.search.legs.base import Leg, Stage
from thinkback.search.query.parse import Query
from thinkback.stores.base import Store
from thinkback.values import dataclass

MOST_STEPS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphWalk(Leg):
    """A memory reached over a path scores seed · Π (edge weight · decay), the best path counting.

    Seeds are the first `seeds` hits of every other leg, worth 1 / rank; they do not return themselves, but may be reached
    from each other. With `sequence` the walk follows threads too, else only links that were made, but for kinds in `without`.
    """

    name: ClassVar[str] = "graph"
    stage: ClassVar[Stage] = "runs"
    weight: float = 1.0
    limit: int = 50
    seeds: int = 10
    depth: int = 2
    decay: float = 0.5
    max_neighbours: int = 10
    sequence: bool = True
    without: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        between(0, MOST_STEPS, self.depth, "legs.graph.depth")

    def run(self, query: Query, store: Store, earlier: Sequence[Run]) -> Run:
        frontier = self._seeds(earlier)
        if not frontier:
            return Run(self.name, skipped="no other leg found anything to walk from")
        reached: dict[str, float] = {}
        for _ in range(self.depth):
            frontier = self._step(frontier, query, store)
            frontier = {id: score for id, score in frontier.items() if score > reached.get(id, 0.0)}
            reached |= frontier
            if not frontier:
                break
        best = sorted(reached.items(), key=lambda item: (-item[1], item[0]))
        return Run(self.name, tuple(Scored(id, score) for id, score in best[: self.limit]))

    def _seeds(self, earlier: Sequence[Run]) -> dict[str, float]:
        worth = ((hit.id, 1.0 / rank) for run in earlier for rank, hit in enumerate(run.hits[: self.seeds], 1))
        return _best(worth)

    def _step(self, frontier: dict[str, float], query: Query, store: Store) -> dict[str, float]:
        edges = store.edges(list(frontier), query.filter, self.max_neighbours, self.sequence, without=self.without)
        return _best(
            (edge.to_id if edge.from_id == id else edge.from_id, frontier[id] * edge.weight * self.decay)
            for id, its_edges in edges.items()
            for edge in its_edges
        )

    def leaves_out(self, record: StoredRecord, query: Query, store: Store, earlier: Sequence[Run]) -> str | None:
        return (
            f"no link it walks leads there (steps: {self.depth}, strongest links of each memory: {self.max_neighbours})"
        )


def _best(pairs: Iterable[tuple[str, float]]) -> dict[str, float]:
    best: dict[str, float] = {}
    for id, score in pairs:
        if score > best.get(id, 0.0):
            best[id] = score
    return best
