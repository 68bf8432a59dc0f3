"""Embedders around something else: a function of the caller's own, and a cache of query vectors."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock

from thinkback.errors import InvalidInput
from thinkback.models.embedders.base import Embedder, Matrix, Vector, validate_vectors

Embed = Callable[[Sequence[str]], object]


class CallbackEmbedder:
    """Calls `passages(texts)` for vectors, and `query([text])` if queries are embedded differently.

    `name` becomes the fingerprint: change it whenever the function's vectors change. The vectors returned are checked
    (number, size, finite, not zero) and scaled to length 1.
    """

    def __init__(self, name: str, dimensions: int, passages: Embed, query: Embed | None = None) -> None:
        if not name:
            raise InvalidInput("a callback embedder needs a name: it identifies its vectors in the store")
        if dimensions < 1:
            raise InvalidInput(f"dimensions must be at least 1, not {dimensions}")
        self._name, self._dimensions = name, dimensions
        self._passages, self._query = passages, query or passages

    @property
    def fingerprint(self) -> str:
        return f"callback:{self._name}/{self._dimensions}"

    @property
    def dimensions(self) -> int:
        return self._dimensions

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return self._checked(self._passages(texts), len(texts)) if texts else self._checked([], 0)

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self._checked(self._query([text]), 1)[0]
        return vector

    def _checked(self, vectors: object, count: int) -> Matrix:
        return validate_vectors(vectors, count, self._dimensions, f"the callback embedder {self._name!r}")


class CachedQueries:
    """An embedder with a cache of its latest `size` query vectors; safe to share between threads.

    Passages are not cached: each is embedded once, and would only evict queries.
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
        # Outside the lock: two threads may embed the same new text, but neither waits for the other's model.
        vector = self._embedder.embed_query(text).copy()
        vector.flags.writeable = False
        with self._lock:
            self._kept[text] = vector
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
        return vector
