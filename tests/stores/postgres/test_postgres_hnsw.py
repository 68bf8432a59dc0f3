"""An approximate index over one space: made by a command, used by recipes that ask for it, told in the trace."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from thinkback.errors import NotFound, StoreError
from thinkback.model import Draft, Filter
from thinkback.opening import Opener
from thinkback.search.legs import VectorLeg
from thinkback.search.recipes.named import VECTOR
from thinkback.settings import Settings
from thinkback.stores.base import EmbeddingSpace
from thinkback.stores.postgres import PostgresSpaces, hnsw, session
from thinkback.testing.contract.words import NOW, put

from codes import raises  # isort: skip
from postgres_server import LocalServer  # isort: skip

pytestmark = pytest.mark.postgres
SIZE, DIMENSIONS = 6000, 24
ROWS = np.random.default_rng(7).normal(size=(SIZE, DIMENSIONS)).astype(np.float32)
EVERYTHING = Filter(now=NOW)


class Given:
    """An embedder that answers with a vector of its own."""

    fingerprint, dimensions = "given", DIMENSIONS

    def embed_query(self, text: str) -> np.ndarray:
        return ROWS[3] / np.linalg.norm(ROWS[3])

    def embed_passages(self, texts: list[str]) -> np.ndarray:
        return np.stack([self.embed_query(text) for text in texts])


def test_an_index_is_made_used_told_and_dropped(server: LocalServer, monkeypatch: pytest.MonkeyPatch) -> None:
    url = server.database()
    spaces = PostgresSpaces(url)
    store, other = spaces.open("large"), spaces.open("other")
    drafts = [Draft(text=f"memory {n}", vector=row) for n, row in enumerate(ROWS)]
    for each, some in ((store, drafts), (other, drafts[:20])):
        each.add(some, NOW, EmbeddingSpace("given", DIMENSIONS))
    assert store.search_hnsw(ROWS[0], EVERYTHING, 10)[1] is None
    assert hnsw.listed(url) == []
    built = hnsw.build(url, "large")
    assert (built.memories, built.recall >= 0.9) == (SIZE, True)
    assert hnsw.listed(url) == [built]
    with spaces.server.connection() as connection:
        connection.execute("ANALYZE")

    plans = _plans(monkeypatch)
    found, told = store.search_hnsw(ROWS[0], EVERYTHING, 10)
    assert told is not None
    assert (told.name, told.recall, told.memories) == (built.name, built.recall, SIZE)
    assert f"Index Scan using {built.name}" in plans[-1]
    exact = store.search_vectors(ROWS[0], EVERYTHING, 10)
    assert built.name not in plans[-1]
    assert found[0] == exact[0]
    assert len({hit.id for hit in found} & {hit.id for hit in exact}) >= 8
    assert other.search_hnsw(ROWS[0], EVERYTHING, 10)[1] is None  # an index is of one space

    new = store.add([Draft(text="new", vector=ROWS[0])], NOW)[0]  # and follows every write
    assert new.id in {hit.id for hit in store.search_hnsw(ROWS[0], EVERYTHING, 3)[0]}
    assert store.search_hnsw(ROWS[0], replace(EVERYTHING, ids=frozenset({new.id})), 3)[1] is None
    memory = Opener(Settings(reranker="none"), embedder=Given(), clock=lambda: NOW).over(store)  # type: ignore[arg-type]
    recipe = replace(VECTOR, legs=(VectorLeg(index="hnsw"),))
    assert [run.index and run.index.name for run in memory.recall("any", recipe=recipe).trace.runs] == [built.name]
    assert [run.index for run in memory.recall("any", recipe=VECTOR).trace.runs] == [None]

    assert (hnsw.drop(url, "large"), hnsw.drop(url, "large")) == (True, False)
    assert store.search_hnsw(ROWS[0], EVERYTHING, 10)[1] is None
    spaces.close()


def _plans(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The plans of the searches that follow."""
    seen: list[str] = []
    execute = session.execute

    def watched(connection: Any, sql: str, params: Mapping[str, Any] | None) -> Any:
        if "thinkback.vectors v" in sql:
            rows = execute(connection, f"EXPLAIN {sql}", params).fetchall()
            seen.append("\n".join(row[0] for row in rows))
        return execute(connection, sql, params)

    monkeypatch.setattr(session, "execute", watched)
    return seen


def test_what_cannot_be_indexed_is_told(server: LocalServer) -> None:
    url = server.database()
    spaces = PostgresSpaces(url)
    spaces.create("empty")
    with raises(StoreError, "no_vectors"):
        hnsw.build(url, "empty")
    for work in (hnsw.build, hnsw.drop):
        with raises(NotFound, "unknown_space"):
            work(url, "nobody")
    put(spaces.open("empty"), "a cat")
    assert hnsw.build(url, "empty").recall == 1.0
    spaces.close()
