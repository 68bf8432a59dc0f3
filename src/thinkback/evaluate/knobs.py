"""What can be tuned in a recipe: every number of its formula that can be tried without searching again.

Leg weights, the fusion and its constant, each signal's weight and its own numbers (decay, half-life, boost). Limits, floors
and whatever else decides what a leg retrieves stay as they are.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from random import Random
from typing import Any, Literal

from thinkback.errors import RecipeError
from thinkback.search.recipes.model import Recipe, Term, to_dict
from thinkback.search.signals import Signal

Setting = Mapping[tuple[str, ...], Any]

FUSIONS: tuple[Mapping[str, Any], ...] = (
    {"name": "convex"},
    {"name": "dbsf"},
    {"name": "combmnz"},
    {"name": "isr"},
    *({"name": "rrf", "k": k, "first_rank": 1} for k in (1.0, 2.0, 5.0, 10.0, 20.0, 60.0)),
)
_DIGITS = 3
_FURTHEST = 20  # times as heavy as the leg that measures it


@dataclass(frozen=True, slots=True)
class Knob:
    """One number between two bounds, or one of several choices; `start` is the recipe's own value.

    `scale` says in which measure steps are equally long: the number itself, its logarithm, or its share beside `unit`,
    value / (value + unit).
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
        """The values one step (a share of the whole range) below and above, or every other choice."""
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
    """Every leg's weight but one: where only their ratios count, the heaviest leg stays as it is and measures the others."""
    added = any(term.how in ("add", "blend") for term in recipe.signals)
    scale_counts = added and recipe.relevance is None and not recipe.redistribute
    anchor = max(recipe.legs, key=lambda leg: leg.weight)
    if scale_counts or anchor.weight <= 0 or min(leg.weight for leg in recipe.legs) < 0:
        return [_number(("legs", leg.name, "weight"), leg.weight, 1.0) for leg in recipe.legs]
    return [
        Knob(("legs", leg.name, "weight"), leg.weight, 0.0, _FURTHEST * anchor.weight, "share", anchor.weight)
        for leg in recipe.legs
        if leg is not anchor
    ]


def _of_term(term: Term) -> list[Knob]:
    path = ("signals", term.signal.name)
    found = []
    # A factor without a base is scaled by its weight for all candidates alike, which changes no order.
    if term.how in ("add", "blend") or (term.how == "multiply" and term.base != 0):
        found.append(_number((*path, "weight"), term.weight, 1.0 if term.how == "blend" else 1.5))
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
    """What cannot be 0, such as a half-life, is searched by factors around its own value."""
    return Knob(path, value, max(1.0, value / 8) if value > 1 else value / 8, value * 8, "log")


def _number(path: tuple[str, ...], value: float, usual: float) -> Knob:
    """From 0 to the usual bound; a value beyond it (a cap) is searched by factors, from 1 up."""
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


def starts(knobs: Sequence[Knob]) -> dict[tuple[str, ...], Any]:
    """The recipe's own values."""
    return {knob.path: knob.start for knob in knobs}
