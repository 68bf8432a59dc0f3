"""Tombstones: what was forgotten stays forgotten when a file is imported, a transcript captured or a source read again.

A tombstone is HMAC-SHA256 of an id or of a text (lower case, white space collapsed) under a random key of the store, so it holds
nothing of the memory and differs from store to store. Whoever has the file can test a guess; nobody can read a text from it.
A plain `remember` is not stopped: whoever says it again wants it known.
"""

import hmac
import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from thinkback.clock import from_us
from thinkback.errors import Notice
from thinkback.stores.base import Store
from thinkback.values import dataclass

SETTING = "tombstones"
_LETTERS = 32  # of a hash in hexadecimal: 128 bits


@dataclass(frozen=True, slots=True)
class Tombstone:
    """One thing that must not come back: the keyed hash of an id or a text, and when it was forgotten."""

    hash: str
    at: datetime


def bury(store: Store, ids: Sequence[str], now: int) -> tuple[str, ...]:
    """Set tombstones for these memories, by id and by the text of every version; returns their hashes."""
    texts = {record.text for id in ids for record in store.history(id)}
    held = store.get(ids)
    if not held:
        return ()
    key, known = _read(store)
    marks = [*(_hash(key, "id", id) for id in held), *sorted(_hash(key, "text", text) for text in texts)]
    _write(store, key, known | dict.fromkeys(marks, now))
    return tuple(marks)


def buried(store: Store, memories: Iterable[tuple[str | None, str]]) -> list[bool]:
    """For each id and text, whether there is a tombstone for it."""
    key, known = _read(store)
    if not known:
        return [False for _ in memories]
    return [
        (id is not None and _hash(key, "id", id) in known) or _hash(key, "text", text) in known for id, text in memories
    ]


def left_out(memories: int) -> Notice:
    """The warning that tombstones kept so many memories out."""
    what = "1 memory was left out: it was" if memories == 1 else f"{memories} memories were left out: they were"
    return Notice("buried", f"{what} forgotten, and tombstones keep such memories out")


def tombstones(store: Store) -> list[Tombstone]:
    """Every tombstone, oldest first."""
    return [
        Tombstone(hash, from_us(at)) for hash, at in sorted(_read(store)[1].items(), key=lambda one: (one[1], one[0]))
    ]


def revoke(store: Store, hashes: Sequence[str]) -> tuple[str, ...]:
    """Take tombstones back; returns those that were there."""
    with store.transaction():
        key, known = _read(store)
        gone = tuple(hash for hash in dict.fromkeys(hashes) if hash in known)
        if gone:
            _write(store, key, {hash: at for hash, at in known.items() if hash not in gone})
    return gone


def _read(store: Store) -> tuple[bytes, dict[str, int]]:
    held: Mapping[str, Any] = json.loads(store.setting(SETTING) or "{}")
    return bytes.fromhex(held.get("key") or secrets.token_hex(32)), dict(held.get("hashes", {}))


def _write(store: Store, key: bytes, hashes: Mapping[str, int]) -> None:
    store.set_setting(SETTING, json.dumps({"key": key.hex(), "hashes": hashes}, sort_keys=True))


def _hash(key: bytes, kind: str, value: str) -> str:
    plain = " ".join(value.lower().split()) if kind == "text" else value
    return hmac.new(key, f"{kind}\0{plain}".encode("utf-8", "surrogatepass"), "sha256").hexdigest()[:_LETTERS]
