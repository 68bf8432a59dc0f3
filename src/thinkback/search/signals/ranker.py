"""A linear ranker: the weighted sum of features that are computed from what the search has already read.

value = Σ weight · feature. The weights are the parameters below, so a recipe shows the whole formula. Those of `default` were
learned with a softmax over each question's candidates (ListNet; Cao et al., 2007) on conversations, chats with an assistant,
meetings and documents together, with whole conversations held out (docs/benchmarks.md). `s` is the score so far, and `near(d)` the
score of the candidate d steps away in the thread.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from thinkback.model import Floats, StoredRecord
from thinkback.search.signals.base import Scene, Signal, Skip, of_records
from thinkback.search.speakers import ASSISTANT, USER, in_first_person, names, speaker

STEPS = 10  # how far the `wide` feature looks along a thread
LONG, DOCUMENT, SHORT = 400, 1500, 50  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranker(Signal):
    """The weight of each feature; a feature with the weight 0 has no effect."""

    name: ClassVar[str] = "ranker"
    score: float = 0.0  # s
    keyword: float = 0.0  # the keyword leg's value
    vector: float = 0.0  # the vector leg's value
    both: float = 0.0  # the product of the two
    keyword2: float = 0.0  # the square of the keyword leg's value
    vector2: float = 0.0  # the square of the vector leg's value
    instruction: float = 0.0  # the instructions leg's value
    linked: float = 0.0  # the graph leg's value
    document_keyword: float = 0.0  # the keyword leg's value, of a text longer than an embedder reads
    document_vector: float = 0.0  # the vector leg's value, of such a text
    document_both: float = 0.0  # the product of the two, of such a text
    before: float = 0.0  # near(-1)
    after: float = 0.0  # near(+1)
    before2: float = 0.0  # near(-2)
    after2: float = 0.0  # near(+2)
    reply: float = 0.0  # near(-1), if that one asks
    before_long: float = 0.0  # near(-1), of a long text
    after_long: float = 0.0  # near(+1), of a long text
    before_assistant: float = 0.0  # near(-1), of an assistant's text
    after_assistant: float = 0.0  # near(+1), of an assistant's text
    wide: float = 0.0  # Σ near(d) for d up to ten steps either way
    thread: float = 0.0  # the best s in the thread
    voice: float = 0.0  # 1 if the query names the speaker
    voice_score: float = 0.0  # s, if the query names the speaker
    voice_near: float = 0.0  # near(-1) + near(+1), if the query names the speaker
    question: float = 0.0  # s, of a text that asks
    short: float = 0.0  # s, of a very short text
    length: float = 0.0  # s · ln(1 + characters) / 5
    long_text: float = 0.0  # ln(1 + characters) / 5
    own: float = 0.0  # s, of the user's words, for a query in the first person
    own_assistant: float = 0.0  # s, of the assistant's words, for a query in the first person
    assistant: float = 0.0  # s, of the assistant's words
    newer: float = 0.0  # s · (0 for the oldest candidate … 1 for the newest)

    @property
    def needs_places(self) -> int:
        return STEPS

    def values(self, scene: Scene) -> Floats | Skip:
        return self.weigh(features(scene))

    def weigh(self, table: Mapping[str, Floats]) -> Floats:
        """The weighted sum of the features, added in the order of the weights above."""
        total = np.zeros(len(table["score"]))
        for each in fields(self):
            weight = getattr(self, each.name)
            if weight:
                total = total + weight * table[each.name]
        return total


def features(scene: Scene) -> Mapping[str, Floats]:
    """Every feature of every candidate; the names are those of the weights."""
    records, s = scene.records, scene.totals
    nothing = np.zeros(len(records))
    near = _near(scene)
    said_by = [speaker(record) for record in records]
    user, assistant = (of_records([one == role for one in said_by]) for role in (USER, ASSISTANT))
    characters = of_records([len(record.text) for record in records])
    asks = of_records([record.text.rstrip().endswith("?") for record in records])
    long_, short = 1.0 * (characters > LONG), 1.0 * (characters < SHORT)
    document = (characters > DOCUMENT) * of_records([not one for one in said_by])
    named = _named(scene.query.text, said_by)
    first_person = float(in_first_person(scene.query.text))
    keyword, vector = scene.legs.get("keyword", nothing), scene.legs.get("vector", nothing)
    return {
        "score": s,
        "keyword": keyword,
        "vector": vector,
        "both": keyword * vector,
        "keyword2": keyword * keyword,
        "vector2": vector * vector,
        "linked": scene.legs.get("graph", nothing),
        "instruction": scene.legs.get("instructions", nothing),
        "document_keyword": keyword * document,
        "document_vector": vector * document,
        "document_both": keyword * vector * document,
        "before": near.at(-1, s),
        "after": near.at(1, s),
        "before2": near.at(-2, s),
        "after2": near.at(2, s),
        "reply": near.at(-1, s * asks),
        "before_long": near.at(-1, s) * long_,
        "after_long": near.at(1, s) * long_,
        "before_assistant": near.at(-1, s) * assistant,
        "after_assistant": near.at(1, s) * assistant,
        "wide": sum((near.at(-step, s) + near.at(step, s) for step in range(1, STEPS + 1)), nothing),
        "thread": _best_in_thread(records, s),
        "voice": named,
        "voice_score": s * named,
        "voice_near": (near.at(-1, s) + near.at(1, s)) * named,
        "question": s * asks,
        "short": s * short,
        "length": s * np.log(characters + 1) / 5,
        "long_text": np.log(characters + 1) / 5,
        "own": s * user * first_person,
        "own_assistant": s * assistant * first_person,
        "assistant": s * assistant,
        "newer": s * _newness(records),
    }


@dataclass(frozen=True, slots=True, eq=False)
class _Line:
    """Candidates in the order of their places, to find those a number of steps away."""

    order: NDArray[np.intp]
    places: NDArray[np.int64]

    _steps: dict[int, tuple[NDArray[np.intp], NDArray[np.intp]]] = field(default_factory=dict)

    def at(self, step: int, values: Floats) -> Floats:
        """For every candidate the value of the candidate so many steps after it; 0 where there is none."""
        if step not in self._steps:
            self._steps[step] = self._pairs(step)
        here, there = self._steps[step]
        found = np.zeros(len(values))
        found[here] = values[there]
        return found

    def _pairs(self, step: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The candidates that have another one so many steps after them, and those others."""
        wanted = self.places + step
        where = self.places.searchsorted(wanted)
        where[where == len(wanted)] = 0  # none is so far on, so the comparison fails
        here = (self.places[where] == wanted).nonzero()[0]
        return self.order[here], self.order[where[here]]


def _near(scene: Scene) -> _Line:
    places = np.arange(len(scene.records)) * 1_000_000 if scene.places is None else scene.places
    order = np.argsort(places, kind="stable")
    return _Line(order, places[order])


def _named(question: str, said_by: list[str]) -> Floats:
    """1 where the question names the speaker; "user" and "assistant" are roles, which nobody is called by."""
    asked = names(question)
    known = {one: bool(names(one) & asked) for one in set(said_by) - {USER, ASSISTANT, ""}}
    return of_records([known.get(one, False) for one in said_by])


def _best_in_thread(records: tuple[StoredRecord, ...], scores: Floats) -> Floats:
    best: dict[str, float] = {}
    for record, score in zip(records, scores, strict=True):
        if record.thread is not None:
            best[record.thread] = max(best.get(record.thread, 0.0), float(score))
    return of_records([0.0 if record.thread is None else best[record.thread] for record in records])


def _newness(records: tuple[StoredRecord, ...]) -> Floats:
    dates = of_records([record.date for record in records])
    oldest, newest = dates.min(initial=np.inf), dates.max(initial=-np.inf)
    return (dates - oldest) / (newest - oldest) if newest > oldest else np.zeros(len(records))
