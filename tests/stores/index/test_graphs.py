"""What several graphs find is cut to what one graph would return."""

import numpy as np
import pytest

from thinkback.models.embedders.base import unit
from thinkback.stores.index.graphs import NEAREST, Graph, build, nearest


def test_the_nearest_of_several_graphs_are_kept_with_ties() -> None:
    one = np.arange(10), np.arange(10, dtype=np.float32)
    other = np.arange(100, 110), np.arange(10, dtype=np.float32) + 0.5
    assert sorted(nearest([one, other], 2).tolist()) == [0, 1, 2, 100, 101, 102]
    tied = np.arange(200, 210), np.full(10, 2.5, dtype=np.float32)
    assert sorted(nearest([one, other, tied], 2).tolist()) == [0, 1, 2, 100, 101, 102, *range(200, 210)]


def test_few_rows_and_those_of_one_graph_are_all_kept() -> None:
    one = np.arange(10), np.arange(10, dtype=np.float32)
    assert nearest([one], 2).tolist() == list(range(10))
    assert sorted(nearest([one, (np.array([50]), np.array([9.0], dtype=np.float32))], 6).tolist()) == [*range(10), 50]


@pytest.mark.parametrize("common", [0.0, 0.9])
def test_the_recall_that_is_told_is_that_of_questions(common: float) -> None:
    """Of memories around topics that share a direction, as those of many models do; a question has half of what tells one apart."""
    chance = np.random.default_rng(5)
    shared = unit(chance.standard_normal(48)) * common
    topics = chance.standard_normal((400, 48))[chance.integers(0, 400, 6000)]
    own = unit(topics + chance.standard_normal((6000, 48)))
    vectors = unit(shared + own * np.sqrt(1 - common**2)).astype(np.float32)
    asked = unit(shared + (own[:200] + unit(chance.standard_normal((200, 48)))) / 2 * np.sqrt(1 - common**2))
    made = build(vectors, lambda: False)
    assert made is not None
    arrays, expansion, told = made
    graph = Graph("", 0, len(vectors), expansion, told, arrays)
    shares = []
    for question in asked.astype(np.float32):
        cosines = vectors @ question
        near, _ = graph.near(question, NEAREST)
        shares.append(min((cosines[near] >= np.sort(cosines)[-NEAREST] - 1e-6).sum(), NEAREST) / NEAREST)
    assert told == pytest.approx(np.mean(shares), abs=0.01)
    assert told > 0.99
