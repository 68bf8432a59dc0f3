"""Excerpts: which passage of a long memory a query is shown.

    value(passage) = (1 − w) · cosine + w · coverage,    w = 0.7

The cosine is scaled to 0 … 1 over the passages of the memory. Coverage is the sum of idf over the query's terms that occur in the
passage, divided by that of the best passage; idf = ln(1 + (n − df + ½) / (df + ½)) over the memory's own n passages, so that a word
of the whole text decides nothing. The first of equal passages wins. Without vectors, coverage alone decides.
"""

import math
from collections.abc import Sequence

import numpy as np

from thinkback.model import REFLECTION, Floats, Passage, Passages, Run, StoredRecord
from thinkback.passages import Span, split
from thinkback.search.query.parse import Query
from thinkback.stores.base import Store

WORDS = 0.7  # the share of coverage
_AT_ONCE = 20  # memories whose passages are read together
_ENDINGS = ("ing", "ed", "es", "s", "ly")
_SHORTEST_STEM = 3


class Excerpts:
    """The passages that a search shows, chosen when they are asked for; `order` has the candidates, best first."""

    def __init__(self, query: Query, order: Sequence[StoredRecord], runs: Sequence[Run], store: Store) -> None:
        self._query = query
        self._store = store
        self._stems = stems([term.text for term in query.keywords.terms])
        self._best = {
            hit.id: hit.passage for run in runs for hit in (*run.hits, *run.filled) if hit.passage is not None
        }
        self._long = [record.id for record in order if record.id in self._best]
        self._read: dict[str, Passages] = {}
        self._chosen: dict[str, Passage | None] = {}

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
        spans = () if record.kind == REFLECTION else stored.spans if stored else split(record.text)
        if not spans:
            return None
        covered = coverage(record.text, spans, self._stems)
        near = self._nearness(record, spans, stored)
        values = covered if near is None else (1 - WORDS) * near + WORDS * covered
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


def coverage(text: str, spans: Sequence[Span], stems: Sequence[str]) -> Floats:
    """How much of the query each passage covers, 1 for the best; 0 everywhere if no word of it occurs."""
    total = np.zeros(len(spans))
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters have a longer lower case, which would shift every place
        lowered = text
    for stem in stems:
        homes = [place for place, span in enumerate(spans) if _occurs(lowered, stem, span)]
        total[homes] += math.log(1 + (len(spans) - len(homes) + 0.5) / (len(homes) + 0.5))
    best = float(total.max(initial=0.0))
    return total / best if best > 0 else total


def _occurs(text: str, stem: str, span: Span) -> bool:
    """Whether a word of the passage begins so; scripts without spaces have no beginnings."""
    at = text.find(stem, span.start, span.end)
    while at > 0 and stem[0].isascii() and text[at - 1].isalnum():
        at = text.find(stem, at + 1, span.end)
    return at >= 0
