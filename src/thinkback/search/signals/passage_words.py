"""BM25 of passages: how well the best passage of each candidate matches the words of a query.

In a long text nearly every word occurs, so BM25 of whole texts hardly tells two of them apart. Here every passage is a text of its
own, among all passages of the candidates: idf = ln(1 + (n − df + ½) / (df + ½)) over their n passages, of which df have the word,
and Σ idf · 2.2 tf / (tf + 1.2 (¼ + ¾ length / mean)) over the words. Words are looked for by their beginnings, as for excerpts. A
short text is one passage.
"""

import math
from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from thinkback.model import Floats, StoredRecord
from thinkback.search.excerpts import lower, occurrences, parts, stems
from thinkback.search.query.parse import Query

MOST_LETTERS = 1_000_000  # of all texts together; more are not read
_SATURATED, _BY_LENGTH = 1.2, 0.75  # BM25's k1 and b


def passage_words(query: Query, records: Sequence[StoredRecord]) -> Floats:
    """The best passage's BM25 of each candidate, 1 for the best of all; 0 everywhere if no word of the query occurs."""
    asked = stems([term.text for term in query.keywords.terms])
    texts = [lower(record.text) for record in records]
    starts = accumulate([len(text) + 1 for text in texts], initial=0)
    spans, homes = [], []
    for home, (start, record) in enumerate(zip(starts, records, strict=False)):
        its = [(span.start, span.end) for span in parts(record)] or [(0, len(record.text))]
        spans += [(start + first, start + end) for first, end in its]
        homes += [home] * len(its)
    values = np.zeros(len(spans))
    lengths = np.array([end - start for start, end in spans], dtype=np.float64)
    damping = (_SATURATED * (1 - _BY_LENGTH + _BY_LENGTH * lengths / max(float(lengths.mean()), 1.0))).tolist()
    for counts in occurrences("\n".join(texts), spans, asked):
        rare = math.log(1 + (len(spans) - len(counts) + 0.5) / (len(counts) + 0.5))
        for place, count in counts.items():
            values[place] += rare * (_SATURATED + 1) * count / (count + damping[place])
    best = np.zeros(len(records))
    np.maximum.at(best, homes, values)
    most = best.max(initial=0.0)
    return best / most if most > 0 else best
