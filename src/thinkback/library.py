"""The pieces of the search for your own lists: each one import and one call.

    from thinkback.library import fuse
    fuse([by_keyword, by_vector], "rrf", key=lambda document: document["id"])

Objects are yours: they go in best first and come back best first, each with its score, and are never changed.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any, Literal, TypeVar

from thinkback.clock import Moment, from_us, to_us, zone_of
from thinkback.errors import InvalidInput
from thinkback.model import Run, Scored
from thinkback.models.rerankers.base import Reranker
from thinkback.models.rerankers.base import rerank as rerank_with
from thinkback.search.bounds import one_of
from thinkback.search.fusion import FUSIONS
from thinkback.search.query import tags
from thinkback.search.query.parse import EXTRACTORS
from thinkback.search.query.time import NamedTime
from thinkback.search.selection import canonical

__all__ = ["NamedTime", "composite", "dedup", "find_anchor", "fuse", "infer_tags", "rerank"]

T = TypeVar("T")
_BY_RANK = ("rrf", "isr", "merge")  # the others compare scores


def fuse(
    lists: Sequence[Sequence[T]] | Mapping[str, Sequence[T]],
    method: str = "rrf",
    *,
    key: Callable[[T], Hashable] | None = None,
    score: Callable[[T], float] | None = None,
    weights: Sequence[float] | Mapping[str, float] | None = None,
    **parameters: Any,
) -> list[tuple[T, float]]:
    """Fuses lists that are each best first: `fuse([a, b], "rrf", k=60, first_rank=1)`.

    `method` is a row of `thinkback.search.fusion.FUSIONS`, with its `parameters`. `key` says which objects are the same: the
    object itself if it is a text or a number, else its `id`. `score` is needed by methods that compare scores.
    """
    one_of(FUSIONS, method, "fusion")
    if score is None and method not in _BY_RANK:
        raise InvalidInput(
            f"{method} compares scores; pass score=, like score=lambda hit: hit['score']", code="no_score"
        )
    named = _named(lists)
    first: dict[str, T] = {}
    runs = [Run(name, _scored(items, key or _id, score, first)) for name, items in named.items()]
    shares = dict(zip(named, weights, strict=True)) if isinstance(weights, Sequence) else dict(weights or {})
    ledger = (fused := FUSIONS[method](**parameters).fuse(runs, shares)).ledger
    order = ledger.order() if fused.by_score else range(len(ledger.ids))
    return [(first[ledger.ids[row]], float(ledger.totals[row])) for row in order]


def _named(lists: Sequence[Sequence[T]] | Mapping[str, Sequence[T]]) -> dict[str, Sequence[T]]:
    named = dict(lists) if isinstance(lists, Mapping) else {str(n): items for n, items in enumerate(lists)}
    for name, items in named.items():
        if isinstance(items, str) or not isinstance(items, Sequence):
            hint = "fuse takes a list of lists, each best first"
            raise InvalidInput(f"list {name} is {_what(items)}; {hint}", code="not_a_list")
    return named


def _scored(
    items: Sequence[T], key: Callable[[T], Hashable], score: Callable[[T], float] | None, first: dict[str, T]
) -> tuple[Scored, ...]:
    hits = []
    for place, item in enumerate(items):
        id = repr(key(item))
        first.setdefault(id, item)
        hits.append(Scored(id, -float(place) if score is None else float(score(item))))
    return tuple(hits)


def _id(item: Any) -> Hashable:
    if isinstance(item, str | int) and not isinstance(item, bool):
        return item
    found = item.get("id") if isinstance(item, Mapping) else getattr(item, "id", None)
    if found is None or callable(found):
        hint = "an object without an id needs key=, like key=lambda hit: hit[0]"
        raise InvalidInput(f"expected an id and got {_what(item)}; {hint}", code="no_id")
    if not isinstance(found, Hashable):
        raise InvalidInput(f"the id of an object is {_what(found)}; ids are texts or numbers", code="no_id")
    return found


def _what(value: object) -> str:
    return f"the {type(value).__name__} {str(value)[:60]!r}"


def rerank(
    query: str,
    candidates: Sequence[Mapping[str, Any]],
    field: str = "text",
    top_k: int | None = None,
    *,
    model: str | Reranker = "default",
) -> list[dict[str, Any]]:
    """Dictionaries in the order of a cross-encoder, each a copy with its `rerank_score`: `rerank("grey cat?", documents)`."""
    for candidate in candidates:
        if not isinstance(candidate, Mapping):
            hint = "wrap texts: [{'text': text} for text in texts]"
            raise InvalidInput(
                f"a candidate must be a dictionary and is {_what(candidate)}; {hint}", code="not_a_mapping"
            )
    return rerank_with(_opened(model) if isinstance(model, str) else model, query, candidates, field, top_k)


@cache
def _opened(name: str) -> Reranker:
    from thinkback.models.rerankers import open_reranker

    return open_reranker(name)


def infer_tags(query: str, known: Iterable[str] | Mapping[str, int]) -> list[str]:
    """Hashtags, and the known tags that stand in a query: `infer_tags("pet news #cats", ["pet"])`."""
    if isinstance(known, str):
        raise InvalidInput(f"known tags are a list of texts; got the text {known[:60]!r}", code="not_a_list")
    counts = known if isinstance(known, Mapping) else dict.fromkeys(known, 1)
    return [found.tag for found in tags.infer_tags(query, tags.Vocabulary.of(counts))]


def find_anchor(query: str, now: Moment | None = None, rules: str = "english") -> NamedTime | None:
    """The time that a query names: `find_anchor("what did we do last week?")`; `templated` rules are memini's own list."""
    one_of([name for name, rule in EXTRACTORS.items() if rule], rules, "rules")
    if now is not None and not isinstance(now, int | str | date):
        raise InvalidInput(f"now is a time, like a datetime; got {_what(now)}", code="invalid_time")
    rule = EXTRACTORS[rules]
    moment = to_us(datetime.now(UTC) if now is None else now)
    found = rule(query, moment, zone_of(now)) if rule else None
    if found is None:
        return None
    return NamedTime(from_us(found.centre_us), timedelta(microseconds=found.tolerance_us), found.phrase)


