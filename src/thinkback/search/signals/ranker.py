"""A linear ranker: the weighted sum of features that are computed from what the search has already read.

value = Σ weight · feature. The weights are the parameters below, so a recipe shows the whole formula. Those of `default` were
learned with a softmax over each question's candidates (ListNet; Cao et al., 2007) on conversations, chats with an assistant,
meetings and documents together, with whole conversations held out (docs/benchmarks.md). `s` is the score so far, and `near(d)` the
score of the candidate d steps away in the thread. No feature depends on an absolute position: after forgetting, all others must
rank as if the forgotten memory had never been there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from thinkback.model import Floats
from thinkback.search.signals.base import Scene, Signal, Skip
from thinkback.search.signals.ranker_view import COLUMNS, STEPS, View, methods
from thinkback.values import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """Features that have a weight, each the product of two columns of the view."""

    methods: Sequence[str]
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    weights: Floats

    @classmethod
    def of(cls, weighed: Sequence[tuple[str, float]]) -> "_Plan":
        pairs = [FEATURES[name] for name, _ in weighed]
        left, right = (np.array([COLUMNS.index(pair[side]) for pair in pairs], dtype=np.intp) for side in (0, 1))
        weights = np.array([weight for _, weight in weighed], dtype=np.float64)[:, None]
        return cls(methods([name for pair in pairs for name in pair]), left, right, weights)


class _Planned:
    """Room for the plan of a ranker; no part of its value."""

    __slots__ = ("plan",)
    plan: _Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranker(_Planned, Signal):
    """The weight of each feature; a feature with the weight 0 is not computed."""

    name: ClassVar[str] = "ranker"
    score: float = 0.0  # s
    keyword: float = 0.0  # the keyword leg's value
    vector: float = 0.0  # the vector leg's value
    both: float = 0.0  # the product of the two
    instruction: float = 0.0  # the instructions leg's value
    linked: float = 0.0  # the graph leg's value
    covered: float = 0.0  # the share of the query's words in the text, weighed by their rarity among the candidates
    covered2: float = 0.0  # its square
    covered_near: float = 0.0  # the same share, of the text and those beside it in the thread
    document_vector: float = 0.0  # the vector leg's value, of a document that has one vector for the whole text
    document_length: float = (
        0.0  # s · ln(characters / 1500) / 5, of such a document: a longer text matches more by chance
    )
    document_covered: float = 0.0  # covered, of any document: a text longer than an embedder reads that nobody said
    document_passage: float = (
        0.0  # BM25 of its best passage among those of all candidates, less the keyword leg's value, of a document
    )
    before: float = 0.0  # near(-1)
    after: float = 0.0  # near(+1)
    before2: float = 0.0  # near(-2)
    beside: float = 0.0  # the better of near(-1) and near(+1)
    before_score: float = 0.0  # s · near(-1)
    after_score: float = 0.0  # s · near(+1)
    reply: float = 0.0  # near(-1), if that one asks
    before_long: float = 0.0  # near(-1), of a long text
    after_long: float = 0.0  # near(+1), of a long text
    wide: float = 0.0  # Σ near(d) for d up to ten steps either way
    thread: float = 0.0  # the best s in the thread
    voice: float = 0.0  # 1 if the query names the speaker
    voice_score: float = 0.0  # s, if the query names the speaker
    voice_near: float = 0.0  # near(-1) + near(+1), if the query names the speaker
    question: float = 0.0  # s, of a text that asks
    short: float = 0.0  # s, of a very short text
    length: float = 0.0  # s · ln(1 + characters) / 5
    dated: float = 0.0  # s, of a text that names a time, for a query that asks when
    counted: float = 0.0  # s, of a text with a number, for a query that asks how many
    somebody: float = 0.0  # s, of a text that names somebody else than its speaker, for a query that asks who
    own: float = 0.0  # s, of the user's words, for a query in the first person
    own_assistant: float = 0.0  # s, of the assistant's words, for a query in the first person
    user_before: float = 0.0  # near(-1), of the user's words
    user_wide: float = 0.0  # wide, of the user's words
    assistant: float = 0.0  # s, of the assistant's words
    assistant_keyword: float = 0.0  # the keyword leg's value, of the assistant's words
    assistant_vector: float = 0.0  # the vector leg's value, of the assistant's words
    assistant_after: float = 0.0  # near(+1), of the assistant's words
    preference: float = 0.0  # 1, of a standing instruction or preference, for a query in the first person
    newer: float = 0.0  # s · (0 for the oldest candidate … 1 for the newest)

    @property
    def needs_places(self) -> int:
        return STEPS

    def values(self, scene: Scene) -> Floats | Skip:
        plan = self._plan()
        table = View(scene).table(plan.methods)
        products = table[plan.left]
        products *= table[plan.right]
        products *= plan.weights
        # Row by row, as `weigh` adds them: there is a column more than candidates, and of one column NumPy would add in pairs.
        total: Floats = np.add.reduce(products, axis=0, initial=0.0)[:-1]
        return total

    def _plan(self) -> "_Plan":
        if not hasattr(self, "plan"):
            object.__setattr__(self, "plan", _Plan.of(_weighed(self)))
        return self.plan

    def weigh(self, table: Mapping[str, Floats]) -> Floats:
        """The weighted sum of features that were computed before, added in the order of the weights above."""
        total = np.zeros(len(table["score"]))
        for name, weight in _weighed(self):
            total += weight * table[name]
        return total


def _weighed(ranker: Ranker) -> list[tuple[str, float]]:
    weights = ((each.name, getattr(ranker, each.name)) for each in fields(ranker))
    return [(name, weight) for name, weight in weights if weight]


def features(scene: Scene) -> Mapping[str, Floats]:
    """Every feature of every candidate; the names are those of the weights."""
    table = View(scene).table(methods(COLUMNS))[:, :-1]
    return {name: table[COLUMNS.index(one)] * table[COLUMNS.index(other)] for name, (one, other) in FEATURES.items()}


# Every feature is the product of two columns of the view.
FEATURES: Mapping[str, tuple[str, str]] = {
    "score": ("score", "one"),
    "keyword": ("keyword", "one"),
    "vector": ("vector", "one"),
    "both": ("keyword", "vector"),
    "instruction": ("instructions", "one"),
    "linked": ("graph", "one"),
    "covered": ("covered", "one"),
    "covered2": ("covered", "covered"),
    "covered_near": ("covered_near", "one"),
    "document_vector": ("vector", "whole"),
    "document_length": ("score", "excess"),
    "document_covered": ("covered", "document"),
    "document_passage": ("passage", "one"),
    "before": ("before", "one"),
    "after": ("after", "one"),
    "before2": ("before2", "one"),
    "beside": ("beside", "one"),
    "before_score": ("score", "before"),
    "after_score": ("score", "after"),
    "reply": ("asked_before", "one"),
    "before_long": ("before", "long"),
    "after_long": ("after", "long"),
    "wide": ("wide", "one"),
    "thread": ("thread", "one"),
    "voice": ("named", "one"),
    "voice_score": ("score", "named"),
    "voice_near": ("around", "named"),
    "question": ("score", "asks"),
    "short": ("score", "short"),
    "length": ("length", "one"),
    "dated": ("score", "dated"),
    "counted": ("score", "counted"),
    "somebody": ("score", "somebody"),
    "own": ("score", "own_user"),
    "own_assistant": ("score", "own_assistant"),
    "user_before": ("before", "user"),
    "user_wide": ("wide", "user"),
    "assistant": ("score", "assistant"),
    "assistant_keyword": ("keyword", "assistant"),
    "assistant_vector": ("vector", "assistant"),
    "assistant_after": ("after", "assistant"),
    "preference": ("own_preference", "one"),
    "newer": ("score", "newness"),
}
