"""BM25 from postings in memory, vectorised; the scores equal those of FTS5.

    score(d) = Σ over terms of idf · f · (k1 + 1) / (f + k1 · (1 − b + b · D / avgdl))
    idf = ln((N − n + ½) / (n + ½)), at least 1e-6

with k1 = 1.2, b = 0.75, f the term's occurrences in the row weighted by column, D the row's tokens, N rows of which n hold
the term. The order of operations is FTS5's own, so a score is the same to the last bit. The postings are read from the FTS5
index; rows added later are tokenised here and kept in small segments that are merged when they are of similar size.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from thinkback.model import REFLECTION, Filter, Floats
from thinkback.stores.index.postings import MappedPostings, Triples
from thinkback.stores.index.reach import foremost
from thinkback.stores.sqlite.bm25 import K1, B, idf
from thinkback.stores.sqlite.catalogue import Catalogue, Delta, Mask, Rows, retired
from thinkback.stores.sqlite.columns import extended
from thinkback.stores.sqlite.fulltext import COLUMNS, HISTORY, PRESENT, TOKENIZER, WEIGHTS, tokenised
from thinkback.stores.sqlite.rows import listed
from thinkback.stores.stemming import STEMMED
from thinkback.values import dataclass

Term = bytes | tuple[bytes, ...]  # a term, or the forms of a word
_STEMMED = STEMMED.encode()
_REBUILD_SHARE = 4  # rebuilt from the index when the later segments hold more than a quarter of the first one's rows
_REBUILD_ROWS = 2000
_TOKENS_KEPT = 10_000
_MOST_APART = 2048  # rows that are looked up in the postings one by one
_FEW = 32  # and at most one row in so many
_MOST_GAINS = 1_000_000  # of terms that are kept; each takes 16 bytes


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Postings of some rows; `places[term]` is the range of its entries in `rows` and `frequencies`."""

    documents: int
    places: dict[bytes, tuple[int, int]]
    rows: NDArray[np.int32]
    frequencies: Floats

    def find(self, term: bytes) -> tuple[NDArray[np.int32], Floats] | None:
        """The rows that hold a term, and its occurrences."""
        place = self.places.get(term)
        return None if place is None else (self.rows[slice(*place)], self.frequencies[slice(*place)])

    def triples(self) -> Triples:
        """Every posting by itself; the ranges follow each other in the order of the terms."""
        counts = [end - start for start, end in self.places.values()]
        return Triples(
            list(self.places), np.repeat(np.arange(len(counts)), counts), self.rows.astype(np.int64), self.frequencies
        )


@dataclass(frozen=True, slots=True, eq=False)
class Gain:
    """What a term adds to the scores of its rows; a row stands once, in order, unless forms of a word share it."""

    rows: Rows
    gains: Floats
    in_order: bool

    @classmethod
    def of(cls, parts: Sequence[tuple[NDArray[Any], Floats]]) -> "Gain":
        rows = np.concatenate([np.zeros(0, dtype=np.intp), *(rows for rows, _ in parts)])
        return cls(
            rows, np.concatenate([np.zeros(0), *(gains for _, gains in parts)]), bool((rows[1:] > rows[:-1]).all())
        )

    def at(self, rows: Rows) -> Floats:
        """What it adds to the scores of these rows."""
        if not len(self.rows):
            return np.zeros(len(rows))
        places = np.searchsorted(self.rows, rows)
        places[places == len(self.rows)] = 0
        return np.where(self.rows[places] == rows, self.gains[places], 0.0)


