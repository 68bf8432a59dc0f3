"""A Filter as a WHERE clause with named parameters; `Filter.rejects` is the law, this is its translation."""

import json
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from thinkback.conditions import METADATA, ORDER, Compare, Condition, Every, Not, Some, is_number
from thinkback.model import Filter
from thinkback.stores.postgres.schema import RARE_KINDS

_EXACT_INTEGERS = 1 << 53  # up to here an integer and the real number of the same value are the same everywhere


_USUAL = tuple((one.name, one.default) for one in fields(Filter) if one.name not in ("now", "without_kinds"))


class Params(dict[str, Any]):
    """Named parameters of a statement; every statement has `space`."""

    def __init__(self, space: int, **more: Any) -> None:
        super().__init__(space=space, **more)

    def add(self, value: Any, cast: str = "") -> str:
        """Binds a value and returns its placeholder."""
        name = f"p{len(self)}"
        self[name] = value
        return f"%({name})s{cast}"

    def add_binary(self, value: Any) -> str:
        """Binds a value that is sent in its binary form."""
        name = f"p{len(self)}"
        self[name] = value
        return f"%({name})b"


def clause(filter: Filter, params: Params, row: str = "m", matching: list[int] | None = None) -> str:
    """The condition on the columns of `row`, an alias of memories; its values are added to `params`.

    `matching` are the versions that pass the metadata which SQL cannot compare (`beyond_sql`).
    """
    terms = [f"{row}.space = %(space)s", *_times(filter, params, row), *_sets(filter, params, row)]
    terms += _contents(filter, params, row)
    if matching is not None:
        terms.append(f"{row}.seq = ANY({params.add(matching, '::bigint[]')})")
    return " AND ".join(terms)


def _written(kinds: Sequence[str]) -> str:
    return ", ".join(f"'{kind}'" for kind in kinds)


def rare(filter: Filter) -> bool:
    """Whether only kinds pass that have an index of their own."""
    return bool(filter.kinds) and set(filter.kinds) <= set(RARE_KINDS)


def nearly_all(filter: Filter) -> bool:
    """Whether the filter asks for nothing but present memories that are in force, as most are; some kinds may be left out."""
    return all(getattr(filter, name) == usual for name, usual in _USUAL)


def beyond_sql(filter: Filter) -> list[tuple[str, Any]]:
    """The pairs of metadata that only Python compares as Python does: lists, objects, fractions and very large numbers."""
    return [(key, value) for key, value in filter.metadata if not _simple(value)]


def where_beyond_sql(filter: Filter) -> Condition | None:
    """The condition, if it compares metadata in a way that only Python does."""
    tests = [] if filter.where is None else filter.where.tests()
    return filter.where if any(test.field == METADATA and not _translatable(test) for test in tests) else None


def _translatable(test: Compare) -> bool:
    if test.comparison == "in":
        return all(_simple(value) for value in test.value)
    if test.comparison == "has":
        return _simple(test.value)
    return isinstance(test.value, str) or abs(test.value) <= _EXACT_INTEGERS


def _simple(value: Any) -> bool:
    small = isinstance(value, int) and abs(value) <= _EXACT_INTEGERS
    return value is None or isinstance(value, bool | str) or small


def _times(filter: Filter, params: Params, row: str) -> list[str]:
    terms = []
    if filter.known_at is None:
        terms.append(f"{row}.retired_at IS NULL")
    else:
        at = params.add(filter.known_at, "::bigint")
        terms.append(f"{row}.recorded_at <= {at} AND ({row}.retired_at IS NULL OR {row}.retired_at > {at})")
    if filter.since is not None:
        terms.append(f"{row}.date >= {params.add(filter.since, '::bigint')}")
    if filter.until is not None:
        terms.append(f"{row}.date < {params.add(filter.until, '::bigint')}")
    if filter.as_of is not None:
        at = params.add(filter.as_of, "::bigint")
        terms.append(f"{row}.date <= {at} AND ({row}.valid_to IS NULL OR {row}.valid_to > {at})")
    if not filter.everything:
        now = params.add(filter.now, "::bigint")
        if filter.as_of is None:
            terms.append(f"({row}.valid_to IS NULL OR {row}.valid_to > {now})")
        terms.append(f"({row}.expires_at IS NULL OR {row}.expires_at > {now}) AND {row}.archived_at IS NULL")
    return terms


