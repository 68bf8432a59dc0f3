"""Columns of mapped segments: put together when they are asked for, however many rows were added before or after."""

import numpy as np
import pytest
from numpy.typing import NDArray

from thinkback.stores.sqlite.columns import COLUMNS, Columns

NAMES = [name for name, _ in COLUMNS]


def rows(*numbers: int) -> dict[str, NDArray[np.int64]]:
    """The same numbers in every column, as their kind."""
    return {name: np.array(numbers).astype(kind) for name, kind in COLUMNS}


@pytest.mark.parametrize("asked", [0, 1, 2, 3], ids="asked at the {}. state".format)
def test_a_column_is_the_same_whenever_it_is_first_asked_for(asked: int) -> None:
    states = [Columns([rows(1, 0), rows(1)])]
    expected = [[1, 0, 1]]
    for number, values in enumerate(([0], [1, 1], [0, 1])):
        if number == asked:
            assert all(states[-1][name].shape for name in NAMES)
        states.append(states[-1].appended(len(expected[-1]), rows(*values)))
        expected.append([*expected[-1], *values])
    for columns, numbers in zip(states, expected, strict=True):
        for name, kind in COLUMNS:
            found = columns[name][: len(numbers)]
            assert found.dtype == kind
            assert found.tolist() == np.array(numbers).astype(kind).tolist()


def test_what_nobody_asks_for_is_not_put_together() -> None:
    first = Columns([rows(1, 0), rows(1)])
    assert first["date"].tolist() == [1, 0, 1]
    later = first.appended(3, rows(0))
    assert set(later) == {"date"}
    assert later["date"][:4].tolist() == [1, 0, 1, 0]


def test_an_older_state_keeps_its_rows_when_two_follow_from_it() -> None:
    first = Columns([rows(1)]).appended(1, rows(0))
    one, other = first.appended(2, rows(1)), first.appended(2, rows(0, 0))
    assert [columns["date"].tolist() for columns in (first, one, other)] == [[1, 0], [1, 0, 1], [1, 0, 0, 0]]
