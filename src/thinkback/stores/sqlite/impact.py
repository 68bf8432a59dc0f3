"""BM25 from postings in memory, vectorised; the scores equal those of FTS5.

    score(d) = Σ over terms of idf · f · (k1 + 1) / (f + k1 · (1 − b + b · D / avgdl))
    idf = ln((N − n + ½) / (n + ½)), at least 1e-6

with k1 = 1.2, b = 0.75, f the term's occurrences in the row weighted by column, D the row's tokens, N rows of which n hold
the term. The order of operations is FTS5's own, so a score is the same to the last bit. The postings are read from the FTS5
index; rows added later are tokenised here and kept in small segments that are merged when they are of similar size.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from thinkback.model import REFLECTION, Filter, Floats
from thinkback.stores.index.postings import MappedPostings, hashes_of
from thinkback.stores.index.reach import foremost
from thinkback.stores.sqlite import rarest
from thinkback.stores.sqlite.bm25 import K1, B, idf
from thinkback.stores.sqlite.catalogue import Catalogue, Delta, Mask, Rows, retired
from thinkback.stores.sqlite.columns import extended
from thinkback.stores.sqlite.fulltext import COLUMNS, HISTORY, PRESENT, TOKENIZER, WEIGHTS, tokenised
from thinkback.stores.sqlite.segments import Segment, merged, of_other_terms, postings_of, segment_of
from thinkback.stores.sqlite.sums import Sums
from thinkback.stores.sqlite.term_gains import MOST_GAINS, Found, Gain, Gains, Part, Term
from thinkback.stores.stemming import STEMMED
from thinkback.values import dataclass

_STEMMED = (STEMMED.encode(),)
_STEMMED_HASHES = hashes_of(_STEMMED)
_REBUILD_SHARE = 4  # rebuilt from the index when the later segments hold more than a quarter of the first one's rows
_REBUILD_ROWS = 2000
_TOKENS_KEPT = 10_000
_LONGEST = np.iinfo(np.int32).max
_FOUND_KEPT = 500
_OCCURRENCES_AT_ONCE = 300_000  # with more, room for them costs more than is saved
_READ_AT_ONCE = 512  # postings are read as fast as one row is looked up in a segment
_MOST_APART = 2048  # rows that are looked up in the postings one by one
_FEW = 32  # and at most one row in so many


@dataclass(frozen=True, slots=True, eq=False)
class Impact:
    """The inverted index of one catalogue."""

    segments: tuple[Segment | MappedPostings, ...]
    lengths: NDArray[np.int64]
    size: int  # rows of the catalogue
    words: int  # of all living rows
    alive: int  # rows that live and are no reflections
    shortest: int  # no row with a word has fewer
    stemmed: bool  # whether a text has stems of a language other than English
    known: "Gains" = field(default_factory=lambda: Gains())
    found: dict[bytes, "Found"] = field(default_factory=dict)  # terms that were asked for
    made: dict[str, Floats] = field(default_factory=dict)
    sums: Sums = field(default_factory=Sums)
    sought: set[Term] = field(default_factory=set)  # terms of which few rows were asked for
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

    @property
    def least_norm(self) -> float:
        """No row has a lower one."""
        return float(self._normed(np.array([self.shortest]))[0])

    def _normed(self, lengths: NDArray[np.int64]) -> Floats:
        average = float(self.words) / self.alive if self.alive else 1.0
        return np.asarray(K1 * (1 - B + B * lengths.astype(np.float64) / (average or 1.0)), dtype=np.float64)

    def scores(self, terms: Sequence[Term], catalogue: Catalogue) -> Floats:
        """The BM25 score of every row; 0 where no term occurs. Forms of a word that are given together share a weight."""
        return _summed(self._terms(terms, catalogue), catalogue.size)

    def best(self, terms: Sequence[Term], catalogue: Catalogue, passing: Mask, limit: int) -> tuple[Rows, Floats]:
        """The rows with the highest positive scores, including ties with the last one, and their scores."""
        count, asked = int(np.count_nonzero(passing)), _Asked(self, catalogue)
        self.look_up(terms, catalogue)
        if count <= min(_MOST_APART, len(passing) // _FEW):
            rows = np.flatnonzero(passing)
            scores = rarest.scored(asked, terms, rows)
            places = best(scores, None, limit)
            return rows[places], scores[places]
        chosen = None if count == len(passing) else passing
        found = rarest.best(asked, terms, chosen, limit)
        if found is not None:
            return found
        return self.sums.best(self._terms(terms, catalogue), catalogue.size, chosen, limit)

    def _terms(self, terms: Sequence[Term], catalogue: Catalogue) -> list[Gain]:
        return [self.gain(term, catalogue) for term in terms]

    def gain(self, term: Term, catalogue: Catalogue) -> Gain:
        """What a term adds to the scores of its rows."""
        return self.known.get(term) or self.known.put(term, self._gains(term, catalogue))

    def count(self, term: bytes, catalogue: Catalogue) -> int:
        """How many living rows hold a term."""
        return self.find(term, catalogue).living

    def find(self, term: bytes, catalogue: Catalogue) -> Found:
        """Where the postings of a term are."""
        found = self.found.get(term)
        return self._find([term], catalogue)[term] if found is None else found

    def look_up(self, terms: Sequence[Term], catalogue: Catalogue) -> None:
        """Find the postings of several terms together, which costs less than one by one."""
        forms = dict.fromkeys(form for term in terms for form in _forms(term))
        if missing := [form for form in forms if form not in self.found]:
            self._find(missing, catalogue)

    def _find(self, terms: Sequence[bytes], catalogue: Catalogue) -> dict[bytes, Found]:
        hashes, parts = hashes_of(terms), {term: list[Part]() for term in terms}
        for segment in self.segments:
            for its_parts, (start, end) in zip(parts.values(), segment.places(terms, hashes), strict=True):
                if start < end:
                    its_parts.append((segment, start, end))
        found = {term: Found(tuple(some), sum(end - start for _, start, end in some)) for term, some in parts.items()}
        if catalogue.dead:
            found = {term: replace(one, living=_living(one, catalogue)) for term, one in found.items()}
        if len(self.found) + len(found) > _FOUND_KEPT:
            self.found.clear()
        self.found.update(found)
        return found

    def asked_again(self, term: Term) -> bool:
        """Whether this was asked of the term before."""
        before = term in self.sought
        self.sought.add(term)
        return before

    def _gains(self, term: Term, catalogue: Catalogue) -> list[tuple[Rows, Floats]]:
        found = [self.find(form, catalogue) for form in _forms(term)]
        hits = sum(one.living for one in found)
        if not hits:
            return []
        weight, gains = idf(self.alive, hits), []
        for one in found:
            rows, frequencies = one.read()
            if catalogue.dead:
                living = catalogue.alive[rows]
                rows, frequencies = rows[living], frequencies[living]
            gains.append((rows, self.added(weight, rows, frequencies)))
        return gains

    def added(self, weight: float, rows: NDArray[Any], f: Floats) -> Floats:
        """What a term of this weight adds to rows in which it occurs f times."""
        return weight * ((f * (K1 + 1.0)) / (f + self._norms(rows)))


class _Asked:
    """The terms of one question, as they are looked up in an index."""

    def __init__(self, index: Impact, catalogue: Catalogue) -> None:
        self._index, self._catalogue = index, catalogue

    def hits(self, term: Term) -> int:
        return sum(self._index.count(form, self._catalogue) for form in _forms(term))

    def most(self, term: Term) -> float:
        weight, norm = idf(self._index.alive, self.hits(term)), self._index.least_norm
        frequent = [self._index.find(form, self._catalogue) for form in _forms(term)]
        return sum(weight * ((f * (K1 + 1.0)) / (f + norm)) for one in frequent if one.parts for f in (one.most,))

    def gains(self, term: Term) -> tuple[Rows, Floats]:
        gain = self._index.gain(term, self._catalogue)
        if gain.in_order:
            return gain.rows, gain.gains
        rows, places = np.unique(gain.rows, return_inverse=True)
        return rows, np.bincount(places, gain.gains, len(rows))  # type: ignore[return-value]

    def add(self, scores: Floats, rows: Rows, term: Term) -> None:
        known = self._index.known.get(term)
        if known is not None and known.in_order:
            scores += known.at(rows)
            return
        hits = self.hits(term)
        if not hits:
            return
        parts = sum(len(self._index.find(form, self._catalogue).parts) for form in _forms(term))
        few = hits <= _READ_AT_ONCE * min(len(rows), parts)
        if known is None and (few or (hits <= MOST_GAINS // 16 and self._index.asked_again(term))):
            gain = self._index.gain(term, self._catalogue)
            if gain.in_order:
                scores += gain.at(rows)
                return
        weight = idf(self._index.alive, hits)
        for form in _forms(term):
            for places, frequencies in self._index.find(form, self._catalogue).at(rows):
                scores[places] += self._index.added(weight, rows[places], frequencies)


def _living(found: Found, catalogue: Catalogue) -> int:
    return int(np.count_nonzero(catalogue.alive[found.read()[0]]))


def _has_stems(segment: Segment | MappedPostings) -> bool:
    """Whether a text has stems of a language other than English."""
    return segment.places(_STEMMED, _STEMMED_HASHES) != [(0, 0)]


def _forms(term: Term) -> tuple[bytes, ...]:
    return (term,) if isinstance(term, bytes) else term


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
    lengths, segments = np.zeros(catalogue.size, dtype=np.int64), list[Segment]()
    for found in _batches(connection.execute(sql)):
        codes = np.fromstring(",".join([text for _, _, text in found]), dtype=np.int64, sep=",")
        owners = np.repeat(np.arange(len(found)), [count for _, count, _ in found])
        rows, here = catalogue.find(codes // len(COLUMNS))
        weights = np.array(WEIGHTS)[codes % len(COLUMNS)]
        lengths += np.bincount(rows[here], minlength=catalogue.size)
        terms = [term for term, _, _ in found]
        segments.append(segment_of(terms, owners[here], rows[here], weights[here], catalogue.size))
    return measured((of_other_terms(segments, catalogue.size),), lengths, catalogue)


def _batches(found: Iterable[Any]) -> Iterator[list[tuple[bytes, int, str]]]:
    """Terms with their occurrences, so many at once that what is computed of them does not take more memory than the result."""
    batch, size = list[tuple[bytes, int, str]](), 0
    for row in found:
        batch.append(row)
        size += row[1]
        if size >= _OCCURRENCES_AT_ONCE:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def follow(old: Impact, connection: apsw.Connection, catalogue: Catalogue, delta: Delta) -> Impact | None:
    """The index of a newer catalogue, or None if a rebuild is cheaper."""
    base = max(1, sum(isinstance(segment, MappedPostings) for segment in old.segments))
    later = sum(segment.documents for segment in old.segments[base:]) + len(delta.appended)
    if later > max(_REBUILD_ROWS, sum(segment.documents for segment in old.segments[:base]) // _REBUILD_SHARE):
        return None
    if not len(delta.appended):
        return _followed(old, old.segments, old.lengths, catalogue, delta, old.stemmed) if len(delta.died) else old
    places = dict(zip(catalogue.seqs[delta.appended].tolist(), delta.appended.tolist(), strict=True))
    segment, tail = postings_of(connection, PRESENT, places)
    lengths = extended(old.lengths, int(delta.appended[0]), tail)
    stemmed = old.stemmed or _has_stems(segment)
    return _followed(old, merged((*old.segments, segment)), lengths, catalogue, delta, stemmed)


def known(
    old: Impact, connection: apsw.Connection, catalogue: Catalogue, then: int
) -> tuple[Impact, Catalogue, NDArray[np.int64]]:
    """The index as of an earlier moment, with its catalogue: retired versions that were known then are rows behind the present.

    The last value holds their numbers. Rows that were not known yet are dead in that catalogue.
    """
    everything = Filter(now=then, known_at=then, everything=True, without_kinds=(REFLECTION,))
    past = retired(connection, everything)
    segment, tail = postings_of(connection, HISTORY, {seq: catalogue.size + n for n, seq in enumerate(past.tolist())})
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
        counted_masks={},
    )
    lengths = np.concatenate([old.lengths[: catalogue.size], tail])
    return measured((*old.segments, segment), lengths, earlier), earlier, past


def measured(
    segments: tuple[Segment | MappedPostings, ...], lengths: NDArray[np.int64], catalogue: Catalogue
) -> Impact:
    """The index of these segments; `lengths` are those of the rows."""
    here = lengths[: catalogue.size]
    words = int((here[catalogue.alive] if catalogue.dead else here).sum())
    stemmed = any(_has_stems(segment) for segment in segments)
    shortest = int(here.min(where=here > 0, initial=_LONGEST))
    return Impact(segments, lengths, catalogue.size, words, living(catalogue), shortest, stemmed)


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
    new = lengths[delta.appended]
    shortest = int(new.min(where=new > 0, initial=old.shortest))
    return Impact(segments, lengths, catalogue.size, words, living(catalogue), shortest, stemmed)


def living(catalogue: Catalogue) -> int:
    """How many rows count for scores: those that live and are no reflections."""
    return catalogue.size - catalogue.dead - catalogue.counted("kind").get(REFLECTION, 0)
