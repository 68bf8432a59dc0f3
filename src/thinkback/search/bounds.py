"""What the numbers and names of a recipe may be; every refusal says what, the value given, and what is allowed."""

import math
from collections.abc import Iterable
from typing import Any

from thinkback.errors import RecipeError, did_you_mean


def finite(value: Any, what: str) -> float:
    """The value as a float, if it is a number at all."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise RecipeError(f"{what} must be a finite number; got {value!r}")
    return float(value)


def at_least(low: float, value: Any, what: str, remedy: str = "") -> None:
    """`remedy` tells what to write instead, where the bound alone does not say it."""
    if finite(value, what) < low:
        raise RecipeError(f"{what} must be at least {low:g}; got {value!r}" + (remedy and f". {remedy}"))


def above(low: float, value: Any, what: str, remedy: str = "") -> None:
    if finite(value, what) <= low:
        raise RecipeError(f"{what} must be more than {low:g}; got {value!r}" + (remedy and f". {remedy}"))


def between(low: float, high: float, value: Any, what: str) -> None:
    if not low <= finite(value, what) <= high:
        raise RecipeError(f"{what} must lie between {low:g} and {high:g}; got {value!r}")


def one_of(known: Iterable[str], name: Any, what: str) -> None:
    """`what` is the noun of the table, as in "scale"."""
    names = list(known)
    if name not in names:
        raise RecipeError(f"unknown {what} {name!r}; known: {', '.join(names)}.{did_you_mean(str(name), names)}")
