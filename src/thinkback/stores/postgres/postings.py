"""Postings of terms, read as packed arrays: one row a term, and a process keeps those of its last queries."""

from collections.abc import Sequence
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from thinkback.model import Floats
from thinkback.stores.postgres import words
from thinkback.stores.postgres.session import Counters, Tx
from thinkback.stores.sqlite.bm25 import K1, B, average
from thinkback.stores.stemming import STEMMED

Seqs = NDArray[np.int64]
Postings = tuple[Seqs, Floats]  # the rows that hold a term, and what each gains by it but for the term's weight
_PACKED = np.dtype([("seq", ">i8"), ("tf", ">i4"), ("len", ">i4")])
_NONE: Postings = (np.zeros(0, dtype=np.int64), np.zeros(0))
_DENSE = 16  # if at least one number in so many is held, sums are made in an array of all numbers
_READ = (
    "SELECT p.class, p.term, count(*), string_agg(int8send(p.seq) || int4send(p.tf) || int4send(p.len), '') "
    "FROM thinkback.postings p WHERE p.space = %(space)s AND p.class = ANY(%(classes)s::smallint[]) "
    "AND p.term = ANY(%(terms)s::text[]) GROUP BY p.class, p.term"
)
_COUNTED = (
    " UNION ALL SELECT p.class, p.term, count(*), NULL FROM thinkback.postings p WHERE p.space = %(space)s "
    "AND p.class = ANY(%(classes)s::smallint[]) AND p.term = %(counted)s GROUP BY p.class, p.term"
)


class Terms:
    """In which rows of a space each term stands, remembered while its contents stay the same.

    Of the term that marks texts stemmed by language only the number of rows is read.
    """

    MOST = 20_000  # terms whose number of rows is remembered
    MOST_POSTINGS = 131_072  # that are remembered, beside those of the last query; each takes 16 bytes

    def __init__(self) -> None:
        self.margin = 8  # how many rows beyond the limit a search asks about first; more where that was not enough
        self._lock = Lock()  # two legs of one recall often look for the same words; the second waits for the first
        self._reset(("", -1))

    def counts(self, tx: Tx, number: int, terms: Sequence[str]) -> dict[str, int]:
        """How many rows of a class hold each term. The postings are read too, as a search for the same words follows."""
        with self._lock:
            self._read(tx, number, terms)
            return {term: self._counts[number, term] for term in terms}

    def postings(self, tx: Tx, number: int, terms: Sequence[str]) -> dict[str, Postings]:
        """The rows of a class that hold each term."""
        with self._lock:
            self._read(tx, number, terms)
            return {term: self._postings.get((number, term), _NONE) for term in terms}

    def forget(self) -> None:
        """Drops everything, because memories were forgotten."""
        with self._lock:
            self._reset(("", -1))

    @property
    def held(self) -> int:
        """How many postings are remembered."""
        return self._held

    def _reset(self, at: tuple[str, int]) -> None:
        self._at = at
        self._counts: dict[tuple[int, str], int] = {}
        self._postings: dict[tuple[int, str], Postings] = {}
        self._held = 0

    def _read(self, tx: Tx, number: int, terms: Sequence[str]) -> None:
        at = (tx.counters.store_id, tx.counters.contents)
        if at != self._at or len(self._counts) > self.MOST:
            self._reset(at)
        unknown = [term for term in words.distinct(terms) if not self._knows(number, term)]
        if not unknown:
            return
        numbers = [words.PRESENT, words.THEMES] if tx.counters.themes else [words.PRESENT]
        marked = STEMMED in unknown
        params = tx.params(classes=numbers, terms=[term for term in unknown if term != STEMMED])
        if marked:
            params["counted"] = STEMMED
        found = {(its, term): rest for its, term, *rest in tx.rows(_READ + _COUNTED * marked, params)}
        self._make_room({(its, term) for its in numbers for term in terms})
        means = _means(tx.counters)
        for key in [(its, term) for its in numbers for term in unknown]:
            count, packed = found.get(key, (0, None))
            self._counts[key] = count
            if packed is not None:
                self._postings[key] = unpacked(packed, means[key[0]])
                self._held += count

    def _knows(self, number: int, term: str) -> bool:
        count = self._counts.get((number, term))
        return count == 0 or (count is not None and (term == STEMMED or (number, term) in self._postings))

    def _make_room(self, wanted: set[tuple[int, str]]) -> None:
        if self._held > self.MOST_POSTINGS:
            self._postings = {key: kept for key, kept in self._postings.items() if key in wanted}
            self._held = sum(len(rows) for rows, _ in self._postings.values())


def _means(counters: Counters) -> dict[int, float]:
    """The mean length of the rows of each class."""
    return {
        words.PRESENT: average(counters.tokens, counters.documents),
        words.THEMES: average(counters.theme_tokens, counters.themes),
    }


def unpacked(packed: bytes, mean: float) -> Postings:
    """Of every row that holds a term its number, and f · (k1 + 1) / (f + k1 · (1 − b + b · D / mean))."""
    rows = np.frombuffer(packed, dtype=_PACKED)
    f, length = rows["tf"].astype(np.float64), rows["len"].astype(np.float64)
    return rows["seq"].astype(np.int64), (f * (K1 + 1.0)) / (f + K1 * ((1 - B) + B * length / mean))


def summed(found: Sequence[tuple[Postings, float]]) -> tuple[Seqs, Floats]:
    """The rows that hold any of these terms, in order, and their scores: the sum of what they gain by each, times its weight.

    Terms are added in the order given.
    """
    seqs = np.concatenate([rows for (rows, _), _ in found])
    parts = np.concatenate([weight * gains for (_, gains), weight in found])
    if len(seqs) and int(seqs.max()) < _DENSE * len(seqs):
        of_all = np.asarray(np.bincount(seqs, parts), dtype=np.float64)
        held = of_all.nonzero()[0]  # every part is above zero
        return held, of_all[held]
    held, places = np.unique(seqs, return_inverse=True)
    return held, np.asarray(np.bincount(places, parts), dtype=np.float64)
