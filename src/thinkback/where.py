"""The filters callers may write, checked once: a misspelt name or operator is an error, never a search that finds nothing.

`where` joins conditions on fields and metadata: `{"or": [{"tags": {"any": ["a", "b"]}}, {"metadata.n": {"gt": 6}}]}`. The filters
of one field take the same operators: `metadata={"n": {"gt": 6}}`, `tags={"any": [...]}`, `kinds={"not": "event"}`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from thinkback.conditions import METADATA, ORDER, Compare, Condition, Every, Not, Some, is_number
from thinkback.errors import InvalidInput, did_you_mean
from thinkback.fields import FIELDS, FILTERS, VALUES, Field, names
from thinkback.inputs import (
    Check,
    check_flag,
    check_fraction,
    check_known,
    check_metadata,
    check_tags,
    one_of,
    time_of,
    words,
)
from thinkback.model import REFLECTION, Filter

MAX_DEPTH, MAX_VALUES = 20, 1000
JOINS = ("and", "or", "not")
OPERATORS = ("eq", "ne", *ORDER, "in", "not", "exists", "any", "all")
EVERY = Every(())
Operand = Callable[[Any], Any]  # checks a value that a field is compared with


def _some_of(valid: Sequence[str]) -> Check:
    """Refuse values that no memory can have, instead of finding nothing."""
    check = one_of(valid)
    return lambda given, name: tuple(check(word, name) for word in words(given, name))


_BY_TYPE: dict[str, Check] = {
    "tags": lambda given, name: check_tags(words(given, name)),
    "names": words,
    "object": lambda given, name: tuple(sorted(check_metadata(given).items())),
    "time": time_of,
    "fraction": check_fraction,
    "flag": check_flag,
    **{type: _some_of(VALUES[type]) for type in ("kinds", "tiers", "priorities")},
}
_ROWS = {row.name: row for row in FILTERS}
_FULL_NAMES = {row.alias: row.name for row in FILTERS if row.alias}
_FIELDS = {row.name: row.alias for row in FILTERS if row.alias} | {
    "tags": "tags"
}  # what a filter of one field compares
_CONDITIONED = {row.name: row for row in FIELDS if row.shown and row.type not in ("text", "object", "flag")}
_CONDITION_NAMES = (*_CONDITIONED, METADATA, *JOINS)


def filter_of(now: int, where: Mapping[str, Any]) -> Filter:
    """A filter from a caller's arguments."""
    given: dict[str, Any] = {}
    conditions: list[Condition] = []
    for name, value in _by_full_name(where).items():
        if value is None:
            continue
        if name == "where":
            conditions.append(condition_of(value))
        elif isinstance(value, Mapping) and name in _FIELDS:
            conditions.append(_field(_FIELDS[name], value))
        elif name == METADATA:
            given[name], more = _metadata_filter(value)
            conditions += more
        else:
            given[name] = _BY_TYPE[_ROWS[name].type](value, name)
    if given.pop("include_reflections", True) is False:
        given["without_kinds"] = (REFLECTION,)
    joined = _every(conditions)
    if sum(_weight(test) for test in joined.tests()) > MAX_VALUES:
        raise _wrong(f"the filter compares with more than {MAX_VALUES} values", "too_long")
    return Filter(now=now, where=None if joined == EVERY else joined, **given)


def condition_of(given: Any, depth: int = 0) -> Condition:
    """The condition that a mapping of names to values, operators and joined conditions states."""
    if not isinstance(given, Mapping):
        raise _wrong(f"a condition is a mapping of fields to values; got {given!r:.80}")
    if depth >= MAX_DEPTH:
        raise _wrong(f"conditions are nested more than {MAX_DEPTH} levels deep", "too_deep")
    return _every([_part(name, given[name], depth) for name in given])


def _part(name: Any, value: Any, depth: int) -> Condition:
    word = _bare(name)
    if word in ("and", "or"):
        parts = tuple(condition_of(one, depth + 1) for one in _several(value, word))
        return _every(parts) if word == "and" else Some(parts)
    if word == "not":
        given = value if isinstance(value, list | tuple) else [value]
        return _every([Not(condition_of(one, depth + 1)) for one in given])
    if word == METADATA:
        checked = check_metadata(value, METADATA)
        return _every([_of_metadata(key, checked[key]) for key in checked])
    if str(name).startswith(f"{METADATA}."):
        key = str(name).removeprefix(f"{METADATA}.")
        return _of_metadata(key, check_metadata({key: value}, METADATA)[key])
    return _field(_field_name(word), value)


def _field_name(word: str) -> str:
    name = "tags" if word == "tag" else _FIELDS.get(word, word)
    if name not in _CONDITIONED:
        near = did_you_mean(word, _CONDITION_NAMES)
        raise InvalidInput(
            f"where has no field {word!r}; known: {', '.join(_CONDITION_NAMES)}.{near} "
            f"A key of the metadata is written metadata.{word}.",
            code="unknown_field",
        )
    return name


def _field(name: str, value: Any) -> Condition:
    row = _CONDITIONED[name]
    operand = _operand(row)
    if isinstance(value, Mapping):
        return _operators(Compare(name, "in", ()), value, operand)
    several = isinstance(value, list | tuple | set | frozenset)
    if row.type == "tags":
        return _every([Compare(name, "has", tag) for tag in check_tags(words(value, name))])
    return Compare(name, "in", tuple(operand(one) for one in (_several(value, name) if several else [value])))


