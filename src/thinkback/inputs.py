"""What callers may write, checked once: every way into a store passes here.

The first half turns the arguments of `remember`, `update` and `recall` into values; the second half checks each value by the type
that `thinkback.fields` gives it. Text, names and metadata are plain Unicode without NUL, numbers are finite and in range, tags are
lower-cased and distinct.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, replace
from pathlib import PurePath
from typing import Any, TypedDict, cast

from thinkback.clock import EARLIEST, LATEST, Moment, iso, to_us
from thinkback.errors import InvalidInput, did_you_mean
from thinkback.fields import (
    CHANGEABLE,
    FIELDS,
    MOST_CONFIDENCE_CLAIMED,
    REMEMBERED,
    TIMES,
    VALUES,
    Kind,
    Priority,
    Tier,
    names,
)
from thinkback.heads import suggested_speaker
from thinkback.kinds import suggested_kind
from thinkback.model import Draft, Vector
from thinkback.values import differing, maker

MAX_METADATA_DEPTH = 50
_INT64 = 1 << 63
LONGEST_TEXT = 10_000_000  # characters of a memory
_MAX_NAME = 500  # characters in an id, a thread, a source or a tag

# What other libraries call a field, a filter or an argument of ours.
_ELSEWHERE = {
    **dict.fromkeys(("filter", "filters"), "where"),
    **dict.fromkeys(("top_k", "k", "n", "n_results", "max_results", "num_results"), "limit"),
    **dict.fromkeys(("user_id", "userId"), "user"),
    **dict.fromkeys(("agent_id", "assistant_id", "app_id"), "agent"),
    **dict.fromkeys(("session", "session_id", "thread_id", "run_id", "conversation", "conversation_id"), "thread"),
    **dict.fromkeys(("timestamp", "date", "time"), "created_at"),
    **dict.fromkeys(("role", "author", "name"), "speaker"),
    **dict.fromkeys(("category", "categories", "labels"), "tags"),
    **dict.fromkeys(("content", "memory", "document"), "text"),
    **dict.fromkeys(("embedding",), "vector"),
}
Check = Callable[[Any, str], Any]
_MAPPINGS = (dict, Mapping)  # the first is told at once; a union would be made anew for every value
Operators = Mapping[str, Any]


class Fields(TypedDict, total=False):
    """Everything `remember` takes besides the text; None means the default."""

    id: str | None
    essence: str | None
    kind: Kind | None
    tier: Tier | None
    priority: Priority | None
    importance: float | None
    confidence: float | None
    tags: Iterable[str] | None
    metadata: Mapping[str, Any] | None
    thread: str | None
    position: int | None
    created_at: Moment | None
    valid_from: Moment | None
    valid_to: Moment | None
    about_from: Moment | None
    about_to: Moment | None
    expires_at: Moment | None
    cycle: int | None
    speaker: str | None
    source: str | None
    user: str | None
    agent: str | None
    trust: float | None
    vector: Vector | None
    tag: str | None


class Changes(TypedDict, total=False):
    """Everything `update` takes; None empties a field that may be empty."""

    text: str
    essence: str | None
    kind: Kind
    tier: Tier
    priority: Priority
    importance: float | None
    confidence: float
    tags: Iterable[str]
    metadata: Mapping[str, Any]
    thread: str | None
    position: int | None
    valid_from: Moment | None
    valid_to: Moment | None
    about_from: Moment | None
    about_to: Moment | None
    expires_at: Moment | None
    archived_at: Moment | None
    cycle: int | None
    speaker: str | None
    source: str | None
    user: str | None
    agent: str | None
    trust: float


class Where(TypedDict, total=False):
    """Filters of `recall`, `list` and `count`; None means no filter. A mapping holds operators: `tags={"any": ["a", "b"]}`."""

    tags: Iterable[str] | Operators | None
    kinds: Kind | Iterable[Kind] | Operators | None
    tiers: Tier | Iterable[Tier] | Operators | None
    priorities: Priority | Iterable[Priority] | Operators | None
    threads: Iterable[str] | Operators | None
    sources: Iterable[str] | Operators | None
    users: Iterable[str] | Operators | None
    agents: Iterable[str] | Operators | None
    metadata: Mapping[str, Any] | None
    where: Mapping[str, Any] | None
    since: Moment | None
    until: Moment | None
    as_of: Moment | None
    known_at: Moment | None
    min_trust: float | None
    everything: bool | None
    include_reflections: bool | None
    tag: str | None
    kind: Kind | None
    tier: Tier | None
    priority: Priority | None
    thread: str | None
    source: str | None
    user: str | None
    agent: str | None


# -- what callers give -----------------------------------------------------------------------------------------------------------

_REMEMBERED = (*(name for name in names(REMEMBERED) if name != "text"), "vector")
_MAY_BE_REMEMBERED = frozenset(_REMEMBERED)
_BLANK = {field.name: None if field.default is MISSING else field.default for field in fields(Draft)}
_CHANGEABLE = names(CHANGEABLE)
_drafted = maker(Draft)


def draft(text: str, given: Mapping[str, Any]) -> Draft:
    """A draft from a caller's arguments; the store checks the rest."""
    if "tag" in given:
        tags = [*words(given.get("tags") or (), "tags"), *words(given["tag"] or (), "tag")]
        given = {**{name: value for name, value in given.items() if name != "tag"}, "tags": tags}
    if not _MAY_BE_REMEMBERED.issuperset(given):
        check_known("remember", given, _REMEMBERED)
    if "confidence" in given:
        _check_claim(given["confidence"])
    if not isinstance(text, str):
        check_text(text)
    made = _BLANK.copy()
    made["text"], made["metadata"] = text, {}
    for name, value in given.items():
        if value is not None:
            made[name] = _CONVERTED[name](value, name) if name in _CONVERTED else value
    speaker = given.get("speaker")
    if speaker is None:
        made["speaker"] = speaker = suggested_speaker(text)
    if given.get("kind") is None and (speaker is None or isinstance(speaker, str)):
        made["kind"] = suggested_kind(text, speaker)
    return _drafted(made.values())


