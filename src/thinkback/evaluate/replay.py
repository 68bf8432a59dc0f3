"""Ranks many questions at once with other weights, from runs of the legs that were gathered before.

The candidates of all questions are concatenated in flat arrays, so a set of weights costs a few passes over them instead of one
search for each question. The values of fusions and signals are computed by these themselves, and cached. The arithmetic follows
`ranking.rank` operation by operation, so the order is the same to the last tie. Recipes with a cross-encoder are refused.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from thinkback.errors import InvalidInput
from thinkback.evaluate.datasets.base import Question
from thinkback.evaluate.metrics import GoldRanks, Metric
from thinkback.model import Floats, Run, StoredRecord
from thinkback.search.fusion import Fusion
from thinkback.search.fusion.base import lay_out
from thinkback.search.query.parse import Query
from thinkback.search.ranking import Gathered, entering
from thinkback.search.recipes.model import Recipe, Term
from thinkback.search.selection import canonical
from thinkback.search.signals import Links, Scene, Signal, Skip
from thinkback.search.signals.neighbours import Neighbours
from thinkback.search.signals.ranker import Ranker, features
from thinkback.search.thread_order import Line
from thinkback.search.traits import Traits, traits
from thinkback.values import dataclass

Rows = NDArray[np.intp]
_Value = TypeVar("_Value")
DEPTH = 50
_KEPT = 48


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A question and the candidates gathered for it."""

    question: Question
    gathered: Gathered


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """One question's slice of the flat arrays."""

    query: Query
    runs: tuple[Run, ...]
    ids: tuple[str, ...]
    records: tuple[StoredRecord, ...]
    links: Links | None
    places: NDArray[np.int64] | None
    start: int

    @property
    def span(self) -> slice:
        return slice(self.start, self.start + len(self.ids))


@dataclass(frozen=True, slots=True, eq=False)
class Lists:
    """All candidates of all questions, for learning to rank them: `owner` is the row of each one's question."""

    scores: Floats
    features: Mapping[str, Floats]
    gold: Floats
    owner: Rows


@dataclass(frozen=True, slots=True, eq=False)
class _Said:
    """A signal's values for all candidates, and where it was not skipped."""

    values: Floats
    heard: NDArray[np.bool_]


_LEAST = 1e-13


