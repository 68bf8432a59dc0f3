"""What ranking reads of every candidate, as columns: packed once for a record, kept with it, and gone when the record is."""

import math
import re
import struct
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
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
LONGEST_PAIRED = 20_000  # characters
_PAIRS = 1024
_SPREAD = 37  # of 255 letters within 16 bits
_FULL = b"\xff" * (_PAIRS // 8)

Traits = NDArray[np.void]
_DTYPE = np.dtype(
    [
        ("flags", np.uint8, len(FLAGS)),
        ("room", np.uint8, 7),  # so that the numbers are aligned
        ("quality", np.float64),  # at any time; not a number for short-lived tiers
        ("thread", np.int64),  # a hash of the thread, 0 for none
        ("position", np.int64),  # in the thread
        ("speaker", np.int64),  # a hash of the speaker, 0 for none
        ("pairs", np.uint64, _PAIRS // 64),  # which pairs of letters the lower-cased text has, by hash
    ]
)
_pack = struct.Struct(f"=9?7xdqqq{_PAIRS // 8}s").pack
_packed = attrgetter("packed")
_keep: Any = StoredRecord.packed.__set__  # type: ignore[attr-defined]  # a record is frozen, but this is no part of its value


def traits(records: Sequence[StoredRecord]) -> Traits:
    """One row for every record."""
    try:
        rows = list(map(_packed, records))
    except AttributeError:  # of a record that was not read before
        unread = [record for record in records if not hasattr(record, "packed")]
        for record, pairs in zip(unread, _pairs([record.text for record in unread]), strict=True):
            _keep(record, _read(record, pairs))
        rows = list(map(_packed, records))
    return np.frombuffer(b"".join(rows), dtype=_DTYPE)


def _read(record: StoredRecord, pairs: bytes) -> bytes:
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
        pairs,
    )


_WORD = re.compile(r"[^\W_]+")
_SEPARATORS = {sign: " " for sign in range(128) if not chr(sign).isalnum()}


def words(text: str) -> list[str]:
    """The runs of letters and digits; of plain English in half the time that the pattern takes."""
    return text.translate(_SEPARATORS).split() if text.isascii() else _WORD.findall(text)


# -- pairs of letters -------------------------------------------------------------------------------------------------------


def may_have(read: Traits, words: Sequence[str]) -> NDArray[np.bool_]:
    """For every word and record False only if the lower-cased text does not have it: some pair of its letters is missing."""
    wanted = np.frombuffer(b"".join(map(_pairs_of, words)), dtype=np.uint64).reshape(len(words), 1, _PAIRS // 64)
    return np.asarray(((read["pairs"] & wanted) == wanted).all(axis=2))


def _pairs(texts: Sequence[str]) -> list[bytes]:
    """A set of bits for every text, each for some pairs of bytes; that of a long text, which has most pairs, is full."""
    spelt = [b"" if len(text) > LONGEST_PAIRED else text.lower().encode("utf-8", "surrogatepass") for text in texts]
    letters = np.frombuffer(b"\0".join([*spelt, b""]), dtype=np.uint8).astype(np.uint16)
    owners = np.repeat(np.arange(len(texts)), [len(one) + 1 for one in spelt])[:-1]
    bits = np.zeros((len(texts), _PAIRS), dtype=np.bool_)
    bits[owners, (letters[:-1] * _SPREAD + letters[1:]) % _PAIRS] = True
    packed = np.packbits(bits, axis=1).tobytes()
    sets = [packed[at : at + _PAIRS // 8] for at in range(0, len(packed), _PAIRS // 8)]
    return [_FULL if len(text) > LONGEST_PAIRED else one for text, one in zip(texts, sets, strict=True)]


@lru_cache(maxsize=1024)
def _pairs_of(word: str) -> bytes:
    """The set of the pairs inside a word, without those at its ends."""
    letters, bits = word.encode("utf-8", "surrogatepass"), bytearray(_PAIRS // 8)
    for one, other in pairwise(letters):
        place = (one * _SPREAD + other) % _PAIRS
        bits[place // 8] |= 128 >> place % 8
    return bytes(bits)


def lasting_quality(record: StoredRecord) -> float:
    """Salience × confidence × usage."""
    return salience(record) * (1.0 if record.confidence is None else record.confidence) * usage(record.access_count)


@lru_cache(maxsize=1024)
def usage(accesses: int) -> float:
    """How much a memory gains from being recalled."""
    return 1.0 + math.log1p(accesses)


def salience(record: StoredRecord) -> float:
    """How much the tier and the owner's importance make of it."""
    return _salience(record.tier, record.importance)


@lru_cache(maxsize=1024)
def _salience(tier: str, scored: float | None) -> float:
    importance = UNSCORED_IMPORTANCE if scored is None else scored
    return min(1.0, max(0.0, TIER_SALIENCE[tier] * (0.5 + 0.5 * importance)))
