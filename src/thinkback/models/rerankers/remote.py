"""Rerankers behind HTTP: the `/rerank` convention of Cohere, Jina, vLLM and llama.cpp, and that of TEI.

They differ in what the texts are called in the request (`documents`, `texts`) and whether the answer is
`{"results": [{"index", "relevance_score"}]}` or a bare `[{"index", "score"}]`; either answer is understood from either.
The server cuts texts beyond the model's limit, because only it knows the limit.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from thinkback.errors import RemoteError
from thinkback.models.embedders.base import fingerprint_of
from thinkback.models.endpoint import Endpoint
from thinkback.models.rerankers.base import Deadline, never, sigmoid
from thinkback.models.tokenizer import well_formed
from thinkback.values import dataclass


@dataclass(frozen=True, slots=True)
class Convention:
    """The request format of one family of servers."""

    name: str
    payload: Callable[[str, str, list[str]], dict[str, Any]]


DOCUMENTS = Convention(
    "rerank",
    lambda model, query, texts: {"model": model, "query": query, "documents": texts, "top_n": len(texts)},
)
TEI = Convention("tei", lambda model, query, texts: {"query": query, "texts": texts, "truncate": True})


class RemoteReranker:
    """Scores from a server, checked for number and finite values.

    Some servers answer logits instead of scores from 0 to 1. After the first answer outside that range, every
    answer goes through the sigmoid; pass `logits` if you know.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        model: str = "",
        convention: Convention = DOCUMENTS,
        logits: bool | None = None,
        batch: int = 64,
    ) -> None:
        self._endpoint, self._model, self._convention, self._batch = endpoint, model, convention, batch
        self._logits = logits
        self._client = endpoint.client(self)
        self._path = "" if endpoint.url.rstrip("/").endswith("/rerank") else "rerank"

    @property
    def fingerprint(self) -> str:
        return fingerprint_of(f"{self._convention.name}:{self._model}")

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        return [score or 0.0 for score in self.scores_until(query, texts, never)]

    def scores_until(self, query: str, texts: Sequence[str], deadline: Deadline) -> list[float | None]:
        scores: list[float | None] = [None if text.strip() else 0.0 for text in texts]
        asked = [index for index, score in enumerate(scores) if score is None]
        for start in range(0, len(asked), self._batch):
            if deadline():
                break
            part = asked[start : start + self._batch]
            for index, score in zip(part, self._request(query, [texts[index] for index in part]), strict=True):
                scores[index] = score
        return scores

    def _request(self, query: str, texts: list[str]) -> list[float]:
        payload = self._convention.payload(self._model, well_formed(query), [well_formed(text) for text in texts])
        answer = self._endpoint.post(self._client, self._path, payload)
        raw = _raw_scores(answer, len(texts))
        if self._logits is None and any(not 0.0 <= score <= 1.0 for score in raw):
            self._logits = True
        return [sigmoid(score) for score in raw] if self._logits else [min(1.0, max(0.0, score)) for score in raw]


def _raw_scores(answer: Any, count: int) -> list[float]:
    try:
        rows = answer if isinstance(answer, list) else answer["results"]
        found = {int(row["index"]): float(row.get("relevance_score", row.get("score"))) for row in rows}
    except (KeyError, TypeError, ValueError, AttributeError):
        raise RemoteError(
            f"the rerank server returned JSON that is not a list of scores: {str(answer)[:80]}", code="invalid_answer"
        ) from None
    if sorted(found) != list(range(count)) or len(rows) != count:
        raise RemoteError(
            f"the rerank server answered scores for {len(rows)} texts, {count} were sent", code="invalid_answer"
        )
    if not all(map(math.isfinite, found.values())):
        raise RemoteError("the rerank server returned a score that is NaN or infinite", code="invalid_answer")
    return [found[index] for index in range(count)]
