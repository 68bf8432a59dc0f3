"""Codes of vectors: the bound holds for every row, and both kernels give the same whole numbers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thinkback.stores.index.codes import Block, CodedQuery, _kernel, encode, numpy_products


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 80), st.sampled_from([1, 2, 3, 17, 384, 1100]), st.floats(0, 3))
def test_the_exact_cosine_is_within_the_bound(seed: int, size: int, dimensions: int, shared: float) -> None:
    chance = np.random.default_rng(seed)
    common = shared * chance.standard_normal(dimensions)
    rows = unit(chance.standard_normal((size, dimensions)) ** 3 + common)
    query = unit(chance.standard_normal((1, dimensions)) + common)[0]
    arrays = encode(rows)
    block = Block(*(arrays[name] for name in ("codes", "scales", "errors", "norms", "mean")))
    estimate, slack = block.bounds(CodedQuery.of(query))
    wide = rows.astype(np.float64), query.astype(np.float64)
    exact = wide[0] @ wide[1] / (np.linalg.norm(wide[0], axis=1) * np.linalg.norm(wide[1]))
    assert (np.abs(estimate - exact) <= slack).all()
    some = np.arange(0, size, 2)
    assert np.array_equal(block.bounds(CodedQuery.of(query), some)[0], estimate[some])


@pytest.mark.parametrize("dimensions", [1, 7, 384, 1040, 1536])
def test_both_kernels_agree(dimensions: int) -> None:
    chance = np.random.default_rng(dimensions)
    codes = chance.integers(-127, 128, (2500, dimensions), dtype=np.int8)
    query = chance.integers(-127, 128, dimensions, dtype=np.int8)
    exact = codes.astype(np.int64) @ query.astype(np.int64)
    assert np.array_equal(numpy_products(codes, query), exact.astype(np.float32))
    assert np.array_equal(_kernel()(codes, query), exact.astype(np.float32))
