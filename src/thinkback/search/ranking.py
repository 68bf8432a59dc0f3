"""The pure half of a search: from gathered candidates to an ordered ledger; the same input gives the same bits."""

from collections.abc import Mapping, Sequence
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from thinkback.model import Column, Floats, Ledger, Run, StoredEdge, StoredRecord, Vector
from thinkback.search.fusion import Fused
from thinkback.search.query.parse import Query
from thinkback.search.recipes.model import How, Recipe, Term
from thinkback.search.signals import Links, Scene, Skip
from thinkback.search.thread_order import Line
from thinkback.stores.together import HeldPassages
from thinkback.values import dataclass

NEWEST = "newest"  # the run used when there was nothing to search by


@dataclass(frozen=True, slots=True, eq=False)
class Gathered:
    """All that was read for one query; ranking needs nothing else, so it can be replayed with other weights."""

    query: Query
    runs: tuple[Run, ...]
    records: Mapping[str, StoredRecord]
    edges: Mapping[str, Sequence[StoredEdge]] = field(default_factory=dict)
    gaps: Mapping[tuple[str, str], int] | None = None
    vectors: Mapping[str, Vector] = field(default_factory=dict)
    passages: HeldPassages | None = None
    line: Line | None = None

    def line_of(self, records: Sequence[StoredRecord]) -> Line:
        """The candidates in their threads; as they were gathered if they are still in that order."""
        return self.line if self.line is not None and self.line.records == records else Line.of(records)

    @property
    def searched(self) -> bool:
        """Whether any leg had something to search by."""
        return any(run.skipped is None and run.leg != NEWEST for run in self.runs)


@dataclass(frozen=True, slots=True, eq=False)
class Ordered:
    """Candidates with their ledger; `order` holds rows, best first."""

    ledger: Ledger
    records: tuple[StoredRecord, ...]
    order: NDArray[np.intp]
    skipped: tuple[tuple[str, str], ...] = ()

    def ids(self) -> tuple[str, ...]:
        """The ids of the candidates, best first."""
        return tuple(map(self.ledger.ids.__getitem__, self.order.tolist()))


def rank(gathered: Gathered, recipe: Recipe) -> Ordered:
    """Fuse the runs and apply every signal; if nothing was searched, the newest memories keep their order."""
    runs = [run for run in gathered.runs if run.skipped is None]
    weights, terms = active(recipe, runs, gathered.query) if gathered.searched else ({}, [])
    fused = recipe.fusion.fuse(runs, weights) if gathered.searched else _unscored(runs)
    ledger = relevance(fused.ledger, recipe.relevance) if fused.by_score else fused.ledger
    records = tuple(map(gathered.records.__getitem__, ledger.ids))
    links = Links.between(ledger.ids, gathered.edges) if gathered.edges else None
    skipped = [(run.leg, run.skipped) for run in gathered.runs if run.skipped is not None]
    skipped += [(term.signal.name, reason) for term in recipe.signals if (reason := term.signal.silent(gathered.query))]
    line = gathered.line_of(records) if terms or gathered.gaps is not None else None
    read = None if line is None else line.read
    where = None if line is None or gathered.gaps is None else line.places(gathered.gaps)
    for term in terms if ledger.ids else ():
        scene = Scene(gathered.query, records, ledger.totals, fused.values, links, where, read, runs)
        values = term.signal.values(scene)
        if isinstance(values, Skip):
            skipped.append((term.signal.name, values.reason))
        else:
            ledger = ledger.post(
                Column("signal", term.signal.name, deltas(ledger.totals, values, term), values, term.formula)
            )
    keeps_line = not fused.by_score and len(ledger.columns) == len(fused.ledger.columns)
    order = np.arange(len(ledger.ids)) if keeps_line else ledger.order()
    return Ordered(ledger, records, order, tuple(skipped))


def _unscored(runs: Sequence[Run]) -> Fused:
    """Candidates in line, with nothing to compare them by."""
    ids = dict.fromkeys(hit.id for run in runs for hit in run.hits)
    return Fused(Ledger.of(list(ids), []), {}, by_score=False)


def reach(recipe: Recipe) -> int:
    """How far along threads the recipe's signals look."""
    return max((term.signal.needs_places for term in recipe.signals if term.weight), default=0)


def active(recipe: Recipe, runs: Sequence[Run], query: Query) -> tuple[dict[str, float], list[Term]]:
    """The weights in force: with `redistribute`, each active weight divided by the sum of active weights."""
    factors = {run.leg: run.factor for run in runs}
    weights = {leg.name: leg.weight * factors[leg.name] for leg in recipe.legs if leg.name in factors}
    terms = [
        term for term in recipe.signals if (term.how != "add" or term.weight != 0) and term.signal.silent(query) is None
    ]
    if not recipe.redistribute:
        return weights, terms
    total = sum(weights.values()) + sum(term.weight for term in terms if term.how == "add")
    if total <= 0:
        return weights, terms
    scaled = [_scaled(term, total) if term.how == "add" else term for term in terms]
    return {leg: weight / total for leg, weight in weights.items()}, scaled


def _scaled(term: Term, total: float) -> Term:
    return Term(signal=term.signal, how=term.how, weight=term.weight / total, base=term.base)


def relevance(ledger: Ledger, weight: float | None) -> Ledger:
    """Every contribution divided by the best score and multiplied by the weight of relevance."""
    best = ledger.totals.max(initial=0.0)
    if weight is None or best <= 0:
        return ledger
    scaled = ("" if best == 1 else f", ÷ {best:.4g}, the best") + ("" if weight == 1 else f", × {weight:g}")
    columns = [Column(c.step, c.name, weight * c.deltas / best, c.values, c.formula + scaled) for c in ledger.columns]
    return Ledger.of(ledger.ids, columns)


def deltas(scores: Floats, values: Floats, term: Term) -> Floats:
    """The contribution of a term to every score."""
    return entering(scores, values, term.how, term.weight, term.base)


def entering(scores: Floats, values: Floats, how: How, weight: float, base: float = 0.0) -> Floats:
    """The difference that a value makes to a score."""
    if how == "add":
        return weight * values
    if how == "multiply":
        return scores * (base + weight * values) - scores
    if how == "blend":
        return weight * (values - scores)
    return values - scores


def reorder_head(ordered: Ordered, column: Column) -> Ordered:
    """Post the cross-encoder's column; ties keep their order."""
    ledger = ordered.ledger.post(column)
    by_score = np.argsort(-ledger.totals[ordered.order], kind="stable")
    return Ordered(ledger, ordered.records, ordered.order[by_score], ordered.skipped)