def dedup(items: Iterable[T], *, text: Callable[[T], str] | None = None, limit: int = 0) -> list[T]:
    """Drops what repeats a better-ranked text in other case or spacing; a limit of 0 or less keeps all."""
    kept: dict[str, T] = {}
    for item in items:
        said = text(item) if text else item.get("text") if isinstance(item, Mapping) else item
        if not isinstance(said, str):
            hint = "pass text=, like text=lambda hit: hit['body']"
            raise InvalidInput(f"expected a text and got {_what(said)}; {hint}", code="no_text")
        kept.setdefault(canonical(said), item)
    return list(kept.values())[: limit if limit > 0 else None]


def composite(
    items: Sequence[T],
    *,
    relevance: Callable[[T], float],
    quality: Callable[[T], float],
    weights: tuple[float, float] = (0.80, 0.20),
    how: Literal["add", "multiply"] = "add",
) -> list[tuple[T, float]]:
    """memini's composite: relevance and quality, each divided by the best, as a weighted sum.

    With `multiply` it is relevance · (weight + weight · quality), so that what has no relevance gains nothing.
    """
    one_of(("add", "multiply"), how, "way")
    found = [(float(relevance(item)), float(quality(item))) for item in items]
    best = [max((pair[n] for pair in found), default=0.0) or 1.0 for n in (0, 1)]
    r, q = weights
    scored = []
    for item, (relevant, good) in zip(items, found, strict=True):
        share, worth = relevant / best[0], good / best[1]
        scored.append((item, r * share + q * worth if how == "add" else share * (r + q * worth)))
    return sorted(scored, key=lambda pair: -pair[1])
