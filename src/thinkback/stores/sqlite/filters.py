"""A Filter as a WHERE clause, equivalent to `Filter.rejects`."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from thinkback.model import Filter
from thinkback.stores.sqlite.rows import listed

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


_Terms = list[tuple[str, tuple[Any, ...]]]


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
        (f"{row}.{column} IN ({_marks(values)})", values)
        for column, values in (
            ("kind", filter.kinds),
            ("tier", filter.tiers),
            ("priority", filter.priorities),
            ("thread", filter.threads),
            ("source", filter.sources),
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
    return terms


def _metadata(key: str, value: Any, row: str) -> tuple[str, tuple[Any, ...]]:
    entry = f"SELECT 1 FROM json_each({row}.metadata) j WHERE j.key = ?"
    if value is None:
        return f"NOT EXISTS ({entry} AND j.type <> 'null')", (key,)
    if isinstance(value, bool):
        return f"EXISTS ({entry} AND j.type = ?)", (key, "true" if value else "false")
    if isinstance(value, str):
        return f"EXISTS ({entry} AND j.type = 'text' AND j.value = ?)", (key, value)
    if isinstance(value, int) and abs(value) <= _EXACT_INTEGERS:
        return f"EXISTS ({entry} AND j.type IN ('integer', 'real') AND j.value = ?)", (key, value)
    return f"same_json({row}.metadata, ?, ?)", (key, json.dumps(value))


def _same_json(*arguments: Any) -> bool:
    metadata, key, wanted = arguments
    found, value = json.loads(metadata).get(key), json.loads(wanted)
    return bool(found == value and isinstance(found, bool) == isinstance(value, bool))


def _marks(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))
