"""The numbers of a recipe that can be tuned, and a seeded search for their best values.

A knob is a number of the formula that can be tried without searching again: leg weights, the fusion and its constant, each
signal's weight and its own numbers (decay, half-life, boost). Whatever decides what a leg retrieves (limits, floors) stays.

The search tries random settings, then steps along one knob at a time. A metric of ranks has no gradient. The same seed gives
the same result.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from random import Random
from typing import Any, Literal

from thinkback.errors import RecipeError
from thinkback.search.recipes.model import Recipe, Term, to_dict
from thinkback.search.signals import Signal
from thinkback.search.signals.ranker import Ranker
from thinkback.values import dataclass

Setting = Mapping[tuple[str, ...], Any]
Objective = Callable[[Setting], float]
STEPS = (0.25, 0.12, 0.06, 0.03)

FUSIONS: tuple[Mapping[str, Any], ...] = (
    {"name": "convex"},
    {"name": "dbsf"},
    {"name": "combmnz"},
    {"name": "isr"},
    *({"name": "rrf", "k": k, "first_rank": 1} for k in (1.0, 2.0, 5.0, 10.0, 20.0, 60.0)),
)
_DIGITS = 3
_LARGEST_RATIO = 20  # of a leg's weight to that of the heaviest leg


@dataclass(frozen=True, slots=True)
class Knob:
    """One number between two bounds, or one of several choices; `start` is the recipe's own value.

    `scale` is the measure in which steps are equal: the number itself, its logarithm, or value / (value + unit).
    """

    path: tuple[str, ...]
    start: Any
    low: float = 0.0
    high: float = 1.0
    scale: Literal["linear", "log", "share"] = "linear"
    unit: float = 1.0
    choices: tuple[Any, ...] = ()

    @property
    def name(self) -> str:
        return ".".join(self.path)

    def random(self, rng: Random) -> Any:
        """Any value, all equally likely."""
        return rng.choice(self.choices) if self.choices else self._at(rng.random())

    def near(self, value: Any, step: float) -> list[Any]:
        """The values one step (a fraction of the range) below and above, or every other choice."""
        if self.choices:
            return [choice for choice in self.choices if choice != value]
        bottom, top = self._measured(self.low), self._measured(self.high)
        place = (self._measured(value) - bottom) / (top - bottom)
        moved = [self._at(min(max(place + move, 0.0), 1.0)) for move in (-step, step)]
        return [other for other in moved if other != value]

    def _at(self, place: float) -> float:
        bottom, top = self._measured(self.low), self._measured(self.high)
        measure = bottom + (top - bottom) * place
        if self.scale == "log":
            return _rounded(math.exp(measure))
        if self.scale == "share":
            return _rounded(self.unit * measure / (1 - measure))
        return _rounded(measure)

    def _measured(self, value: float) -> float:
        if self.scale == "log":
            return math.log(value)
        if self.scale == "share":
            return value / (value + self.unit)
        return value


def knobs_of(recipe: Recipe) -> tuple[Knob, ...]:
    """Every knob of a recipe, in the order of its TOML file."""
    found = _of_legs(recipe)
    own = to_dict(recipe)["fusion"]
    choices = [own, *(choice for choice in FUSIONS if not _same(choice, own))]
    found.append(Knob(("fusion",), own, choices=tuple(choices)))
    for term in recipe.signals:
        found += _of_term(term)
    return tuple(found)


def _of_legs(recipe: Recipe) -> list[Knob]:
    """The legs' weights; where only their ratios count, the heaviest leg keeps its own and the others are relative to it."""
    added = any(term.how in ("add", "blend") for term in recipe.signals)
    scale_counts = added and recipe.relevance is None and not recipe.redistribute
    anchor = max(recipe.legs, key=lambda leg: leg.weight)
    if scale_counts or anchor.weight <= 0 or min(leg.weight for leg in recipe.legs) < 0:
        return [_number(("legs", leg.name, "weight"), leg.weight, 1.0) for leg in recipe.legs]
    return [
        Knob(("legs", leg.name, "weight"), leg.weight, 0.0, _LARGEST_RATIO * anchor.weight, "share", anchor.weight)
        for leg in recipe.legs
        if leg is not anchor
    ]


def _of_term(term: Term) -> list[Knob]:
    path = ("signals", term.signal.name)
    found = []
    # Without a base the weight scales all candidates alike, which changes no order.
    if term.how in ("add", "blend") or (term.how == "multiply" and term.base != 0):
        found.append(_number((*path, "weight"), term.weight, 1.0 if term.how == "blend" else 1.5))
    if isinstance(term.signal, Ranker):
        return found  # its weights are learned together, by gradient
    for field in fields(term.signal):  # type: ignore[arg-type]
        value = getattr(term.signal, field.name)
        if isinstance(value, float):
            place = (*path, field.name)
            found.append(_number(place, value, 1.0) if _may_be_zero(term.signal, field.name) else _factor(place, value))
    return found


def _may_be_zero(signal: Signal, name: str) -> bool:
    try:
        replace(signal, **{name: 0.0})  # type: ignore[type-var]
    except RecipeError:
        return False
    return True


