"""Conditions on the fields of a memory: tests joined by and, or and not; `matches` is the law that every store translates.

A test compares one field, or one key of the metadata. A number is compared with numbers and a text with texts, in the order of
code points; any other pair is neither larger nor smaller. A missing value equals null and nothing else, so `not` is true of it.
"""

import operator
from collections.abc import Callable, Iterator
from typing import Any, Literal

from thinkback.values import dataclass

Comparison = Literal["in", "has", "gt", "gte", "lt", "lte"]
ORDER: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "gt": (">", operator.gt),
    "gte": (">=", operator.ge),
    "lt": ("<", operator.lt),
    "lte": ("<=", operator.le),
}
METADATA = "metadata"


@dataclass(frozen=True, slots=True)
class Compare:
    """One comparison; `in` takes a tuple of values, `has` a member of a list, the others a bound."""

    field: str
    comparison: Comparison
    value: Any
    key: str = ""  # of the metadata

    def matches(self, record: Any) -> bool:
        """Whether a stored record passes."""
        found = getattr(record, self.field)
        return compares(found.get(self.key) if self.field == METADATA else found, self.comparison, self.value)

    def tests(self) -> Iterator["Compare"]:
        """Every comparison in it."""
        yield self

    def __str__(self) -> str:
        name = f"{self.field}.{self.key}" if self.key else self.field
        return f"{name} {self.comparison} {list(self.value) if self.comparison == 'in' else self.value!r}"


@dataclass(frozen=True, slots=True)
class Every:
    """All parts hold; of no parts, always."""

    parts: tuple["Condition", ...]

    def matches(self, record: Any) -> bool:
        return all(part.matches(record) for part in self.parts)

    def tests(self) -> Iterator[Compare]:
        return (test for part in self.parts for test in part.tests())

    def __str__(self) -> str:
        return " and ".join(f"({part})" for part in self.parts)


@dataclass(frozen=True, slots=True)
class Some:
    """At least one part holds."""

    parts: tuple["Condition", ...]

    def matches(self, record: Any) -> bool:
        return any(part.matches(record) for part in self.parts)

    def tests(self) -> Iterator[Compare]:
        return (test for part in self.parts for test in part.tests())

    def __str__(self) -> str:
        return " or ".join(f"({part})" for part in self.parts)


@dataclass(frozen=True, slots=True)
class Not:
    """The part does not hold."""

    part: "Condition"

    def matches(self, record: Any) -> bool:
        return not self.part.matches(record)

    def tests(self) -> Iterator[Compare]:
        return self.part.tests()

    def __str__(self) -> str:
        return f"not ({self.part})"


Condition = Compare | Every | Some | Not


def compares(found: Any, comparison: str, value: Any) -> bool:
    """One comparison of a found value, which may be None."""
    if comparison == "in":
        return any(same_json(found, one) for one in value)
    if comparison == "has":
        return any(same_json(one, value) for one in (found if isinstance(found, list | tuple) else (found,)))
    return comparable(found, value) and ORDER[comparison][1](found, value)


def comparable(a: Any, b: Any) -> bool:
    """Whether one of two values can be the larger: two numbers or two texts."""
    return (is_number(a) and is_number(b)) or (isinstance(a, str) and isinstance(b, str))


def is_number(value: Any) -> bool:
    """Whether a value is a number to JSON, where true is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def same_json(a: Any, b: Any) -> bool:
    """Whether two values are the same JSON: 3 is 3.0, and true is not 1."""
    return bool(a == b) and isinstance(a, bool) == isinstance(b, bool)