def changes_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """The changes of an update as the store takes them; the store checks the rest."""
    check_known("update", given, _CHANGEABLE)
    _check_claim(given.get("confidence"))
    return {
        name: _CONVERTED[name](value, name) if name in _CONVERTED and (value is not None or name == "tags") else value
        for name, value in given.items()
    }


def text_and_fields(item: str | Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The text and the other fields of one of many memories to remember."""
    if isinstance(item, str):
        return item, {}
    if not isinstance(item, _MAPPINGS):
        raise InvalidInput(f"a memory is a text or a mapping, not {type(item).__name__}", code="not_text")
    if "text" not in item:
        raise InvalidInput(f"a memory needs a text; got only {', '.join(item) or 'nothing'}", code="no_text")
    given = dict(item)
    return given.pop("text"), given


def ids_given(verb: str, given: Iterable[Any]) -> Sequence[str]:
    """The ids, if they are strings; a list in their place is a common slip."""
    if not isinstance(given, Iterable):
        raise InvalidInput(f"{verb} takes ids; got {given!r:.80}", code="not_an_id")
    ids = tuple(given)
    for id in ids:
        if isinstance(id, str):
            _check_plain(id, "an id")
        else:
            raise InvalidInput(
                f'{verb} takes ids one by one: {verb}("a", "b"), or {verb}(*ids) for a list; got {id!r}',
                code="not_an_id",
            )
    return ids


def time_of(value: Any, name: str) -> int:
    """Microseconds of a moment; an error names the field."""
    try:
        return to_us(value)
    except InvalidInput as error:
        raise InvalidInput(f"{name}: {error.message}", code="not_a_time") from None


def words(given: Any, name: str) -> tuple[str, ...]:
    """Several strings; a lone string counts as one, not as a sequence of letters."""
    if not isinstance(given, Iterable):
        raise InvalidInput(f"{name} must be strings; got {given!r:.80}", code="not_text")
    several = (given,) if isinstance(given, str) else tuple(given)
    for word in several:
        if not isinstance(word, str):
            raise InvalidInput(f"{name} must be strings; got {word!r:.80}", code="not_text")
        _check_plain(word, name)
    return several


_CONVERTED: dict[str, Check] = {**dict.fromkeys(TIMES, time_of), "tags": words}


def _check_claim(confidence: Any) -> None:
    """Refuse more confidence than a caller may claim; the store checks that it is a number."""
    if isinstance(confidence, int | float) and confidence > MOST_CONFIDENCE_CLAIMED:
        raise InvalidInput(
            f"confidence {confidence} is more than a caller may claim; give at most {MOST_CONFIDENCE_CLAIMED}, "
            "corroboration raises it",
            code="out_of_range",
        )


def check_known(what: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse a name that is not known, with the nearest one that is."""
    for name in given:
        if name not in known:
            meant = _ELSEWHERE.get(name)
            near = f" Did you mean {meant!r}?" if meant else did_you_mean(name, known)
            raise InvalidInput(
                f"{what} has no field {name!r}; known: {', '.join(known)}.{near}",
                code="unknown_field",
            )


# -- what a store takes ----------------------------------------------------------------------------------------------------------


def validate(draft: Draft) -> Draft:
    """The draft as it will be stored, or InvalidInput; the vector is left to the store, which knows its size."""
    changed: dict[str, Any] = {}
    for name in _given(draft):
        value = getattr(draft, name)
        if (checked := _CHECKS[name](value, name)) is not value:
            changed[name] = checked
    if draft.valid_to is not None or draft.about_to is not None:
        check_interval(draft.valid_from, draft.valid_to)
        check_interval(draft.about_from, draft.about_to, "about")
    if draft.position is not None and draft.thread is None:
        raise InvalidInput(f"position {draft.position} without a thread; name the thread too", code="no_thread")
    return replace(draft, **changed) if changed else draft


def validate_changes(changes: Mapping[str, Any], allowed: Sequence[str]) -> dict[str, Any]:
    """Changed fields as they will be stored; a field that cannot be changed this way is an error."""
    for name in changes:
        if name not in allowed:
            raise InvalidInput(
                f"cannot change {name!r} here; what can be changed: {', '.join(allowed)}.{did_you_mean(name, allowed)}",
                code="unknown_field",
            )
    return {
        name: None if value is None and name in _OPTIONAL else _CHECKS[name](value, name)
        for name, value in changes.items()
    }


def check_interval(begin: int | None, end: int | None, what: str = "valid") -> None:
    """A memory or an edge cannot stop being true before it begins, nor tell of a time that ends before it begins."""
    if begin is not None and end is not None and end < begin:
        message = f"{what}_to ({iso(end)}) lies before {what}_from ({iso(begin)})"
        raise InvalidInput(message, code="ends_before_start")


def check_text(value: Any, name: str = "text") -> str:
    """Text with a visible character, free of NUL bytes and lone surrogates."""
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be a string, not {type(value).__name__}", code="not_text")
    if not value.strip():
        raise InvalidInput(f"{name} is empty: {value[:20]!r}; give at least one visible character", code="empty_text")
    return _check_plain(value, name)


def optional_name(value: Any, name: str) -> str | None:
    """A name to look something up by, or None; one that nothing has is allowed."""
    if value is not None and not isinstance(value, str):
        raise InvalidInput(f"{name} must be a string, not {type(value).__name__}", code="not_text")
    return value


def check_tags(value: Any, name: str = "tags") -> tuple[str, ...]:
    """Tags stripped, lower-cased and distinct, in the order given; a leading `#` is dropped."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidInput(f"{name} must be a sequence of strings, not {value!r:.80}", code="not_a_tag")
    tags = tuple(dict.fromkeys(_tag(tag) for tag in value))
    return value if tags == value else tags


def check_metadata(value: Any, name: str = "metadata") -> Mapping[str, Any]:
    """A JSON object: string keys, finite numbers, at most 50 levels deep."""
    if not isinstance(value, _MAPPINGS):
        raise InvalidInput(f"{name} must be a JSON object, not {type(value).__name__}", code="not_json")
    return (
        value if not value else {_check_key(key, name): _plain_json(value[key], f"{name}[{key!r}]", 1) for key in value}
    )


def check_fraction(value: Any, name: str) -> float:
    """A number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInput(f"{name} must be a number from 0 to 1, not {value!r:.80}", code="out_of_range")
    return value


def check_name(value: Any, name: str) -> str:
    """A short text that names something: an id, a thread, a source."""
    if isinstance(value, str) and value.isascii() and value.isprintable() and value.strip() and len(value) <= _MAX_NAME:
        return value  # as most are, and two calls less
    if len(check_text(value, name)) > _MAX_NAME:
        raise InvalidInput(f"{name} has {len(value)} characters; at most {_MAX_NAME} are allowed", code="too_long")
    return value  # type: ignore[no-any-return]


def check_limit(value: Any, name: str = "limit") -> int:
    """A number of rows: 0 or more."""
    return _check_count(value, name)


def one_text(given: Any) -> Any:
    """What `remember` was given as its text; several texts or a file are answered with the line that takes them."""
    if given is None:
        line = 'remember needs a text: remember("…"), remember(messages=[…]) or remember(file=…)'
        raise InvalidInput(line, code="no_text")
    if isinstance(given, PurePath):
        raise InvalidInput(f"to remember a file or a folder: remember(file={str(given)!r})", code="not_text")
    if isinstance(given, Mapping) or (isinstance(given, Iterable) and not isinstance(given, str | bytes)):
        said = [given] if isinstance(given, Mapping) else list(given)
        chat = bool(said) and all(isinstance(one, Mapping) and "content" in one for one in said)
        line = "remember(messages=[…])" if chat else "remember_many([…])"
        raise InvalidInput(f"remember takes one text; to remember several: {line}", code="several_texts")
    return given


def check_query(value: Any) -> str:
    """The text of a query; it may be empty."""
    if isinstance(value, list | tuple | set):
        raise InvalidInput("recall takes one question; to ask several: recall_many([…])", code="several_texts")
    if not isinstance(value, str):
        raise InvalidInput(f"a query must be a string, not {type(value).__name__}", code="not_text")
    return value


def check_integer(value: Any, name: str) -> int:
    """An integer that fits 64 bits."""
    if isinstance(value, bool) or not isinstance(value, int) or not -_INT64 <= value < _INT64:
        raise InvalidInput(f"{name} must be an integer of 64 bits, not {value!r:.80}", code="out_of_range")
    return value


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no white space: equal values give equal texts."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _check_plain(value: str, name: str) -> str:
    if "\0" in value:
        raise InvalidInput(f"{name} has a NUL byte at character {value.index(chr(0))}; remove it", code="not_text")
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"{name} has a lone surrogate {value[error.start]!r} at character {error.start}; it is not text",
            code="not_text",
        ) from None
    return value