def _sets(filter: Filter, params: Params, row: str) -> list[str]:
    given = (
        ("id", None if filter.ids is None else sorted(filter.ids)),
        ("kind", filter.kinds or None),
        ("tier", filter.tiers or None),
        ("priority", filter.priorities or None),
        ("thread", filter.threads or None),
        ("source", filter.sources or None),
        ("user", filter.users or None),
        ("agent", filter.agents or None),
    )
    terms = [
        f'{row}."{column}" = ANY({params.add(list(values), "::text[]")})'
        for column, values in given
        if values is not None
    ]
    # Kinds that indexes know are written out, because a prepared statement knows nothing of its values.
    if rare(filter):
        terms.append(f"{row}.kind IN ({_written(RARE_KINDS)})")
    known = [kind for kind in filter.without_kinds if kind in RARE_KINDS]
    if known:
        terms.append(f"{row}.kind NOT IN ({_written(known)})")
    if len(known) < len(filter.without_kinds):
        terms.append(f"{row}.kind <> ALL({params.add(list(filter.without_kinds), '::text[]')})")
    return terms


def _contents(filter: Filter, params: Params, row: str) -> list[str]:
    terms = [
        f"EXISTS (SELECT 1 FROM thinkback.memory_tags t WHERE t.space = %(space)s AND t.tag = {params.add(tag)} "
        f"AND t.seq = {row}.seq)"
        for tag in filter.tags
    ]
    if filter.min_trust > 0:
        terms.append(f"{row}.trust >= {params.add(filter.min_trust, '::float8')}")
    terms += [_metadata(key, value, params, row) for key, value in filter.metadata if _simple(value)]
    if filter.where is not None and where_beyond_sql(filter) is None:
        terms.append(_condition(filter.where, params, row))
    return terms


def _condition(condition: Condition, params: Params, row: str) -> str:
    """The condition in SQL that is never null, so that NOT means what it means in Python."""
    if isinstance(condition, Not):
        return f"NOT {_condition(condition.part, params, row)}"
    if isinstance(condition, Every | Some):
        every = isinstance(condition, Every)
        parts = [_condition(part, params, row) for part in condition.parts]
        return f"({(' AND ' if every else ' OR ').join(parts or [str(every)])})"
    made = _of_metadata if condition.field == METADATA else _of_column
    return f"coalesce({made(condition, params, row)}, FALSE)"


def _of_column(test: Compare, params: Params, row: str) -> str:
    column = f'{row}."{test.field}"'
    if test.comparison == "has":
        return (
            f"EXISTS (SELECT 1 FROM thinkback.memory_tags t WHERE t.space = %(space)s AND t.tag = {params.add(test.value)} "
            f"AND t.seq = {row}.seq)"
        )
    if test.field == "tags":
        return f"{column} = '[]'"
    if test.comparison == "in":
        values = [value for value in test.value if value is not None]
        numbers = any(map(is_number, values))  # as texts: PostgreSQL rounds a real number that it casts to a numeric
        given = (
            params.add([repr(value) for value in values], "::numeric[]") if numbers else params.add(values, "::text[]")
        )
        found = f"{column} = ANY({given})"
        return f"coalesce({found}, FALSE) OR {column} IS NULL" if None in test.value else found
    if isinstance(test.value, str):
        return f'{column} COLLATE "C" {ORDER[test.comparison][0]} {params.add(test.value, "::text")}'
    return f"{column} {ORDER[test.comparison][0]} {params.add(repr(test.value), '::numeric')}"


def _of_metadata(test: Compare, params: Params, row: str) -> str:
    if test.comparison == "in":
        return " OR ".join(f"coalesce({_metadata(test.key, value, params, row)}, FALSE)" for value in test.value)
    found = f"({row}.metadata::jsonb -> {params.add(test.key, '::text')})"
    if test.comparison == "has":
        return f"{found} @> {params.add(json.dumps(test.value), '::jsonb')} AND jsonb_typeof({found}) <> 'object'"
    if isinstance(test.value, str):
        text = f"CASE WHEN jsonb_typeof({found}) = 'string' THEN {found} #>> '{{}}' END"
        return f'({text}) COLLATE "C" {ORDER[test.comparison][0]} {params.add(test.value, "::text")}'
    number = f"CASE WHEN jsonb_typeof({found}) = 'number' THEN ({found} #>> '{{}}')::numeric END"
    return f"({number}) {ORDER[test.comparison][0]} {params.add(repr(test.value), '::numeric')}"


def _metadata(key: str, value: Any, params: Params, row: str) -> str:
    found = f"({row}.metadata::jsonb -> {params.add(key, '::text')})"
    if value is None:
        return f"coalesce({found}, 'null'::jsonb) = 'null'::jsonb"
    if isinstance(value, bool):
        return f"{found} = '{str(value).lower()}'::jsonb"
    if isinstance(value, str):
        return f"{found} = to_jsonb({params.add(value, '::text')})"
    return f"{found} = to_jsonb({params.add(value, '::bigint')})"
