"""A cosine depends on two vectors alone, and the head found in float32 is the exact one."""

import numpy as np
import pytest
from codes import raises
from hypothesis import given, settings
from hypothesis import strategies as st

from thinkback.errors import InvalidInput
from thinkback.model import Draft, Filter
from thinkback.stores.base import EmbeddingSpace
from thinkback.stores.sqlite import SqliteStore
from thinkback.stores.sqlite.generations import unit_rows
from thinkback.stores.sqlite.vector_search import cosines

NOW = 1_770_000_000_000_000


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 80), st.sampled_from([1, 2, 3, 7, 16, 129, 384]))
def test_a_cosine_is_the_same_in_any_company(seed: int, count: int, dimensions: int) -> None:
    random = np.random.default_rng(seed)
    rows = unit_rows(random.normal(size=(count, dimensions)) + 1e-3, dimensions)
    query = rows[0]
    together = cosines(rows, query)
    order = random.permutation(count)
    assert cosines(rows[order], query).tolist() == together[order].tolist()
    assert [cosines(rows[i : i + 1], query)[0] for i in range(count)] == together.tolist()


def test_the_head_is_exact_among_near_ties() -> None:
    """500 vectors within a hair of each other: float32 cannot tell them apart, the answer must."""
    random = np.random.default_rng(7)
    base = random.normal(size=96)
    rows = unit_rows(base + random.normal(size=(500, 96)) * 1e-6, 96)
    query = unit_rows([base + random.normal(size=96) * 1e-6], 96)[0]
    exact = sorted(((-score, f"m{i:03}") for i, score in enumerate(cosines(rows, query).tolist())))
    with SqliteStore(":memory:") as store:
        drafts = [Draft(text="x", id=f"m{i:03}", vector=row) for i, row in enumerate(rows)]
        store.add(drafts, NOW, EmbeddingSpace("near", 96))
        found = store.search_vectors(query, Filter(now=NOW), 20)
    assert [(-hit.score, hit.id) for hit in found] == exact[:20]


def test_scores_do_not_depend_on_the_history_of_the_cache() -> None:
    random = np.random.default_rng(3)
    rows, query = random.normal(size=(60, 24)).astype(np.float32), random.normal(size=24).astype(np.float32)
    drafts = [Draft(text="x", id=f"m{i:03}", vector=row) for i, row in enumerate(rows)]
    space, filter = EmbeddingSpace("s", 24), Filter(now=NOW)
    with SqliteStore(":memory:") as at_once, SqliteStore(":memory:") as piecemeal:
        at_once.add(drafts, NOW, space)
        for draft in reversed(drafts):
            piecemeal.add([draft], NOW, space)
            piecemeal.search_vectors(query, filter, 3)
        extra = piecemeal.add([Draft(text="y", vector=-row) for row in rows], NOW, space)
        piecemeal.search_vectors(query, filter, 3)
        piecemeal.forget([record.id for record in extra])
        piecemeal.update("m007", {"text": "changed"}, NOW, rows[7])
        piecemeal.amend({"m008": {"priority": "P1"}}, NOW)
        assert piecemeal.search_vectors(query, filter, 99) == at_once.search_vectors(query, filter, 99)


def test_unit_vectors_are_kept_bit_for_bit() -> None:
    rows = unit_rows(np.random.default_rng(1).normal(size=(50, 384)), 384)
    assert unit_rows(rows, 384).tobytes() == rows.tobytes()
    for off, kept in ((4e-7, True), (8e-7, True), (2e-6, False), (-2e-6, False)):
        given = rows.astype(np.float64) * (1 + off)
        for some in (given, given.astype(np.float32)):
            assert (unit_rows(some, 384).tobytes() == some.astype(np.float32).tobytes()) == kept


@pytest.mark.parametrize("scale", [1e-300, 1e-40, 1.0, 1e30])
def test_any_length_but_zero_is_a_direction(scale: float) -> None:
    assert unit_rows([[3 * scale, 4 * scale]], 2)[0].tolist() == pytest.approx([0.6, 0.8], abs=1e-7)


@pytest.mark.parametrize(
    ("vector", "code"),
    [
        ([0.0, 0.0], "zero_vector"),
        ([float("nan"), 1.0], "not_finite"),
        ([float("-inf"), 1.0], "not_finite"),
        ([1.0], "wrong_dimensions"),
        ([[1.0, 2.0]], "wrong_dimensions"),
        (["a", "b"], "not_numbers"),
        ([1j, 1.0], "not_numbers"),
        (None, "wrong_dimensions"),
    ],
)
def test_what_is_no_direction_is_named_with_its_place(vector: object, code: str) -> None:
    with raises(InvalidInput, code):
        unit_rows([[1.0, 0.0], vector], 2)