def _tag(value: Any) -> str:
    tag = " ".join(check_text(value, "a tag").split()).lstrip("#").strip().lower()
    if not tag or "," in tag:
        raise InvalidInput(f"not a tag: {value!r:.80}; a tag is a word or a few, without commas", code="not_a_tag")
    return check_name(tag, "a tag")


def _check_key(key: Any, name: str) -> str:
    if not isinstance(key, str):
        raise InvalidInput(f"{name} has the key {key!r:.80}; keys of a JSON object are strings", code="not_json")
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
            raise InvalidInput(f"{name} is {value}, which JSON cannot carry", code="not_json")
        return value
    if depth >= MAX_METADATA_DEPTH:
        raise InvalidInput(f"{name:.80} is nested more than {MAX_METADATA_DEPTH} levels deep", code="too_deep")
    if isinstance(value, Mapping):
        return {_check_key(key, name): _plain_json(item, f"{name}[{key!r}]", depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_json(item, f"{name}[{i}]", depth + 1) for i, item in enumerate(value)]
    raise InvalidInput(
        f"{name} is a {type(value).__name__}, which JSON cannot carry; use text, numbers, lists and objects",
        code="not_json",
    )


def _check_time(value: Any, name: str) -> int:
    if type(value) is int and EARLIEST <= value <= LATEST:
        return value
    return time_of(check_integer(value, name), name)


def check_flag(value: Any, name: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise InvalidInput(f"{name} must be true or false, not {value!r:.80}", code="not_a_flag")
    return value


def _check_count(value: Any, name: str) -> int:
    if check_integer(value, name) < 0:
        raise InvalidInput(f"{name} must not be negative: {value}", code="out_of_range")
    return value  # type: ignore[no-any-return]


def _check_essence(value: Any, name: str) -> str | None:
    return None if isinstance(value, str) and not value.strip() else check_text(value, name)


def one_of(valid: Sequence[str]) -> Check:
    """A check that refuses any other word."""

    def check(value: Any, name: str) -> str:
        if value not in valid:
            raise InvalidInput(
                f"unknown {name} {value!r:.80}; one of {', '.join(valid)}.{did_you_mean(str(value)[:80], valid)}",
                code="unknown_value",
            )
        return value  # type: ignore[no-any-return]

    return check


def _check_memory(value: Any, name: str) -> str:
    """The text of a memory, of bounded length: it is read whole by every recall that finds it."""
    if not (isinstance(value, str) and value.isascii() and "\0" not in value and value.strip()):  # as most are
        check_text(value, name)
    if len(value) > LONGEST_TEXT:
        raise InvalidInput(
            f"{name} has {len(value):,} characters; a memory may have {LONGEST_TEXT:,}, so split it",
            code="text_too_long",
        )
    return str(value)


_BY_TYPE: dict[str, Check] = {
    "text": check_text,
    "name": check_name,
    "fraction": check_fraction,
    "integer": check_integer,
    "count": _check_count,
    "time": _check_time,
    "tags": check_tags,
    "object": check_metadata,
    "flag": check_flag,
    **{type: one_of(VALUES[type]) for type in ("kind", "tier", "priority")},
}
_CHECKS: dict[str, Check] = {field.name: _BY_TYPE[field.type] for field in FIELDS if field.draft}
_CHECKS["text"] = _check_memory
_CHECKS["essence"] = _check_essence
_OPTIONAL = frozenset(field.name for field in FIELDS if field.default is None and not field.required)
_given = differing(Draft(text=cast(str, object())), tuple(_CHECKS))  # no text is that object
