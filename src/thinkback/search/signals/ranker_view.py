"""What the features of the ranker are made of, each computed at most once for a query and only if a feature needs it."""

import re
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from thinkback.model import Floats
from thinkback.search.query.stopwords import FUNCTION_WORDS
from thinkback.search.signals.base import Scene, of_records
from thinkback.search.speakers import ASSISTANT, USER, in_first_person, names, speaker

STEPS = 10  # how far the `wide` feature looks along a thread
LONG, DOCUMENT, SHORT = 400, 1500, 50  # characters
LONGEST_QUERY = 2000  # characters of a query that are read for its words
LONGEST_TEXT = 4000  # characters of a text in which times and numbers are looked for
_WORD = re.compile(r"[^\W_]+")
_ENDING = re.compile(r"(?:ing|ies|ied|es|ed|s|e|ly|y)$")
_WHEN = re.compile(r"\bwhen\b|\bwhat (?:date|day|month|year|time)\b|\bhow long\b", re.IGNORECASE)
_HOW_MANY = re.compile(r"\bhow (?:many|much|often|old|long)\b|\bwhat (?:percent|number|amount|budget)", re.IGNORECASE)
_TIMES = frozenset(
    """yesterday today tonight tomorrow last next ago week weeks weekend weekends month months year years day days morning evening
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october
    november december recently soon since until""".split()  # noqa: SIM905
)
_NUMBERS = frozenset(
    "one two three four five six seven eight nine ten dozen hundred once twice couple".split()  # noqa: SIM905
)
_WHO = re.compile(r"\bwho(?:m|se)?\b", re.IGNORECASE)
_CAPITALISED = re.compile(r"\b[A-Z][a-z]+")
_CAPITAL = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+")  # in mid-sentence
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_DIGIT = re.compile(r"\d")
_CACHED = 16_384  # texts; the same candidates come back, and a cached record's text is found by identity
_AWAY = np.array([sign * step for step in range(1, STEPS + 1) for sign in (-1, 1)], dtype=np.int64)


def _column(step: int) -> int:
    return 2 * abs(step) - (2 if step < 0 else 1)


