"""Selection: from ranked candidates to the ones returned; every drop has a reason."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import tee

import numpy as np

from thinkback.model import REFLECTION, Drop, DropCode, Filter, Floats, StoredRecord, Vector
from thinkback.search.bounds import at_least, between
from thinkback.values import dataclass

_LONGEST_COMPARED = 200_000  # characters; splitting a longer text into words costs more than a duplicate shown
CHARACTERS_PER_TOKEN = 4  # rule of thumb for English; a budget is an upper bound, not an exact count


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """`limit` ≤ 0: no cap; `max_tokens` 0: no budget; `diversity` 0: plain order, towards 1: more varied hits (MMR).

    Hits of a relevance below `min_relevance` are left out, and nothing takes their places.
    `reflection_share` is a share of what is returned or, with `share_of_limit`, of the limit.
    """

    limit: int = 10
    dedup: bool = True
    max_tokens: int = 0
    reflection_share: float = 0.30
    share_of_limit: bool = False
    diversity: float = 0.0
    diversity_pool: int = 50
    min_relevance: float = 0.0

    def __post_init__(self) -> None:
        between(0, 1, self.reflection_share, "selection.reflection_share")
        between(0, 1, self.diversity, "selection.diversity")
        at_least(0, self.diversity_pool, "selection.diversity_pool")
        between(0, 1, self.min_relevance, "selection.min_relevance")

    def under(self, filter: Filter) -> "Selection":
        """The selection without a cap on reflections if the filter asks for nothing else."""
        return replace(self, reflection_share=1.0) if set(filter.kinds) == {REFLECTION} else self


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its final score and rank (from 1); `row` is its place in the ledger."""

    record: StoredRecord
    score: float
    rank: int
    row: int


Shown = Callable[[StoredRecord], str]  # what a reader gets of a memory: its text, or the passage of a long one


def whole(record: StoredRecord) -> str:
    """The whole text of a memory."""
    return record.text


def select(
    ranked: Iterable[Ranked],
    selection: Selection,
    vectors: Mapping[str, Vector] | None = None,
    shown: Shown = whole,
) -> tuple[list[Ranked], list[Drop]]:
    """Drop duplicates, diversify, and apply the caps and the token budget; stop at the limit.

    The budget counts what is `shown` of each memory.
    Drops are candidates ranked above the last hit; those behind it are cut by the limit and not listed.
    """
    drops: list[Drop] = []
    unique = _without_duplicates(ranked, drops) if selection.dedup else ranked
    if selection.diversity <= 0 or not vectors:
        kept, passed_over = _within_caps(unique, selection, shown)
    else:
        unique = diversify(list(unique), vectors, selection.diversity, selection.diversity_pool)
        kept, passed_over = _within_caps(unique, selection, shown)
        passed_over += _overtaken(unique, kept, passed_over)
    return kept, sorted([*drops, *passed_over], key=lambda drop: drop.rank)


def _drop(candidate: Ranked, code: DropCode, reason: str) -> Drop:
    return Drop(candidate.record.id, code, reason, candidate.score, candidate.rank)


def _without_duplicates(ranked: Iterable[Ranked], drops: list[Drop]) -> Iterator[Ranked]:
    first: dict[str, str] = {}
    for candidate in ranked:
        better = first.setdefault(canonical(candidate.record.text), candidate.record.id)
        if better == candidate.record.id:
            yield candidate
        else:
            drops.append(_drop(candidate, "duplicate", f"duplicate of {better}"))


def canonical(text: str) -> str:
    """Lower-cased with white space collapsed: what makes two texts duplicates; a very long text is compared as it is."""
    return text if len(text) > _LONGEST_COMPARED else " ".join(text.lower().split())


def _within_caps(ranked: Iterable[Ranked], selection: Selection, shown: Shown) -> tuple[list[Ranked], list[Drop]]:
    """Keep reflections to their share of the hits returned, even if those are fewer than the limit."""
    if selection.limit <= 0:
        ranked = list(ranked)
    limit = selection.limit if selection.limit > 0 else len(ranked)  # type: ignore[arg-type]
    share = selection.reflection_share
    most = _part(share, limit)
    while True:
        once, ranked = tee(ranked)
        kept, drops = _filled(once, limit, most, selection, shown)
        reflections = sum(candidate.record.kind == REFLECTION for candidate in kept)
        if selection.share_of_limit or reflections <= _part(share, len(kept)):
            return kept, drops
        most = reflections - 1


def _part(share: float, count: int) -> int:
    return int(share * count + 1e-9)


def _filled(
    ranked: Iterable[Ranked], limit: int, most_reflections: int, selection: Selection, shown: Shown
) -> tuple[list[Ranked], list[Drop]]:
    tokens_left = selection.max_tokens if selection.max_tokens > 0 else None
    kept: list[Ranked] = []
    drops: list[Drop] = []
    for candidate in ranked if limit else ():
        is_reflection = candidate.record.kind == REFLECTION
        cost = 0 if tokens_left is None else tokens(shown(candidate.record))
        if is_reflection and most_reflections <= 0:
            reason = f"reflections may fill {selection.reflection_share:.0%} of the results"
            drops.append(_drop(candidate, "reflection_share", reason))
        elif tokens_left is not None and cost > tokens_left:
            reason = f"its {cost} tokens exceed what is left of the budget of {selection.max_tokens}"
            drops.append(_drop(candidate, "budget", reason))
        else:
            kept.append(candidate)
            most_reflections -= is_reflection
            tokens_left = None if tokens_left is None else tokens_left - cost
            if len(kept) == limit:
                break
    return kept, drops


def _overtaken(diverse: Iterable[Ranked], kept: Sequence[Ranked], drops: Sequence[Drop]) -> list[Drop]:
    """Candidates ranked above the last hit that diversity moved behind the limit."""
    last = max((candidate.rank for candidate in kept), default=0)
    accounted = {*(candidate.record.id for candidate in kept), *(drop.id for drop in drops)}
    return [
        _drop(candidate, "diversity", "diversity put others before it, less like those already chosen")
        for candidate in diverse
        if candidate.rank < last and candidate.record.id not in accounted
    ]


def tokens(text: str) -> int:
    """About how many tokens a language model will read."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def diversify(ranked: Sequence[Ranked], vectors: Mapping[str, Vector], diversity: float, pool: int) -> list[Ranked]:
    """Maximal marginal relevance (Carbonell and Goldstein, 1998) over the first `pool`; the rest keeps its order.

    Next is the candidate with the greatest (1 − diversity) · score / best − diversity · cosine to the nearest one chosen.
    """
    head, tail = list(ranked[:pool]), list(ranked[pool:])
    if len(head) < 2:
        return [*head, *tail]
    scores = np.array([candidate.score for candidate in head])
    relevance = scores / max(float(scores.max()), 1e-12)
    likeness = _likeness([vectors.get(candidate.record.id) for candidate in head])
    chosen: list[int] = []
    nearest = np.zeros(len(head))
    while len(chosen) < len(head):
        worth = (1 - diversity) * relevance - diversity * nearest
        worth[chosen] = -np.inf
        chosen.append(int(np.argmax(worth)))
        nearest = np.maximum(nearest, likeness[chosen[-1]])
    return [*(head[row] for row in chosen), *tail]


def _likeness(vectors: Sequence[Vector | None]) -> Floats:
    size = next((len(vector) for vector in vectors if vector is not None), 1)
    matrix = np.array([np.zeros(size) if vector is None else vector for vector in vectors], dtype=np.float64)
    return matrix @ matrix.T
