"""BM25 of passages: how well the best passage of each candidate matches the words of a query.

In a long text nearly every word occurs, so BM25 of whole texts hardly tells two of them apart. Here every passage is a text of its
own, among all passages of the candidates: idf = ln(1 + (n − df + ½) / (df + ½)) over their n passages, of which df have the word,
and Σ idf · 2.2 tf / (tf + 1.2 (¼ + ¾ length / mean)) over the words. Words are looked for by their beginnings, as for excerpts. A
short text is one passage.
"""

from collections.abc import Sequence

import numpy as np

from thinkback.model import Floats, StoredRecord
from thinkback.passages import Span
from thinkback.search.excerpts import SATURATED, Split, Table, damped, parts, rarity, stems
from thinkback.search.query.parse import Query

MOST_LETTERS = 1_000_000  # of all texts together; more are not read


def passage_words(query: Query, records: Sequence[StoredRecord]) -> Floats:
    """The best passage's BM25 of each candidate, 1 for the best of all; 0 everywhere if no word of the query occurs."""
    split = [Split(record, parts(record) or (Span(0, len(record.text)),)) for record in records]
    table = Table.of(split, stems([term.text for term in query.keywords.terms]))
    damping = damped([end - start for start, end in table.spans])
    values = [0.0] * len(table.spans)
    for counts in table.counts:
        rare = rarity(len(values), len(counts))
        for place, count in counts.items():
            values[place] += rare * (SATURATED + 1) * count / (count + damping[place])
    best = np.zeros(len(records))
    np.maximum.at(best, table.homes, values)
    most = best.max(initial=0.0)
    return best / most if most > 0 else best
