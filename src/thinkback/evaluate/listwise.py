"""Learns the weights of a recipe's linear ranker from judged questions.

The loss of a question is −Σ p · ln softmax(score), where p is a candidate's share of the question's gold (ListNet; Cao et al.,
2007). It is convex in the weights. A penalty keeps them near the recipe's own, so a few questions change them little.
"""

from dataclasses import fields, replace

import numpy as np
from numpy.typing import NDArray

from thinkback.evaluate.replay import Lists, Replay
from thinkback.model import Floats
from thinkback.search.recipes.model import Recipe
from thinkback.search.signals.ranker import Ranker

PENALTY = 0.001
STEPS = 300
STEP_SIZE = 0.02
SHARPNESS = 8.0  # turns differences of scores, which are about 1 apart, into logits
_DIGITS = 4


def learned(replay: Replay, recipe: Recipe, rows: NDArray[np.intp]) -> Recipe:
    """The recipe with the ranker's weights learned from the questions in these rows; the recipe itself if it has no ranker."""
    lists = replay.lists(recipe)
    if lists is None:
        return recipe
    term = next(term for term in recipe.signals if isinstance(term.signal, Ranker))
    names = [each.name for each in fields(Ranker)]
    start = np.array([getattr(term.signal, name) for name in names])
    weights = _descend(_Task.of(lists, rows, names), start, term.weight)
    rounded = {name: float(f"{value:.{_DIGITS}g}") for name, value in zip(names, weights, strict=True)}
    signal = replace(term.signal, **rounded)  # type: ignore[type-var]
    signals = tuple(replace(one, signal=signal) if one is term else one for one in recipe.signals)
    return replace(recipe, signals=signals)


class _Task:
    """The candidates of the questions to learn from; a question whose gold no leg found teaches nothing."""

    def __init__(self, table: Floats, scores: Floats, shares: Floats, owner: NDArray[np.intp]) -> None:
        self.table, self.scores, self.shares = table, scores, shares
        self.owner = np.unique(owner, return_inverse=True)[1]
        self.questions = int(self.owner.max(initial=-1)) + 1

    @classmethod
    def of(cls, lists: Lists, rows: NDArray[np.intp], names: list[str]) -> "_Task":
        sums = np.bincount(lists.owner, lists.gold)[lists.owner]
        counts = np.isin(lists.owner, rows) & (sums > 0)
        table = np.stack([lists.features[name][counts] for name in names], axis=1)
        return cls(table, lists.scores[counts], lists.gold[counts] / sums[counts], lists.owner[counts])

    def gradient(self, weights: Floats, weight: float) -> Floats:
        """Of the mean loss, without the penalty."""
        logits = SHARPNESS * (self.scores + weight * (self.table @ weights))
        best = np.full(self.questions, -np.inf)
        np.maximum.at(best, self.owner, logits)
        odds = np.exp(logits - best[self.owner])
        shown = odds / np.bincount(self.owner, odds)[self.owner]
        slope: Floats = SHARPNESS * weight * (self.table.T @ (shown - self.shares)) / self.questions
        return slope


def _descend(task: _Task, start: Floats, weight: float) -> Floats:
    """Adam, with steps that shrink as 1/√n."""
    weights, mean, square = start.copy(), np.zeros_like(start), np.zeros_like(start)
    if not task.questions:
        return start
    spread = (SHARPNESS * task.table.std(axis=0)) ** 2
    for step in range(1, STEPS + 1):
        gradient = task.gradient(weights, weight) + 2 * PENALTY * spread * (weights - start)
        mean, square = 0.9 * mean + 0.1 * gradient, 0.99 * square + 0.01 * gradient**2
        scaled = (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-9)
        weights = weights - STEP_SIZE / np.sqrt(step) * scaled
    return weights