class Gains:
    """The terms that were asked for, at one state of the index."""

    def __init__(self) -> None:
        self._found: dict[Term, Gain] = {}
        self._size = 0

    def get(self, term: Term) -> Gain | None:
        return self._found.get(term)

    def put(self, term: Term, parts: Sequence[tuple[NDArray[Any], Floats]]) -> Gain:
        found = Gain.of(parts)
        if self._size + len(found.rows) > _MOST_GAINS:
            self._found, self._size = {}, 0
        self._found[term] = found
        self._size += len(found.rows) + 1
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Impact:
    """The inverted index of one catalogue."""

    segments: tuple[Segment | MappedPostings, ...]
    lengths: NDArray[np.int64]
    size: int  # rows of the catalogue
    words: int  # of all living rows
    alive: int  # rows that live and are no reflections
    stemmed: bool  # whether a text has stems of a language other than English
    known: "Gains" = field(default_factory=lambda: Gains())
    made: dict[str, Floats] = field(default_factory=dict)
    asked: list[int] = field(default_factory=lambda: [0])  # for how many rows norms were asked one by one

    def _norms(self, rows: NDArray[Any]) -> Floats:
        """k1 · (1 − b + b · D / avgdl) of rows; kept for all once so many were asked for, as every write changes them all."""
        known = self.made.get("norms")
        if known is None:
            self.asked[0] += len(rows)
            if self.asked[0] <= self.size:
                return self._normed(self.lengths[rows])
            known = self.made["norms"] = self._normed(self.lengths[: self.size])
        found: Floats = known[rows]
        return found

    def _normed(self, lengths: NDArray[np.int64]) -> Floats:
        average = float(self.words) / self.alive if self.alive else 1.0
        return np.asarray(K1 * (1 - B + B * lengths.astype(np.float64) / (average or 1.0)), dtype=np.float64)

    def scores(self, terms: Sequence[Term], catalogue: Catalogue) -> Floats:
        """The BM25 score of every row; 0 where no term occurs. Forms of a word that are given together share a weight."""
        return _summed(self._terms(terms, catalogue), catalogue.size)

    def best(self, terms: Sequence[Term], catalogue: Catalogue, passing: Mask, limit: int) -> tuple[Rows, Floats]:
        """The rows with the highest positive scores, including ties with the last one, and their scores."""
        found, count = self._terms(terms, catalogue), int(np.count_nonzero(passing))
        if count > min(_MOST_APART, len(passing) // _FEW) or not all(gain.in_order for gain in found):
            scores = _summed(found, catalogue.size)
            rows = best(scores, None if count == len(passing) else passing, limit)
            return rows, scores[rows]
        rows, scores = np.flatnonzero(passing), np.zeros(count)
        for gain in found:  # term by term in their order, as for all rows
            scores += gain.at(rows)
        places = best(scores, None, limit)
        return rows[places], scores[places]

    def _terms(self, terms: Sequence[Term], catalogue: Catalogue) -> list[Gain]:
        return [self.known.get(term) or self.known.put(term, self._gains(term, catalogue)) for term in terms]

    def count(self, term: bytes, catalogue: Catalogue) -> int:
        """How many living rows hold a term."""
        known = self.known.get(term)
        if known is not None:
            return len(known.rows)
        total = 0
        for segment in self.segments:
            if isinstance(segment, MappedPostings) and not catalogue.dead:
                start, end = segment.place(term)
                total += end - start
            elif (found := _postings(segment, term, catalogue)) is not None:
                total += len(found[0])
        return total

    def _gains(self, term: Term, catalogue: Catalogue) -> list[tuple[NDArray[Any], Floats]]:
        found = [
            postings
            for form in ((term,) if isinstance(term, bytes) else term)
            for segment in self.segments
            if (postings := _postings(segment, form, catalogue)) is not None
        ]
        hits = sum(len(rows) for rows, _ in found)
        if not hits:
            return []
        weight = idf(self.alive, hits)
        return [(rows, weight * ((f * (K1 + 1.0)) / (f + self._norms(rows)))) for rows, f in found]


def _postings(
    segment: Segment | MappedPostings, term: bytes, catalogue: Catalogue
) -> tuple[NDArray[Any], Floats] | None:
    found = segment.find(term)
    if found is None:
        return None
    rows, frequencies = found
    if catalogue.dead:
        living = catalogue.alive[rows]
        rows, frequencies = rows[living], frequencies[living]
    return rows, frequencies


def _summed(found: Sequence[Gain], size: int) -> Floats:
    """What terms add to the score of every row, in the order of the terms."""
    if not found:
        return np.zeros(size)
    rows, gains = np.concatenate([gain.rows for gain in found]), np.concatenate([gain.gains for gain in found])
    return np.asarray(np.bincount(rows, gains, size), dtype=np.float64)


def best(scores: Floats, passing: Mask | None, limit: int) -> Rows:
    """The rows with the highest positive scores, including ties with the last one; unordered."""
    rows = foremost(scores, passing, limit)
    return rows[scores[rows] > 0.0]


_tokens: dict[str, Sequence[bytes]] = {}  # of words that were asked for


def tokens(connection: apsw.Connection, text: str) -> Sequence[bytes]:
    """The terms into which FTS5 splits the words of a query."""
    found = _tokens.get(text)
    if found is None:
        tokenizer = connection.fts5_tokenizer(TOKENIZER[0], list(TOKENIZER[1:]))
        if len(_tokens) >= _TOKENS_KEPT:
            _tokens.clear()
        found = _tokens[text] = tokenised(tokenizer, text.encode())
    return found


def build(connection: apsw.Connection, catalogue: Catalogue) -> Impact:
    """Read the whole index, one row per term with its occurrences as one string; fetching them row by row is slower."""
    connection.execute(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.occurrences USING fts5vocab(main, {PRESENT}, instance)"
    )
    column = "CASE col " + " ".join(f"WHEN '{name}' THEN {number}" for number, name in enumerate(COLUMNS)) + " END"
    sql = (
        f"SELECT CAST(term AS BLOB), count(*), group_concat(doc * {len(COLUMNS)} + {column}) "
        "FROM temp.occurrences GROUP BY term"
    )
    found: list[Any] = connection.execute(sql).fetchall()
    codes = np.fromstring(",".join([text for _, _, text in found]), dtype=np.int64, sep=",")
    owners = np.repeat(np.arange(len(found)), [count for _, count, _ in found])
    rows, here = catalogue.find(codes // len(COLUMNS))
    weights = np.array(WEIGHTS)[codes % len(COLUMNS)]
    lengths = np.bincount(rows[here], minlength=catalogue.size)
    segment = _segment([term for term, _, _ in found], owners[here], rows[here], weights[here], catalogue.size)
    return measured((segment,), lengths, catalogue)


def _segment(terms: Sequence[bytes], owners: Rows, rows: Rows, weights: Floats, documents: int) -> Segment:
    """A segment from single occurrences: term number, row and weight of each."""
    order = np.lexsort((rows, owners))
    owners, rows, weights = owners[order], rows[order], weights[order]
    first = np.ones(len(rows), dtype=np.bool_)
    first[1:] = (owners[1:] != owners[:-1]) | (rows[1:] != rows[:-1])
    starts = np.flatnonzero(first)
    # FTS5 sums a row's weights sequentially, as add.at does; reduceat uses pairwise summation.
    frequencies = np.zeros(len(starts))
    np.add.at(frequencies, np.cumsum(first) - 1, weights)
    bounds = np.searchsorted(owners[starts], np.arange(len(terms) + 1)).tolist()
    places = {term: (bounds[n], bounds[n + 1]) for n, term in enumerate(terms)}
    return Segment(documents, places, rows[starts].astype(np.int32), frequencies)


def follow(old: Impact, connection: apsw.Connection, catalogue: Catalogue, delta: Delta) -> Impact | None:
    """The index of a newer catalogue, or None if a rebuild is cheaper."""
    base = max(1, sum(isinstance(segment, MappedPostings) for segment in old.segments))
    later = sum(segment.documents for segment in old.segments[base:]) + len(delta.appended)
    if later > max(_REBUILD_ROWS, sum(segment.documents for segment in old.segments[:base]) // _REBUILD_SHARE):
        return None
    if not len(delta.appended):
        return _followed(old, old.segments, old.lengths, catalogue, delta, old.stemmed) if len(delta.died) else old
    places = dict(zip(catalogue.seqs[delta.appended].tolist(), delta.appended.tolist(), strict=True))
    segment, tail = _tokenised(connection, PRESENT, places)
    lengths = extended(old.lengths, int(delta.appended[0]), tail)
    stemmed = old.stemmed or segment.find(_STEMMED) is not None
    return _followed(old, _merged((*old.segments, segment)), lengths, catalogue, delta, stemmed)


def known(
    old: Impact, connection: apsw.Connection, catalogue: Catalogue, then: int
) -> tuple[Impact, Catalogue, NDArray[np.int64]]:
    """The index as of an earlier moment, with its catalogue: retired versions that were known then are rows behind the present.

    The last value holds their numbers. Rows that were not known yet are dead in that catalogue.
    """
    everything = Filter(now=then, known_at=then, everything=True, without_kinds=(REFLECTION,))
    past = retired(connection, everything)
    segment, tail = _tokenised(connection, HISTORY, {seq: catalogue.size + n for n, seq in enumerate(past.tolist())})
    alive = np.concatenate([catalogue.mask(everything, connection), np.ones(len(past), dtype=np.bool_)])
    kinds = np.concatenate([catalogue.columns["kind"][: catalogue.size], np.zeros(len(past), dtype=np.uint8)])
    # Of the catalogue only what scores need; no present memory is a reflection here.
    earlier = replace(
        catalogue,
        size=len(alive),
        alive=alive,
        dead=int(len(alive) - alive.sum()),
        columns={"kind": kinds},
        masks={},
        lasting={},
        rows_kept={},
        counts={},
        facts={},
        lines_kept={},
    )
    lengths = np.concatenate([old.lengths[: catalogue.size], tail])
    return measured((*old.segments, segment), lengths, earlier), earlier, past


def _tokenised(connection: apsw.Connection, table: str, places: Mapping[int, int]) -> tuple[Segment, NDArray[np.int64]]:
    """Postings of versions, by their numbers, in rows that follow each other."""
    tokenizer = connection.fts5_tokenizer(TOKENIZER[0], list(TOKENIZER[1:]))
    sql = f"SELECT rowid, {', '.join(COLUMNS)} FROM {table} WHERE rowid IN (SELECT value FROM json_each(?))"
    lengths, first = np.zeros(len(places), dtype=np.int64), min(places.values(), default=0)
    numbers: dict[bytes, int] = {}
    occurrences: list[tuple[int, int, float]] = []
    for seq, *columns in connection.execute(sql, (listed(list(places)),)):
        row = places[seq]
        for text, weight in zip(columns, WEIGHTS, strict=True):
            words = tokenised(tokenizer, text.encode())
            lengths[row - first] += len(words)
            occurrences += [(numbers.setdefault(word, len(numbers)), row, weight) for word in words]
    owners, rows, weights = zip(*occurrences, strict=True) if occurrences else ((), (), ())
    arrays = np.array(owners, dtype=np.intp), np.array(rows, dtype=np.intp), np.array(weights, dtype=np.float64)
    return _segment(list(numbers), *arrays, len(places)), lengths


def _merged(segments: tuple[Segment | MappedPostings, ...]) -> tuple[Segment | MappedPostings, ...]:
    """Merge the last two segments while they are of similar size; the first, built from the index, is never merged."""
    while len(segments) > 2:
        before, last = segments[-2:]
        if isinstance(before, MappedPostings) or isinstance(last, MappedPostings):
            break
        if before.documents > 2 * last.documents:
            break
        segments = (*segments[:-2], _joined((before, last)))
    return segments


def _joined(segments: Iterable[Segment]) -> Segment:
    parts: dict[bytes, list[tuple[Segment, int, int]]] = defaultdict(list)
    documents = 0
    for segment in segments:
        documents += segment.documents
        for term, (start, end) in segment.places.items():
            parts[term].append((segment, start, end))
    rows, frequencies, places, at = [], [], {}, 0
    for term, pieces in parts.items():
        rows += [segment.rows[start:end] for segment, start, end in pieces]
        frequencies += [segment.frequencies[start:end] for segment, start, end in pieces]
        places[term] = (at, at := at + sum(end - start for _, start, end in pieces))
    return Segment(documents, places, np.concatenate(rows), np.concatenate(frequencies))


def measured(
    segments: tuple[Segment | MappedPostings, ...], lengths: NDArray[np.int64], catalogue: Catalogue
) -> Impact:
    """The index of these segments; `lengths` are those of the rows."""
    here = lengths[: catalogue.size]
    words = int((here[catalogue.alive] if catalogue.dead else here).sum())
    stemmed = any(segment.find(_STEMMED) is not None for segment in segments)
    return Impact(segments, lengths, catalogue.size, words, _living(catalogue), stemmed)


def _followed(
    old: Impact,
    segments: tuple[Segment | MappedPostings, ...],
    lengths: NDArray[np.int64],
    catalogue: Catalogue,
    delta: Delta,
    stemmed: bool,
) -> Impact:
    """The same as `measured`, from what an older index has counted."""
    words = old.words + int(lengths[delta.appended].sum()) - int(lengths[delta.died].sum())
    return Impact(segments, lengths, catalogue.size, words, _living(catalogue), stemmed)


def _living(catalogue: Catalogue) -> int:
    return catalogue.size - catalogue.dead - catalogue.counted("kind").get(REFLECTION, 0)
