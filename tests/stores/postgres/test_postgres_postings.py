"""Keyword search by packed postings: few rows are read, and the scores are SQLite's to the last bit."""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from thinkback.model import Draft, Filter, Scored
from thinkback.stores.base import Store
from thinkback.stores.postgres import PostgresSpaces, session
from thinkback.stores.postgres.postings import Terms, summed, unpacked
from thinkback.stores.postgres.server import Numbers
from thinkback.stores.postgres.store import PostgresStore
from thinkback.stores.sqlite import SqliteStore
from thinkback.stores.sqlite.bm25 import K1, B
from thinkback.testing.contract.words import NOW, SPACE, TOY, by_keyword, by_vector, put

pytestmark = pytest.mark.postgres
Rows = list[tuple[Any, ...]]


@pytest.fixture
def both(shared_spaces: PostgresSpaces, tmp_path: Path) -> Iterator[tuple[Store, PostgresStore]]:
    """A file, and a space that has no copy."""
    space = shared_spaces.open("postings")
    with (
        SqliteStore(tmp_path / "a.db") as here,
        PostgresStore(shared_spaces.server, space._sessions.space, "postings") as there,
    ):
        yield here, there
    shared_spaces.drop("postings")


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[Rows]:
    """The rows of every statement."""
    seen: list[Rows] = []
    rows = session.Tx.rows

    def watched(self: session.Tx, *given: Any) -> Rows:
        seen.append(rows(self, *given))
        return seen[-1]

    monkeypatch.setattr(session.Tx, "rows", watched)
    return seen


def _fill(both: tuple[Store, Store], count: int = 300) -> None:
    """All hold a cat; no two are of the same length."""
    drafts = [_draft(n, f"cat {n % 7} " + "sleeps well " * n) for n in range(count)]
    for store in both:
        store.add(drafts, NOW, SPACE)


def _draft(n: int, text: str, **fields: Any) -> Draft:
    return Draft(id=f"m{n:04}", text=text, vector=TOY.embed_query(text[:40]), **fields)


def _found(both: tuple[Store, Store], text: str, limit: int = 10, **asked: Any) -> list[Scored]:
    here, there = (by_keyword(store, text, Filter(now=NOW, **asked), limit) for store in both)
    assert here == there
    return here


def test_a_word_is_one_row_and_few_memories_are_asked_about(
    both: tuple[Store, PostgresStore], read: list[Rows]
) -> None:
    _fill(both)
    read.clear()
    assert len(by_keyword(both[1], "cat sleeps", limit=10)) == 10
    postings, memories = read
    assert len(postings) == 2  # of 600 postings
    assert 10 <= len(memories) <= 10 + 8
    assert _found(both, "cat sleeps") != []


def test_words_that_were_asked_for_are_not_read_again_until_a_write(
    both: tuple[Store, PostgresStore], read: list[Rows]
) -> None:
    _fill(both, 50)
    first = _found(both, "cat sleeps")
    read.clear()
    assert len(_found(both, "sleeps cat")) == len(first)
    assert len(read) == 1
    for store in both:
        store.add([_draft(999, "a cat that sleeps")], NOW, SPACE)
    read.clear()
    assert _found(both, "cat sleeps") != first
    assert len(read) == 2


def test_frequencies_and_a_search_for_the_same_words_read_them_once(
    both: tuple[Store, PostgresStore], read: list[Rows]
) -> None:
    _fill(both, 50)
    read.clear()
    assert both[1].frequencies(["cat", "sleeps", "bird"]) == (50, {"cat": 50, "sleeps": 49, "bird": 0})
    assert len(by_keyword(both[1], "cat sleeps bird")) == 50
    assert len(read) == 2


def test_only_so_many_postings_are_kept(
    both: tuple[Store, PostgresStore], monkeypatch: pytest.MonkeyPatch, read: list[Rows]
) -> None:
    monkeypatch.setattr(Terms, "MOST_POSTINGS", 60)
    _fill(both, 50)
    terms = both[1]._caches.terms
    for word in ("cat", "sleeps", "well", "3"):
        _found(both, word)
        assert terms.held == sum(len(rows) for rows, _ in terms._postings.values()) <= 60 + 50
    read.clear()
    assert both[1].frequencies(["cat", "sleeps", "well", "3"])[1]["cat"] == 50
    _found(both, "cat sleeps well 3")
    assert len(read) == 2  # those of one query are kept together, however many they are


def test_what_was_forgotten_is_in_no_postings_of_the_process(both: tuple[Store, PostgresStore]) -> None:
    _fill(both, 5)
    assert len(by_keyword(both[1], "cat")) == 5
    assert both[1]._caches.terms._postings
    both[1].forget(["m0003"])
    assert not both[1]._caches.terms._postings
    both[0].forget(["m0003"])
    assert len(_found(both, "cat")) == 4


