"""Conversion between lines of a JSON Lines file and values."""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from thinkback.clock import iso
from thinkback.errors import InvalidInput, did_you_mean
from thinkback.fields import FIELDS, TIMES, names
from thinkback.inputs import time_of, validate
from thinkback.lifecycle.transfer import Header, Value
from thinkback.model import Draft, Judgement, Passages, StoredEdge, StoredJudgement, StoredRecord, Vector
from thinkback.passages import Span
from thinkback.stores.base import MAX_GRADE, EmbeddingSpace

FORMAT = 1
TYPES = ("memory", "link", "judgement", "header")
IMPORTED_CONFIDENCE = 0.25  # of a memory that does not bring its own

_TIMES = TIMES | {"judged_at"}
_NOT_EXPORTED = frozenset(names(field for field in FIELDS if not field.exported))
_HIDDEN = frozenset(names(field for field in FIELDS if not field.shown))
_TEXT_ELSEWHERE = ("content", "memory", "body", "message")  # what other programs' exports call it
_KNOWN_AS_TEXT = " Did you mean 'text'?"


# -- out -------------------------------------------------------------------------------------------------------------------------


def header_line(space: EmbeddingSpace | None, settings: Mapping[str, str] | None = None) -> str:
    """The line that begins a file."""
    embedding = None if space is None else {"fingerprint": space.fingerprint, "dimensions": space.dimensions}
    header = {"type": "header", "thinkback": FORMAT, "embedding": embedding}
    return _line({**header, "settings": settings} if settings else header)


def memory_line(record: StoredRecord, vector: Vector | None = None, passages: Passages | None = None) -> str:
    """A version of a memory, with all its fields."""
    data = {"type": "memory", **plain(record)}
    if vector is not None:
        data["vector"] = _written(vector)
    if passages is not None:
        rows = zip(passages.spans, passages.vectors, strict=True)
        data["passages"] = [{"start": span.start, "end": span.end, "vector": _written(row)} for span, row in rows]
    return _line(data)


def _written(vector: Vector) -> str:
    return base64.b64encode(np.asarray(vector, dtype="<f4").tobytes()).decode()


def link_line(edge: StoredEdge) -> str:
    """A link between two memories."""
    return _line({"type": "link", **plain(edge)})


def judgement_line(judgement: StoredJudgement | Judgement) -> str:
    """A judgement."""
    return _line({"type": "judgement", **plain(judgement)})


def plain(value: Any) -> dict[str, Any]:
    """A value's fields, its times as ISO 8601."""
    data = {one.name: getattr(value, one.name) for one in fields(value) if one.name not in _NOT_EXPORTED}
    data = {name: data[name] for name in data if data[name] or name not in _HIDDEN}
    return {name: iso(data[name]) if name in _TIMES else data[name] for name in data}


