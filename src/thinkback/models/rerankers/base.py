"""The reranker protocol, and a function that reranks a list of mappings."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

Deadline = Callable[[], bool]
"""True once no further text should be scored."""


@runtime_checkable
class Reranker(Protocol):
    """Scores how well a text answers a query, from 0 to 1, reading both together."""

    @property
    def fingerprint(self) -> str:
        """Model, weights, and every setting that changes scores."""
        ...

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score for each text, in order; a blank text scores 0."""
        ...


@runtime_checkable
class TimedReranker(Reranker, Protocol):
    """A reranker that can stop at a deadline."""

    def scores_until(self, query: str, texts: Sequence[str], deadline: Deadline) -> list[float | None]:
        """Scores from the front of the list, None for texts not begun at the deadline."""
        ...


def rerank(
    reranker: Reranker,
    query: str,
    candidates: Sequence[Mapping[str, Any]],
    field: str = "text",
    top_k: int | None = None,
) -> list[dict[str, Any]]:
    """New, sorted candidates, each with its `rerank_score`; the ones given are not changed.

    Ties keep the order given. A candidate without the field scores 0; a field that is not text is turned into text. `top_k` of
    None or below 1 keeps all.
    """
    scores = reranker.scores(query, [_text(candidate, field) for candidate in candidates])
    rated = [{**candidate, "rerank_score": score} for candidate, score in zip(candidates, scores, strict=True)]
    rated.sort(key=lambda candidate: -candidate["rerank_score"])
    return rated[:top_k] if top_k is not None and top_k > 0 else rated


def _text(candidate: Mapping[str, Any], field: str) -> str:
    text = candidate.get(field)
    if text is None:
        return ""
    if not isinstance(text, str):
        return str(text)
    return text


def never() -> bool:
    """A deadline that never comes."""
    return False


def sigmoid(logit: float) -> float:
    """1 / (1 + e^-x), without overflow at either end."""
    if logit >= 0:
        return 1.0 / (1.0 + math.exp(-logit))
    power = math.exp(logit)
    return power / (1.0 + power)
