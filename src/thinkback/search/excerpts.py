"""Excerpts: which passage of a long memory a query is shown.

    value(passage) = 0.3 · cosine + 0.35 · coverage + 0.35 · bm25 + 0.8 · asker

The cosine is scaled to 0 … 1 over the passages of the memory. Coverage is the sum of idf over the query's terms that occur in the
passage, bm25 that of idf · 2.2 tf / (tf + 1.2 (¼ + ¾ length / mean)), each divided by that of the best passage;
idf = ln(1 + (n − df + ½) / (df + ½)) over the memory's own n passages, so that a word of the whole text decides nothing. `asker` is
1 for a passage of a chat with an assistant that has words of the user, if the question is about the one who asks: the assistant
repeats them at length. The first of equal passages wins. Without vectors, words alone decide.
"""

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import TypeVar

import numpy as np

from thinkback.model import REFLECTION, Floats, Passage, Passages, Run, StoredRecord, Vector
from thinkback.passages import SHORT, Span, split
from thinkback.search.once import Once
from thinkback.search.query.parse import Query
from thinkback.search.speakers import asks_assistant, in_first_person
from thinkback.stores.base import Store
from thinkback.stores.together import HeldPassages
from thinkback.values import dataclass

T = TypeVar("T")

NEAR, COVERED, FREQUENT, ASKER = 0.3, 0.35, 0.35, 0.8  # the weights of cosine, coverage, bm25 and asker
SATURATED, BY_LENGTH = 1.2, 0.75  # BM25's k1 and b
_AT_ONCE = 20  # memories whose passages are read together
_ENDINGS = ("ing", "ed", "es", "s", "ly")
_SHORTEST_STEM = 3
_ROLES = ("user:", "human:")  # before the lines of a chat that the user said


@Once
def parts(record: StoredRecord) -> Sequence[Span]:
    """The passages of a long text that has none in the store."""
    return split(record.text)


