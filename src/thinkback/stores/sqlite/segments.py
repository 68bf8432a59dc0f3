"""Postings in memory: of rows that were added since the derived index was written, or of all where there is none."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import apsw
import numpy as np
from numpy.typing import NDArray

from thinkback.model import Floats
from thinkback.stores.index.postings import MappedPostings, Triples
from thinkback.stores.sqlite.fulltext import COLUMNS, TOKENIZER, WEIGHTS, tokenised
from thinkback.stores.sqlite.rows import listed
from thinkback.values import dataclass

Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Postings of some rows; `ranges[term]` is where its entries are in `rows` and `frequencies`."""

    documents: int
    ranges: dict[bytes, tuple[int, int]]
    rows: NDArray[np.int32]
    frequencies: Floats

    @property
    def first(self) -> int:
        """What is added to its rows: they are the catalogue's."""
        return 0

    def places(self, terms: Sequence[bytes], _: NDArray[np.uint32]) -> list[tuple[int, int]]:
        """Where the postings of each term begin and end."""
        return [self.ranges.get(term, (0, 0)) for term in terms]

    def triples(self) -> Triples:
        """Every posting by itself; the ranges follow each other in the order of the terms."""
        counts = [end - start for start, end in self.ranges.values()]
        owners = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        return Triples(list(self.ranges), owners, self.rows, self.frequencies)


def segment_of(terms: Sequence[bytes], owners: Rows, rows: Rows, weights: Floats, documents: int) -> Segment:
    """A segment from single occurrences: term number, row and weight of each."""
    later, same = owners[1:] > owners[:-1], owners[1:] == owners[:-1]
    if not (later | same & (rows[1:] >= rows[:-1])).all():  # else they come from an index that was read term by term
        order = np.lexsort((rows, owners))
        owners, rows, weights = owners[order], rows[order], weights[order]
    first = np.ones(len(rows), dtype=np.bool_)
    first[1:] = (owners[1:] != owners[:-1]) | (rows[1:] != rows[:-1])
    starts = np.flatnonzero(first)
    if (weights == 1).all():
        frequencies = np.diff(starts, append=len(rows)).astype(np.float64)
    else:  # FTS5 sums a row's weights sequentially, as add.at does; reduceat uses pairwise summation
        frequencies = np.zeros(len(starts))
        np.add.at(frequencies, np.cumsum(first) - 1, weights)
    bounds = np.searchsorted(owners[starts], np.arange(len(terms) + 1)).tolist()
    places = {term: (bounds[n], bounds[n + 1]) for n, term in enumerate(terms)}
    return Segment(documents, places, rows[starts].astype(np.int32), frequencies)


def of_other_terms(segments: Sequence[Segment], documents: int) -> Segment:
    """One segment of several over the same rows, none of which has a term of another."""
    ranges, at = dict[bytes, tuple[int, int]](), 0
    for segment in segments:
        ranges |= {term: (start + at, end + at) for term, (start, end) in segment.ranges.items()}
        at += len(segment.rows)
    rows = [np.zeros(0, dtype=np.int32), *(segment.rows for segment in segments)]
    return Segment(
        documents, ranges, np.concatenate(rows), np.concatenate([np.zeros(0), *(one.frequencies for one in segments)])
    )


def postings_of(
    connection: apsw.Connection, table: str, places: Mapping[int, int]
) -> tuple[Segment, NDArray[np.int64]]:
    """Postings of versions, by their numbers, in rows that follow each other."""
    tokenizer = connection.fts5_tokenizer(TOKENIZER[0], list(TOKENIZER[1:]))
    sql = f"SELECT rowid, {', '.join(COLUMNS)} FROM {table} WHERE rowid IN (SELECT value FROM json_each(?))"
    words: list[bytes] = []
    texts: list[tuple[int, float, int]] = []  # of every text its row, its weight and how many of the words are its
    for seq, *columns in connection.execute(sql, (listed(list(places)),)):
        for text, weight in zip(columns, WEIGHTS, strict=True):
            if text:
                found = tokenised(tokenizer, text.encode())
                texts.append((places[seq], weight, len(found)))
                words += found
    rows, weights, counts = zip(*texts, strict=True) if texts else ((), (), ())
    lengths = np.zeros(len(places), dtype=np.int64)
    np.add.at(lengths, np.array(rows, dtype=np.intp) - min(places.values(), default=0), counts)
    numbers = {word: number for number, word in enumerate(dict.fromkeys(words))}
    owners = np.fromiter(map(numbers.__getitem__, words), dtype=np.intp, count=len(words))
    by_word = np.repeat(np.array(rows, dtype=np.intp), counts), np.repeat(np.array(weights, dtype=np.float64), counts)
    return segment_of(list(numbers), owners, *by_word, len(places)), lengths


def merged(segments: tuple[Segment | MappedPostings, ...]) -> tuple[Segment | MappedPostings, ...]:
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
        for term, (start, end) in segment.ranges.items():
            parts[term].append((segment, start, end))
    rows, frequencies, places, at = [], [], {}, 0
    for term, pieces in parts.items():
        rows += [segment.rows[start:end] for segment, start, end in pieces]
        frequencies += [segment.frequencies[start:end] for segment, start, end in pieces]
        places[term] = (at, at := at + sum(end - start for _, start, end in pieces))
    return Segment(documents, places, np.concatenate(rows), np.concatenate(frequencies))
