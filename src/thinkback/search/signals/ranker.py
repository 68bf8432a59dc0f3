"""A linear ranker: the weighted sum of features that are computed from what the search has already read.

value = Σ weight · feature. The weights are the parameters below, so a recipe shows the whole formula. Those of `default` were
learned with a softmax over each question's candidates (ListNet; Cao et al., 2007) on conversations, chats with an assistant,
meetings and documents together, with whole conversations held out (docs/benchmarks.md). `s` is the score so far, and `near(d)` the
score of the candidate d steps away in the thread. No feature depends on an absolute position: after forgetting, all others must
rank as if the forgotten memory had never been there.
"""

from collections.abc import Mapping
from dataclasses import fields
from functools import lru_cache
from typing import ClassVar

import numpy as np

from thinkback.model import Floats
from thinkback.search.signals.base import Scene, Signal, Skip
from thinkback.search.signals.ranker_view import STEPS, View
from thinkback.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranker(Signal):
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
    document_vector: float = 0.0  # the vector leg's value, of such a text
    document_covered: float = 0.0  # covered, of such a text
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
        view = View(scene)
        return self._sum({name: view.product(FEATURES[name]) for name, _ in _weighed(self)}, view.size)

    def weigh(self, table: Mapping[str, Floats]) -> Floats:
        """The weighted sum of features that were computed before."""
        return self._sum(table, len(table["score"]))

    def _sum(self, table: Mapping[str, Floats | None], size: int) -> Floats:
        """Added in the order of the weights above, so that rounding is the same everywhere."""
        total = np.zeros(size)
        for name, weight in _weighed(self):
            feature = table[name]
            if feature is not None:
                total += weight * feature
        return total


@lru_cache(maxsize=64)
def _weighed(ranker: Ranker) -> tuple[tuple[str, float], ...]:
    """The features that have a weight."""
    weights = ((each.name, getattr(ranker, each.name)) for each in fields(ranker))
    return tuple((name, weight) for name, weight in weights if weight)


def features(scene: Scene) -> Mapping[str, Floats]:
    """Every feature of every candidate; the names are those of the weights."""
    view = View(scene)
    found = {name: view.product(columns) for name, columns in FEATURES.items()}
    return {name: np.zeros(view.size) if feature is None else feature for name, feature in found.items()}


# Every feature is the product of columns of the view.
FEATURES: Mapping[str, tuple[str, ...]] = {
    "score": ("score",),
    "keyword": ("keyword",),
    "vector": ("vector",),
    "both": ("keyword", "vector"),
    "instruction": ("instructions",),
    "linked": ("graph",),
    "covered": ("covered",),
    "covered2": ("covered", "covered"),
    "covered_near": ("covered_near",),
    "document_vector": ("vector", "document"),
    "document_covered": ("covered", "document"),
    "before": ("before",),
    "after": ("after",),
    "before2": ("before2",),
    "beside": ("beside",),
    "before_score": ("score", "before"),
    "after_score": ("score", "after"),
    "reply": ("asked_before",),
    "before_long": ("before", "long"),
    "after_long": ("after", "long"),
    "wide": ("wide",),
    "thread": ("thread",),
    "voice": ("named",),
    "voice_score": ("score", "named"),
    "voice_near": ("around", "named"),
    "question": ("score", "asks"),
    "short": ("score", "short"),
    "length": ("length",),
    "dated": ("score", "dated"),
    "counted": ("score", "counted"),
    "somebody": ("score", "somebody"),
    "own": ("score", "user", "first_person"),
    "own_assistant": ("score", "assistant", "first_person"),
    "user_before": ("before", "user"),
    "user_wide": ("wide", "user"),
    "assistant": ("score", "assistant"),
    "assistant_keyword": ("keyword", "assistant"),
    "assistant_vector": ("vector", "assistant"),
    "assistant_after": ("after", "assistant"),
    "preference": ("preference", "first_person"),
    "newer": ("score", "newness"),
}
