"""Laws every fusion keeps, whatever the runs."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.model import Run, Scored
from thinkback.search.fusion import FUSIONS, Convex, Rrf

ids = st.sampled_from([f"m{n}" for n in range(12)])
scores = st.floats(min_value=-5, max_value=50, allow_nan=False, width=32)


@st.composite
def runs(draw: st.DrawFn) -> list[Run]:
    legs = draw(st.lists(st.sampled_from(["keyword", "vector", "graph"]), unique=True, min_size=1))
    return [Run(leg, _hits(draw(st.dictionaries(ids, scores, max_size=10)))) for leg in legs]


def _hits(found: dict[str, float]) -> tuple[Scored, ...]:
    return tuple(Scored(id, score) for id, score in sorted(found.items(), key=lambda item: -item[1]))


@pytest.mark.parametrize("name", sorted(FUSIONS))
@given(runs=runs())
def test_every_found_memory_is_a_candidate_once_with_a_finite_score(name: str, runs: list[Run]) -> None:
    ledger = FUSIONS[name]().fuse(runs, {}).ledger
    assert sorted(ledger.ids) == sorted({hit.id for run in runs for hit in run.hits})
    assert np.isfinite(ledger.totals).all()


@pytest.mark.parametrize("name", sorted(FUSIONS))
@given(runs=runs())
def test_contributions_add_up_to_the_score_to_the_last_bit(name: str, runs: list[Run]) -> None:
    ledger = FUSIONS[name]().fuse(runs, {"vector": 0.3}).ledger
    for row in range(len(ledger.ids)):
        total = 0.0
        for contribution in ledger.contributions(row):
            total += contribution.delta
        assert total == ledger.totals[row]


@given(runs=runs())
def test_rank_fusion_does_not_care_about_the_scale_of_scores(runs: list[Run]) -> None:
    stretched = [Run(run.leg, tuple(Scored(hit.id, hit.score * 7 + 3) for hit in run.hits)) for run in runs]
    assert (Rrf().fuse(runs, {}).ledger.totals == Rrf().fuse(stretched, {}).ledger.totals).all()


@given(runs=runs(), factor=st.floats(min_value=0.1, max_value=50))
def test_convex_does_not_care_about_the_unit_of_scores(runs: list[Run], factor: float) -> None:
    scaled = [Run(run.leg, tuple(Scored(hit.id, hit.score * factor) for hit in run.hits)) for run in runs]
    if any(len({hit.score * factor for hit in run.hits}) != len({hit.score for hit in run.hits}) for run in runs):
        return  # the factor made two scores equal: a different question
    ours, theirs = Convex().fuse(runs, {}).ledger, Convex().fuse(scaled, {}).ledger
    assert all(math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-6) for a, b in zip(ours.totals, theirs.totals, strict=True))


@given(runs=runs())
def test_the_order_of_legs_does_not_change_any_score(runs: list[Run]) -> None:
    forward, backward = Rrf().fuse(runs, {}).ledger, Rrf().fuse(runs[::-1], {}).ledger
    mirrored = dict(zip(backward.ids, backward.totals, strict=True))
    assert all(math.isclose(mirrored[id], score) for id, score in zip(forward.ids, forward.totals, strict=True))
