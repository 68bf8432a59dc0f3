"""What several graphs find is cut to what one graph would return."""

import numpy as np

from thinkback.stores.index.graphs import nearest


def test_the_nearest_of_several_graphs_are_kept_with_ties() -> None:
    one = np.arange(10), np.arange(10, dtype=np.float32)
    other = np.arange(100, 110), np.arange(10, dtype=np.float32) + 0.5
    assert sorted(nearest([one, other], 2).tolist()) == [0, 1, 100, 101]
    tied = np.arange(200, 210), np.full(10, 1.5, dtype=np.float32)
    assert sorted(nearest([one, other, tied], 2).tolist()) == [0, 1, 100, 101, *range(200, 210)]


def test_few_rows_and_those_of_one_graph_are_all_kept() -> None:
    one = np.arange(10), np.arange(10, dtype=np.float32)
    assert nearest([one], 2).tolist() == list(range(10))
    assert sorted(nearest([one, (np.array([50]), np.array([9.0], dtype=np.float32))], 6).tolist()) == [*range(10), 50]