def test_the_rest_is_asked_about_if_the_best_do_not_pass(both: tuple[Store, PostgresStore], read: list[Rows]) -> None:
    """Of the shortest, which score best, none is in force."""
    drafts = [_draft(n, "cat " + "sleeps " * n, valid_to=NOW - 1 if n < 60 else None) for n in range(200)]
    for store in both:
        store.add(drafts, NOW, SPACE)
    read.clear()
    assert [hit.id for hit in by_keyword(both[1], "cat", limit=5)] == [f"m{n:04}" for n in range(60, 65)]
    assert len(read) == 3
    assert len(_found(both, "cat", 5)) == 5
    read.clear()
    for _ in range(3):
        by_keyword(both[1], "cat", limit=5)
    assert len(read) == 3  # it has learned how many to ask about, and the words are known


@pytest.mark.parametrize(
    "asked", [{"threads": ("t3",)}, {"ids": frozenset({"m0007", "m0008"})}, {"tags": ("rare",)}, {"since": NOW - 50}]
)
def test_a_filter_is_one_statement_more(
    both: tuple[Store, PostgresStore], read: list[Rows], asked: dict[str, Any]
) -> None:
    drafts = [
        _draft(n, f"cat {n % 5} sleeps", thread=f"t{n % 9}", tags=("rare",) if n % 50 == 0 else (), created_at=NOW - n)
        for n in range(200)
    ]
    for store in both:
        store.add(drafts, NOW, SPACE)
    read.clear()
    assert by_keyword(both[1], "cat 3", Filter(now=NOW, **asked), 5)
    assert len(read) == 2
    assert _found(both, "cat 3", 5, **asked)


def test_a_word_may_stand_in_a_text_very_often(both: tuple[Store, PostgresStore]) -> None:
    """Neither the number of its occurrences nor that of all words is cut off."""
    drafts = [_draft(1, "cat " * 70_000), _draft(2, "cat " + "dog " * 70_000), _draft(3, "a cat and a dog")]
    for store in both:
        store.add(drafts, NOW, SPACE)
    assert {hit.id for hit in _found(both, "cat dog")} == {"m0001", "m0002", "m0003"}


def test_exact_vectors_are_sent_only_of_those_that_can_be_among_the_best(store: Store, read: list[Rows]) -> None:
    put(store, *(f"cat {n} sleeps in room {n * n}" for n in range(300)))
    read.clear()
    assert len(by_vector(store, "cat 5 sleeps in room 25", limit=5)) == 5
    rows = read[-1]
    sent = [row for row in rows if row[5] is not None]
    assert len(rows) == 5 + 16
    assert 5 <= len(sent) < 5 + 16


def test_a_search_by_vector_learns_how_many_it_must_read(both: tuple[Store, PostgresStore], read: list[Rows]) -> None:
    """Of a hundred equal vectors none can be left out before their ids are compared."""
    drafts = [_draft(n, "a cat sleeps") for n in range(100)]
    for store in both:
        store.add(drafts, NOW, SPACE)
    asked = []
    for _ in range(4):
        read.clear()
        assert by_vector(both[1], "a cat", limit=5) == by_vector(both[0], "a cat", limit=5)
        asked.append(len(read))
    assert asked[0] > asked[-1] == 1


def test_the_sum_is_that_of_the_formula_whichever_way_it_is_made() -> None:
    near = unpacked(struct.pack(">qiiqii", 1, 2, 10, 3, 1, 20), 15.0)
    far = unpacked(struct.pack(">qiiqii", 3, 4, 20, 10**9, 1, 30), 15.0)
    last = unpacked(struct.pack(">qii", 3, 4, 20), 15.0)

    def part(idf: float, f: float, length: float) -> float:
        return idf * ((f * (K1 + 1.0)) / (f + K1 * (1 - B + B * length / 15.0)))

    seqs, scores = summed([(near, 2.0), (far, 0.5)])
    assert seqs.tolist() == [1, 3, 10**9]
    assert scores.tolist() == [part(2.0, 2, 10), part(2.0, 1, 20) + part(0.5, 4, 20), part(0.5, 1, 30)]
    seqs, scores = summed([(near, 2.0), (last, 0.5)])
    assert seqs.tolist() == [1, 3]
    assert scores.tolist() == [part(2.0, 2, 10), part(2.0, 1, 20) + part(0.5, 4, 20)]


def test_numbers_reach_the_server_as_they_are(shared_spaces: PostgresSpaces) -> None:
    values = np.array([0, -1, 2**62, 7], dtype=np.int64)
    with shared_spaces.server.connection() as connection:
        for given in (values, values[:0]):
            assert connection.execute("SELECT %b", (Numbers.of(given),)).fetchone() == (given.tolist(),)
