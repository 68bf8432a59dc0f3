"""What the features of the ranker are made of, each computed at most once for a query and only if a feature needs it."""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from thinkback.model import REFLECTION, Floats, StoredRecord
from thinkback.search.once import Once
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
_BEYOND = np.full(STEPS, np.iinfo(np.int64).max)  # after the end of the line
_FOLLOWING = np.arange(1, STEPS + 1)
FLAGS = ("asks", "short", "long", "document", "user", "assistant", "spoken", "preference", "reflection")


class View:
    """One scene, as the ranker sees it: columns, with a number for every candidate.

    A column is a flag or the method of its name. It is None if it is 0 for every candidate, so that no feature of it is computed.
    """

    def __init__(self, scene: Scene) -> None:
        self.records, self.size = scene.records, len(scene.records)
        self._query, self._legs, self._places = scene.query.text, scene.legs, scene.places
        self._score = scene.totals
        self._made: dict[str, Floats | None] = {}
        self._table: tuple[Floats, Floats] | None = None
        flags = np.frombuffer(b"".join(_flags.each(self.records)), dtype=np.uint8)
        self._flags = flags.reshape(self.size, len(FLAGS))
        self._flagged = dict(zip(FLAGS, np.any(self._flags, axis=0), strict=True))
        self._beside = self._neighbours()
        self._near = None if self._beside is None else np.append(self._score, 0.0)[self._beside]

    def product(self, columns: Sequence[str]) -> Floats | None:
        """The product of columns; None if one of them is."""
        found = self.column(columns[0])
        for name in columns[1:]:
            factor = self.column(name) if found is not None else None
            found = None if found is None or factor is None else found * factor
        return found

    def column(self, name: str) -> Floats | None:
        """The flag or the column of that name."""
        if name not in self._made:
            self._made[name] = self._flag(name) if name in self._flagged else getattr(self, name)()
        return self._made[name]

    def _flag(self, name: str) -> Floats | None:
        return self._flags[:, FLAGS.index(name)].astype(np.float64) if self._flagged[name] else None

    def score(self) -> Floats:
        return self._score

    def keyword(self) -> Floats | None:
        return self._legs.get("keyword")

    def vector(self) -> Floats | None:
        return self._legs.get("vector")

    def instructions(self) -> Floats | None:
        return self._legs.get("instructions")

    def graph(self) -> Floats | None:
        return self._legs.get("graph")

    def length(self) -> Floats:
        return self._score * np.log(of_records([len(record.text) for record in self.records]) + 1) / 5

    def newness(self) -> Floats | None:
        dates = of_records([record.date for record in self.records])
        oldest, newest = dates.min(initial=np.inf), dates.max(initial=-np.inf)
        return (dates - oldest) / (newest - oldest) if newest > oldest else None

    # -- threads -------------------------------------------------------------------------------------------------------

    def _neighbours(self) -> NDArray[np.intp] | None:
        """For every candidate the row of the one each of -1, +1, -2, … ±STEPS steps away; the row after the last for none."""
        if self._places is None:
            return None
        order = np.argsort(self._places, kind="stable")
        line = np.append(self._places[order], _BEYOND)
        steps = line[np.arange(self.size)[:, None] + _FOLLOWING] - line[: self.size, None]
        first, place = np.nonzero((steps > 0) & (steps <= STEPS))  # beyond the end the difference may be negative
        if not len(first):
            return None
        rows = np.full((self.size, 2 * STEPS), self.size, dtype=np.intp)
        column, before, after = 2 * steps[first, place], order[first], order[first + place + 1]
        rows[after, column - 2], rows[before, column - 1] = before, after
        return rows

    def before(self) -> Floats | None:
        """The score of the candidate one step before."""
        return None if self._near is None else self._near[:, 0]

    def after(self) -> Floats | None:
        return None if self._near is None else self._near[:, 1]

    def before2(self) -> Floats | None:
        return None if self._near is None else self._near[:, 2]

    def beside(self) -> Floats | None:
        return None if self._near is None else np.maximum(self._near[:, 0], self._near[:, 1])

    def around(self) -> Floats | None:
        return None if self._near is None else self._near[:, 0] + self._near[:, 1]

    def wide(self) -> Floats | None:
        return None if self._near is None else np.asarray(self._near.sum(axis=1))

    def asked_before(self) -> Floats | None:
        """The score of the candidate one step before, if that one asks."""
        asking = self.product(("score", "asks"))
        if asking is None or self._beside is None:
            return None
        return np.append(asking, 0.0)[self._beside[:, 0]]

    def thread(self) -> Floats:
        """The best score in the candidate's thread; 0 without one."""
        threads = [record.thread for record in self.records]
        best: dict[str | None, float] = {}
        for thread, score in zip(threads, self._score.tolist(), strict=True):
            if score > best.get(thread, 0.0):
                best[thread] = score
        best[None] = 0.0
        return of_records([best.get(thread, 0.0) for thread in threads])

    # -- who speaks ----------------------------------------------------------------------------------------------------

    def first_person(self) -> Floats | None:
        return np.ones(self.size) if in_first_person(self._query) else None

    def named(self) -> Floats | None:
        """1 where the question names the speaker; "user" and "assistant" are roles, which nobody is called by."""
        if not self._flagged["spoken"]:
            return None
        asked, voices = names(self._query), _voice.each(self.records)
        known = {voice for voice in set(voices) if voice[0] not in (USER, ASSISTANT) and voice[1] & asked}
        return of_records([voice in known for voice in voices]) if known else None

    # -- words ---------------------------------------------------------------------------------------------------------

    def _words(self) -> tuple[Floats, Floats]:
        """For every candidate and word of the query whether it occurs; the words' shares by rarity, which sum to 1."""
        if self._table is None:
            self._table = self._read()
        return self._table

    def _read(self) -> tuple[Floats, Floats]:
        stems = _stems(self._query)
        texts = [record.text.lower() for record in self.records]
        found = bytes([stem in text for stem in stems for text in texts])
        table = np.frombuffer(found, dtype=np.uint8).reshape(len(stems), self.size).T.astype(np.float64)
        reflection = self.column("reflection")  # rarity is of what was said
        said = table if reflection is None else table[reflection == 0]
        rarity = np.log((len(said) + 1) / (said.sum(axis=0) + 0.5))
        return table, rarity / max(float(rarity.sum()), 1e-9)

    def covered(self) -> Floats:
        table, shares = self._words()
        return np.asarray((table * shares).sum(axis=1))

    def covered_near(self) -> Floats:
        """`covered`, of the text and those beside it."""
        table, shares = self._words()
        if self._beside is not None:
            padded = np.concatenate([table, np.zeros((1, table.shape[1]))])
            table = np.maximum(table, np.maximum(padded[self._beside[:, 0]], padded[self._beside[:, 1]]))
        return np.asarray((np.ascontiguousarray(table) * shares).sum(axis=1))

    def dated(self) -> Floats | None:
        return self._where(_WHEN, _names_a_time)

    def counted(self) -> Floats | None:
        return self._where(_HOW_MANY, _has_a_number)

    def somebody(self) -> Floats | None:
        """1 where a text names a speaker of the candidates or has a capital in mid-sentence, neither its own nor the query's."""
        if _WHO.search(self._query[:LONGEST_QUERY]) is None:
            return None
        asked, voices = names(self._query), _voice.each(self.records)
        people = frozenset(word for one, its in set(voices) if one not in (USER, ASSISTANT) for word in its)
        texts = zip(_capitals.each(self.records), voices, strict=True)
        return of_records([not (people & anywhere | within) <= asked | own for (anywhere, within), (_, own) in texts])

    def _where(self, asked: re.Pattern[str], has: Once[bool]) -> Floats | None:
        """1 where a text has what the query asks for; the texts are read only if it does ask."""
        if asked.search(self._query[:LONGEST_QUERY]) is None:
            return None
        return of_records(has.each(self.records))


