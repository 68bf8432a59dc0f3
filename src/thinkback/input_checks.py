"""What may be written: every road into a store passes here.

Text, names and metadata are plain Unicode without NUL, numbers are finite and in range, tags are lower-cased and distinct.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from operator import attrgetter
from typing import Any

from thinkback.clock import iso, to_us
from thinkback.errors import InvalidInput, did_you_mean
from thinkback.model import KINDS, PRIORITIES, TIERS, Draft

MAX_METADATA_DEPTH = 50
_INT64 = 1 << 63
_MAX_NAME = 500  # characters in an id, a thread, a source or a tag


def validate(draft: Draft) -> Draft:
    """The draft as it will be stored, or InvalidInput; the vector is left to the store, which knows its size."""
    changed: dict[str, Any] = {}
    for (name, check), value in zip(_CHECKS.items(), _values(draft), strict=True):
        if value is not None or name not in _OPTIONAL:
            checked = check(value, name)
            if checked is not value:
                changed[name] = checked
    check_interval(draft.valid_from, draft.valid_to)
    if draft.position is not None and draft.thread is None:
        raise InvalidInput(f"position {draft.position} without a thread; name the thread too")
    return replace(draft, **changed) if changed else draft


def validate_changes(changes: Mapping[str, Any], allowed: Sequence[str]) -> dict[str, Any]:
    """Changed fields as they will be stored; a field that cannot be changed this way is an error."""
    for name in changes:
        if name not in allowed:
            raise InvalidInput(
                f"cannot change {name!r} here; what can be changed: {', '.join(allowed)}.{did_you_mean(name, allowed)}"
            )
    return {
        name: None if value is None and name in _OPTIONAL else _CHECKS[name](value, name)
        for name, value in changes.items()
    }


def check_interval(valid_from: int | None, valid_to: int | None) -> None:
    """A memory or an edge cannot stop being true before it begins."""
    if valid_from is not None and valid_to is not None and valid_to < valid_from:
        raise InvalidInput(f"valid_to ({iso(valid_to)}) lies before valid_from ({iso(valid_from)})")


def check_text(value: Any, name: str = "text") -> str:
    """Text with something in it, free of NUL bytes and lone surrogates."""
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be a string, not {type(value).__name__}")
    if not value.strip():
        raise InvalidInput(f"{name} is empty: {value[:20]!r}; give at least one visible character")
    return _check_plain(value, name)


def check_tags(value: Any, name: str = "tags") -> tuple[str, ...]:
    """Tags stripped, lower-cased and distinct, in the order given; a leading `#` is dropped."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidInput(f"{name} must be a sequence of strings, not {value!r:.80}")
    tags = tuple(dict.fromkeys(_tag(tag) for tag in value))
    return value if tags == value else tags


def check_metadata(value: Any, name: str = "metadata") -> Mapping[str, Any]:
    """A JSON object: string keys, finite numbers, at most 50 levels deep."""
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{name} must be a JSON object, not {type(value).__name__}")
    return (
        value if not value else {_check_key(key, name): _plain_json(value[key], f"{name}[{key!r}]", 1) for key in value}
    )


def check_fraction(value: Any, name: str) -> float:
    """A number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInput(f"{name} must be a number from 0 to 1, not {value!r:.80}")
    return value


def canonical_json(value: Any) -> str:
    """One spelling for one value: sorted keys, no white space."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def check_name(value: Any, name: str) -> str:
    """A short string that names something: an id, a thread, a source."""
    if len(check_text(value, name)) > _MAX_NAME:
        raise InvalidInput(f"{name} has {len(value)} characters; at most {_MAX_NAME} are allowed")
    return value  # type: ignore[no-any-return]


def check_integer(value: Any, name: str) -> int:
    """A whole number that fits 64 bits."""
    if isinstance(value, bool) or not isinstance(value, int) or not -_INT64 <= value < _INT64:
        raise InvalidInput(f"{name} must be a whole number of 64 bits, not {value!r:.80}")
    return value


def _check_plain(value: str, name: str) -> str:
    if "\0" in value:
        raise InvalidInput(f"{name} has a NUL byte at character {value.index(chr(0))}; remove it")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"{name} has a lone surrogate {value[error.start]!r} at character {error.start}; it is not text"
        ) from None
    return value


def _tag(value: Any) -> str:
    tag = " ".join(check_text(value, "a tag").split()).lstrip("#").strip().lower()
    if not tag or "," in tag:
        raise InvalidInput(f"not a tag: {value!r:.80}; a tag is a word or a few, without commas")
    return check_name(tag, "a tag")


def _check_key(key: Any, name: str) -> str:
    if not isinstance(key, str):
        raise InvalidInput(f"{name} has the key {key!r:.80}; keys of a JSON object are strings")
    return _check_plain(key, f"a key of {name}")


def _plain_json(value: Any, name: str, depth: int) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _check_plain(value, name)
    if isinstance(value, int):
        return check_integer(value, name)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInput(f"{name} is {value}, which JSON cannot carry")
        return value
    if depth >= MAX_METADATA_DEPTH:
        raise InvalidInput(f"{name:.80} is nested more than {MAX_METADATA_DEPTH} levels deep")
    if isinstance(value, Mapping):
        return {_check_key(key, name): _plain_json(item, f"{name}[{key!r}]", depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_json(item, f"{name}[{i}]", depth + 1) for i, item in enumerate(value)]
    raise InvalidInput(
        f"{name} is a {type(value).__name__}, which JSON cannot carry; use text, numbers, lists and objects"
    )


def _check_time(value: Any, name: str) -> int:
    try:
        return to_us(check_integer(value, name))
    except InvalidInput as error:
        raise InvalidInput(f"{name}: {error}") from None


def _check_flag(value: Any, name: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(f"{name} must be true or false, not {value!r:.80}")
    return value


def _check_count(value: Any, name: str) -> int:
    if check_integer(value, name) < 0:
        raise InvalidInput(f"{name} must not be negative: {value}")
    return value  # type: ignore[no-any-return]


def _check_essence(value: Any, name: str) -> str | None:
    return None if isinstance(value, str) and not value.strip() else check_text(value, name)


def _one_of(valid: Sequence[str]) -> Callable[[Any, str], str]:
    def check(value: Any, name: str) -> str:
        if value not in valid:
            raise InvalidInput(
                f"unknown {name} {value!r:.80}; one of {', '.join(valid)}.{did_you_mean(str(value)[:80], valid)}"
            )
        return value  # type: ignore[no-any-return]

    return check


_CHECKS: dict[str, Callable[[Any, str], Any]] = {
    "text": check_text,
    "id": check_name,
    "essence": _check_essence,
    "kind": _one_of(KINDS),
    "tier": _one_of(TIERS),
    "priority": _one_of(PRIORITIES),
    "importance": check_fraction,
    "confidence": check_fraction,
    "tags": check_tags,
    "metadata": check_metadata,
    "thread": check_name,
    "position": check_integer,
    "created_at": _check_time,
    "updated_at": _check_time,
    "recorded_at": _check_time,
    "valid_from": _check_time,
    "valid_to": _check_time,
    "expires_at": _check_time,
    "archived_at": _check_time,
    "cycle": check_integer,
    "access_count": _check_count,
    "last_access": _check_time,
    "source": check_name,
    "trust": check_fraction,
    "claim": check_fraction,
    "claimed_at": _check_time,
    "slides": _check_flag,
}
_OPTIONAL = frozenset(field.name for field in fields(Draft) if field.default is None)
_values = attrgetter(*_CHECKS)