class Excerpts:
    """The passages that a search shows, chosen when they are asked for; `order` has the ids of the candidates, best first."""

    def __init__(
        self, query: Query, order: Sequence[str], runs: Sequence[Run], store: Store, held: HeldPassages | None = None
    ) -> None:
        self._query = query
        self._store = store
        self._held = held
        self._best = {
            hit.id: hit.passage for run in runs for hit in (*run.hits, *run.filled) if hit.passage is not None
        }
        self._long = [id for id in order if id in self._best] if self._best else []
        self._read: dict[str, Passages] = {}
        self._chosen: dict[str, Passage | None] = {}

    @cached_property
    def _stems(self) -> tuple[str, ...]:
        return stems([term.text for term in self._query.keywords.terms])

    @cached_property
    def _own(self) -> bool:
        return in_first_person(self._query.text) and not asks_assistant(self._query.text)

    def of(self, record: StoredRecord) -> Passage | None:
        """The passage of a long memory that fits the query best; None for a short one."""
        if record.id not in self._chosen:
            if self._present(record) and record.id not in self._read:
                at = self._long.index(record.id)
                self._read_passages(self._long[at : at + _AT_ONCE])
            self.choose([record])
        return self._chosen[record.id]

    def text(self, record: StoredRecord) -> str:
        """The text that is shown: of a long memory its passage."""
        passage = self.of(record)
        return record.text if passage is None else passage.text

    def choose(self, records: Sequence[StoredRecord]) -> None:
        """Choose the passages of some memories together, which costs less than one by one."""
        unread = [record for record in records if record.id not in self._chosen]
        self._chosen |= dict.fromkeys(record.id for record in unread)
        long = [record for record in unread if len(record.text) > SHORT and record.kind != REFLECTION]
        if not long:
            return
        missing = [record.id for record in long if self._present(record) and record.id not in self._read]
        if missing:
            self._read_passages(missing)
        parts = [part for record in long if (part := self._split(record)).spans]
        if parts:
            best = Table.of(parts, self._stems).best(self._query.vector, self._own)
            for part, place in zip(parts, best, strict=True):
                self._chosen[part.record.id] = Passage.of(part.spans[place], part.record.text)

    def _read_passages(self, ids: Sequence[str]) -> None:
        """Read passages from memory as far as they are there, and from the store."""
        if self._held is not None:
            self._read |= self._held(ids)
        others = [id for id in ids if id not in self._read]
        if others:
            self._read |= self._store.passages(others)

    def _split(self, record: StoredRecord) -> "Split":
        stored = self._read.get(record.id) if self._present(record) else None
        if stored and stored.spans[-1].end > len(record.text):  # the memory was changed meanwhile
            stored = None
        nearest = self._best.get(record.id)
        return Split(record, stored.spans, stored.vectors) if stored else Split(record, parts(record), None, nearest)

    def _present(self, record: StoredRecord) -> bool:
        """Whether the store's passages are those of this version; of a version of the past only the nearest is known."""
        return record.id in self._best and self._query.filter.known_at is None


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """A long memory with its passages, and their vectors or at least the one that is nearest to the query."""

    record: StoredRecord
    spans: Sequence[Span]
    vectors: Vector | None = None
    nearest: Span | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The passages of several memories, a column each.

    Most words of a question stand in few passages, and these tables are small: loops over what was found cost less than arrays.
    """

    split: Sequence[Split]
    text: str  # of all of them, in lower case
    spans: Sequence[tuple[int, int]]  # in that text
    counts: Sequence[Mapping[int, int]]  # of each stem, how often it occurs in the passages that have it
    homes: Sequence[int]  # the place of each passage's memory

    @classmethod
    def of(cls, split: Sequence[Split], stems: Sequence[str]) -> "Table":
        text = "\n".join([lower(one.record.text) for one in split])
        starts = accumulate([len(one.record.text) + 1 for one in split], initial=0)
        spans = [
            (start + span.start, start + span.end)
            for start, one in zip(starts, split, strict=False)
            for span in one.spans
        ]
        homes = [place for place, one in enumerate(split) for _ in one.spans]
        return cls(split, text, spans, occurrences(text, spans, stems), homes)

    def best(self, vector: Vector | None, own: bool) -> list[int]:
        """The place of the best passage among those of its memory; `own` for a question about the one who asks."""
        found = self.found()
        values = [
            COVERED * one + FREQUENT * other for one, other in zip(self.coverage(found), self.bm25(found), strict=True)
        ]
        if vector is not None:
            values = [value + NEAR * near for value, near in zip(values, self._nearness(vector), strict=True)]
        if own:
            values = [
                value + ASKER * said for value, said in zip(values, said_by_user(self.text, self.spans), strict=True)
            ]
        return [part.index(max(part)) for part in self._parts(values)]

    def found(self) -> list[tuple[int, int, float]]:
        """Of every stem each passage that has it, how often, and the stem's inverse document frequency in its memory."""
        sizes, homes, found = [len(one.spans) for one in self.split], self.homes, []
        for counts in self.counts:
            having = [0] * len(sizes)
            for column in counts:
                having[homes[column]] += 1
            found += [
                (column, count, rarity(sizes[homes[column]], having[homes[column]])) for column, count in counts.items()
            ]
        return found

    def coverage(self, found: Sequence[tuple[int, int, float]]) -> list[float]:
        """How much of the query each passage covers, 1 for the best; 0 everywhere if no word of it occurs."""
        values = [0.0] * len(self.spans)
        for column, _, rare in found:
            values[column] += rare
        return self._of_best(values)

    def bm25(self, found: Sequence[tuple[int, int, float]]) -> list[float]:
        """Each passage's BM25 among the passages of its memory, 1 for the best; 0 everywhere if no word of the query occurs."""
        damping: list[float] = []
        for lengths in self._parts([end - start for start, end in self.spans]):
            damping += damped(lengths)
        values = [0.0] * len(self.spans)
        for column, count, rare in found:
            values[column] += rare * (SATURATED + 1) * count / (count + damping[column])
        return self._of_best(values)

    def _nearness(self, vector: Vector) -> list[float]:
        """Cosines, scaled to 0 … 1 over the passages of a memory; without them, 1 for the nearest passage."""
        asked = np.asarray(vector, dtype=np.float64)
        near = (_scaled(one.vectors, asked) if one.vectors is not None else _nearest(one) for one in self.split)
        return [value for part in near for value in part]

    def _of_best(self, values: list[float]) -> list[float]:
        """Divided by the best of each memory, where that is not 0."""
        scaled: list[float] = []
        for part in self._parts(values):
            best = max(part)
            scaled += [value / best for value in part] if best > 0 else part
        return scaled

    def _parts(self, values: list[T]) -> Iterator[list[T]]:
        """What belongs to each memory."""
        start = 0
        for one in self.split:
            end = start + len(one.spans)
            yield values[start:end]
            start = end


