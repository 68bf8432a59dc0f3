"""Vectors kept in memory: those of the file, read once, within a bound, and none of a memory that is gone."""

from pathlib import Path

import numpy as np
import pytest

from thinkback.model import Draft, Filter
from thinkback.search.query.keywords import parse_keywords
from thinkback.stores.base import EmbeddingSpace
from thinkback.stores.sqlite import SqliteStore, derived, kept_vectors, keywords, vector_search
from thinkback.stores.sqlite import store as stores
from thinkback.stores.sqlite.kept_vectors import KeptVectors, squared

ROWS = np.random.default_rng(3).standard_normal((200, 8)).astype(np.float32)


def test_each_is_read_once_while_all_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def from_file(rows: np.ndarray, into: np.ndarray) -> np.ndarray:
        read.extend(rows.tolist())
        rows = rows[rows != 13]  # which has none
        into[: len(rows)] = ROWS[rows]
        return rows

    monkeypatch.setattr(kept_vectors, "_MOST_BYTES", 50 * 8 * 4)
    kept = KeptVectors(len(ROWS), 8)
    for asked in ([1, 2, 3], [2, 3, 4, 13], [4, 1], list(range(100, 150)), [1, 2], list(range(200)), [5]):
        rows, vectors, squares = kept.get(np.array(asked), from_file)
        assert sorted(rows.tolist()) == [row for row in sorted(asked) if row != 13]
        assert np.array_equal(vectors, ROWS[rows])
        assert np.array_equal(squares, squared(ROWS[rows]))
    assert read[:5] == [1, 2, 3, 4, 13]
    assert read[5:55] == list(range(100, 150))
    assert read[55:58] == [1, 2, 0], "a full shelf is replaced"
    assert read[-1] == 5, "what does not fit is not kept"


def test_they_go_with_a_forgotten_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (derived, stores):
        monkeypatch.setattr(module, "PAYS_FROM", 40)
    monkeypatch.setattr(keywords, "PAYS_FROM_ROWS", 0)
    monkeypatch.setattr(keywords, "PAYS_FROM_SEARCH", 1)
    with SqliteStore(tmp_path / "m.db") as store, SqliteStore(tmp_path / "m.db") as other:
        drafts = [Draft(text=f"word {number}", vector=row) for number, row in enumerate(ROWS)]
        ids = [record.id for record in store.add(drafts, 1, EmbeddingSpace("toy", 8))]
        for _ in range(2):
            store.search_vectors(ROWS[0], Filter(now=1), 5)
            store.search_keywords(parse_keywords("word"), Filter(now=1), 5)
            assert store._derived is not None
            store._derived.wait()
        store.search_vectors(ROWS[0], Filter(now=1), 5)
        before = _kept(store)
        store.search_vectors(ROWS[1], Filter(now=1), 5)
        assert _kept(store) is before
        assert before._shelf is not None
        other.forget([ids[0]])
        found = store.search_vectors(ROWS[0], Filter(now=1), 5)
        assert ids[0] not in [hit.id for hit in found]
        assert _kept(store) is not before
        exact = vector_search.cosines(ROWS[1:], ROWS[0] / np.linalg.norm(ROWS[0]))
        assert [hit.id for hit in found] == [ids[1 + row] for row in np.argsort(-exact)[:5].tolist()]


def _kept(store: SqliteStore) -> KeptVectors:
    matrix = store._indexes.latest.matrix
    assert matrix is not None
    assert matrix.kept is not None
    return matrix.kept
