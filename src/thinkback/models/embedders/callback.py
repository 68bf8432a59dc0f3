"""An embedder from a function of the caller's own."""

from collections.abc import Callable, Sequence

from thinkback.errors import InvalidInput
from thinkback.models.embedders.base import Matrix, Vector, validate_vectors

Embed = Callable[[Sequence[str]], object]


class CallbackEmbedder:
    """Calls `passages(texts)` for vectors, and `query([text])` where queries are embedded otherwise.

    `name` becomes the fingerprint: change it whenever the function's vectors change. What the function returns is
    checked for number, size, finite and nonzero, then scaled to length 1.
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
