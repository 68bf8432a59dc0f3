"""Recipes: a whole ranking formula as one frozen value, readable in one place.

`named.py` has the named ones; `toml.py` reads and writes TOML files.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import field, fields, is_dataclass
from functools import lru_cache
from typing import Any, Literal, get_args

import numpy as np

from thinkback.errors import RecipeError
from thinkback.model import Floats
from thinkback.search.bounds import at_least, finite, one_of, whole
from thinkback.search.fusion import FUSIONS, Convex, Fusion
from thinkback.search.legs import LEGS, Leg
from thinkback.search.query.parse import Parsing
from thinkback.search.selection import Selection
from thinkback.search.signals import SIGNALS, Signal
from thinkback.values import dataclass

How = Literal["add", "multiply", "blend", "replace"]


TEMPERATURE = 3.0


def _logits(verdicts: Floats) -> Floats:
    sure = np.clip(verdicts, 1e-12, 1 - 1e-12)
    logits: Floats = np.log(sure / (1 - sure))
    return logits


def _tempered(verdicts: Floats) -> Floats:
    """1 / (1 + e^(−logit / 3)): less extreme than the model, and the same whatever else was read."""
    values: Floats = 1 / (1 + np.exp(-_logits(verdicts) / TEMPERATURE))
    return values


def _spread_logits(verdicts: Floats) -> Floats:
    """min-max of ln(p / (1 − p)): differences between middling scores count as much as those near 0 and 1."""
    logits = _logits(verdicts)
    low, high = logits.min(initial=np.inf), logits.max(initial=-np.inf)
    spread: Floats = np.ones_like(logits) if high == low else (logits - low) / (high - low)
    return spread


SCALES: dict[str, Callable[[Floats], Floats]] = {
    "logit": _spread_logits,
    "tempered": _tempered,
    "raw": lambda verdicts: verdicts,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """How a signal's value v enters the score s.

    add: s + weight · v; multiply: s · (base + weight · v); blend: (1 − weight) · s + weight · v; replace: v.
    A weight of 0 or less switches off a signal that only raises scores.
    """

    signal: Signal
    how: How = "multiply"
    weight: float = 1.0
    base: float = 0.0

    def __post_init__(self) -> None:
        one_of(get_args(How), self.how, "way", f" in signals.{self.signal.name}.how")
        finite(self.weight, f"signals.{self.signal.name}.weight")
        finite(self.base, f"signals.{self.signal.name}.base")
        if self.signal.raise_only and self.weight <= 0 and self.how != "replace":
            object.__setattr__(self, "weight", 0.0)
            object.__setattr__(self, "base", 1.0 if self.how == "multiply" else self.base)

    @property
    def formula(self) -> str:
        return {
            "add": f"+ {self.weight:g} × value",
            "multiply": f"× ({self.base:g} + {self.weight:g} × value)" if self.base else f"× {self.weight:g} × value",
            "blend": f"{1 - self.weight:g} × score + {self.weight:g} × value",
            "replace": "= value",
        }[self.how]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerank:
    """A cross-encoder over the first `top` candidates, before truncation.

    With `within` it reads only those whose score is at least 1 − `within` of the best one's, and none if that is the best alone:
    all others are decided. The model reads `context` thread neighbours on each side with the candidate; texts are cut to
    `max_chars`. With `budget_ms` it reads as many candidates as the time allows, best first. `scale` is a row of SCALES: `logit`
    spreads the scores over 0 to 1, `tempered` keeps them comparable between questions, `raw` leaves them as they are.
    `opened:NAME` is the reranker that the memory was opened with, else that name.
    """

    model: str = "default"
    top: int = 50
    how: How = "blend"
    weight: float = 0.4
    scale: str = "logit"
    context: int = 0
    max_chars: int = 2000
    budget_ms: int = 0
    within: float = 0.0

    def __post_init__(self) -> None:
        one_of(get_args(How), self.how, "way", " in reranker.how")
        one_of(SCALES, self.scale, "reranker.scale")
        at_least(1, self.top, "reranker.top", "Write reranker = false to leave the cross-encoder out")
        at_least(1, self.max_chars, "reranker.max_chars")
        at_least(0, self.within, "reranker.within")

    @property
    def formula(self) -> str:
        way = (
            f"{1 - self.weight:g} × score + {self.weight:g} × verdict"
            if self.how == "blend"
            else f"{self.how} {self.weight:g}"
        )
        return f"{way}, {self.scale} scale, over the first {self.top}" + (
            f" within {self.within:g} of the best" if self.within else ""
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Legs, fusion, signals, reranker and selection.

    `relevance` divides the fused scores by the best one and multiplies them by this weight (None: scores stay as fused).
    `fill` gets the keyword and the vector score of every candidate, whichever leg found it. `redistribute` divides every active
    weight by the sum of active weights, so that a missing leg or signal costs nothing. With `newest`, the newest memories answer
    when there is nothing to search by.
    """

    name: str
    legs: tuple[Leg, ...]
    fusion: Fusion = field(default_factory=Convex)
    relevance: float | None = None
    redistribute: bool = False
    fill: bool = False
    newest: bool = True
    signals: tuple[Term, ...] = ()
    reranker: Rerank | None = None
    selection: Selection = field(default_factory=Selection)
    parsing: Parsing = field(default_factory=Parsing)
    about: str = ""

    def __post_init__(self) -> None:
        _coerced(self.redistribute, bool, "redistribute")
        _coerced(self.fill, bool, "fill")
        _coerced(self.newest, bool, "newest")
        if self.relevance is not None:
            at_least(0, self.relevance, "relevance", "Write relevance = false to keep the scores as fused")
        for where, part in _settings(self):
            _check_types(part, where)
        for leg in getattr(self.fusion, "raw_legs", ()):
            one_of({**LEGS, **{own.name: own for own in self.legs}}, leg, "leg in fusion.raw_legs:")

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits of everything that can change a ranking."""
        formula = {key: value for key, value in to_dict(self).items() if key not in ("name", "about")}
        return hashlib.sha256(json.dumps(formula, sort_keys=True).encode()).hexdigest()[:16]

    def with_(self, **changes: Any) -> "Recipe":
        """A changed copy, written as in TOML.

        `recipe.with_(legs={"keyword": {"weight": 0.7}}, signals={"quality": False}, selection={"limit": 5})`; False removes a part.
        """
        return from_dict(merged(to_dict(self), changes))

    def with_paths(self, paths: Mapping[str, Any]) -> "Recipe":
        """A changed copy, each change by its path: `{"signals.recency.weight": 0.3, "selection.limit": 5}`."""
        if type(paths) is dict and all(type(value) in _PLAIN for value in paths.values()):
            return _with_plain(self, tuple((path, value, type(value)) for path, value in paths.items()))
        return self.with_(**nested(paths))


@lru_cache(maxsize=128)
def _with_plain(recipe: Recipe, changes: tuple[tuple[str, Any, type], ...]) -> Recipe:
    """Cached: building a recipe takes longer than most steps of a search. Types are told apart, as True is no 1."""
    return recipe.with_(**nested({path: value for path, value, _ in changes}))


def nested(paths: Mapping[str, Any]) -> dict[str, Any]:
    """Paths with their values as the nested data that `with_` takes."""
    if not isinstance(paths, Mapping):
        raise RecipeError(f"changes of a recipe are values by path, not {paths!r:.80}", code="invalid_value")
    tree: dict[str, Any] = {}
    for path, value in paths.items():
        *parents, last = str(path).split(".")
        table = tree
        for key in parents:
            table = table.setdefault(key, {})
            if not isinstance(table, dict):
                raise RecipeError(f"{path} is a part of what another change made a plain value", code="invalid_value")
        if not last or not all(parents):
            hint = "write it like signals.recency.weight"
            raise RecipeError(f"{path!r} is no path of a recipe; {hint}", code="unknown_name")
        table[last] = value
    return tree


_PLAIN = (str, int, float, bool)
_IN_EVERY_RECIPE = ("fusion", "selection", "parsing")
_WRITTEN = {int: "int", bool: "true or false, without quotes", str: "str"}


# -- as plain data ---------------------------------------------------------------------------------------------------------------


def to_dict(recipe: Recipe) -> dict[str, Any]:
    """The recipe as nested plain data, in the shape of its TOML file."""
    data: dict[str, Any] = {
        "name": recipe.name,
        "about": recipe.about,
        "redistribute": recipe.redistribute,
        "fill": recipe.fill,
        "newest": recipe.newest,
    }
    if recipe.relevance is not None:
        data["relevance"] = recipe.relevance
    data["parsing"] = _parameters(recipe.parsing)
    data["legs"] = {leg.name: _parameters(leg) for leg in recipe.legs}
    data["fusion"] = {"name": recipe.fusion.name, **_parameters(recipe.fusion)}
    data["signals"] = {
        term.signal.name: {"how": term.how, "weight": term.weight, "base": term.base, **_parameters(term.signal)}
        for term in recipe.signals
    }
    if recipe.reranker is not None:
        data["reranker"] = _parameters(recipe.reranker)
    data["selection"] = _parameters(recipe.selection)
    return data


def from_dict(data: Mapping[str, Any]) -> Recipe:
    """A recipe from plain data; an unknown name or key is an error with the nearest valid one."""
    known = [each.name for each in fields(Recipe)]
    _check_keys(data, known, "recipe")
    legs = tuple(_build(_row(LEGS, "leg", name), part, f"legs.{name}") for name, part in _parts(data, "legs"))
    if not legs:
        raise RecipeError("a recipe needs at least one leg: " + ", ".join(LEGS), code="no_legs")
    relevance, reranker = data.get("relevance"), data.get("reranker")
    return Recipe(
        name=_coerced(data.get("name", "unnamed"), str, "name"),
        about=_coerced(data.get("about", ""), str, "about"),
        legs=legs,
        fusion=_fusion(data.get("fusion", {})),
        relevance=None if relevance is None or relevance is False else finite(relevance, "relevance"),
        redistribute=data.get("redistribute", False),
        fill=data.get("fill", False),
        newest=data.get("newest", True),
        signals=tuple(_term(name, part) for name, part in _parts(data, "signals")),
        reranker=None if reranker is None or reranker is False else _build(Rerank, reranker, "reranker"),
        selection=_build(Selection, data.get("selection", {}), "selection"),
        parsing=_build(Parsing, data.get("parsing", {}), "parsing"),
    )


def merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Nested data with changes applied; False or None removes a table, except those that every recipe has."""
    result = dict(base)
    for key, change in changes.items():
        if isinstance(change, Mapping) and isinstance(result.get(key), Mapping):
            old = result[key]
            fresh = key == "fusion" and change.get("name", old.get("name")) != old.get("name")
            result[key] = dict(change) if fresh else merged(old, change)
        elif key not in _IN_EVERY_RECIPE and (
            change is None or (change is False and isinstance(result.get(key), Mapping))
        ):
            result.pop(key, None)
        else:
            result[key] = change
    return result


