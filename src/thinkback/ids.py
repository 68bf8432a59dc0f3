"""Ids of memories: 26 letters that sort by time.

The shape is a ULID's: 48 bits of milliseconds, then 80 bits of chance, in Crockford's base 32. Within one source the names
only ever grow, even when the clock stops or runs backwards.
"""

import os
import threading
from collections.abc import Callable

Entropy = Callable[[int], bytes]

SHORT = 6  # letters of the short form of an id

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LETTERS = frozenset(_ALPHABET)
_PAIRS = tuple(a + b for a in _ALPHABET for b in _ALPHABET)
_CHANCE_BITS = 80
_LAST_MS = (1 << 48) - 1


class IdSource:
    """Hands out ids; `entropy(n)` gives n bytes of chance, so a test can make the names predictable."""

    def __init__(self, entropy: Entropy = os.urandom) -> None:
        self._entropy = entropy
        self._last = -1
        self._lock = threading.Lock()

    def take(self, count: int, now: int) -> list[str]:
        """So many new ids for the moment `now` (microseconds), each greater than every one before."""
        ms = min(max(now // 1000, 0), _LAST_MS)
        with self._lock:
            fresh = ms > self._last >> _CHANCE_BITS
            first = (ms << _CHANCE_BITS) + self._chance() if fresh else self._last + 1
            self._last = first + count - 1
        return _letters(first, count)

    def _chance(self) -> int:
        # The top bit stays free, so that counting on from here cannot run over into the milliseconds.
        return int.from_bytes(self._entropy(_CHANCE_BITS // 8), "big") >> 1


def made_here(id: str) -> bool:
    """Whether an id has the shape of those made here."""
    return len(id) == 26 and set(id) <= _LETTERS


def is_short(id: str) -> bool:
    """Whether this may be the last letters of an id made here."""
    return SHORT <= len(id) < 26 and set(id) <= _LETTERS


def _letters(first: int, count: int) -> list[str]:
    """So many numbers in a row as letters; all but the last two are the same for 1,024 of them."""
    found: list[str] = []
    while len(found) < count:
        number = first + len(found)
        head = "".join([_PAIRS[(number >> shift) & 1023] for shift in range(120, 0, -10)])
        found += [head + pair for pair in _PAIRS[number & 1023 :][: count - len(found)]]
    return found
