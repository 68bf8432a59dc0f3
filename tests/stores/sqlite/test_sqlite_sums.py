"""The best rows by what terms add up to are those of a sum over all rows, to the last bit, and the room is clean after each."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thinkback.model import Floats
from thinkback.stores.sqlite.sums import Mask, Rows, Sums
from thinkback.stores.sqlite.term_gains import Gain

ROWS = 400


def _gains(seed: int, shares: Sequence[float], forms: bool = False) -> list[Gain]:
    """What terms add to a share of the rows each; values recur, so that rows tie. With `forms` a row may stand there twice."""
    chance = np.random.default_rng(seed)
    found = []
    for share in shares:
        rows = np.flatnonzero(chance.random(ROWS) < share)
        if forms and len(rows):
            rows = np.concatenate([rows, rows[: len(rows) // 2]])
        found.append(Gain.of([(rows, chance.integers(1, 6, len(rows)) / 7)]))
    return found


def _expected(found: Sequence[Gain], passing: Mask | None, limit: int) -> dict[int, float]:
    """The rows with the `limit` highest positive sums, with ties of the last one."""
    sums = np.zeros(ROWS)
    for gain in found:
        np.add.at(sums, gain.rows, gain.gains)
    here = np.flatnonzero(sums > 0 if passing is None else (sums > 0) & passing)
    if limit <= 0 or not len(here):
        return {}
    floor = np.sort(sums[here])[::-1][min(limit, len(here)) - 1]
    return {int(row): float(sums[row]) for row in here if sums[row] >= floor}


def _as_dict(found: tuple[Rows, Floats]) -> dict[int, float]:
    rows, values = found
    assert len(set(rows.tolist())) == len(rows)
    return dict(zip(rows.tolist(), values.tolist(), strict=True))


SHARES = st.lists(st.sampled_from([0.0, 0.01, 0.04, 0.3, 1.0]), min_size=0, max_size=4)


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    questions=st.lists(SHARES, min_size=1, max_size=3),
    filtered=st.booleans(),
    forms=st.booleans(),
    limit=st.integers(1, 60),
)
def test_the_best_rows_are_those_of_a_sum_over_all_rows(seed, questions, filtered, forms, limit) -> None:
    sums = Sums()
    passing = np.random.default_rng(seed).random(ROWS) < 0.5 if filtered else None
    for number, shares in enumerate(questions):
        found = _gains(seed + number, shares, forms)
        assert _as_dict(sums.best(found, ROWS, passing, limit)) == _expected(found, passing, limit)


def test_room_is_used_again() -> None:
    sums = Sums()
    few, many = _gains(1, [0.05]), _gains(2, [0.9, 0.4])
    sums.best(few, ROWS, None, 5)
    (room,) = sums._idle
    for found in (many, few, many):
        sums.best(found, ROWS, None, 5)
        assert sums._idle[0] is room
        assert not room.any()


def test_what_an_error_left_half_done_is_not_used_again() -> None:
    sums, broken = Sums(), Gain(np.array([3, ROWS + 1]), np.array([1.0, 1.0]), in_order=True)
    for found in ([_gains(1, [0.02])[0], broken], [_gains(1, [0.9])[0], broken]):
        with pytest.raises(IndexError):
            sums.best(found, ROWS, None, 5)
        assert sums._idle == []
    found = _gains(3, [0.02, 0.3])
    assert _as_dict(sums.best(found, ROWS, None, 5)) == _expected(found, None, 5)


def test_threads_do_not_share_room() -> None:
    sums = Sums()
    questions = [_gains(seed, [0.02, 0.05] if seed % 2 else [0.6, 0.2]) for seed in range(200)]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(partial(sums.best, size=ROWS, passing=None, limit=7), questions))
    for found, answer in zip(questions, answers, strict=True):
        assert _as_dict(answer) == _expected(found, None, 7)