class View:
    """One scene, as the ranker sees it: a number for every candidate in each property."""

    def __init__(self, scene: Scene) -> None:
        self.records, self.s = scene.records, scene.totals
        self._query, self._legs, self._places = scene.query.text, scene.legs, scene.places

    def leg(self, name: str) -> Floats:
        """A leg's values; 0 where it did not run."""
        return self._legs.get(name, np.zeros(len(self.records)))

    @cached_property
    def keyword(self) -> Floats:
        return self.leg("keyword")

    @cached_property
    def vector(self) -> Floats:
        return self.leg("vector")

    # -- threads -------------------------------------------------------------------------------------------------------

    @cached_property
    def _beside(self) -> NDArray[np.intp]:
        """For every candidate the row of the one each of ±1 … ±STEPS steps away; the row after the last where there is none."""
        count = len(self.records)
        if self._places is None or not count:
            return np.full((count, 2 * STEPS), count, dtype=np.intp)
        order = np.argsort(self._places, kind="stable")
        places = self._places[order]
        wanted = self._places[:, None] + _AWAY
        found = np.minimum(np.searchsorted(places, wanted), count - 1)
        return np.where(places[found] == wanted, order[found], count)

    def at(self, step: int, values: Floats) -> Floats:
        """For every candidate the value of the candidate so many steps after it; 0 where there is none."""
        return np.concatenate([values, np.zeros((1, *values.shape[1:]))])[self._beside[:, _column(step)]]

    @cached_property
    def _near(self) -> Floats:
        """The scores of the candidates around each."""
        return np.append(self.s, 0.0)[self._beside]

    def near(self, step: int) -> Floats:
        """The score of the candidate so many steps away."""
        return self._near[:, _column(step)]

    @cached_property
    def wide(self) -> Floats:
        return np.asarray(self._near.sum(axis=1))

    @cached_property
    def thread(self) -> Floats:
        """The best score in the candidate's thread; 0 without one."""
        best: dict[str, float] = {}
        for record, score in zip(self.records, self.s.tolist(), strict=True):
            if record.thread is not None and score > best.get(record.thread, 0.0):
                best[record.thread] = score
        return of_records([0.0 if record.thread is None else best.get(record.thread, 0.0) for record in self.records])

    # -- who speaks ----------------------------------------------------------------------------------------------------

    @cached_property
    def _said_by(self) -> list[str]:
        return [speaker(record) for record in self.records]

    @cached_property
    def user(self) -> Floats:
        return of_records([one == USER for one in self._said_by])

    @cached_property
    def assistant(self) -> Floats:
        return of_records([one == ASSISTANT for one in self._said_by])

    @cached_property
    def first_person(self) -> float:
        return float(in_first_person(self._query))

    @cached_property
    def named(self) -> Floats:
        """1 where the question names the speaker; "user" and "assistant" are roles, which nobody is called by."""
        asked = names(self._query)
        known = {one: bool(names(one) & asked) for one in set(self._said_by) - {USER, ASSISTANT, ""}}
        return of_records([known.get(one, False) for one in self._said_by])

    # -- texts ---------------------------------------------------------------------------------------------------------

    @cached_property
    def characters(self) -> Floats:
        return of_records([len(record.text) for record in self.records])

    @cached_property
    def asks(self) -> Floats:
        return of_records([record.text.rstrip().endswith("?") for record in self.records])

    @cached_property
    def long(self) -> Floats:
        return (self.characters > LONG).astype(np.float64)

    @cached_property
    def short(self) -> Floats:
        return (self.characters < SHORT).astype(np.float64)

    @cached_property
    def document(self) -> Floats:
        """1 for a text that is longer than an embedder reads and that nobody said."""
        return (self.characters > DOCUMENT) * of_records([not one for one in self._said_by])

    @cached_property
    def preference(self) -> Floats:
        return of_records([record.kind == "preference" for record in self.records])

    @cached_property
    def newness(self) -> Floats:
        dates = of_records([record.date for record in self.records])
        oldest, newest = dates.min(initial=np.inf), dates.max(initial=-np.inf)
        return (dates - oldest) / (newest - oldest) if newest > oldest else np.zeros(len(self.records))

    # -- words ---------------------------------------------------------------------------------------------------------

    @cached_property
    def _lowered(self) -> list[str]:
        return [record.text.lower() for record in self.records]

    @cached_property
    def _words(self) -> tuple[Floats, Floats]:
        """For every candidate and word of the query whether it occurs; the words' shares by rarity, which sum to 1."""
        stems = _stems(self._query)
        found = bytes([stem in text for stem in stems for text in self._lowered])
        table = np.frombuffer(found, dtype=np.uint8).reshape(len(stems), len(self.records)).T.astype(np.float64)
        said = np.array(
            [record.kind != "reflection" for record in self.records], dtype=np.bool_
        )  # rarity is of what was said
        rarity = np.log((said.sum() + 1) / (table[said].sum(axis=0) + 0.5))
        return table, rarity / max(float(rarity.sum()), 1e-9)

    @cached_property
    def covered(self) -> Floats:
        table, shares = self._words
        return np.asarray((table * shares).sum(axis=1))

    @cached_property
    def covered_near(self) -> Floats:
        table, shares = self._words
        around = np.maximum(self.at(-1, table), self.at(1, table))
        return np.asarray((np.maximum(table, around) * shares).sum(axis=1))

    @cached_property
    def dated(self) -> Floats:
        return self._where(_WHEN, _names_a_time)

    @cached_property
    def counted(self) -> Floats:
        return self._where(_HOW_MANY, _has_a_number)

    @cached_property
    def somebody(self) -> Floats:
        """1 where a text names a speaker of the candidates or has a capital in mid-sentence, neither its own nor the query's."""
        if _WHO.search(self._query[:LONGEST_QUERY]) is None:
            return np.zeros(len(self.records))
        asked = names(self._query)
        own = {one: names(one) for one in set(self._said_by)}
        people = frozenset(word for one, its in own.items() if one not in (USER, ASSISTANT) for word in its)
        found = []
        for record, said_by in zip(self.records, self._said_by, strict=True):
            anywhere, within = _of(_capitals, record.text)
            found.append(not (people & anywhere | within) <= asked | own[said_by])
        return of_records(found)

    def _where(self, asked: re.Pattern[str], has: Callable[[str], bool]) -> Floats:
        """1 where a text has what the query asks for; the texts are read only if it does ask."""
        if asked.search(self._query[:LONGEST_QUERY]) is None:
            return np.zeros(len(self.records))
        return of_records([_of(has, record.text) for record in self.records])


_Read = TypeVar("_Read")


def _of(read: Callable[[str], _Read], text: str) -> _Read:
    """What is read of the beginning of a text; the caches hold no more than that of each."""
    return read(text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT])


@lru_cache(maxsize=_CACHED)
def _names_a_time(text: str) -> bool:
    return not _TIMES.isdisjoint(_WORD.findall(text.lower())) or _YEAR.search(text) is not None


@lru_cache(maxsize=_CACHED)
def _has_a_number(text: str) -> bool:
    return _DIGIT.search(text) is not None or not _NUMBERS.isdisjoint(_WORD.findall(text.lower()))


@lru_cache(maxsize=_CACHED)
def _capitals(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The lower-cased words with a capital, anywhere and in mid-sentence, the latter without those of times."""
    within = frozenset(word.lower() for word in _CAPITAL.findall(text)) - _TIMES
    return frozenset(word.lower() for word in _CAPITALISED.findall(text)), within


def _stems(query: str) -> Sequence[str]:
    """The words of a query without their endings, so that they are found inside other forms; function words left out."""
    words = (word for word in _WORD.findall(query[:LONGEST_QUERY].lower()) if len(word) > 1)
    return list(dict.fromkeys(_stem(word) for word in words if word not in FUNCTION_WORDS))


def _stem(word: str) -> str:
    cut = _ENDING.sub("", word) if len(word) > 4 else word
    return cut if len(cut) > 2 else word
