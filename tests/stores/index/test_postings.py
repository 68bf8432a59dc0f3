"""The postings of a segment."""

import random
from zlib import crc32

import numpy as np
import pytest

from thinkback.stores.index import postings
from thinkback.stores.index.postings import MappedPostings, Triples


def packed(texts: list[list[bytes]]) -> dict[str, np.ndarray]:
    terms = sorted({word for text in texts for word in text})
    found = [(terms.index(word), row, text.count(word)) for row, text in enumerate(texts) for word in set(text)]
    owners, rows, counts = (np.array(column, dtype=np.int64) for column in zip(*found, strict=True))
    return postings.pack([Triples(terms, owners, rows, counts.astype(np.float64))])


def opened(arrays: dict[str, np.ndarray], rows: int) -> MappedPostings:
    names = ("hashes", "spelled", "spelled_ends", "ends", "rows", "frequencies")
    return MappedPostings(0, rows, *(arrays[name] for name in names))


def place_of(term: bytes, held: MappedPostings) -> slice:
    return slice(*held.places([term], postings.hashes_of([term]))[0])


def test_terms_of_equal_hashes_are_told_apart() -> None:
    equal = [b"plumless", b"buckeroo"]  # which have the same CRC-32
    assert crc32(equal[0]) == crc32(equal[1])
    terms = [*equal, b"", b"cat", b"zebra", b"absent"]
    held = opened(packed([[b"cat", equal[0]], [equal[0], equal[1]], [b"zebra"]]), 3)
    found = [held.rows[slice(*place)].tolist() for place in held.places(terms, postings.hashes_of(terms))]
    assert found == [[0, 1], [1], [], [0], [2], []]
    only_one = opened(packed([[equal[1]]]), 1)
    assert only_one.places(equal, postings.hashes_of(equal)) == [(0, 0), (0, 1)]


@pytest.mark.parametrize("seed", range(5))
def test_without_some_rows_it_is_as_if_they_had_never_been_there(seed: int) -> None:
    chance = random.Random(seed)
    words = [f"word{number}".encode() for number in range(40)] + ["grün".encode()]
    texts = [chance.choices(words, k=chance.randint(1, 6)) for _ in range(30)]
    keep = np.array([chance.random() < 0.6 for _ in texts])
    left = opened(postings.only(packed(texts), keep), int(keep.sum()))
    fresh = opened(packed([text for text, kept in zip(texts, keep, strict=True) if kept]), int(keep.sum()))
    for word in words:
        ours, theirs = place_of(word, left), place_of(word, fresh)
        assert left.rows[ours].tolist() == fresh.rows[theirs].tolist()
        assert left.frequencies[ours].tolist() == fresh.frequencies[theirs].tolist()
    held = bytes(left.spelled)
    assert sorted(left.triples().terms) == sorted(fresh.triples().terms)
    assert len(held) == sum(len(term) for term in fresh.triples().terms)


@pytest.mark.parametrize("seed", range(5))
def test_postings_that_are_split_once_give_the_segments_that_each_row_by_itself_gives(seed: int) -> None:
    numbers = np.random.default_rng(seed)
    count, size = 150, 32
    part_of = numbers.integers(3, size=count)  # every row is in one part
    parts = []
    for number in range(3):
        terms = [f"word{n}".encode() for n in numbers.permutation(60)[:40]]
        owners, rows = np.nonzero((numbers.random((40, count)) < 0.1) & (part_of == number))
        order = numbers.permutation(len(rows))
        parts.append(Triples(terms, owners[order], rows[order], numbers.integers(1, 9, len(rows)) / 2))
    places = np.full(count, -1, dtype=np.int64)
    written = np.flatnonzero(numbers.random(count) < 0.8)
    places[written] = np.arange(len(written))
    found = [postings.pack(some) for some in postings.split(parts, places, size)]
    assert len(found) == -(-len(written) // size) > 3
    for number, arrays in enumerate(found):
        held = opened(arrays, size)
        expected: dict[bytes, dict[int, float]] = {}
        for part in parts:
            for owner, row, f in zip(part.owners.tolist(), part.rows.tolist(), part.frequencies.tolist(), strict=True):
                if places[row] >= 0 and places[row] // size == number:
                    expected.setdefault(part.terms[owner], {})[int(places[row]) % size] = f
        assert held.hashes.tolist() == sorted(crc32(term) for term in expected)
        for term, rows in expected.items():
            place = place_of(term, held)
            assert dict(zip(held.rows[place].tolist(), held.frequencies[place].tolist(), strict=True)) == rows
            assert held.rows[place].tolist() == sorted(rows)
        assert len(held.rows) == sum(map(len, expected.values()))


def test_nothing_to_write_gives_no_segment() -> None:
    part = Triples([b"word"], *(np.zeros(1, dtype=np.int64) for _ in range(2)), np.ones(1))
    assert list(postings.split([part], np.array([-1]), 8)) == []
    assert list(postings.split([], np.arange(9), 8)) == [[], []]


def test_texts_one_behind_the_other() -> None:
    spelled, ends = np.frombuffer(b"onetwothree", dtype=np.uint8), np.array([3, 6, 11], dtype=np.uint32)
    some, their_ends = postings.only_texts(spelled, ends, np.array([True, False, True]))
    assert (bytes(some), their_ends.tolist()) == (b"onethree", [3, 8])
