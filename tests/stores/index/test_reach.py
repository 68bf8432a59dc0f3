"""Which estimates may be among the best: the same as by sorting them all."""

import numpy as np
import pytest

from thinkback.stores.index.reach import Part, foremost, most_promising, others_in_reach


@pytest.mark.parametrize("size", [1, 5, 100, 3000, 20_000])
@pytest.mark.parametrize("share", [None, 0.0, 0.02, 0.6, 0.99])
def test_the_foremost_are_those_of_a_sort_and_ties_of_the_last(size: int, share: float | None) -> None:
    chance = np.random.default_rng(size)
    values = np.round(chance.standard_normal(size), 2).astype(np.float32)  # with ties
    passing = None if share is None else chance.random(size) < share
    for count in (1, 7, 40):
        expected = np.sort(values if passing is None else values[passing])[::-1][:count]
        least = expected[-1] if len(expected) else np.inf
        counts = np.ones(size, dtype=np.bool_) if passing is None else passing
        assert np.array_equal(foremost(values, passing, count), np.flatnonzero(counts & (values >= least)))


def test_no_row_in_reach_is_lost() -> None:
    chance = np.random.default_rng(1)
    exact, error = chance.standard_normal(9000).astype(np.float32), np.float32(0.05)
    estimate = exact + chance.uniform(-0.05, 0.05, 9000).astype(np.float32)
    passing = chance.random(6000) < 0.7
    errors = np.full(6000, error) * np.tile([1, 0.5], 3000).astype(np.float32)
    estimate[:6000] = exact[:6000] + (estimate[:6000] - exact[:6000]) * errors / error
    first = Part(estimate[:6000], errors.__getitem__, float(error), passing=passing)
    other = Part(estimate[6000:], lambda _: np.asarray(error), float(error), flipped=True)
    counts = np.concatenate([passing, np.ones(3000, dtype=np.bool_)])
    best = np.flatnonzero(counts)[np.argsort(-exact[counts])[:20]]
    some = most_promising([first, other], 20)
    assert len(some) == 20
    assert (np.diff(some) > 0).all()
    floor = float(exact[_numbers(some)].min())
    rest = others_in_reach([first, other], floor, some)
    assert not set(some.tolist()) & set(rest.tolist())
    assert set(best.tolist()) <= set(_numbers(np.concatenate([some, rest])).tolist())
    assert counts[_numbers(rest)].all()
    assert len(rest) < 100
    assert len(most_promising([first], 7000)) == passing.sum()
    assert len(others_in_reach([first], -np.inf, some)) == passing.sum() - (some >= 0).sum()


def _numbers(rows: np.ndarray) -> np.ndarray:
    return np.where(rows < 0, ~rows + 6000, rows)
