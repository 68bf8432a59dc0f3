"""The best rows by the rarest terms are those of a sum over all rows, to the last bit, however many rows are left to look at."""

from collections.abc import Sequence
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thinkback.model import Floats
from thinkback.stores.sqlite import rarest, term_gains
from thinkback.stores.sqlite.segments import Segment
from thinkback.stores.sqlite.term_gains import Found

ROWS = 400


class Table:
    """Terms with what each adds to every row; rows with 0 do not hold the term."""

    def __init__(self, gains: Sequence[Floats]) -> None:
        self.by_term = gains
        self.looked_up = 0

    def hits(self, term: int) -> int:
        return int(np.count_nonzero(self.by_term[term]))

    def most(self, term: int) -> float:
        return float(self.by_term[term].max())

    def gains(self, term: int) -> tuple[rarest.Rows, Floats]:
        rows = np.flatnonzero(self.by_term[term])
        return rows, self.by_term[term][rows]

    def add(self, scores: Floats, rows: rarest.Rows, term: int) -> None:
        self.looked_up += len(rows)
        scores += self.by_term[term][rows]


def _table(seed: int, shares: Sequence[float]) -> Table:
    """The more frequent a term, the less it adds; values recur, so that rows tie."""
    chance = np.random.default_rng(seed)
    steps = [chance.integers(1, 6, ROWS) / 7 for _ in shares]
    return Table(
        [
            np.where(chance.random(ROWS) < share, (1.02 - share) * step, 0.0)
            for share, step in zip(shares, steps, strict=True)
        ]
    )


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    shares=st.lists(st.sampled_from([0.0, 0.02, 0.1, 0.3, 0.8, 1.0]), min_size=1, max_size=4),
    twice=st.booleans(),
    limit=st.integers(1, 30),
    at_once=st.sampled_from([0, 40, 1000]),
)
def test_the_best_rows_are_those_of_the_whole_sum(
    seed: int, shares: list[float], twice: bool, limit: int, at_once: int
) -> None:
    table = _table(seed, shares)
    terms = [*range(len(shares)), *([0] if twice else [])]  # two words of a question may have the same stem
    whole = np.zeros(ROWS)
    for term in terms:
        whole += table.by_term[term]
    with patch.object(rarest, "_PAYS_FROM", 0), patch.object(rarest, "_LOOKED_UP_AT_ONCE", at_once):
        found = rarest.best(table, terms, None, limit)
    assert found is not None
    best = dict(zip(*(part.tolist() for part in found), strict=True))
    expected = dict(enumerate(whole.tolist()))
    floor = sorted(expected.values())[-limit]
    wanted = {row: score for row, score in expected.items() if score >= floor and score > 0}
    assert {row: score for row, score in best.items() if score > 0} == wanted


def test_a_frequent_term_is_looked_up_in_the_rows_that_the_others_leave() -> None:
    table = _table(3, [0.5, 0.9, 1.0])
    for gains, factor in zip(table.by_term, (1.0, 0.1, 0.001), strict=True):
        gains *= factor
    looked_up = []
    for at_once in (ROWS, 0):
        table.looked_up = 0
        with patch.object(rarest, "_PAYS_FROM", 0), patch.object(rarest, "_LOOKED_UP_AT_ONCE", at_once):
            assert rarest.best(table, [0, 1, 2], None, 5) is not None
        looked_up.append(table.looked_up)
    assert looked_up[1] < looked_up[0]


@pytest.mark.parametrize("few", [0, 8], ids=["part by part", "row by row"])
@given(data=st.data())
def test_rows_are_looked_up_in_the_postings_of_a_term(few: int, data: st.DataObject) -> None:
    held = sorted(data.draw(st.sets(st.integers(0, 200), min_size=1)))
    frequencies = np.arange(1.0, len(held) + 1)
    cuts = sorted(data.draw(st.sets(st.integers(1, len(held)), max_size=4)) | {len(held)})
    rows, parts = np.array(held, dtype=np.int32), []
    for start, end in zip([0, *cuts], cuts, strict=False):
        parts.append((Segment(1, {}, rows, frequencies), start, end))
    wanted = np.array(sorted(data.draw(st.sets(st.integers(0, 201)))), dtype=np.intp)
    expected = {row: float(frequencies[held.index(row)]) for row in wanted.tolist() if row in held}
    with patch.object(term_gains, "_FEW", few):
        found = list(Found(tuple(parts), len(held)).at(wanted))
    places = np.concatenate([np.zeros(0, dtype=np.intp), *(places for places, _ in found)])
    occurrences = np.concatenate([np.zeros(0), *(occurrences for _, occurrences in found)])
    assert dict(zip(wanted[places].tolist(), occurrences.tolist(), strict=True)) == expected
