"""A Filter as a WHERE clause, equivalent to `Filter.rejects`."""

import json
from collections.abc import Sequence
from typing import Any

import apsw

from thinkback.conditions import METADATA, ORDER, Compare, Condition, Every, Not, Some, compares, is_number, same_json
from thinkback.model import Filter
from thinkback.stores.sqlite.rows import listed
from thinkback.values import dataclass

_EXACT_INTEGERS = 1 << 53  # a double represents integers up to here exactly


@dataclass(frozen=True, slots=True)
class Clause:
    """SQL that is true for rows that pass, and its bindings."""

    sql: str
    bindings: tuple[Any, ...]


def clause(filter: Filter, row: str = "m") -> Clause:
    """The condition on the columns of `row`, an alias of memories."""
    terms = [*_times(filter, row), *_sets(filter, row), *_contents(filter, row)]
    return Clause(" AND ".join(sql for sql, _ in terms), tuple(value for _, values in terms for value in values))


def install(connection: apsw.Connection) -> None:
    """Register the SQL functions that clauses call."""
    connection.create_scalar_function("same_json", _same_json, 3, deterministic=True)
    connection.create_scalar_function("compares", _compares, 4, deterministic=True)


_Term = tuple[str, tuple[Any, ...]]
_Terms = list[_Term]


def _times(filter: Filter, row: str) -> _Terms:
    terms: _Terms = []
    if filter.known_at is None:
        terms.append((f"{row}.retired_at IS NULL", ()))
    else:
        sql = f"{row}.recorded_at <= ? AND ({row}.retired_at IS NULL OR {row}.retired_at > ?)"
        terms.append((sql, (filter.known_at, filter.known_at)))
    if filter.since is not None:
        terms.append((f"{row}.date >= ?", (filter.since,)))
    if filter.until is not None:
        terms.append((f"{row}.date < ?", (filter.until,)))
    if filter.as_of is not None:
        sql = f"{row}.date <= ? AND ({row}.valid_to IS NULL OR {row}.valid_to > ?)"
        terms.append((sql, (filter.as_of, filter.as_of)))
    if not filter.everything:
        if filter.as_of is None:
            terms.append((f"({row}.valid_to IS NULL OR {row}.valid_to > ?)", (filter.now,)))
        sql = f"({row}.expires_at IS NULL OR {row}.expires_at > ?) AND {row}.archived_at IS NULL"
        terms.append((sql, (filter.now,)))
    return terms


def _sets(filter: Filter, row: str) -> _Terms:
    terms: _Terms = []
    if filter.ids is not None:
        terms.append((f"{row}.id IN (SELECT value FROM json_each(?))", (listed(sorted(filter.ids)),)))
    terms += [
        (f'{row}."{column}" IN ({_marks(values)})', values)
        for column, values in (
            ("kind", filter.kinds),
            ("tier", filter.tiers),
            ("priority", filter.priorities),
            ("thread", filter.threads),
            ("source", filter.sources),
            ("user", filter.users),
            ("agent", filter.agents),
        )
        if values
    ]
    if filter.without_kinds:
        terms.append((f"{row}.kind NOT IN ({_marks(filter.without_kinds)})", filter.without_kinds))
    return terms


def _contents(filter: Filter, row: str) -> _Terms:
    has_tag = f"EXISTS (SELECT 1 FROM memory_tags t WHERE t.tag = ? AND t.seq = {row}.seq)"
    terms: _Terms = [(has_tag, (tag,)) for tag in filter.tags]
    if filter.min_trust > 0:
        terms.append((f"{row}.trust >= ?", (filter.min_trust,)))
    terms += [_metadata(key, value, row) for key, value in filter.metadata]
    if filter.where is not None:
        terms.append(_condition(filter.where, row))
    return terms


def _condition(condition: Condition, row: str) -> _Term:
    """The condition in SQL that is never null, so that NOT means what it means in Python."""
    if isinstance(condition, Not):
        sql, bindings = _condition(condition.part, row)
        return f"NOT {sql}", bindings
    if isinstance(condition, Every | Some):
        return _joined([_condition(part, row) for part in condition.parts], isinstance(condition, Every))
    return _of_metadata(condition, row) if condition.field == METADATA else _of_column(condition, row)


def _joined(terms: Sequence[_Term], every: bool) -> _Term:
    if not terms:
        return ("TRUE" if every else "FALSE"), ()
    bindings = tuple(value for _, values in terms for value in values)
    return f"({(' AND ' if every else ' OR ').join(sql for sql, _ in terms)})", bindings


def _of_column(test: Compare, row: str) -> _Term:
    column = f'{row}."{test.field}"'
    if test.comparison == "has":
        return f"EXISTS (SELECT 1 FROM memory_tags t WHERE t.tag = ? AND t.seq = {row}.seq)", (test.value,)
    if test.field == "tags":
        return f"{column} = '[]'", ()
    if test.comparison == "in":
        values = tuple(value for value in test.value if value is not None)
        missing = f" OR {column} IS NULL" if None in test.value else ""
        return f"(coalesce({column} IN ({_marks(values)}), FALSE){missing})", values
    return f"coalesce({column} {ORDER[test.comparison][0]} ?, FALSE)", (test.value,)


def _of_metadata(test: Compare, row: str) -> _Term:
    if test.comparison == "in":
        return _joined([_metadata(test.key, value, row) for value in test.value], every=False)
    if test.comparison == "has" or not (isinstance(test.value, str) or _exact(test.value)):
        return f"compares({row}.metadata, ?, ?, ?)", (test.key, test.comparison, json.dumps(test.value))
    types = "'text'" if isinstance(test.value, str) else "'integer', 'real'"
    entry = f"SELECT 1 FROM json_each({row}.metadata) j WHERE j.key = ? AND j.type IN ({types})"
    return f"EXISTS ({entry} AND j.value {ORDER[test.comparison][0]} ?)", (test.key, test.value)


def _metadata(key: str, value: Any, row: str) -> _Term:
    entry = f"SELECT 1 FROM json_each({row}.metadata) j WHERE j.key = ?"
    if value is None:
        return f"NOT EXISTS ({entry} AND j.type <> 'null')", (key,)
    if isinstance(value, bool):
        return f"EXISTS ({entry} AND j.type = ?)", (key, "true" if value else "false")
    if isinstance(value, str):
        return f"EXISTS ({entry} AND j.type = 'text' AND j.value = ?)", (key, value)
    if _exact(value):
        return f"EXISTS ({entry} AND j.type IN ('integer', 'real') AND j.value = ?)", (key, value)
    return f"same_json({row}.metadata, ?, ?)", (key, json.dumps(value))


def _exact(value: Any) -> bool:
    """An integer that SQLite compares with every number as Python does."""
    return is_number(value) and isinstance(value, int) and abs(value) <= _EXACT_INTEGERS


def _same_json(*arguments: Any) -> bool:
    metadata, key, wanted = arguments
    return same_json(json.loads(metadata).get(key), json.loads(wanted))


def _compares(*arguments: Any) -> bool:
    metadata, key, comparison, value = arguments
    return compares(json.loads(metadata).get(key), comparison, json.loads(value))


def _marks(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))