def _settings(recipe: Recipe) -> list[tuple[str, Any]]:
    """Every part with its place in the TOML file."""
    return [
        *((f"legs.{leg.name}", leg) for leg in recipe.legs),
        ("fusion", recipe.fusion),
        *((f"signals.{term.signal.name}", term.signal) for term in recipe.signals),
        ("reranker", recipe.reranker),
        ("selection", recipe.selection),
        ("parsing", recipe.parsing),
    ]


def _parameters(part: Any) -> dict[str, Any]:
    values = {each.name: getattr(part, each.name) for each in fields(part)}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def _parts(data: Mapping[str, Any], key: str) -> list[tuple[str, Mapping[str, Any]]]:
    parts = data.get(key, {})
    if not isinstance(parts, Mapping):
        raise RecipeError(f"{key} must be tables, as in [{key}.NAME]; got {parts!r}", code="invalid_value")
    return [(name, part) for name, part in parts.items() if part is not False]


def _row(table: Mapping[str, type], what: str, name: str) -> Any:
    one_of(table, name, what)
    return table[name]


def _fusion(part: Any) -> Fusion:
    if isinstance(part, str):
        part = {"name": part}
    if not isinstance(part, Mapping):
        hint = "Leave it out to keep it as it is"
        raise RecipeError(f"fusion must be a name or a table with one; got {part!r}. {hint}", code="invalid_value")
    parameters = {key: value for key, value in part.items() if key != "name"}
    fusion: Fusion = _build(_row(FUSIONS, "fusion", str(part.get("name", "convex"))), parameters, "fusion")
    return fusion


