"""Excerpts: which passage of a long memory a query is shown.

    value(passage) = 0.3 · cosine + 0.35 · coverage + 0.35 · bm25 + 0.8 · asker

The cosine is scaled to 0 … 1 over the passages of the memory. Coverage is the sum of idf over the query's terms that occur in the
passage, bm25 that of idf · 2.2 tf / (tf + 1.2 (¼ + ¾ length / mean)), each divided by that of the best passage;
idf = ln(1 + (n − df + ½) / (df + ½)) over the memory's own n passages, so that a word of the whole text decides nothing. `asker` is
1 for a passage of a chat with an assistant that has words of the user, if the question is about the one who asks: the assistant
repeats them at length. The first of equal passages wins. Without vectors, words alone decide.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from thinkback.model import REFLECTION, Floats, Passage, Passages, Run, StoredRecord
from thinkback.passages import Span, split
from thinkback.search.once import Once
from thinkback.search.query.parse import Query
from thinkback.search.speakers import asks_assistant, in_first_person, says_user
from thinkback.stores.base import Store

NEAR, COVERED, FREQUENT, ASKER = 0.3, 0.35, 0.35, 0.8  # the weights of cosine, coverage, bm25 and asker
_SATURATED, _BY_LENGTH = 1.2, 0.75  # BM25's k1 and b
_AT_ONCE = 20  # memories whose passages are read together
_ENDINGS = ("ing", "ed", "es", "s", "ly")
_SHORTEST_STEM = 3


@Once
def _parts(record: StoredRecord) -> Sequence[Span]:
    """The passages of a long text that has none in the store."""
    return split(record.text)


class Excerpts:
    """The passages that a search shows, chosen when they are asked for; `order` has the ids of the candidates, best first."""

    def __init__(self, query: Query, order: Sequence[str], runs: Sequence[Run], store: Store) -> None:
        self._query = query
        self._store = store
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
            self._chosen[record.id] = self._choose(record)
        return self._chosen[record.id]

    def text(self, record: StoredRecord) -> str:
        """The text that is shown: of a long memory its passage."""
        passage = self.of(record)
        return record.text if passage is None else passage.text

    def _choose(self, record: StoredRecord) -> Passage | None:
        stored = self._passages(record.id) if self._present(record) else None
        if stored and stored.spans[-1].end > len(record.text):  # the memory was changed meanwhile
            stored = None
        spans = () if record.kind == REFLECTION else stored.spans if stored else _parts(record)
        if not spans:
            return None
        counts = occurrences(record.text, spans, self._stems)
        rare, lengths = idf(counts), [span.end - span.start for span in spans]
        values = COVERED * coverage(counts, rare) + FREQUENT * bm25(counts, rare, lengths)
        near = self._nearness(record, spans, stored)
        if near is not None:
            values = values + NEAR * near
        if self._own:
            values = values + ASKER * np.array([says_user(span.of(record.text)) for span in spans])
        return Passage.of(spans[int(np.argmax(values))], record.text)

    def _present(self, record: StoredRecord) -> bool:
        """Whether the store's passages are those of this version; of a version of the past only the nearest is known."""
        return record.id in self._best and self._query.filter.known_at is None

    def _nearness(self, record: StoredRecord, spans: Sequence[Span], stored: Passages | None) -> Floats | None:
        if record.id not in self._best or self._query.vector is None:
            return None
        if stored is None:
            return np.array([float(span == self._best[record.id]) for span in spans])
        cosines: Floats = stored.vectors.astype(np.float64) @ np.asarray(self._query.vector, dtype=np.float64)
        spread = float(cosines.max() - cosines.min())
        return (cosines - cosines.min()) / spread if spread > 0 else np.zeros(len(spans))

    def _passages(self, id: str) -> Passages | None:
        if id not in self._read:
            at = self._long.index(id)
            self._read |= self._store.passages(self._long[at : at + _AT_ONCE])
        return self._read.get(id)


def stems(words: Sequence[str]) -> tuple[str, ...]:
    """Words in lower case without common endings, each once; an approximation, as only the excerpt depends on it."""
    return tuple(dict.fromkeys(_stem(word.lower()) for word in words))


def _stem(word: str) -> str:
    endings = (ending for ending in _ENDINGS if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM)
    return word[: len(word) - len(next(endings, ""))]


def occurrences(text: str, spans: Sequence[Span], stems: Sequence[str]) -> Floats:
    """How often words that begin with each stem (a row each) occur in each passage (a column each)."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters have a longer lower case, which would shift every place
        lowered = text
    counts = [[0.0] * len(spans) for _ in stems]
    starts, ends = [span.start for span in spans], [span.end for span in spans]
    for row, stem in zip(counts, stems, strict=True):
        for at in _places(lowered, stem) if stem in lowered else ():
            column = bisect_right(starts, at) - 1
            if column >= 0 and at + len(stem) <= ends[column]:
                row[column] += 1
    return np.array(counts).reshape(len(stems), len(spans))


def _places(text: str, stem: str) -> Iterator[int]:
    """Where a word begins so; scripts without spaces have no beginnings, and a number does not begin a longer one."""
    at = text.find(stem)
    while at >= 0:
        begins = at == 0 or not stem[0].isascii() or not text[at - 1].isalnum()
        if begins and not (stem[-1].isdigit() and text[at + len(stem) : at + len(stem) + 1].isdigit()):
            yield at
        at = text.find(stem, at + 1)


def coverage(counts: Floats, rare: Floats) -> Floats:
    """How much of the query each passage covers, 1 for the best; 0 everywhere if no word of it occurs."""
    return _of_best((rare * (counts > 0)).sum(axis=0))


def bm25(counts: Floats, rare: Floats, lengths: Sequence[int]) -> Floats:
    """Each passage's BM25 among the passages of its memory, 1 for the best; 0 everywhere if no word of the query occurs."""
    relative = np.array(lengths) / max(sum(lengths) / len(lengths), 1.0)
    damping = _SATURATED * (1 - _BY_LENGTH + _BY_LENGTH * relative)
    return _of_best((rare * (_SATURATED + 1) * counts / (counts + damping)).sum(axis=0))


def idf(counts: Floats) -> Floats:
    """A column: the inverse document frequency of each stem."""
    homes = (counts > 0).sum(axis=1, keepdims=True)
    return np.asarray(np.log(1 + (counts.shape[1] - homes + 0.5) / (homes + 0.5)))


def _of_best(values: Floats) -> Floats:
    best = float(values.max(initial=0.0))
    return values / best if best > 0 else values
