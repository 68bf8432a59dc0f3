"""The HNSW index: asked for by name, the same answer every time, its recall told, and reached by forgetting."""

from pathlib import Path

import numpy as np
import pytest
from codes import raises

import thinkback
from thinkback.errors import MissingExtra, RecipeError
from thinkback.model import Draft, Filter, Scored
from thinkback.search.legs import VectorLeg
from thinkback.stores.base import EmbeddingSpace
from thinkback.stores.index.folder import Folder
from thinkback.stores.sqlite import SqliteStore, derived, keywords, segment_files
from thinkback.stores.sqlite import store as stores
from thinkback.stores.sqlite.derived import folder_of

pytestmark = pytest.mark.slow

SPACE = EmbeddingSpace("toy", 32)
EVERYTHING = Filter(now=1000)


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_files, "SEGMENT_ROWS", 256)
    monkeypatch.setattr(derived, "GRAPH_SEGMENTS", 2)
    for module in (derived, stores):
        monkeypatch.setattr(module, "PAYS_FROM", 40)
    monkeypatch.setattr(keywords, "PAYS_FROM_ROWS", 0)
    monkeypatch.setattr(keywords, "PAYS_FROM_SEARCH", 1)


def vectors(count: int, seed: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((count, SPACE.dimensions)).astype(np.float32)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store of 1,200 memories, 40 of them with the same vector, with its index and graphs."""
    rows = vectors(1200)
    rows[::30] = rows[0]
    drafts = [
        Draft(text=f"note {n}", id=str(n), vector=row, tags=("rare",) * (n % 100 == 0)) for n, row in enumerate(rows)
    ]
    with thinkback.open(tmp_path / "m.db", embedder=None, reranker=None) as memory:
        store = memory.store
        assert isinstance(store, SqliteStore)
        store.add(drafts, 1, SPACE)
        for _ in range(2):  # the second finds the vectors in memory
            memory.recall("note", vector=rows[0])
        linked(store, rows[0])
    return tmp_path / "m.db"


def linked(store: SqliteStore, query: np.ndarray) -> None:
    """Ask until the segments and then the graphs are there."""
    assert store._derived is not None
    for _ in range(3):
        store._derived.wait()
        store.search_hnsw(query, EVERYTHING, 5)
    store._derived.wait()


def ids(found: list[Scored]) -> set[str]:
    return {hit.id for hit in found}


def test_it_finds_almost_what_exact_search_finds_with_the_same_scores(path: Path) -> None:
    with SqliteStore(path) as store:
        shares = []
        for query in vectors(30, seed=4):
            exact = store.search_vectors(query, EVERYTHING, 10)
            found, used = store.search_hnsw(query, EVERYTHING, 10)
            assert used is not None
            assert used.memories == 1200
            known = {hit.id: hit.score for hit in store.search_vectors(query, EVERYTHING, 1200)}
            assert all(known[hit.id] == hit.score for hit in found)
            shares.append(len(ids(exact) & ids(found)) / 10)
        assert np.mean(shares) >= 0.99


def test_the_same_index_gives_the_same_answer_in_another_process(path: Path) -> None:
    query = vectors(1, seed=5)[0]
    answers = []
    for _ in range(2):
        with SqliteStore(path) as store:
            answers.append(store.search_hnsw(query, EVERYTHING, 20))
    assert answers[0] == answers[1]


def test_equal_vectors_are_all_found(path: Path) -> None:
    with SqliteStore(path) as store:
        found, _ = store.search_hnsw(vectors(1)[0], EVERYTHING, 40)
        assert ids(found) == {str(n) for n in range(0, 1200, 30)}


def test_under_a_narrow_filter_it_searches_exactly(path: Path) -> None:
    rare = Filter(now=1000, tags=("rare",))
    with SqliteStore(path) as store:
        for query in vectors(5, seed=6):
            assert store.search_hnsw(query, rare, 10)[0] == store.search_vectors(query, rare, 10)


def test_a_filter_never_leaves_too_few(tmp_path: Path) -> None:
    """Not even one that leaves out what is nearest, which is then searched exactly; one that leaves out others is not."""
    rows, query = vectors(1200), vectors(1, seed=7)[0]
    near = np.argsort(rows @ query / np.linalg.norm(rows, axis=1))[-500:]
    kinds = np.full(len(rows), "observation")
    kinds[near], kinds[np.setdiff1d(np.arange(len(rows)), near)[::3]] = "preference", "event"
    with SqliteStore(tmp_path / "m.db") as store:
        store.add(
            [Draft(text="a", vector=row, kind=kind) for row, kind in zip(rows, kinds.tolist(), strict=True)], 1, SPACE
        )
        store.search_vectors(query, EVERYTHING, 5)  # writes the segments
        linked(store, query)
        for kind, exactly in (("preference", True), ("event", False)):
            filter = Filter(now=1000, without_kinds=(kind,))
            for limit in (5, 50):
                exact = store.search_vectors(query, filter, limit)
                found, used = store.search_hnsw(query, filter, limit)
                assert used is not None
                assert len(found) == limit
                assert (found == exact) if exactly else len(ids(found) & ids(exact)) >= 0.9 * limit


def test_forgetting_drops_the_graph_before_it_returns(path: Path) -> None:
    with SqliteStore(path) as store:
        before = {link.entry.file for link in Folder(folder_of(str(path))).manifest().graphs}
        assert len(before) == 3
        store.search_hnsw(vectors(1)[0], EVERYTHING, 5)
        store.forget(["17"])
        manifest = Folder(folder_of(str(path))).manifest()
        assert len(before & {link.entry.file for link in manifest.graphs}) == 2
        assert {file.name for file in folder_of(str(path)).glob("*.segment")} == {
            entry.file for entry in (*manifest.segments, *(link.entry for link in manifest.graphs))
        }
        assert "17" not in ids(store.search_hnsw(vectors(18)[17], EVERYTHING, 5)[0])
        linked(store, vectors(1)[0])
        assert len(Folder(folder_of(str(path))).manifest().graphs) == 3


def test_a_recall_tells_which_index_it_used(path: Path) -> None:
    query = vectors(1, seed=7)[0]
    with thinkback.open(path, embedder=None, reranker=None) as memory:
        exact = memory.recall("note", vector=query, recipe="vector", counted=False)
        found = memory.recall("note", vector=query, recipe="vector", overrides={"legs.vector.index": "hnsw"})
    (run,) = found.trace.runs
    assert run.index is not None
    assert 0.9 <= run.index.recall <= 1
    assert "hnsw" in str(run.index)
    assert exact.trace.runs[0].index is None
    assert found.trace.fingerprint != exact.trace.fingerprint


def test_a_small_store_is_searched_exactly(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "m.db") as store:
        store.add([Draft(text="a", id="a", vector=vectors(1)[0])], 1, SPACE)
        found, used = store.search_hnsw(vectors(1)[0], EVERYTHING, 5)
    assert (ids(found), used) == ({"a"}, None)


def test_without_the_library_the_remedy_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with SqliteStore(path) as store, raises(MissingExtra, "missing_extra"):
        store.search_hnsw(vectors(1)[0], EVERYTHING, 5)


def test_another_index_is_refused() -> None:
    with raises(RecipeError, "unknown_name"):
        VectorLeg(index="ivf")
