"""The postings of a segment."""

import random

import numpy as np
import pytest

from thinkback.stores.index import postings
from thinkback.stores.index.postings import MappedPostings, Triples


def packed(texts: list[list[bytes]]) -> dict[str, np.ndarray]:
    terms = sorted({word for text in texts for word in text})
    found = [(terms.index(word), row, text.count(word)) for row, text in enumerate(texts) for word in set(text)]
    owners, rows, counts = (np.array(column, dtype=np.int64) for column in zip(*found, strict=True))
    return postings.pack([Triples(terms, owners, rows, counts.astype(np.float64))], np.arange(len(texts)))


def opened(arrays: dict[str, np.ndarray], rows: int) -> MappedPostings:
    names = ("hashes", "spelled", "spelled_ends", "ends", "rows", "frequencies")
    return MappedPostings(0, rows, *(arrays[name] for name in names))


@pytest.mark.parametrize("seed", range(5))
def test_without_some_rows_it_is_as_if_they_had_never_been_there(seed: int) -> None:
    chance = random.Random(seed)
    words = [f"word{number}".encode() for number in range(40)] + ["grün".encode()]
    texts = [chance.choices(words, k=chance.randint(1, 6)) for _ in range(30)]
    keep = np.array([chance.random() < 0.6 for _ in texts])
    left = opened(postings.only(packed(texts), keep), int(keep.sum()))
    fresh = opened(packed([text for text, kept in zip(texts, keep, strict=True) if kept]), int(keep.sum()))
    for word in words:
        ours, theirs = slice(*left.place(word)), slice(*fresh.place(word))
        assert left.rows[ours].tolist() == fresh.rows[theirs].tolist()
        assert left.frequencies[ours].tolist() == fresh.frequencies[theirs].tolist()
    held = bytes(left.spelled)
    assert sorted(left.triples().terms) == sorted(fresh.triples().terms)
    assert len(held) == sum(len(term) for term in fresh.triples().terms)


def test_texts_one_behind_the_other() -> None:
    spelled, ends = np.frombuffer(b"onetwothree", dtype=np.uint8), np.array([3, 6, 11], dtype=np.uint32)
    some, their_ends = postings.only_texts(spelled, ends, np.array([True, False, True]))
    assert (bytes(some), their_ends.tolist()) == (b"onethree", [3, 8])
