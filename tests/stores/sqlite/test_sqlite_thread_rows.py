"""The rows of threads are found by runs of neighbouring rows, and among those that were appended since."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.stores.sqlite import threads

COLUMNS = st.lists(st.integers(-3, 12), max_size=60).map(lambda numbers: np.array(numbers, dtype=np.int64))
WANTED = st.sets(st.integers(-4, 14), min_size=1).map(sorted)


@pytest.mark.parametrize("unsorted", [0, 1000], ids=["sorted again", "looked through"])
@given(first=COLUMNS, appended=COLUMNS, wanted=WANTED)
def test_all_rows_of_the_threads_are_found_and_no_others(
    unsorted: int, first: np.ndarray, appended: np.ndarray, wanted: list[int]
) -> None:
    whole, known = np.concatenate([first, appended]), threads.Threads()
    with patch.object(threads, "_MOST_APPENDED", -1):
        known.rows(wanted, first)  # sorts them
    with patch.object(threads, "_MOST_APPENDED", unsorted):
        for column in (whole, first):  # the second may be of a catalogue that came before what is sorted
            rows, which = known.rows(wanted, column)
            found = sorted((wanted[place], row) for place, row in zip(which.tolist(), rows.tolist(), strict=True))
            assert found == sorted((thread, row) for row, thread in enumerate(column.tolist()) if thread in wanted)


@given(first=COLUMNS, appended=COLUMNS, wanted=WANTED, data=st.data())
def test_rows_that_are_gone_leave_the_others_in_their_threads(
    first: np.ndarray, appended: np.ndarray, wanted: list[int], data: st.DataObject
) -> None:
    whole, known = np.concatenate([first, appended]), threads.Threads()
    with patch.object(threads, "_MOST_APPENDED", -1):
        known.rows(wanted, first)  # sorts them
    gone = np.array(sorted(data.draw(st.sets(st.sampled_from(range(len(whole))))) if len(whole) else []), dtype=np.intp)
    left = np.delete(whole, gone)
    with patch.object(threads, "_MOST_APPENDED", 1000):
        rows, which = known.without(gone).rows(wanted, left)
    found = sorted((wanted[place], row) for place, row in zip(which.tolist(), rows.tolist(), strict=True))
    assert found == sorted((thread, row) for row, thread in enumerate(left.tolist()) if thread in wanted)
