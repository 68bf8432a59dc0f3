"""Checks of the numbers and names in a recipe; every error names the setting, the given value and the allowed ones."""

import math
from collections.abc import Iterable
from typing import Any

from thinkback.errors import RecipeError, did_you_mean


def finite(value: Any, what: str) -> float:
    """The value as a float, if it is a number at all."""
    try:
        number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise RecipeError(f"{what} must be a finite number; got {_shown(value)}", code="invalid_value")
    return number


def _shown(value: Any) -> str:
    """A value in an error message; Python refuses to print very long integers."""
    if isinstance(value, int) and value.bit_length() > 256:
        return f"an integer of {value.bit_length()} bits"
    return f"{value!r:.200}"


def whole(value: int, what: str) -> None:
    """Refuses an integer that a store cannot take as a number of rows."""
    if not -(1 << 62) <= value < 1 << 62:
        raise RecipeError(f"{what} must be an integer of 62 bits; got {_shown(value)}", code="invalid_value")


def at_least(low: float, value: Any, what: str, hint: str = "") -> None:
    """`hint` names an alternative, where the bound alone does not help."""
    _check(finite(value, what) >= low, f"{what} must be at least {low:g}; got {value!r}", hint)


def above(low: float, value: Any, what: str, hint: str = "") -> None:
    _check(finite(value, what) > low, f"{what} must be more than {low:g}; got {value!r}", hint)


def between(low: float, high: float, value: Any, what: str) -> None:
    _check(low <= finite(value, what) <= high, f"{what} must lie between {low:g} and {high:g}; got {value!r}")


def _check(holds: bool, message: str, hint: str = "") -> None:
    if not holds:
        raise RecipeError(f"{message}. {hint}" if hint else message, code="invalid_value")


def one_of(known: Iterable[str], name: Any, what: str, where: str = "") -> None:
    """`what` is the noun, as in "scale"; `where` follows the name, as in " in legs.keyword"."""
    names = list(known)
    if name not in names:
        near = did_you_mean(str(name), names)
        raise RecipeError(f"unknown {what} {name!r}{where}; known: {', '.join(names)}.{near}", code="unknown_name")
