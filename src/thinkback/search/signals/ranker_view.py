"""What the features of the ranker are made of, each computed at most once for a query and only if a feature needs it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, repeat
from operator import contains
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thinkback import mentions
from thinkback.mentions import words
from thinkback.model import Floats, StoredRecord
from thinkback.search.once import Once
from thinkback.search.query.stopwords import FUNCTION_WORDS
from thinkback.search.signals.base import Scene, of_records
from thinkback.search.signals.passage_words import MOST_LETTERS, passage_words
from thinkback.search.speakers import ASSISTANT, USER, asks_what_assistant_said, in_first_person, names, speaker
from thinkback.search.traits import DOCUMENT, FLAGS

STEPS = 10  # how far the `wide` feature looks along a thread
LONGEST_QUERY = 2000  # characters of a query that are read for its words
MOST_DOCUMENTS = 20  # whose passages are read, the best by score
_ENDING = re.compile(r"(?:ing|ies|ied|es|ed|s|e|ly|y)$")
_WHEN = re.compile(r"\bwhen\b|\bwhat (?:date|day|month|year|time)\b|\bhow long\b", re.IGNORECASE)
_HOW_MANY = re.compile(r"\bhow (?:many|much|often|old|long)\b|\bwhat (?:percent|number|amount|budget)", re.IGNORECASE)
_WHO = re.compile(r"\bwho(?:m|se)?\b", re.IGNORECASE)
_BEYOND = np.full(STEPS, np.iinfo(np.int64).max)  # after the end of the line
_FOLLOWING = np.arange(1, STEPS + 1)
_FLAGS = FLAGS[:-2]  # those that are columns
# Rows of the table, by the method of the view that fills them; the first ones are there from the beginning.
_METHODS: Mapping[str, Sequence[str]] = {
    "_legs": ("keyword", "vector", "instructions", "graph"),
    "_threads": ("before", "after", "before2", "beside", "around", "wide", "asked_before"),
    "_best_of_thread": ("thread",),
    "_voices": ("named",),
    "_first_person": ("own_user", "own_assistant", "own_preference"),
    "_words": ("covered", "covered_near"),
    "_asked": ("dated", "counted", "somebody"),
    "_length": ("length",),
    "_newness": ("newness",),
    "_whole": ("whole", "excess"),
    "_passages": ("passage",),
}
COLUMNS = ("one", "score", *_FLAGS, *(name for names in _METHODS.values() for name in names))
_ROW = {name: row for row, name in enumerate(COLUMNS)}
_SCORE, _ASKS, _END_OF_FLAGS = _ROW["score"], _ROW["asks"], _ROW["asks"] + len(_FLAGS)
_SPOKEN, _REFLECTION, _DOCUMENT = FLAGS.index("spoken"), FLAGS.index("reflection"), FLAGS.index("document")


def methods(columns: Sequence[str]) -> Sequence[str]:
    """The methods of a view that fill these columns."""
    return [method for method, filled in _METHODS.items() if not set(filled).isdisjoint(columns)]


class View:
    """One scene, as the ranker sees it: a table with a row for each of COLUMNS and a column for each candidate.

    One more column is 0: the score of a neighbour that is no candidate.
    """

    def __init__(self, scene: Scene) -> None:
        self.records, self.size = scene.records, len(scene.records)
        self._query, self._values, self._places = scene.query.text, scene.legs, scene.places
        self._asked_for = scene.query
        self._runs = scene.runs
        self._traits = scene.traits()
        self._flags = self._traits["flags"]
        self._table = np.zeros((len(COLUMNS), self.size + 1))
        self._table[0] = 1.0
        self._table[_SCORE, :-1] = scene.totals
        self._table[_ASKS:_END_OF_FLAGS, :-1] = self._flags[:, : len(_FLAGS)].T
        if asks_what_assistant_said(self._query):  # then the assistant's words are as good as the user's
            self._table[_ROW["assistant"]] = 0.0
        self._beside = self._neighbours()

    def table(self, methods: Sequence[str]) -> Floats:
        """The table, with the rows that these methods fill."""
        for method in methods:
            getattr(self, method)()
        return self._table

    def _put(self, name: str, values: Floats) -> None:
        self._table[_ROW[name], :-1] = values

    def _legs(self) -> None:
        for name in _METHODS["_legs"]:
            if name in self._values:
                self._put(name, self._values[name])

    def _length(self) -> None:
        self._put("length", self._table[_SCORE, :-1] * np.log(self._traits["length"] + 1) / 5)

    def _newness(self) -> None:
        dates = self._traits["date"]
        oldest, newest = dates.min(initial=np.inf), dates.max(initial=-np.inf)
        if newest > oldest:
            self._put("newness", (dates - oldest) / (newest - oldest))

    def _whole(self) -> None:
        """1 for a document that one vector stands for, and ln(characters / DOCUMENT) / 5; one found by a passage has many."""
        documents = np.flatnonzero(self._flags[:, _DOCUMENT])
        if len(documents):
            scored = (hit for run in self._runs if run.leg == "vector" for hit in (*run.hits, *run.filled))
            parts = {hit.id for hit in scored if hit.passage is not None}
            whole = documents[[self.records[row].id not in parts for row in documents]] if parts else documents
            lengths = self._traits["length"][whole]
            self._table[_ROW["whole"], whole], self._table[_ROW["excess"], whole] = 1.0, np.log(lengths / DOCUMENT) / 5

    def _passages(self) -> None:
        """BM25 by passages, less that of the keyword leg, of the best documents."""
        is_document = self._flags[:, _DOCUMENT] > 0
        documents = np.flatnonzero(is_document)
        if not len(documents) or not len(documents := self._to_read(documents)):
            return
        others = np.flatnonzero(~is_document & (self._flags[:, _REFLECTION] == 0))
        values = passage_words(self._asked_for, [self.records[row] for row in (*documents, *others)])
        if values.any():
            factor = next((run.factor for run in self._runs if run.leg == "keyword"), 1.0)  # less across languages
            keyword = self._table[_ROW["keyword"], documents]
            self._table[_ROW["passage"], documents] = factor * (values[: len(documents)] - keyword)

    def _to_read(self, documents: NDArray[np.intp]) -> NDArray[np.intp]:
        """The best documents, as far as they are not too much to read; one that alone is too much is left out."""
        documents = documents[np.argsort(-self._table[_SCORE, documents], kind="stable")][:MOST_DOCUMENTS]
        letters = self._traits["length"][documents]
        small = letters <= MOST_LETTERS
        documents, letters = documents[small], letters[small]
        return documents[np.cumsum(letters) <= MOST_LETTERS]

    # -- threads -------------------------------------------------------------------------------------------------------

    def _neighbours(self) -> NDArray[np.intp] | None:
        """For every candidate the row of the one each of -1, +1, -2, … ±STEPS steps away; the row after the last for none."""
        if self._places is None:
            return None
        order = np.argsort(self._places, kind="stable")
        line = self._places[order]
        first = np.flatnonzero(line[1:] - line[:-1] <= STEPS)  # those that one follows
        if not len(first):
            return None
        steps = np.concatenate((line, _BEYOND))[first[:, None] + _FOLLOWING] - line[first, None]
        which, place = np.nonzero((steps > 0) & (steps <= STEPS))  # beyond the end the difference may be negative
        rows = np.full((self.size, 2 * STEPS), self.size, dtype=np.intp)
        at = first[which]
        column, before, after = 2 * steps[which, place], order[at], order[at + place + 1]
        rows[after, column - 2], rows[before, column - 1] = before, after
        return rows

    def _threads(self) -> None:
        """The scores of candidates in the same thread: one step before, one after, two before, and so on."""
        if self._beside is None:
            return
        scores = self._table[_SCORE]
        near = scores[self._beside]
        before, after = near[:, 0], near[:, 1]
        row = _ROW["before"]
        self._table[row : row + 3, :-1] = near[:, :3].T
        self._put("beside", np.maximum(before, after))
        self._put("around", before + after)
        self._put("wide", near.sum(axis=1))
        asking: Floats = scores * self._table[_ASKS]
        self._put("asked_before", asking[self._beside[:, 0]])

    def _best_of_thread(self) -> None:
        """The best score in the candidate's thread; 0 without one."""
        threads, best = self._traits["thread"].tolist(), dict[int, float]()
        for thread, score in zip(threads, self._table[_SCORE].tolist(), strict=False):
            if score > best.get(thread, 0.0):
                best[thread] = score
        best[0] = 0.0
        self._put("thread", of_records([best.get(thread, 0.0) for thread in threads]))

    # -- who speaks ----------------------------------------------------------------------------------------------------

    def _first_person(self) -> None:
        """Flags, for a query in the first person."""
        if in_first_person(self._query):
            for flag in ("user", "assistant", "preference"):
                self._table[_ROW[f"own_{flag}"]] = self._table[_ROW[flag]]

    def _voices(self) -> None:
        """1 where the question names the speaker; "user" and "assistant" are roles, which nobody is called by."""
        if not self._flags[:, _SPOKEN].any():
            return
        asked, said = names(self._query), self._traits["speaker"].tolist()
        voices = {
            one: _voice(speaker(self.records[row]))
            for one, row in dict(zip(said, range(self.size), strict=True)).items()
        }
        known = {one for one, (who, words) in voices.items() if who not in (USER, ASSISTANT) and words & asked}
        if known:
            self._put("named", of_records([one in known for one in said]))

    # -- words ---------------------------------------------------------------------------------------------------------

    def _words(self) -> None:
        """`covered`, of the text alone, and of the text and those beside it."""
        table, shares = self._read()
        self._put("covered", (table * shares).sum(axis=1))
        if self._beside is not None:
            padded = np.concatenate([table, np.zeros((1, table.shape[1]))])
            table = np.maximum(table, np.maximum(padded[self._beside[:, 0]], padded[self._beside[:, 1]]))
        self._put("covered_near", (np.ascontiguousarray(table) * shares).sum(axis=1))

    def _read(self) -> tuple[Floats, Floats]:
        """For every candidate and word of the query whether it occurs; the words' shares by rarity, which sum to 1."""
        stems = _stems(self._query)
        texts = [record.text.lower() for record in self.records]
        found = bytes(chain.from_iterable(map(contains, texts, repeat(stem)) for stem in stems))
        table = np.frombuffer(found, dtype=np.bool_).reshape(len(stems), self.size).astype(np.float64).T
        reflection = self._flags[:, _REFLECTION]
        said = table[reflection == 0] if reflection.any() else table  # rarity is of what was said
        rarity = np.log((len(said) + 1) / (said.sum(axis=0) + 0.5))
        return table, rarity / max(float(rarity.sum()), 1e-9)

    def _asked(self) -> None:
        """1 where a text has what the query asks for; the texts are read only if it does ask."""
        query = self._query[:LONGEST_QUERY]
        if _WHEN.search(query):
            self._put("dated", of_records(_mentioned(self.records, mentions.A_TIME, _names_a_time)))
        if _HOW_MANY.search(query):
            self._put("counted", of_records(_mentioned(self.records, mentions.A_NUMBER, _has_a_number)))
        if _WHO.search(query):
            self._put("somebody", self._names_somebody())

    def _names_somebody(self) -> Floats:
        """1 where a text names a speaker of the candidates or has a capital in mid-sentence, neither its own nor the query's."""
        asked, voices = names(self._query), dict[tuple[str, frozenset[str]], list[int]]()
        for row, record in enumerate(self.records):
            voices.setdefault(_voice(speaker(record)), []).append(row)
        people = frozenset(word for one, its in voices if one not in (USER, ASSISTANT) for word in its)
        named = np.zeros(self.size, dtype=np.bool_)
        for (_, own), rows in voices.items():
            records, known = [self.records[row] for row in rows], asked | own
            within = _mentioned(records, mentions.A_NAME, _names_within)
            named[rows] = [
                bool(some) and not _names_within(record) <= known for record, some in zip(records, within, strict=True)
            ]
            for name in _spelt(people - known, records):
                named[rows] |= [name in capitals for capitals in _capitalised.each(records)]
        return named.astype(np.float64)