@Once
def _flags(record: StoredRecord) -> bytes:
    """1 or 0 for each of FLAGS; `document` is a text longer than an embedder reads that nobody said."""
    text, kind, said_by = record.text, record.kind, speaker(record)
    length = len(text)
    asks, document = text.rstrip().endswith("?"), length > DOCUMENT and not said_by
    who = (said_by == USER, said_by == ASSISTANT, bool(said_by))
    return bytes((asks, length < SHORT, length > LONG, document, *who, kind == "preference", kind == REFLECTION))


@Once
def _voice(record: StoredRecord) -> tuple[str, frozenset[str]]:
    """The speaker, and the words of the name."""
    return speaker(record), names(speaker(record))


@Once
def _names_a_time(record: StoredRecord) -> bool:
    text = record.text[:LONGEST_TEXT]
    return not _TIMES.isdisjoint(_WORD.findall(text.lower())) or _YEAR.search(text) is not None


@Once
def _has_a_number(record: StoredRecord) -> bool:
    text = record.text[:LONGEST_TEXT]
    return _DIGIT.search(text) is not None or not _NUMBERS.isdisjoint(_WORD.findall(text.lower()))


@Once
def _capitals(record: StoredRecord) -> tuple[frozenset[str], frozenset[str]]:
    """The lower-cased words with a capital, anywhere and in mid-sentence, the latter without those of times."""
    text = record.text[:LONGEST_TEXT]
    within = frozenset(word.lower() for word in _CAPITAL.findall(text)) - _TIMES
    return frozenset(word.lower() for word in _CAPITALISED.findall(text)), within


def _stems(query: str) -> Sequence[str]:
    """The words of a query without their endings, so that they are found inside other forms; function words left out."""
    words = (word for word in _WORD.findall(query[:LONGEST_QUERY].lower()) if len(word) > 1)
    return list(dict.fromkeys(_stem(word) for word in words if word not in FUNCTION_WORDS))


def _stem(word: str) -> str:
    cut = _ENDING.sub("", word) if len(word) > 4 else word
    return cut if len(cut) > 2 else word