def _factor(path: tuple[str, ...], value: float) -> Knob:
    """A number that cannot be 0, such as a half-life: up to 8 times smaller or larger."""
    return Knob(path, value, max(1.0, value / 8) if value > 1 else value / 8, value * 8, "log")


def _number(path: tuple[str, ...], value: float, usual: float) -> Knob:
    """From 0 to the usual bound; a value beyond it, such as a cap, is searched by factors."""
    if value > usual:
        return _factor(path, value)
    return Knob(path, value, min(value, 0.0), usual)


def _same(choice: Mapping[str, Any], own: Mapping[str, Any]) -> bool:
    return all(own.get(key) == value for key, value in choice.items())


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def apply(recipe: Recipe, setting: Setting) -> Recipe:
    """The recipe with these values."""
    changes: dict[str, Any] = {}
    for path, value in setting.items():
        table = changes
        for key in path[:-1]:
            table = table.setdefault(key, {})
        table[path[-1]] = value
    return recipe.with_(**changes)


# -- search ------------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Effort:
    """At most `evaluations` settings are tried; a knob is reset unless it gains more than `worth_it`."""

    evaluations: int = 300
    worth_it: float = 0.0005
    seed: int = 0


def search(objective: Objective, knobs: Sequence[Knob], effort: Effort) -> Setting:
    """The best setting found; knobs that gain nothing keep their start, so that every change matters."""
    tried = _Tried(objective, effort.evaluations)
    rng = Random(effort.seed)
    numbers = [knob for knob in knobs if not knob.choices]
    kept, free = _look_around(tried, knobs, {knob.path: knob.start for knob in knobs}, rng)
    kept = _climbed(tried, numbers, numbers, kept, rng)
    free = _climbed(tried, knobs, numbers, max(free, kept, key=tried), rng)
    return _simplify(tried, knobs, max(kept, free, key=tried), effort.worth_it)


class _Tried:
    """The objective, computed once for each setting; when the budget is spent, new settings score minus infinity."""

    def __init__(self, objective: Objective, budget: int) -> None:
        self._objective = objective
        self.left = budget
        self._values: dict[str, float] = {}

    @property
    def spent(self) -> bool:
        return self.left <= 0

    def __call__(self, setting: Setting) -> float:
        key = json.dumps([[*path, value] for path, value in setting.items()], sort_keys=True)
        if key not in self._values:
            if self.spent:
                return float("-inf")
            self.left -= 1
            self._values[key] = self._objective(setting)
        return self._values[key]


def _look_around(tried: _Tried, knobs: Sequence[Knob], begin: Setting, rng: Random) -> tuple[Setting, Setting]:
    """Spend a third of the budget on settings that differ from the best so far in about half of the knobs.

    Returns the best setting that keeps every choice, and the best of all: numbers converge only around a choice, so the first
    choice must not lose to one that was lucky early.
    """
    best = kept = begin
    tried(begin)
    chosen = [knob for knob in knobs if knob.choices]
    for turn in range(tried.left // 3):
        origin = best if turn % 2 else kept
        candidate = {knob.path: knob.random(rng) if rng.random() < 0.5 else origin[knob.path] for knob in knobs}
        if turn % 2 == 0:
            candidate |= {knob.path: knob.start for knob in chosen}
            kept = max(kept, candidate, key=tried)
        best = max(best, candidate, key=tried)
    return kept, best


def _climbed(tried: _Tried, first: Sequence[Knob], later: Sequence[Knob], setting: Setting, rng: Random) -> Setting:
    """Climb with ever smaller steps; choices, which may be many, are tried with the largest step only."""
    setting = _climb(tried, first, setting, STEPS[0], rng)
    for step in STEPS[1:]:
        setting = _climb(tried, later, setting, step, rng)
    return setting


def _climb(tried: _Tried, knobs: Sequence[Knob], best: Setting, step: float, rng: Random) -> Setting:
    """Go over the knobs in random order and take every step that helps, until none does."""
    improved = True
    while improved and not tried.spent:
        improved = False
        for knob in rng.sample(list(knobs), len(knobs)):
            for value in knob.near(best[knob.path], step):
                candidate = _with(best, knob, value)
                if tried(candidate) > tried(best):
                    best, improved = candidate, True
    return best


def _simplify(tried: _Tried, knobs: Sequence[Knob], best: Setting, worth_it: float) -> Setting:
    """Reset knobs that do not gain enough, the least useful first."""
    tried.left = max(tried.left, len(knobs) ** 2)
    changed = [knob for knob in knobs if best[knob.path] != knob.start]
    while changed:
        cost = {knob.path: tried(best) - tried(_with(best, knob, knob.start)) for knob in changed}
        least = min(changed, key=lambda knob: cost[knob.path])
        if cost[least.path] > worth_it:
            break
        best = _with(best, least, least.start)
        changed.remove(least)
    return best


def _with(setting: Setting, knob: Knob, value: Any) -> Setting:
    return {**setting, knob.path: value}
