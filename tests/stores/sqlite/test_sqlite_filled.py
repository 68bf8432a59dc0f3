"""A store in memory that was filled once answers as the store it was filled from, and is small."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from thinkback.model import Draft, Filter
from thinkback.search.query.keywords import parse_keywords
from thinkback.settings import Postgres
from thinkback.stores.base import EmbeddingSpace
from thinkback.stores.sqlite import SqliteStore
from thinkback.stores.sqlite import filled as filled_stores
from thinkback.stores.sqlite.filled import Contents, FilledStore, size_of_postings

NOW = 1_770_000_000_000_000
WORDS = [f"word{n}" for n in range(400)]
QUERIES = ("word1 word7 word30", '"word1 word2"', "word39*", "word5 AND word6", "word3 NOT word4", "absent")


def _pair(count: int, dimensions: int = 8, without: Sequence[int] = ()) -> tuple[SqliteStore, FilledStore]:
    """A store of random texts and vectors, and one that was filled with what it holds; some memories have no vector."""
    numbers = np.random.default_rng(7)
    weights = 1 / (np.arange(len(WORDS)) + 3)
    space = EmbeddingSpace("random", dimensions)
    vectors = numbers.normal(size=(count, dimensions))
    unit = (vectors / np.linalg.norm(vectors, axis=1)[:, None]).astype(np.float32)
    drafts = [
        Draft(
            id=f"m{n:05}",
            text=" ".join(numbers.choice(WORDS, 18, p=weights / weights.sum())),
            thread=f"t{n // 20}",
            created_at=NOW - n,
            vector=None if n in without else unit[n],
        )
        for n in range(count)
    ]
    store = SqliteStore(":memory:")
    records = store.add(drafts, NOW, space)
    held = [n for n in range(count) if n not in without]
    given = store.vectors([records[n].id for n in held])
    rows = np.stack([given[records[n].id] for n in held])
    contents = Contents(
        dict(enumerate(records, 1)), space, np.array(held, dtype=np.int64) + 1, rows, {}, list(store.export_edges())
    )
    return store, FilledStore(contents)


def _answers(store: SqliteStore, dimensions: int, filter: Filter) -> list[Any]:
    query = np.random.default_rng(3).normal(size=dimensions).astype(np.float32)
    exact = parse_keywords("word1 word2", exact=True)
    return [
        *(store.search_keywords(parse_keywords(text), filter, 20) for text in QUERIES),
        store.search_keywords(exact, filter, 20),
        store.search_vectors(query, filter, 20),
        store.recent(filter, 5),
        store.dated(NOW - 40, filter, 5),
        store.count(filter),
        store.frequencies(["word1", "word30", "absent"]),
        store.edges(["m00030", "m00031"], filter, 4),
        {id: vector.tolist() for id, vector in store.vectors(["m00030", "m00004", "absent", "m00001"]).items()},
        store.get(["m00030", "absent"]),
    ]


@pytest.mark.parametrize("rows_of_a_segment", [1 << 16, 64])
def test_it_answers_as_the_store_it_was_filled_from(monkeypatch: pytest.MonkeyPatch, rows_of_a_segment: int) -> None:
    monkeypatch.setattr(filled_stores, "MOST_ROWS", rows_of_a_segment)
    store, filled = _pair(300, without=(4, 77))
    for filter in (Filter(now=NOW), Filter(now=NOW, threads=("t3", "t4")), Filter(now=NOW, since=NOW - 100)):
        assert _answers(filled, 8, filter) == _answers(store, 8, filter)
    assert "m00004" not in filled.vectors(["m00004"])


def test_it_holds_vectors_once_and_texts_once() -> None:
    _, filled = _pair(50)
    with filled._connections.read() as connection:
        assert connection.execute("SELECT count(*) FROM vectors").get == 0
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
    assert "fts_content" not in tables
    assert "memories_created" not in tables


def test_ten_spaces_of_ten_thousand_memories_fit_by_default() -> None:
    """Bytes are counted at 2,000 memories of 384 numbers; more take no more each."""
    _, filled = _pair(2000, 384)
    each = filled.size / 2000
    assert 384 * 4 < each < 3000
    assert 10 * 10_000 * each < Postgres().copies_mb << 20


def test_what_it_counts_is_what_it_takes() -> None:
    """The parts that grow: pages, vectors, packed postings."""
    _, filled = _pair(1000, 64)
    view = filled._indexes.latest
    assert view.matrix is not None
    assert view.impact is not None
    with filled._connections.read() as connection:
        pages = connection.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").get
    arrays = view.matrix.vectors.nbytes + size_of_postings(view.impact)
    columns = sum(column.nbytes for column in view.catalogue.columns.values()) + view.catalogue.seqs.nbytes
    assert pages + arrays + columns <= filled.size <= 2 * (pages + arrays + columns)
    assert view.matrix.vectors.nbytes == 1000 * 64 * 4