def _line(data: Mapping[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=_jsonable)


def _jsonable(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else list(value)


# -- in --------------------------------------------------------------------------------------------------------------------------


def read_line(line: str, types: Sequence[str] = TYPES) -> Value:
    """The value of a line of one of these types, by default the first; InvalidInput if it is malformed."""
    data = _object(line)
    kind = data.pop("type", types[0])
    if kind not in types:
        hint = did_you_mean(str(kind)[:80], types)
        raise InvalidInput(f"unknown type {kind!r:.80}; expected one of {', '.join(types)}.{hint}")
    if kind == "memory":
        return _memory(data)
    if kind == "link":
        edge: StoredEdge = _built(StoredEdge, data, required=("from_id", "to_id"))
        return edge
    if kind == "judgement":
        judgement: StoredJudgement = _built(
            StoredJudgement, data, required=("query", "memory_id", "grade", "judged_at")
        )
        if not judgement.query.strip() or not 0 <= judgement.grade <= MAX_GRADE:
            raise InvalidInput(f"a judgement needs a query and a grade from 0 to {MAX_GRADE}, not {judgement.grade}")
        return judgement
    return _header(data)


def _object(line: str) -> dict[str, Any]:
    try:
        data = json.loads(line, parse_constant=_not_json)
    except RecursionError:
        raise InvalidInput("not JSON that can be read: it is nested too deeply") from None
    except ValueError as error:
        raise InvalidInput(f"not JSON: {error}") from None
    if not isinstance(data, dict):
        raise InvalidInput(f"not a JSON object: {line.strip()[:40]!r}")
    return data


def _not_json(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _header(data: Mapping[str, Any]) -> Header:
    written = data.get("thinkback")
    if not isinstance(written, int) or written > FORMAT:
        raise InvalidInput(f"the file has format {written!r:.80}, this Thinkback reads up to {FORMAT}; upgrade it")
    embedding, settings = data.get("embedding"), data.get("settings") or {}
    if not isinstance(settings, Mapping) or not all(isinstance(value, str) for value in settings.values()):
        raise InvalidInput(f"the header's settings are texts by name, not {settings!r:.80}")
    if embedding is None:
        return Header(None, settings)
    return Header(_built(EmbeddingSpace, embedding, required=("fingerprint", "dimensions")), settings)


def _memory(data: dict[str, Any]) -> Draft | StoredRecord:
    _check_names(data, (*names(FIELDS), "vector", "passages"))
    given = {name: value for name, value in data.items() if value is not None and name not in _NOT_EXPORTED}
    if "text" not in given:
        raise InvalidInput(
            f"a memory needs a text; the line has only {', '.join(data) or 'an empty object'}", code="no_text"
        )
    vector, retired = given.pop("vector", None), given.pop("retired_at", None)
    passages = given.pop("passages", None)
    draft = validate(Draft(**{"confidence": IMPORTED_CONFIDENCE, **_with_times(given)}))
    if retired is not None:
        return _version(draft, time_of(retired, "retired_at"))
    if vector is None:
        return draft
    return replace(draft, vector=_vector(vector), passages=None if passages is None else _passages(passages))


def _version(draft: Draft, retired: int) -> StoredRecord:
    """A retired version; its memory and the time span in which the store knew it are required."""
    missing = [name for name in ("id", "created_at", "updated_at", "recorded_at") if getattr(draft, name) is None]
    if missing:
        raise InvalidInput(f"a retired version needs {', '.join(missing)}")
    values = {one.name: getattr(draft, one.name) for one in FIELDS if one.draft}
    values["claim"] = draft.confidence if draft.claim is None else draft.claim
    values["claimed_at"] = draft.recorded_at if draft.claimed_at is None else draft.claimed_at
    return StoredRecord(**values, retired_at=retired)


def _passages(written: Any) -> Passages:
    fields = ("start", "end", "vector")
    rows: list[Any] = written if isinstance(written, list) else [None]
    if not rows or not all(isinstance(row, Mapping) and sorted(row) == sorted(fields) for row in rows):
        raise InvalidInput(f"passages are a list of objects with {', '.join(fields)}, not {written!r:.80}")
    for row in rows:
        _check_type("start", row["start"], int)
        _check_type("end", row["end"], int)
    vectors = [_vector(row["vector"]) for row in rows]
    if len({len(vector) for vector in vectors}) > 1:
        raise InvalidInput("the vectors of passages are of different sizes")
    return Passages(tuple(Span(row["start"], row["end"]) for row in rows), np.stack(vectors))


def _vector(written: Any) -> Vector:
    try:
        data = base64.b64decode(written, validate=True)
        vector: Vector = np.frombuffer(data, dtype="<f4").astype(np.float32)
    except (binascii.Error, TypeError, ValueError):
        raise InvalidInput(f"a vector is base64 of little-endian 32-bit floats, not {written!r:.40}") from None
    if not np.isfinite(vector).all() or not vector.any():
        raise InvalidInput("a vector holds NaN, infinity or only zeros")
    return vector


def _built(kind: Any, data: Any, required: Sequence[str]) -> Any:
    """A link, a judgement or an embedding space; the store checks what its values mean."""
    if not isinstance(data, Mapping):
        raise InvalidInput(f"expected an object, not {data!r:.80}")
    _check_names(data, [one.name for one in fields(kind)])
    given = {name: value for name, value in data.items() if value is not None}
    missing = [name for name in required if name not in given]
    if missing:
        raise InvalidInput(f"the line lacks {', '.join(missing)}")
    given = _with_times(given)
    for one in fields(kind):
        if one.name in given and one.name not in _TIMES:
            _check_type(one.name, given[one.name], one.type)
    return kind(**given)


def _check_names(data: Mapping[str, Any], names: Sequence[str]) -> None:
    for name in data:
        if name not in names:
            hint = _KNOWN_AS_TEXT if name in _TEXT_ELSEWHERE and "text" in names else did_you_mean(name, names)
            raise InvalidInput(
                f"unknown field {name!r:.80}; fields of your own belong under metadata.{hint}", code="unknown_field"
            )


def _check_type(name: str, value: Any, kind: Any) -> None:
    wanted = int | float if kind is float else kind
    if isinstance(value, bool) or not isinstance(value, wanted) or not _in_range(value):
        raise InvalidInput(f"{name} cannot be {value!r:.80}")


def _in_range(value: Any) -> bool:
    """Whether a number is one that a store can hold."""
    return not isinstance(value, int) or -(1 << 63) <= value < 1 << 63


def _with_times(given: dict[str, Any]) -> dict[str, Any]:
    return {name: time_of(value, name) if name in _TIMES else value for name, value in given.items()}
