"""Columns of mapped segments: put together when they are asked for, however many rows were added before or after."""

import numpy as np
import pytest
from numpy.typing import NDArray

from thinkback.stores.sqlite.columns import COLUMNS, Columns, Ids

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


def mapped(*ids: str) -> tuple[NDArray[np.uint8], NDArray[np.uint32]]:
    """Ids as a segment holds them."""
    spelled = [id.encode("utf-8", "surrogatepass") for id in ids]
    return np.frombuffer(b"".join(spelled), np.uint8), np.cumsum([len(id) for id in spelled], dtype=np.uint32)


def test_ids_are_the_same_from_segments_and_from_memory() -> None:
    every = ["a", "été", "\ud800", "long" * 50, "later", "last"]
    ids = Ids([mapped(*every[:2]), mapped(*every[2:4])])
    ids.put(4, every[4:])
    order = np.array([5, 0, 3, 1, 4, 2])
    assert ids.of(order) == [every[row] for row in order]
    assert ids.encoded(order) == [every[row].encode("utf-8", "surrogatepass") for row in order]


def test_reading_all_ids_forgets_none_that_a_search_found() -> None:
    ids = Ids([mapped(*map(str, range(30_000)))])
    assert ids[7] == "7"
    assert len(ids.encoded(np.arange(30_000))) == 30_000
    assert ids.known(["7", "8"], 30_000) == {"7": 7}


def test_of_many_ids_the_last_that_a_search_found_stay_known() -> None:
    ids = Ids([mapped(*map(str, range(30_000)))])
    for start in range(0, 29_900, 70):
        found = ids.of(np.arange(start, start + 70))
        assert len(ids.known(found, 30_000)) == 70
    assert len(ids.known(list(map(str, range(30_000))), 30_000)) <= 20_000
