"""Remembering the vectors of queries asked again."""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

from thinkback.models.embedders.base import Embedder, Matrix, Vector


class CachedQueries:
    """Any embedder, with its latest `size` query vectors kept; safe to share between threads.

    Passages pass through: they are written once, and would only push the queries out.
    """

    def __init__(self, embedder: Embedder, size: int = 512) -> None:
        self._embedder, self._size = embedder, size
        self._kept: OrderedDict[str, Vector] = OrderedDict()
        self._lock = Lock()

    @property
    def fingerprint(self) -> str:
        return self._embedder.fingerprint

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return self._embedder.embed_passages(texts)

    def embed_query(self, text: str) -> Vector:
        with self._lock:
            if text in self._kept:
                self._kept.move_to_end(text)
                return self._kept[text]
        # Outside the lock: two threads may embed the same new text once each, none waits for another's model.
        vector = self._embedder.embed_query(text).copy()
        vector.flags.writeable = False
        with self._lock:
            self._kept[text] = vector
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
        return vector
