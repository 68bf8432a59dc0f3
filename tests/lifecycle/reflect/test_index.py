"""Many new memories at once are linked through an index: nearly all links are the true ones, and always the same."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import reflect_fixtures
from reflect_fixtures import NOW, fill, snapshot

from thinkback.errors import Action, Remedy
from thinkback.lifecycle.reflect import hnsw, link_nearest
from thinkback.lifecycle.reflect.nearest import Neighbourhood, Rows
from thinkback.lifecycle.reflect.run import reflect
from thinkback.model import Vector
from thinkback.stores.sqlite import SqliteStore

PRINT_PROPOSALS = """
import hashlib, sys
import numpy as np
sys.path[:0] = {tests!r}
from test_index import cloud, linked
print(hashlib.sha256(linked(cloud(3000)).nearest.tobytes()).hexdigest())
"""


def cloud(count: int, size: int = 96) -> Vector:
    chance = np.random.default_rng(5)
    rows = chance.standard_normal((60, size))[chance.integers(0, 60, count)] + chance.standard_normal((count, size))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def linked(matrix: Vector, rows: Rows | None = None) -> Neighbourhood:
    near = Neighbourhood(matrix, 0.0)
    asked = np.arange(len(matrix)) if rows is None else rows
    for pairs in hnsw.candidates(matrix, asked, lambda done, total: None):
        near.compare_pairs(*pairs)
    return near


def test_nearly_all_neighbours_are_the_true_ones() -> None:
    matrix = cloud(5000)
    true = Neighbourhood(matrix, 0.0)
    true.compare_all(np.arange(5000))
    found = linked(matrix)
    assert np.mean(found.nearest == true.nearest) > 0.95
    same = found.nearest == true.nearest
    assert found.cosine[same].tolist() == true.cosine[same].tolist()  # compared again in full: the same to the last bit
    assert np.all(found.cosine <= true.cosine)


def test_only_what_is_asked_for_is_proposed_but_both_sides_learn_of_it() -> None:
    matrix = cloud(500)
    asked = np.array([7, 400])
    pairs = [pair for part in hnsw.candidates(matrix, asked, lambda d, t: None) for pair in zip(*part, strict=True)]
    assert {row for row, _ in pairs} == {7, 400}
    found = linked(matrix, asked)
    assert found.nearest[found.nearest[7]] in (7, 400)


@pytest.mark.slow
def test_every_process_proposes_the_same(tmp_path: Path) -> None:
    told = PRINT_PROPOSALS.format(tests=[str(Path(__file__).parent), str(Path(reflect_fixtures.__file__).parent)])
    answers = {subprocess.run([sys.executable, "-c", told], capture_output=True, text=True).stdout for _ in range(3)}
    assert len(answers) == 1
    assert len(answers.pop().strip()) == 64


def test_a_model_can_be_loaded_after_it() -> None:
    told = "import sys; sys.path[:0] = {tests!r}; from test_index import *; linked(cloud(50)); import onnxruntime"
    command = [
        sys.executable,
        "-c",
        told.format(tests=[str(Path(__file__).parent), str(Path(reflect_fixtures.__file__).parent)]),
    ]
    assert subprocess.run(command, check=False).returncode == 0


@pytest.mark.parametrize("copies", [1, 30])
def test_themes_in_a_row_and_equal_vectors_do_not_become_islands(copies: int) -> None:
    chance = np.random.default_rng(1)
    middles = np.repeat(chance.standard_normal((200, 64)), 30 // copies, axis=0)
    rows = middles + 0.3 * chance.standard_normal(middles.shape)
    matrix = np.repeat((rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32), copies, axis=0)
    found = linked(matrix)
    true = Neighbourhood(matrix, 0.0)
    true.compare_all(np.arange(len(matrix)))
    assert len(matrix) == 6000
    assert np.mean(found.cosine == true.cosine) > 0.99
    assert np.min(found.cosine) > 0.7  # nobody was left without a neighbour of their own theme


def test_progress_runs_to_its_end() -> None:
    told: list[tuple[int, int]] = []
    list(hnsw.candidates(cloud(300), np.arange(100), lambda done, total: told.append((done, total))))
    assert told == [(300, 400), (400, 400)]


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    return SqliteStore(tmp_path / "m.db")


def test_reflections_are_those_of_all_pairs(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store, SqliteStore(tmp_path / "pairs.db") as pairs:
        for filled in (store, pairs):
            fill(filled)
        reflect(pairs, NOW * 2)
        monkeypatch.setattr(link_nearest, "INDEX_FROM", 600)
        monkeypatch.setattr(Neighbourhood, "compare", None)  # nobody compares all pairs
        assert reflect(store, NOW * 2).warnings == ()
        assert snapshot(store) == snapshot(pairs)
        assert reflect(store, NOW * 2).created == ()


def test_a_few_new_ones_are_compared_exactly(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    with store:
        monkeypatch.setattr(link_nearest, "INDEX_FROM", 500)
        fill(store, 500)
        reflect(store, NOW * 2)
        monkeypatch.setattr(hnsw, "candidates", None)
        fill(store, 100, 500)
        assert reflect(store, NOW * 2).linked > 0


def test_without_the_extra_all_pairs_are_compared_and_the_install_line_is_told(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store:
        fill(store, 100)
        monkeypatch.setattr(link_nearest, "INDEX_FROM", 100)
        monkeypatch.setattr(hnsw, "available", lambda: False)
        made = reflect(store, NOW * 2)
        assert made.linked > 0
        (warning,) = made.warnings
        assert (warning.code, warning.remedy) == ("missing_extra", Remedy(Action.INSTALL_EXTRA, "ann"))
