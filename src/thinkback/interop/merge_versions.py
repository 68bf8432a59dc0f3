"""A version from a file beside those a store has of the same memory.

Versions of one memory follow one another in time and never overlap, or a store would know two of them at once.
"""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from thinkback.model import Draft, StoredRecord
from thinkback.stores.base import VERSIONED


class Verdict(Enum):
    """What a version is to a store."""

    KNOWN = "it has it already"
    NEWER = "it follows what it has"
    NEW = "it belongs among its past"
    DIFFERING = "it holds something else for that time"


def verdict(version: Draft | StoredRecord, versions: Sequence[StoredRecord]) -> Verdict:
    """Weighs a present (Draft) or a retired version (StoredRecord) against all the store's versions of that memory, by age."""
    if any(_same(version, other) for other in versions):
        return Verdict.KNOWN
    present = next((other for other in versions if other.retired_at is None), None)
    if version.recorded_at is not None and present is not None and version.recorded_at > present.recorded_at:
        return Verdict.NEWER
    if isinstance(version, Draft) or any(_overlap(version, other) for other in versions):
        return Verdict.DIFFERING
    return Verdict.NEW


def content(version: Draft | StoredRecord) -> Mapping[str, Any]:
    """What a version says, without its standing and its times."""
    return {name: getattr(version, name) for name in VERSIONED}


def _same(version: Draft | StoredRecord, other: StoredRecord) -> bool:
    said, known = dict(content(version)), dict(content(other))
    if said["position"] is None:  # it was given its place when it was written
        known["position"] = None
    return said == known and version.recorded_at in (None, other.recorded_at)


def _overlap(one: StoredRecord, other: StoredRecord) -> bool:
    """Whether there is a moment in which both were known; a version that was replaced at once was never known."""
    if other.retired_at is None:
        return one.retired_at is not None and other.recorded_at < one.retired_at and one.recorded_at < one.retired_at
    starts, ends = max(one.recorded_at, other.recorded_at), min(one.retired_at or 0, other.retired_at)
    return starts < ends
