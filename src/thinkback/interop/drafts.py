"""Drafts of memories that other programs wrote."""

from collections.abc import Mapping
from typing import Any

from thinkback.clock import to_us
from thinkback.errors import InvalidInput
from thinkback.heads import suggested_speaker
from thinkback.inputs import validate
from thinkback.interop.jsonl_lines import IMPORTED_CONFIDENCE
from thinkback.kinds import suggested_kind
from thinkback.messages import moment_of
from thinkback.model import Draft, StoredEdge


def draft(id: str, text: str, **fields: Any) -> Draft:
    """A checked draft; None means the default, of a kind the one its text suggests; what is null in the metadata is left out."""
    given = {name: value for name, value in fields.items() if value is not None}
    metadata = {name: value for name, value in (given.pop("metadata", None) or {}).items() if value is not None}
    confidence = given.pop("confidence", IMPORTED_CONFIDENCE)
    if "kind" not in given:
        given["kind"] = suggested_kind(text, given.get("speaker") or suggested_speaker(text))
    return validate(Draft(id=id, text=text, confidence=confidence, metadata=metadata, **given))


def edge(
    from_id: str,
    to_id: str,
    kind: str,
    weight: float = 1.0,
    valid_from: int | None = None,
    valid_to: int | None = None,
) -> StoredEdge:
    """A link."""
    return StoredEdge(from_id=from_id, to_id=to_id, kind=kind, weight=weight, valid_from=valid_from, valid_to=valid_to)


def moment(given: Any) -> int | None:
    """Microseconds of a time as other programs write it; an offset may be missing, and an empty text is none."""
    return None if given in (None, "") else to_us(moment_of(given))


def tags_of(given: Any) -> tuple[str, ...]:
    """Words that can be tags; others are left out."""
    words = [given] if isinstance(given, str) else given or ()
    clean = (str(word).replace(",", " ").strip().lstrip("#").lower() for word in words)
    return tuple(dict.fromkeys(word for word in clean if word))


def required(data: Mapping[str, Any], *names: str) -> None:
    """Refuse an object without one of these fields."""
    for name in names:
        if data.get(name) in (None, ""):
            raise InvalidInput(f"the object has no {name}: {str(dict(data))[:80]}", code="no_text")
