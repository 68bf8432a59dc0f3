"""Embedders behind HTTP: the OpenAI convention (`/embeddings`) and Ollama's (`/api/embed`)."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from thinkback.errors import RemoteError
from thinkback.models.embedders.base import Matrix, Vector, combine_windows, fingerprint_of, validate_vectors
from thinkback.models.endpoint import Endpoint
from thinkback.models.tokenizer import well_formed, windows
from thinkback.values import dataclass

OPENAI = "https://api.openai.com/v1"
OLLAMA = "http://localhost:11434"


@dataclass(frozen=True, slots=True)
class Convention:
    """The request and response format of one family of servers."""

    name: str
    path: str
    payload: Callable[[str, list[str]], dict[str, Any]]
    vectors: Callable[[Any, int], list[Any]]
    window_chars: int


def _openai_vectors(answer: Any, count: int) -> list[Any]:
    """Rows carry their index, and servers may send them in any order."""
    rows = answer["data"]
    ordered = sorted(rows, key=lambda row: row["index"]) if all("index" in row for row in rows) else rows
    if len(ordered) == count and [row.get("index", place) for place, row in enumerate(ordered)] != list(range(count)):
        raise ValueError("indexes are not 0 to n-1")
    return [row["embedding"] for row in ordered]


OPENAI_CONVENTION = Convention(
    name="openai",
    path="embeddings",
    payload=lambda model, texts: {"model": model, "input": texts, "encoding_format": "float"},
    vectors=_openai_vectors,
    window_chars=16_000,
)
# Without `truncate: false` Ollama silently cuts texts that exceed the model's context.
OLLAMA_CONVENTION = Convention(
    name="ollama",
    path="api/embed",
    payload=lambda model, texts: {"model": model, "input": texts, "truncate": False},
    vectors=lambda answer, count: list(answer["embeddings"]),
    window_chars=4_000,
)


@dataclass(frozen=True, slots=True)
class RemoteSettings:
    """The model's name at the server, its prefixes, and how much goes into one request."""

    model: str
    query_prefix: str = ""
    passage_prefix: str = ""
    batch: int = 64
    window_chars: int | None = None


class RemoteEmbedder:
    """Vectors from a server, checked (number, size, finite, not zero) and scaled to length 1.

    The address is not part of the fingerprint: the same model at another address has the same space.
    """

    def __init__(self, endpoint: Endpoint, convention: Convention, settings: RemoteSettings) -> None:
        self._endpoint, self._convention, self._settings = endpoint, convention, settings
        self._window = settings.window_chars or convention.window_chars
        self._client = endpoint.client(self)

    @cached_property
    def fingerprint(self) -> str:
        settings = self._settings
        prefixes = (settings.query_prefix, settings.passage_prefix)
        return fingerprint_of(f"{self._convention.name}:{settings.model}", prefixes=prefixes, window=self._window)

    @cached_property
    def dimensions(self) -> int:
        """The size of the server's vector for one word."""
        return int(self._request(["dimensions"], None).shape[1])

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        return self._embed([self._settings.passage_prefix + text for text in texts])

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self._embed([self._settings.query_prefix + text])[0]
        return vector

    def _embed(self, texts: Sequence[str]) -> Matrix:
        """Split long texts into overlapping windows, so that no server has to cut them."""
        cut = [self._windows(well_formed(text)) for text in texts]
        pieces = [piece for part in cut for piece in part]
        step = self._settings.batch
        batches = [pieces[start : start + step] for start in range(0, len(pieces), step)]
        vectors = iter(np.concatenate([self._request(batch, self.dimensions) for batch in batches]))
        return np.stack([combine_windows([next(vectors) for _ in part], [len(p) or 1 for p in part]) for part in cut])

    def _windows(self, text: str) -> list[str]:
        return [text[start:end] for start, end in windows(len(text), self._window, self._window // 10)]

    def _request(self, texts: list[str], dimensions: int | None) -> Matrix:
        convention, model = self._convention, self._settings.model
        answer = self._endpoint.post(self._client, convention.path, convention.payload(model, texts))
        origin = f"the embedding server ({model})"
        try:
            vectors = convention.vectors(answer, len(texts))
        except (KeyError, TypeError, ValueError, AttributeError):
            raise RemoteError(
                f"{origin} returned JSON that is not a list of embeddings: {str(answer)[:80]}", code="invalid_answer"
            ) from None
        return validate_vectors(vectors, len(texts), dimensions, origin, RemoteError)