def _term(name: str, part: Mapping[str, Any]) -> Term:
    _check_table(part, f"signals.{name}")
    own = ("how", "weight", "base")
    parameters = {key: value for key, value in part.items() if key not in own}
    signal = _build(_row(SIGNALS, "signal", name), parameters, f"signals.{name}", also=own)
    return _build(Term, {"signal": signal, **{key: part[key] for key in own if key in part}}, f"signals.{name}")  # type: ignore[no-any-return]


def _build(kind: Any, parameters: Any, where: str, also: tuple[str, ...] = ()) -> Any:
    _check_table(parameters, where)
    known = {each.name: each for each in fields(kind)}
    _check_keys(parameters, [*known, *also], where)
    return kind(**{key: _coerced(value, known[key].type, f"{where}.{key}") for key, value in parameters.items()})


def _check_table(part: Any, where: str) -> None:
    if not isinstance(part, Mapping):
        hint = "Leave it out to keep it as it is" if where in _IN_EVERY_RECIPE else f"{where} = false removes it"
        raise RecipeError(f"{where} must be a table of settings; got {part!r}. {hint}", code="invalid_value")


def _check_keys(data: Mapping[str, Any], known: list[str], where: str) -> None:
    for key in data:
        one_of(known, key, "key", f" in {where}")


def _check_types(part: Any, where: str) -> None:
    """Check parts made in Python like those of a TOML file; fields of custom types are not checked."""
    for each in fields(part) if is_dataclass(part) else ():
        value, place = getattr(part, each.name), f"{where}.{each.name}"
        _coerced(value, each.type, place)
        if isinstance(value, list):
            raise RecipeError(
                f"{place} must be a tuple, because recipes are immutable; got {value!r}", code="invalid_value"
            )


def _coerced(value: Any, kind: Any, where: str) -> Any:
    """Check a value against the annotated type of its field, turning whole numbers and lists into floats and tuples."""
    if kind is float:
        return finite(value, where)
    if kind in (int, bool, str) and (not isinstance(value, kind) or (kind is int and isinstance(value, bool))):
        raise RecipeError(f"{where} must be {_WRITTEN[kind]}; got {value!r}", code="invalid_value")
    if kind is int:
        whole(value, where)
    if kind == tuple[str, ...] and not _are_names(value):
        raise RecipeError(f'{where} must be a list of names, as in ["one", "two"]; got {value!r}', code="invalid_value")
    return tuple(value) if isinstance(value, list) else value


def _are_names(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)
