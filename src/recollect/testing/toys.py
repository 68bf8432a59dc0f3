"""Stand-ins that need no model and no wall clock."""

import hashlib
import re
from collections.abc import Sequence

import numpy as np

from recollect.clock import Moment, to_us
from recollect.model import Vector

_WORD = re.compile(r"\w+")
_ENDINGS = ("ations", "ation", "ingly", "ings", "ing", "edly", "ies", "ied", "ed", "es", "ly", "s")


class FixedClock:
    """A clock that stands still until it is told to move.

    clock = FixedClock("2026-05-08")
    clock.advance(3 * DAY)
    """

    def __init__(self, start: Moment = "2026-01-01") -> None:
        self.now = to_us(start)

    def __call__(self) -> int:
        return self.now

    def advance(self, us: int) -> int:
        """Moves on by so many microseconds and returns the new time."""
        self.now += us
        return self.now


class ToyEmbedder:
    """Hashed bags of stemmed words as unit vectors: texts that share words are near, in any process."""

    def __init__(self, dimensions: int = 128) -> None:
        self._dimensions = dimensions
        self._places: dict[str, tuple[int, float]] = {}

    @property
    def fingerprint(self) -> str:
        return f"toy-words-{self._dimensions}"

    @property
    def dimensions(self) -> int:
        return self._dimensions

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        rows = [self.embed_query(text) for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self._dimensions), dtype=np.float32)

    def embed_query(self, text: str) -> Vector:
        row = np.zeros(self._dimensions)
        for stem in map(_stem, _WORD.findall(text.lower())):
            place, sign = self._place(stem)
            row[place] += sign
        if not row.any():  # no words, or words that cancel: the text as a whole decides
            row[self._place("\0" + text)[0]] = 1.0
        return (row / np.linalg.norm(row)).astype(np.float32)

    def _place(self, stem: str) -> tuple[int, float]:
        if stem not in self._places:
            number = int.from_bytes(
                hashlib.blake2b(stem.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big"
            )
            self._places[stem] = ((number >> 1) % self._dimensions, 1.0 if number & 1 else -1.0)
        return self._places[stem]


def _stem(word: str) -> str:
    ending = next((e for e in _ENDINGS if word.endswith(e) and len(word) - len(e) >= 3), "")
    return word[: len(word) - len(ending)]