class Replay:
    """Questions that can be ranked by any weights; a question for which no leg found anything is left out."""

    def __init__(self, cases: Sequence[Case], depth: int = DEPTH) -> None:
        searched = [case for case in cases if any(_searches(run) for run in case.gathered.runs)]
        if not searched:
            raise InvalidInput(
                "there is nothing to replay: no leg found anything for any question", code="nothing_to_replay"
            )
        self.questions = tuple(case.question for case in searched)
        self.left_out = len(cases) - len(searched)
        self._depth = depth
        self._parts = _lay_out(searched)
        self._size = self._parts[-1].span.stop
        self._sizes = np.array([len(part.ids) for part in self._parts], dtype=np.intp)
        self._owner = np.repeat(np.arange(len(self._parts)), self._sizes)
        self._legs = tuple(dict.fromkeys(run.leg for part in self._parts for run in part.runs))
        self._ran = np.array([[any(run.leg == leg for run in part.runs) for leg in self._legs] for part in self._parts])
        self._gold = GoldRanks.of_questions(self.questions, [(part.start, part.ids) for part in self._parts])
        self._excluded = _excluded(self.questions, self._parts)
        self._twins = _twins(self._parts)
        self._by_id = np.concatenate([np.argsort(np.argsort(part.ids)) for part in self._parts])
        self._fused: _Kept[Mapping[str, Floats]] = _Kept()
        self._said: _Kept[_Said] = _Kept()
        self._walks: _Kept[_Walks] = _Kept()
        self._features: _Kept[Mapping[str, Floats]] = _Kept(2)

    def values(self, recipe: Recipe, metric: Metric) -> Floats:
        """The metric of every question under this recipe."""
        return self._gold.values(metric, self.gold_ranks(recipe))

    def gold_ranks(self, recipe: Recipe) -> Rows:
        """The rank of every piece of gold, question by question, from 1; 0 where it is not among the first `depth`."""
        totals = self.totals(recipe)
        if getattr(recipe.fusion, "ties_by_id", False):
            totals = totals - _LEAST * self._by_id  # far below any difference of scores, so it parts ties alone
        totals[self._excluded] = -np.inf
        if recipe.selection.dedup:
            first, second = self._twins
            totals[np.where(totals[first] >= totals[second], second, first)] = -np.inf
        return self._gold.ranks(totals, self._depth)

    def totals(self, recipe: Recipe) -> Floats:
        """Every candidate's score before selection."""
        _check(recipe, self._legs)
        values = self._values(recipe.fusion)
        shares = self._shares(recipe)
        columns = [self._weight(recipe, leg, shares) * values[leg] for leg in self._legs]
        totals = _sum(columns, self._size)
        if recipe.relevance is not None:
            best = np.maximum.reduceat(totals, [part.start for part in self._parts])[self._owner]
            scaled = [
                np.where(best > 0, recipe.relevance * column / np.where(best > 0, best, 1.0), column)
                for column in columns
            ]
            totals = _sum(scaled, self._size)
        for term in recipe.signals:
            if term.how != "add" or term.weight != 0:
                totals = totals + self._delta(term, recipe.fusion, totals, shares)
        return totals

    def lists(self, recipe: Recipe) -> "Lists | None":
        """What the recipe's ranker sees: features, gold and question of every candidate; None for a recipe without one."""
        place = next((n for n, term in enumerate(recipe.signals) if isinstance(term.signal, Ranker)), None)
        if place is None:
            return None
        before = self.totals(replace(recipe, signals=recipe.signals[:place]))
        table = self.features(recipe.fusion, before)
        gold = np.zeros(self._size)
        for question, part in zip(self.questions, self._parts, strict=True):
            gold[part.span] = [question.gold.get(id, 0.0) for id in part.ids]
        return Lists(before, table, gold, self._owner)

    # -- weights ---------------------------------------------------------------------------------------------------

    def _shares(self, recipe: Recipe) -> Floats | None:
        """For every question the sum of its active weights, by which each is divided; None without redistribution."""
        if not recipe.redistribute:
            return None
        weights = {leg.name: leg.weight for leg in recipe.legs}
        sums = np.zeros(len(self._parts))
        for place, leg in enumerate(self._legs):
            sums += np.where(self._ran[:, place], weights[leg], 0.0)
        for term in recipe.signals:
            if term.how == "add":
                sums += [0.0 if term.signal.silent(part.query) else term.weight for part in self._parts]
        return np.where(sums > 0, sums, 1.0)

    def _weight(self, recipe: Recipe, leg: str, shares: Floats | None) -> float | Floats:
        weight = next(one.weight for one in recipe.legs if one.name == leg)
        return weight if shares is None else (weight / shares)[self._owner]

    # -- fusion and signals ----------------------------------------------------------------------------------------

    def _values(self, fusion: Fusion) -> Mapping[str, Floats]:
        """Each leg's value for every candidate, as the fusion uses it."""
        if fusion not in self._fused:
            self._fused.put(fusion, self._fuse(fusion))
        return self._fused.get(fusion)

    def _fuse(self, fusion: Fusion) -> Mapping[str, Floats]:
        values = {leg: np.zeros(self._size) for leg in self._legs}
        for part in self._parts:
            fused = fusion.fuse(part.runs, {})
            if sorted(fused.ledger.ids) != sorted(part.ids):
                message = f"the fusion {fusion.name!r} does not keep all candidates; it cannot be replayed"
                raise InvalidInput(message, code="fusion_not_replayable")
            places = {id: place for place, id in enumerate(fused.ledger.ids)}
            rows = [places[id] for id in part.ids]
            for leg, row in fused.values.items():
                values[leg][part.span] = row[rows]
        return values

    def _delta(self, term: Term, fusion: Fusion, totals: Floats, shares: Floats | None) -> Floats:
        said = self._say(term.signal, fusion, totals)
        weight: Any = term.weight
        if shares is not None and term.how == "add":
            weight = (term.weight / shares)[self._owner]
        return np.where(said.heard, entering(totals, said.values, term.how, weight, term.base), 0.0)

    def _say(self, signal: Signal, fusion: Fusion, totals: Floats) -> _Said:
        if isinstance(signal, Neighbours):
            return self._travel(signal, totals)
        if isinstance(signal, Ranker):
            return _Said(signal.weigh(self.features(fusion, totals)), np.ones(self._size, dtype=bool))
        for key in ((signal, None), (signal, fusion)):
            if key in self._said:
                return self._said.get(key)
        said, by_totals, by_legs = self._ask(signal, fusion, totals)
        if not by_totals:
            self._said.put((signal, fusion if by_legs else None), said)
        return said

    def _ask(self, signal: Signal, fusion: Fusion, totals: Floats) -> tuple[_Said, bool, bool]:
        """The signal's values, question by question, and whether it read the scores or the legs' values."""
        legs = self._values(fusion)
        values, heard = np.zeros(self._size), np.zeros(self._size, dtype=bool)
        by_totals = by_legs = False
        for part in self._parts:
            if signal.silent(part.query) is not None:
                continue
            seen = _Watched(part, totals[part.span], {run.leg: legs[run.leg][part.span] for run in part.runs})
            answer = signal.values(cast(Scene, seen))
            by_totals, by_legs = by_totals or seen.read_totals, by_legs or seen.read_legs
            if not isinstance(answer, Skip):
                values[part.span], heard[part.span] = answer, True
        return _Said(values, heard), by_totals, by_legs

    def features(self, fusion: Fusion, totals: Floats) -> Mapping[str, Floats]:
        """The ranker's features of all candidates; they depend on the scores before it, not on its weights."""
        key = (fusion, totals.tobytes())
        if key not in self._features:
            legs = self._values(fusion)
            tables = [
                features(
                    cast(Scene, _Watched(part, totals[part.span], {r.leg: legs[r.leg][part.span] for r in part.runs}))
                )
                for part in self._parts
            ]
            self._features.put(key, {name: np.concatenate([table[name] for table in tables]) for name in tables[0]})
        return self._features.get(key)

    def _travel(self, signal: Neighbours, totals: Floats) -> _Said:
        """Neighbours' scores; the walks do not depend on the scores, so only the sums are computed again."""
        key = (signal.steps, signal.reply)
        if key not in self._walks:
            self._walks.put(key, self._walk(signal))
        walks = self._walks.get(key)
        faded = np.array([signal.decay**distance for distance in range(1, signal.steps + 1)])[walks.distance]
        lifts = faded * walks.weight * totals[walks.other]
        sums = np.bincount(walks.row, lifts, minlength=self._size).astype(np.float64)
        return _Said(sums, walks.linked)

    def _walk(self, signal: Neighbours) -> "_Walks":
        """All walks of all questions, nearer ones first: the order in which the signal adds them."""
        found: list[list[tuple[Rows, Rows, Floats]]] = [[] for _ in range(signal.steps)]
        linked = np.zeros(self._size, dtype=bool)
        for part in self._parts:
            walks = signal.walks(cast(Scene, _Watched(part, np.zeros(0), {})))
            linked[part.span] = any(len(row) for row, _, _ in walks)
            for distance, (row, other, weight) in enumerate(walks):
                found[distance].append((row + part.start, other + part.start, weight))
        nothing = (np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp), np.zeros(0))
        flat = [walk for walks in found for walk in walks] or [nothing]
        lengths = [sum(len(walk[0]) for walk in walks) for walks in found]
        return _Walks(
            row=np.concatenate([walk[0] for walk in flat]),
            other=np.concatenate([walk[1] for walk in flat]),
            weight=np.concatenate([walk[2] for walk in flat]),
            distance=np.repeat(np.arange(signal.steps), lengths),
            linked=linked,
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Walks:
    """Pairs of candidates with their distance from 0, and which candidates belong to a question with links."""

    row: Rows
    other: Rows
    weight: Floats
    distance: Rows
    linked: NDArray[np.bool_]


class _Watched:
    """A scene that records whether a signal reads the scores so far, or the legs' values."""

    def __init__(self, part: _Part, totals: Floats, legs: Mapping[str, Floats]) -> None:
        self.query, self.records, self.links, self.places = part.query, part.records, part.links, part.places
        self.runs = part.runs
        self.read_totals = self.read_legs = False
        self._totals, self._legs = totals, legs

    @property
    def totals(self) -> Floats:
        self.read_totals = True
        return self._totals

    @property
    def legs(self) -> Mapping[str, Floats]:
        self.read_legs = True
        return self._legs

    def traits(self) -> Traits:
        return traits(self.records)

    def semantic(self) -> Floats:
        return Scene.semantic(cast(Scene, self))


class _Kept(Generic[_Value]):
    """The latest values by key."""

    def __init__(self, most: int = _KEPT) -> None:
        self._most = most
        self._values: OrderedDict[object, _Value] = OrderedDict()

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def get(self, key: object) -> _Value:
        self._values.move_to_end(key)
        return self._values[key]

    def put(self, key: object, value: _Value) -> None:
        self._values[key] = value
        if len(self._values) > self._most:
            self._values.popitem(last=False)


def check_replayable(recipe: Recipe) -> None:
    """Refuse a recipe whose ranking does not follow from its weights."""
    if recipe.reranker is not None:
        raise InvalidInput(
            f"the recipe {recipe.name!r} has a cross-encoder, whose verdicts are not replayed, so its own ranking would "
            "never be seen; tune it without the cross-encoder (reranker = false), then add it to what was learned",
            code="reranker_not_replayable",
        )
    if recipe.fusion.name == "merge":
        message = "the fusion 'merge' keeps the order of its runs and has no weights to replay"
        raise InvalidInput(message, code="fusion_not_replayable")
    if getattr(recipe.fusion, "cut", 0) > 0:
        message = f"a fusion that cuts at {recipe.fusion.cut} cannot be replayed; set its cut to 0"  # type: ignore[attr-defined]
        raise InvalidInput(message, code="cut_not_replayable")
    if recipe.selection.diversity > 0:
        message = "a recipe that diversifies its hits cannot be replayed; set selection.diversity to 0"
        raise InvalidInput(message, code="diversity_not_replayable")


def _check(recipe: Recipe, legs: Sequence[str]) -> None:
    check_replayable(recipe)
    lacking = [name for name in legs if name not in {leg.name for leg in recipe.legs}]
    if lacking:
        message = f"the recipe lacks the leg {lacking[0]!r} that was gathered; give it the weight 0 instead"
        raise InvalidInput(message, code="missing_leg")


def _searches(run: Run) -> bool:
    return run.skipped is None and run.leg != "newest" and bool(run.hits)


def _sum(columns: Sequence[Floats], size: int) -> Floats:
    """Add in the order of a ledger, so that rounding is the same."""
    totals = np.zeros(size)
    for column in columns:
        totals = totals + column
    return totals


# -- laying out ------------------------------------------------------------------------------------------------------


def _lay_out(cases: Sequence[Case]) -> list[_Part]:
    parts: list[_Part] = []
    start = 0
    for case in cases:
        gathered = case.gathered
        runs = tuple(run for run in gathered.runs if run.skipped is None)
        ids = lay_out(runs).ids
        links = Links.between(ids, gathered.edges) if gathered.edges else None
        records = tuple(gathered.records[id] for id in ids)
        where = None if gathered.gaps is None else Line.of(records).places(gathered.gaps)
        parts.append(_Part(gathered.query, runs, ids, records, links, where, start))
        start += len(ids)
    return parts


def _excluded(questions: Sequence[Question], parts: Sequence[_Part]) -> Rows:
    rows = [
        part.start + place
        for question, part in zip(questions, parts, strict=True)
        if question.excluded
        for place, document_id in enumerate(part.ids)
        if document_id in question.excluded
    ]
    return np.array(rows, dtype=np.intp)


def _twins(parts: Sequence[_Part]) -> tuple[Rows, Rows]:
    """Pairs of candidates of one question with the same text, the earlier first."""
    first: list[int] = []
    second: list[int] = []
    texts: dict[int, str] = {}
    for part in parts:
        places: dict[str, list[int]] = {}
        for place, record in enumerate(part.records, start=part.start):
            text = texts.setdefault(id(record), canonical(record.text))
            for earlier in places.setdefault(text, []):
                first.append(earlier)
                second.append(place)
            places[text].append(place)
    return np.array(first, dtype=np.intp), np.array(second, dtype=np.intp)
