"""BM25 as FTS5 computes it, step by step, but with statistics of a larger index or one weight for several forms of a word."""

import math
from typing import Any

import apsw

from thinkback.stores.sqlite.fulltext import WEIGHTS
from thinkback.values import dataclass

K1, B = 1.2, 0.75
_LEAST_IDF = 1e-6
BY_FORMS = "bm25_by_forms"  # the function as SQL knows it


def idf(rows: int, holding: int) -> float:
    """The weight of a term, as FTS5 has it."""
    weight = math.log((rows - holding + 0.5) / (holding + 0.5))
    return _LEAST_IDF if weight <= 0.0 else weight


def average(tokens: int, rows: int) -> float:
    """The mean length of a row."""
    return (tokens / rows if rows else 1.0) or 1.0


@dataclass(frozen=True, slots=True)
class Bm25:
    """A function for FTS5; the number of rows and their mean length are those of the table unless they are given.

    Its argument tells how many phrases in turn are forms of one word, as in "1,4,4"; these share the weight of the rows that hold
    any of them. Without it, each phrase has its own.
    """

    rows: int | None = None
    average: float | None = None

    def __call__(self, api: apsw.FTS5ExtensionApi, *given: Any) -> float:
        if api.aux_data is None:
            api.aux_data = self._statistics(api, str(given[0]) if given else "")
        idfs, mean = api.aux_data
        frequencies = [0.0] * len(idfs)
        for phrase in range(len(idfs)):
            for column, offsets in enumerate(api.phrase_locations(phrase)):
                frequencies[phrase] += WEIGHTS[column] * len(offsets)
        norm = K1 * (1 - B + B * float(api.column_size()) / mean)
        score = 0.0
        for weight, f in zip(idfs, frequencies, strict=True):
            score += weight * ((f * (K1 + 1.0)) / (f + norm))
        return score

    def _statistics(self, api: apsw.FTS5ExtensionApi, sizes: str) -> tuple[list[float], float]:
        rows = api.row_count if self.rows is None else self.rows
        mean = average(api.column_total_size(), rows) if self.average is None else self.average
        holding = [_holding(api, phrase) for phrase in range(api.phrase_count)]
        grouped = [int(size) for size in sizes.split(",")] if sizes else [1] * len(holding)
        idfs: list[float] = []
        for size in grouped:
            idfs += [idf(rows, sum(holding[len(idfs) : len(idfs) + size]))] * size
        return idfs, mean


def _holding(api: apsw.FTS5ExtensionApi, phrase: int) -> int:
    seen: list[int] = []
    api.query_phrase(phrase, lambda _, rows: rows.append(1), seen)
    return len(seen)
