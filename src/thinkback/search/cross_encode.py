"""The cross-encoder's step: it reads the query together with each of the first candidates, before anything is cut."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from thinkback.errors import ModelError, ThinkbackError
from thinkback.model import REFLECTION, Column, Filter, StoredRecord
from thinkback.models.rerankers.base import Reranker
from thinkback.search.engine import Engine, Notes
from thinkback.search.excerpts import Excerpts
from thinkback.search.query.parse import Query
from thinkback.search.ranking import Ordered, entering, relevance, reorder_head
from thinkback.search.recipes.model import SCALES, Recipe, Rerank
from thinkback.search.selection import Shown, whole
from thinkback.search.thread_order import Surroundings, surroundings
from thinkback.stores.base import Store


def cross_encode(
    ordered: Ordered, query: Query, recipe: Recipe, engine: Engine, notes: Notes, excerpts: Excerpts
) -> tuple[Ordered, dict[str, float]]:
    """The order after the cross-encoder, and its score of each candidate it read; a failure keeps the order and adds a warning.

    A candidate that was not read counts as 0, so with `blend` it cannot rise above one that was. Before a blend the scores are
    divided by the best, so that the weight means the same whatever the signals added. What was left unread is told in `skipped`.
    """
    plan = recipe.reranker
    if plan is None or not len(ordered.order) or not query.text.strip():
        return ordered, {}
    head = undecided(ordered, plan)
    if not len(head) and engine.reranker is not None:
        return _told(ordered, plan, "the best candidate is ahead of all others"), {}
    records = [ordered.records[row] for row in head]
    try:
        texts = passages(records, plan, query.filter, engine.store, excerpts.text)
        scores = verdicts(engine.reranker, query.text, texts, plan)
    except ThinkbackError as error:
        notes.warn("the cross-encoder failed; the order before it stands", error)
        return ordered, {}
    read = np.array([score is not None for score in scores], dtype=bool)
    if not read.all():
        told = f"it had read {int(read.sum())} of {len(head)} candidates when its {plan.budget_ms} ms were over"
        ordered = _told(ordered, plan, told)
    values = np.zeros(len(ordered.records))
    values[head[read]] = SCALES[plan.scale](np.array([score for score in scores if score is not None]))
    if plan.how == "blend":
        ordered = replace(ordered, ledger=relevance(ordered.ledger, 1.0))
    deltas = entering(ordered.ledger.totals, values, plan.how, plan.weight)
    column = Column("rerank", plan.model, deltas, values, plan.formula)
    raw = {record.id: score for record, score in zip(records, scores, strict=True) if score is not None}
    return reorder_head(ordered, column), raw


def undecided(ordered: Ordered, plan: Rerank) -> NDArray[np.intp]:
    """The rows to read, best first; none if the best one is `within` of no other."""
    head = ordered.order[: plan.top]
    if not plan.within:
        return head
    scores = ordered.ledger.totals[head]
    near: NDArray[np.intp] = head[scores >= scores[0] - plan.within * abs(scores[0])]
    return near if len(near) > 1 else near[:0]


def _told(ordered: Ordered, plan: Rerank, reason: str) -> Ordered:
    return replace(ordered, skipped=(*ordered.skipped, (plan.model, reason)))


def verdicts(
    open_reranker: Callable[[str], Reranker] | None, query: str, texts: Sequence[str], plan: Rerank
) -> list[float | None]:
    """A finite score for each text, None where time ran out; every failure of a reranker becomes a ModelError."""
    if open_reranker is None:
        raise ModelError("no reranker is configured", code="no_reranker")
    try:
        scores = list(_scores(open_reranker(plan.model), query, texts, plan.budget_ms))
        finite = all(score is None or math.isfinite(score) for score in scores)
    except ThinkbackError:
        raise
    except Exception as error:  # a reranker may be the caller's own code, which may raise anything
        raise ModelError(
            f"the reranker {plan.model!r} failed with {type(error).__name__}: {str(error)[:200]}"
        ) from error
    if len(scores) != len(texts):
        raise ModelError(
            f"the reranker {plan.model!r} gave {len(scores)} scores for {len(texts)} texts", code="invalid_scores"
        )
    if not finite:
        raise ModelError(f"the reranker {plan.model!r} gave a score that is NaN or infinite", code="invalid_scores")
    return scores


def _scores(reranker: Reranker, query: str, texts: Sequence[str], budget_ms: int) -> Sequence[float | None]:
    until: Callable[..., Sequence[float | None]] | None = getattr(reranker, "scores_until", None)
    if budget_ms <= 0 or until is None:
        return reranker.scores(query, texts)
    end = time.monotonic() + budget_ms / 1000
    return until(query, texts, lambda: time.monotonic() >= end)


def passages(
    records: Sequence[StoredRecord], plan: Rerank, filter: Filter, store: Store, shown: Shown = whole
) -> list[str]:
    """The text of each candidate as the cross-encoder reads it: of a long one its passage.

    With its thread neighbours, if the recipe asks for them.
    """
    texts = [(said(record) if record.kind == REFLECTION else shown(record))[: plan.max_chars] for record in records]
    if plan.context <= 0:
        return texts
    around = surroundings([record.id for record in records], plan.context, filter, store)
    return [in_context(text, around[record.id], plan.max_chars) for record, text in zip(records, texts, strict=True)]


def in_context(text: str, around: Surroundings, max_chars: int) -> str:
    """The candidate's text; the room left is shared by both sides, and there the nearest neighbours come first."""
    before = "".join(f"{said(one)}\n" for one in around.before)
    after = "".join(f"\n{said(one)}" for one in around.after)
    room = max_chars - len(text)
    ahead = min(len(before), max(room // 2, room - len(after)))
    return before[len(before) - ahead :] + text + after[: room - ahead]


def said(record: StoredRecord) -> str:
    """The text of a memory; of a reflection its essence, because its text is a list of ids."""
    return record.essence or record.text if record.kind == REFLECTION else record.text