@lru_cache(maxsize=1024)
def _voice(speaker: str) -> tuple[str, frozenset[str]]:
    """The speaker, and the words of the name."""
    return speaker, names(speaker)


def _mentioned(records: Sequence[StoredRecord], what: int, read: Once[Any]) -> list[Any]:
    """Whether the texts of records mention this; they are read only where the store does not know."""
    return [bool(known & what) if (known := getattr(record, "mentions", 0)) else read(record) for record in records]


@Once
def _names_a_time(record: StoredRecord) -> bool:
    return mentions.names_a_time(record.text)


@Once
def _has_a_number(record: StoredRecord) -> bool:
    return mentions.has_a_number(record.text)


@Once
def _names_within(record: StoredRecord) -> frozenset[str]:
    return mentions.names_within(record.text)


@Once
def _capitalised(record: StoredRecord) -> frozenset[str]:
    return mentions.capitalised(record.text)


def _spelt(people: Iterable[str], records: Sequence[StoredRecord]) -> list[str]:
    """Those names whose letters stand in a text with a capital, looked for in all texts at once; mostly none."""
    every = "\n".join([record.text[: mentions.LONGEST] for record in records])
    return [name for name in people if name.capitalize() in every]


def _stems(query: str) -> Sequence[str]:
    """The words of a query without their endings, so that they are found inside other forms; function words left out."""
    found = (word for word in words(query[:LONGEST_QUERY].lower()) if len(word) > 1)
    return list(dict.fromkeys(_stem(word) for word in found if word not in FUNCTION_WORDS))


def _stem(word: str) -> str:
    cut = _ENDING.sub("", word) if len(word) > 4 else word
    return cut if len(cut) > 2 else word
