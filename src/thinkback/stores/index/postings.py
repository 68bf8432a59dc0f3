"""Postings of one segment: for every term the rows that hold it, and how often.

Terms stand in the order of their hash, so that one search finds several; their bytes are compared, so equal hashes do no harm.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from thinkback.model import Floats
from thinkback.stores.index.folder import Arrays
from thinkback.values import dataclass

Rows = NDArray[np.intp]
MOST_ROWS = 1 << 16  # of a segment


@dataclass(frozen=True, slots=True, eq=False)
class Triples:
    """Single postings: the number of a term in `terms`, a row, and the term's weighted occurrences there."""

    terms: Sequence[bytes]
    owners: NDArray[Any]
    rows: NDArray[Any]
    frequencies: Floats


@dataclass(frozen=True, eq=False)
class MappedPostings:
    """The postings of a segment whose first row is `first` in the catalogue."""

    first: int
    documents: int
    hashes: NDArray[np.uint32]
    spelled: NDArray[np.uint8]
    spelled_ends: NDArray[np.uint32]
    ends: NDArray[np.uint32]
    rows: NDArray[np.uint16]
    frequencies: NDArray[Any]

    @property
    def nbytes(self) -> int:
        arrays = (self.hashes, self.spelled, self.spelled_ends, self.ends, self.rows, self.frequencies)
        return sum(array.nbytes for array in arrays)

    def places(self, terms: Sequence[bytes], hashes: NDArray[np.uint32]) -> list[tuple[int, int]]:
        """Where the postings of each term begin and end; `hashes` are those of the terms, for all of which one search is enough."""
        known, spelled, spelled_ends, ends = self._views
        size, found = len(known), []
        firsts = self.hashes.searchsorted(hashes).tolist()
        for term, hashed, place in zip(terms, hashes.tolist(), firsts, strict=True):
            while place < size and known[place] == hashed:
                before = place - 1
                if spelled[spelled_ends[before] if place else 0 : spelled_ends[place]] == term:
                    found.append((ends[before] if place else 0, ends[place]))
                    break
                place += 1
            else:
                found.append((0, 0))
        return found

    @cached_property
    def _views(self) -> tuple[memoryview, memoryview, memoryview, memoryview]:
        """What tells where a term is; single numbers are read faster than through NumPy."""
        return self.hashes.data, self.spelled.data, self.spelled_ends.data, self.ends.data

    def triples(self) -> Triples:
        """Everything, to write a segment anew."""
        counts = np.diff(self.ends, prepend=np.uint32(0)).astype(np.int64)
        owners = np.repeat(np.arange(len(counts)), counts)
        terms = [self._term(place) for place in range(len(self.hashes))]
        return Triples(terms, owners, self.rows.astype(np.int64) + self.first, self.frequencies.astype(np.float64))

    def _term(self, place: int) -> bytes:
        start = int(self.spelled_ends[place - 1]) if place else 0
        return self.spelled[start : int(self.spelled_ends[place])].tobytes()


def hashes_of(terms: Sequence[bytes]) -> NDArray[np.uint32]:
    """By what terms are found."""
    return np.array([crc32(term) for term in terms], dtype=np.uint32)


def split(parts: Sequence[Triples], places: NDArray[np.int64], size: int) -> Iterator[list[Triples]]:
    """The postings of each segment of `size` rows, with rows that count from the first of their segment.

    `places` has for every row its place among those that are written, or a negative number if it is not.
    """
    segments = places // size
    count = int(segments.max(initial=-1)) + 1
    numbers = (segments + 1).clip(0).astype(np.min_scalar_type(count))  # small ones are sorted in one pass
    orders = [_by_segment(numbers[part.rows], count) for part in parts]
    for number in range(count):
        yield [
            Triples(part.terms, part.owners[here], places[part.rows[here]] - number * size, part.frequencies[here])
            for part, (order, bounds) in zip(parts, orders, strict=True)
            for here in (order[bounds[number] : bounds[number + 1]],)
        ]


def _by_segment(numbers: NDArray[Any], count: int) -> tuple[Rows, list[int]]:
    """The postings of segments one after the other, each in the given order, and where those of each begin; 0 is no segment."""
    bounds = np.cumsum(np.bincount(numbers, minlength=count + 1)).tolist()
    return np.argsort(numbers, kind="stable"), bounds


def pack(parts: Sequence[Triples]) -> dict[str, NDArray[Any]]:
    """The arrays of the postings of one segment."""
    numbers: dict[bytes, int] = {}
    owners = []
    for part in parts:
        used = np.flatnonzero(np.bincount(part.owners, minlength=len(part.terms)))
        known = np.zeros(len(part.terms), dtype=np.int64)
        known[used] = [numbers.setdefault(part.terms[n], len(numbers)) for n in used.tolist()]
        owners.append(known[part.owners])
    none = np.zeros(0, dtype=np.int64)
    return _sorted(
        list(numbers),
        np.concatenate([none, *owners]),
        np.concatenate([none, *(part.rows for part in parts)]),
        np.concatenate([np.zeros(0), *(part.frequencies for part in parts)]),
    )


def _sorted(
    terms: list[bytes], owners: NDArray[np.int64], rows: NDArray[np.int64], frequencies: Floats
) -> dict[str, NDArray[Any]]:
    hashes = hashes_of(terms)
    order = np.argsort(hashes, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    owners = rank[owners]
    by_term = np.argsort(owners << 16 | rows)  # each pair once; a row of a segment has 16 bits
    spelled = [terms[n] for n in order.tolist()]
    whole = bool(len(frequencies) == 0 or (frequencies.max() < 256 and (frequencies == np.floor(frequencies)).all()))
    return {
        "hashes": hashes[order],
        "spelled": np.frombuffer(b"".join(spelled), dtype=np.uint8),
        "spelled_ends": np.cumsum([len(term) for term in spelled], dtype=np.uint32),
        "ends": np.cumsum(np.bincount(owners, minlength=len(terms)), dtype=np.uint32),
        "rows": rows[by_term].astype(np.uint16),
        "frequencies": frequencies[by_term].astype(np.uint8 if whole else np.float64),
    }


def only(arrays: Arrays, keep: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    """The arrays of the postings of those rows that are kept, numbered anew; terms that none of them holds are gone."""
    here = keep[arrays["rows"]]
    ends = np.concatenate([np.zeros(1, dtype=np.uint32), np.cumsum(here, dtype=np.uint32)])[arrays["ends"]]
    used = np.diff(ends, prepend=np.uint32(0)) > 0
    spelled, spelled_ends = only_texts(arrays["spelled"], arrays["spelled_ends"], used)
    return {
        "hashes": arrays["hashes"][used],
        "spelled": spelled,
        "spelled_ends": spelled_ends,
        "ends": ends[used],
        "rows": (np.cumsum(keep) - 1)[arrays["rows"][here]].astype(np.uint16),
        "frequencies": arrays["frequencies"][here],
    }


def only_texts(
    spelled: NDArray[np.uint8], ends: NDArray[np.uint32], keep: NDArray[np.bool_]
) -> tuple[NDArray[np.uint8], NDArray[np.uint32]]:
    """Some of the texts that were stored one behind the other."""
    lengths = np.diff(ends, prepend=np.uint32(0))
    return spelled[np.repeat(keep, lengths)], np.cumsum(lengths[keep], dtype=np.uint32)