def _of_metadata(key: str, value: Any) -> Condition:
    test = Compare(METADATA, "in", (value,), key)
    return _operators(test, value, lambda one: one) if isinstance(value, Mapping) else test


def _metadata_filter(given: Any) -> tuple[tuple[tuple[str, Any], ...], list[Condition]]:
    """The plain values of a metadata filter, and the conditions of the keys that have operators."""
    checked = check_metadata(given)
    plain = {key: value for key, value in checked.items() if not isinstance(value, Mapping)}
    return tuple(sorted(plain.items())), [_of_metadata(key, checked[key]) for key in sorted(checked.keys() - plain)]


def _operators(test: Compare, given: Mapping[str, Any], operand: Operand) -> Condition:
    if not given:
        raise _wrong(f"{_name(test)} is compared with nothing; name an operator: {', '.join(OPERATORS)}")
    return _every([_operator(test, _bare(name), given[name], operand) for name in given])


def _operator(test: Compare, name: str, value: Any, operand: Operand) -> Condition:
    def compared(comparison: Any, value: Any) -> Condition:
        return Compare(test.field, comparison, value, test.key)

    def equals(values: Iterable[Any]) -> Condition:
        checked = tuple(None if one is None else operand(one) for one in values)
        return Some(tuple(compared("has", one) for one in checked)) if test.field == "tags" else compared("in", checked)

    if name in ("eq", "ne"):
        return equals([value]) if name == "eq" else Not(equals([value]))
    if name in ("in", "nin"):
        return equals(_several(value, name)) if name == "in" else Not(equals(_several(value, name)))
    if name == "not":
        if isinstance(value, Mapping):
            return Not(_operators(test, value, operand))
        return Not(equals(value if isinstance(value, list | tuple) else [value]))
    if name == "exists":
        missing = compared("in", ((),) if test.field == "tags" else (None,))
        return Not(missing) if check_flag(value, "exists") else missing
    if name in ("any", "all"):
        parts = tuple(compared("has", operand(one)) for one in _several(value, name))
        return Some(parts) if name == "any" else _every(parts)
    if name in ORDER:
        return compared(name, _bound(test, operand(value)))
    known = f"known: {', '.join(OPERATORS)}.{did_you_mean(name, OPERATORS)}"
    whole = ' To compare with a whole object, write {"eq": {…}}.' if test.field == METADATA else ""
    raise InvalidInput(f"{_name(test)} has no operator {name!r}; {known}{whole}", code="unknown_operator")


def _operand(row: Field) -> Operand:
    """Check a value that a field is compared with; one that no memory can have is an error."""

    def number(value: Any) -> Any:
        if not is_number(value):
            raise _wrong(f"{row.name} is compared with numbers; got {value!r:.80}")
        return value

    if row.type == "tags":
        return lambda value: check_tags(words(value, row.name))[0]
    if row.type in VALUES:
        return lambda value: one_of(VALUES[row.type])(value, row.name)
    if row.type == "time":
        return lambda value: time_of(value, row.name)
    return (lambda value: words([value], row.name)[0]) if row.type == "name" else number


def _bound(test: Compare, value: Any) -> Any:
    """A value that others can be larger than."""
    ordered = test.field == METADATA or _CONDITIONED[test.field].type not in (*VALUES, "tags")
    if not ordered or not (is_number(value) or isinstance(value, str)):
        raise _wrong(f"{_name(test)} cannot be larger or smaller than {value!r:.80}")
    return value


def _by_full_name(where: Mapping[str, Any]) -> dict[str, Any]:
    """The filters by their names in the table: `thread` is `threads`."""
    given: dict[str, Any] = {}
    for name, value in where.items():
        full = _FULL_NAMES.get(name, name)
        if full in given and value is not None and given[full] is not None:
            raise _wrong(f"{name} and {full} are the same filter; give one of them")
        given[full] = given.get(full) if value is None else value
    check_known("filter", given, names(FILTERS))
    return given


def _several(value: Any, name: str) -> list[Any]:
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        raise _wrong(f"{name} takes a list; got {value!r:.80}")
    found = sorted(value, key=repr) if isinstance(value, set | frozenset) else list(value)
    if not found:
        raise _wrong(f"{name} takes at least one value; the list is empty")
    return found


def _bare(name: Any) -> str:
    """An operator or a join, in any of its spellings: gt, $gt, AND."""
    return str(name).removeprefix("$").lower() if str(name).lower().lstrip("$") in (*OPERATORS, *JOINS) else str(name)


def _every(parts: Iterable[Condition]) -> Condition:
    joined = tuple(part for part in parts if part != EVERY)
    return joined[0] if len(joined) == 1 else Every(joined)


def _weight(test: Compare) -> int:
    return len(test.value) if test.comparison == "in" else 1


def _name(test: Compare) -> str:
    return f"{test.field}.{test.key}" if test.key else test.field


def _wrong(message: str, code: str = "not_a_condition") -> InvalidInput:
    return InvalidInput(message, code=code)
