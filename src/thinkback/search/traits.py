"""What ranking reads of every candidate, as columns: packed once for a record, kept with it, and gone when the record is."""

import math
import struct
from collections.abc import Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thinkback.model import REFLECTION, StoredRecord
from thinkback.search.speakers import ASSISTANT, USER, speaker

LONG, DOCUMENT, SHORT = 400, 1500, 50  # characters
FLAGS = ("asks", "short", "long", "document", "user", "assistant", "preference", "spoken", "reflection")
TIER_SALIENCE = {"procedural": 0.95, "semantic": 0.90, "episodic": 0.55, "working": 0.30, "unknown": 0.50}
SHORT_LIVED = ("working", "episodic")
UNSCORED_IMPORTANCE = 0.5

Traits = NDArray[np.void]
_DTYPE = np.dtype(
    [
        ("flags", np.uint8, len(FLAGS)),
        ("room", np.uint8, 7),  # so that the numbers are aligned
        ("quality", np.float64),  # at any time; not a number for short-lived tiers
        ("thread", np.int64),  # a hash of the thread, 0 for none
        ("position", np.int64),  # in the thread
        ("speaker", np.int64),  # a hash of the speaker, 0 for none
        ("length", np.float64),  # of the text, in characters
        ("date", np.float64),
    ]
)
_pack = struct.Struct("=9?7xdqqqdd").pack
_packed = attrgetter("packed")
_keep: Any = StoredRecord.packed.__set__  # type: ignore[attr-defined]  # a record is frozen, but this is no part of its value


def traits(records: Sequence[StoredRecord]) -> Traits:
    """One row for every record."""
    try:
        rows = list(map(_packed, records))
    except AttributeError:  # of a record that was not read before
        rows = [getattr(record, "packed", None) or _packed_now(record) for record in records]
    return np.frombuffer(b"".join(rows), dtype=_DTYPE)


def _packed_now(record: StoredRecord) -> bytes:
    packed = _read(record)
    _keep(record, packed)
    return packed


def _read(record: StoredRecord) -> bytes:
    """`document` is a text longer than an embedder reads that nobody said."""
    text, kind, said_by, thread = record.text, record.kind, speaker(record), record.thread
    length = len(text)
    return _pack(
        text.rstrip().endswith("?"),
        length < SHORT,
        length > LONG,
        length > DOCUMENT and not said_by,
        said_by == USER,
        said_by == ASSISTANT,
        kind == "preference",
        bool(said_by),
        kind == REFLECTION,
        math.nan if record.tier in SHORT_LIVED else lasting_quality(record),
        0 if thread is None else hash(thread) or 1,
        record.position or 0,
        hash(said_by),  # that of an empty text is 0
        length,
        record.date,
    )


def lasting_quality(record: StoredRecord) -> float:
    """Salience × confidence × usage."""
    return _lasting_quality(record.tier, record.importance, record.confidence, record.access_count)


@lru_cache(maxsize=1024)
def _lasting_quality(tier: str, importance: float | None, confidence: float | None, accesses: int) -> float:
    return _salience(tier, importance) * (1.0 if confidence is None else confidence) * usage(accesses)


def usage(accesses: int) -> float:
    """How much a memory gains from being recalled."""
    return 1.0 + math.log1p(accesses)


def salience(record: StoredRecord) -> float:
    """How much the tier and the owner's importance make of it."""
    return _salience(record.tier, record.importance)


def _salience(tier: str, scored: float | None) -> float:
    importance = UNSCORED_IMPORTANCE if scored is None else scored
    return min(1.0, max(0.0, TIER_SALIENCE[tier] * (0.5 + 0.5 * importance)))