@lru_cache(maxsize=10_000)
def rarity(passages: int, having: int) -> float:
    """The inverse document frequency of a word that so many of the passages have."""
    return math.log(1 + (passages - having + 0.5) / (having + 0.5))


def damped(lengths: Sequence[int]) -> list[float]:
    """What BM25 adds to the occurrences in passages of these lengths: more to longer ones."""
    mean = max(sum(lengths) / len(lengths), 1.0)
    return [SATURATED * (1 - BY_LENGTH + BY_LENGTH * (length / mean)) for length in lengths]


def _scaled(vectors: Vector, asked: Floats) -> list[float]:
    cosines: list[float] = (vectors.astype(np.float64) @ asked).tolist()
    least = min(cosines)
    spread = max(cosines) - least
    return [(cosine - least) / spread if spread > 0 else 0.0 for cosine in cosines]


def _nearest(split: Split) -> list[float]:
    return [float(span == split.nearest) for span in split.spans]


def stems(words: Sequence[str]) -> tuple[str, ...]:
    """Words in lower case without common endings, each once; an approximation, as only the excerpt depends on it."""
    return tuple(dict.fromkeys(_stem(word.lower()) for word in words))


def _stem(word: str) -> str:
    endings = (ending for ending in _ENDINGS if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM)
    return word[: len(word) - len(next(endings, ""))]


def lower(text: str) -> str:
    """The text in lower case, each letter in its place; one letter alone has a lower case of two."""
    return text.replace("İ", "i").lower()


def occurrences(lowered: str, spans: Sequence[tuple[int, int]], stems: Sequence[str]) -> list[dict[int, int]]:
    """How often words that begin with each stem occur in the passages that have one.

    Scripts without spaces have no beginnings, and a number does not begin a longer one.
    """
    starts, ends = [start for start, _ in spans], [end for _, end in spans]
    return [_columns(_begun(lowered, stem), len(stem), starts, ends) for stem in stems]


def _begun(lowered: str, stem: str) -> list[int]:
    """Where words that begin with a stem begin."""
    found, find = [], lowered.find
    at, anywhere, number, size = find(stem), not stem[0].isascii(), stem[-1].isdigit(), len(stem)
    while at >= 0:
        begins = anywhere or at == 0 or not lowered[at - 1].isalnum()
        if begins and not (number and lowered[at + size : at + size + 1].isdigit()):
            found.append(at)
        at = find(stem, at + 1)
    return found


def _columns(places: Sequence[int], size: int, starts: Sequence[int], ends: Sequence[int]) -> dict[int, int]:
    """How many of these places each passage has, with as many letters after them."""
    counts: dict[int, int] = {}
    for at in places:
        column = bisect_right(starts, at) - 1
        if column >= 0 and at + size <= ends[column]:
            counts[column] = counts.get(column, 0) + 1
    return counts


def said_by_user(lowered: str, spans: Sequence[tuple[int, int]]) -> list[bool]:
    """For every passage of a chat whether it has a line that the user said."""
    heads = [
        (at, at + len(role))
        for role in _ROLES
        for at in _all(lowered, role)
        if lowered[at + len(role) : at + len(role) + 1].isspace()
    ]
    return [
        any(start <= at and stop < end and (at == start or lowered[at - 1] == "\n") for at, stop in heads)
        for start, end in spans
    ]


def _all(text: str, part: str) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)
