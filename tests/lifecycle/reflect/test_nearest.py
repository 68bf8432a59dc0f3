"""Nearest neighbours are those of a plain comparison of all pairs, to the last bit, however the work is cut."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thinkback.lifecycle.reflect import nearest
from thinkback.lifecycle.reflect.cluster import link_all
from thinkback.lifecycle.reflect.nearest import Neighbourhood, cosines
from thinkback.model import Vector


def unit(rows: Vector) -> Vector:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def cloud(count: int, seed: int = 0, size: int = 16, centres: int = 8) -> Vector:
    chance = np.random.default_rng(seed)
    middles = chance.standard_normal((centres, size))
    return unit(middles[chance.integers(0, centres, count)] + 0.4 * chance.standard_normal((count, size)))


def oracle(matrix: Vector, at: float) -> tuple[list[int], list[float]]:
    """For every row the best other row, by float64 dot products rounded alike; ties to the smaller row."""
    near, how = [], []
    for row in range(len(matrix)):
        products = np.round((matrix.astype(np.float64) * matrix[row]).sum(axis=1), 12)
        cosine, other = min((-cosine, other) for other, cosine in enumerate(products.tolist()) if other != row)
        near.append(other if -cosine >= at else -1)
        how.append(-cosine if -cosine >= at else -np.inf)
    return near, how


def test_all_at_once_is_the_plain_comparison() -> None:
    matrix = np.concatenate([cloud(300), unit(np.random.default_rng(1).standard_normal((20, 16)))])
    found = Neighbourhood(matrix, 0.7)
    found.compare_all(np.arange(320))
    near, how = oracle(matrix, 0.7)
    assert found.nearest.tolist() == near
    assert found.cosine.tolist() == how
    assert -1 in near  # some are too far from all others


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 60), st.integers(0, 5), st.integers(0, 10_000))
def test_the_order_and_the_size_of_the_steps_do_not_matter(count: int, cuts: int, seed: int) -> None:
    matrix = cloud(count, seed, size=6)
    chance = np.random.default_rng(seed)
    found = Neighbourhood(matrix, 0.5)
    known = np.zeros(0, dtype=np.intp)
    for part in np.array_split(chance.permutation(count), cuts + 1):
        rows = np.sort(part)
        found.compare_all(rows)
        found.compare(rows, known)
        known = np.union1d(known, rows)
    whole = Neighbourhood(matrix, 0.5)
    whole.compare_all(np.arange(count))
    assert found.nearest.tolist() == whole.nearest.tolist()
    assert found.cosine.tolist() == whole.cosine.tolist()


def test_blocks_of_any_size_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = cloud(200, 3)
    answers = []
    for rows, columns in ((1, 1), (7, 13), (64, 64), (1024, 4096)):
        monkeypatch.setattr(nearest, "BLOCK_ROWS", rows)
        monkeypatch.setattr(nearest, "BLOCK_COLUMNS", columns)
        found = Neighbourhood(matrix, 0.7)
        found.compare_all(np.arange(100))
        found.compare(np.arange(100, 200), np.arange(100))
        found.compare_all(np.arange(100, 200))
        answers.append((found.nearest.tolist(), found.cosine.tolist()))
    assert all(answer == answers[0] for answer in answers)


def test_ties_go_to_the_smaller_row() -> None:
    matrix = unit(np.array([[1, 0], [1, 0], [1, 0], [0, 1]], dtype=np.float32))
    found = Neighbourhood(matrix, 0.7)
    found.compare(np.array([2, 3]), np.array([0, 1]))
    found.compare_all(np.array([0, 1]))
    found.compare_all(np.array([2, 3]))
    assert found.nearest.tolist() == [1, 0, 0, -1]


def test_what_was_known_is_taken_over_and_can_be_forgotten() -> None:
    matrix = cloud(50, 1)
    whole = Neighbourhood(matrix, 0.7)
    whole.compare_all(np.arange(50))
    linked = np.flatnonzero(whole.nearest >= 0)
    again = Neighbourhood(matrix, 0.7)
    again.set_nearest(linked, whole.nearest[linked])
    assert again.cosine.tolist() == whole.cosine.tolist()
    again.clear(linked)
    assert set(again.nearest.tolist()) == {-1}


def test_a_cosine_is_the_same_in_both_directions_and_in_any_company() -> None:
    matrix = cloud(40, 2, size=384)
    a, b = np.triu_indices(40, 1)
    together = cosines(matrix, a, b)
    assert together.tolist() == cosines(matrix, b, a).tolist()
    alone = [cosines(matrix, a[n : n + 1], b[n : n + 1])[0] for n in range(len(a))]
    assert together.tolist() == alone


# -- single linkage


def test_single_linkage_joins_by_chains() -> None:
    angles = np.radians([0, 40, 80, 180, 200, 300])  # neighbours of 40° have cosine .766, of 80° only .174
    matrix = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    assert [group.tolist() for group in link_all(matrix, 0.7)] == [[0, 1, 2], [3, 4]]


def test_single_linkage_is_the_plain_comparison() -> None:
    matrix = cloud(250, 9, centres=20)
    groups = {row: {row} for row in range(250)}
    for a in range(250):
        for b in range(a + 1, 250):
            if cosines(matrix, np.array([a]), np.array([b]))[0] >= 0.75 and groups[a] is not groups[b]:
                groups[a] |= groups[b]
                for row in groups[b]:
                    groups[row] = groups[a]
    expected = sorted({tuple(sorted(group)) for group in groups.values() if len(group) > 1})
    assert [tuple(group.tolist()) for group in link_all(matrix, 0.75)] == expected
    assert len(expected) > 3


def test_nothing_to_link() -> None:
    assert link_all(np.zeros((0, 4), dtype=np.float32), 0.7) == []
    found = Neighbourhood(np.zeros((0, 4), dtype=np.float32), 0.7)
    found.compare_all(np.arange(0))
    assert found.nearest.tolist() == []
