"""An embedder without a model and a clock that tests control."""

import hashlib
import re
from collections.abc import Sequence

import numpy as np

from thinkback.clock import Moment, to_us
from thinkback.model import Vector

_WORD = re.compile(r"\w+")
_ENDINGS = ("ations", "ation", "ingly", "ings", "ing", "edly", "ies", "ied", "ed", "es", "ly", "s")
_PLACES = 5


class FixedClock:
    """A clock that moves only when `advance` is called.

    clock = FixedClock("2026-05-08")
    clock.advance(3 * DAY)
    """

    def __init__(self, start: Moment = "2026-01-01") -> None:
        self.now = to_us(start)

    def __call__(self) -> int:
        return self.now

    def advance(self, us: int) -> int:
        """Advance by a number of microseconds and return the new time."""
        self.now += us
        return self.now


class ToyEmbedder:
    """Hashed bags of stemmed words as unit vectors: texts that share words are near, in any process."""

    def __init__(self, dimensions: int = 256) -> None:
        self._dimensions = dimensions
        self._places: dict[str, list[tuple[int, float]]] = {}

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
            for place, sign in self._places_of(stem):
                row[place] += sign
        if not row.any():  # no words, or words that cancel out: hash the whole text
            row[self._places_of("\0" + text)[0][0]] = 1.0
        return (row / np.linalg.norm(row)).astype(np.float32)

    def _places_of(self, stem: str) -> list[tuple[int, float]]:
        """A few signed positions per word, so that a hash collision in one does not make two words equal."""
        if stem not in self._places:
            digest = hashlib.blake2b(stem.encode("utf-8", "surrogatepass"), digest_size=4 * _PLACES).digest()
            numbers = [int.from_bytes(digest[at : at + 4], "big") for at in range(0, len(digest), 4)]
            self._places[stem] = [((n >> 1) % self._dimensions, 1.0 if n & 1 else -1.0) for n in numbers]
        return self._places[stem]


def _stem(word: str) -> str:
    ending = next((e for e in _ENDINGS if word.endswith(e) and len(word) - len(e) >= 3), "")
    return word[: len(word) - len(ending)]
