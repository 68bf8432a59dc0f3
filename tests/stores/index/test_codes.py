"""Codes of vectors: the bound holds for every row, and both kernels give the same whole numbers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thinkback.stores.index.blocks import Blocks
from thinkback.stores.index.codes import Block, CodedQuery, _kernel, encode, numpy_products


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([1, 2, 30, 80, 300, 1100]),
    st.sampled_from([1, 2, 3, 17, 384, 1100]),
    st.floats(0, 3),
)
def test_the_exact_cosine_is_within_the_bound(seed: int, size: int, dimensions: int, shared: float) -> None:
    chance = np.random.default_rng(seed)
    common = shared * chance.standard_normal(dimensions)
    rows = unit(chance.standard_normal((size, dimensions)) ** 3 + common)
    query = unit(chance.standard_normal((1, dimensions)) + common)[0]
    arrays = encode(rows)
    block = Block.of(arrays)
    coded = CodedQuery.of(query)
    blocks = Blocks([block, block])
    every = np.arange(2 * size)
    estimate, slack = blocks.estimates(coded)[size:], blocks.off(coded, every)[size:]
    wide = rows.astype(np.float64), query.astype(np.float64)
    exact = wide[0] @ wide[1] / (np.linalg.norm(wide[0], axis=1) * np.linalg.norm(wide[1]))
    assert (np.abs(estimate - exact) <= slack).all()
    some = np.arange(0, 2 * size, 3)
    assert np.array_equal(blocks.some(some).estimates(coded), np.tile(estimate, 2)[some])
    assert np.array_equal(Blocks([block]).some(every[:size]).estimates(coded), estimate)
    assert slack.max() <= blocks.most_off(coded) + 1e-6
    floor = float(np.median(exact))
    near = np.isin(every[size:], blocks.some(every[size // 2 :]).reaching(coded, floor))
    assert near[exact >= floor].all()
    assert not near[exact < floor - 2 * (block.errors + 2e-5)].any()
    count = max(1, size // 3)
    kept = blocks.some(every[size:]).foremost(coded, count) - size
    worst = np.sort(exact)[-count]
    assert np.isin(np.flatnonzero(exact >= worst), kept).all()
    assert (exact[kept] >= worst - 4 * (block.errors.max() + 2e-5)).all()


@pytest.mark.parametrize("dimensions", [1, 7, 384, 1040, 1536])
def test_both_kernels_agree(dimensions: int) -> None:
    chance = np.random.default_rng(dimensions)
    codes = chance.integers(-127, 128, (2500, dimensions), dtype=np.int8)
    query = chance.integers(-127, 128, dimensions, dtype=np.int8)
    exact = codes.astype(np.int64) @ query.astype(np.int64)
    assert np.array_equal(numpy_products(codes, query), exact.astype(np.float32))
    assert np.array_equal(_kernel()(codes, query), exact.astype(np.float32))


def test_no_vector_can_be_computed_from_the_centre_and_the_others() -> None:
    numbers = np.random.default_rng(4)
    rows = unit(numbers.standard_normal((2000, 48)) + 2 * numbers.standard_normal(48))
    stored, exact = encode(rows)["mean"].astype(np.float64), rows.mean(axis=0, dtype=np.float64)
    assert np.abs(stored - exact).max() <= 1 / 512 + 1e-9  # it is near the mean all the same

    def guessed(mean: np.ndarray, row: int) -> float:
        guess = len(rows) * mean - np.delete(rows, row, axis=0).sum(axis=0, dtype=np.float64)
        return float(guess @ rows[row] / np.linalg.norm(guess))

    assert min(guessed(exact, row) for row in range(50)) > 0.999
    assert max(abs(guessed(stored, row)) for row in range(50)) < 0.5


def test_few_rows_have_no_centre() -> None:
    rows = unit(np.random.default_rng(4).standard_normal((1000, 8)) + 2)
    assert not encode(rows)["mean"].any()
