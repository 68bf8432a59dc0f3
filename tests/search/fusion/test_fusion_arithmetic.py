"""Each fusion against arithmetic written out by hand."""

import math

import pytest

from thinkback.model import Run, Scored
from thinkback.search.fusion import (
    FUSIONS,
    CombMnz,
    CombSum,
    Convex,
    Dbsf,
    Fusion,
    Isr,
    Merge,
    RelativeScore,
    Rrf,
    Weighted,
)


def run(leg: str, **scores: float) -> Run:
    return Run(leg, tuple(Scored(id, score) for id, score in scores.items()))


KEYWORD = run("keyword", a=9.0, b=6.0, c=3.0)
VECTOR = run("vector", c=0.9, d=0.8, a=0.5)


def fused(fusion: Fusion, *runs: Run, **weights: float) -> dict[str, float]:
    result = fusion.fuse(runs, weights)
    return dict(zip(result.ledger.ids, result.ledger.totals.tolist(), strict=True))


def order(fusion: Fusion, *runs: Run, **weights: float) -> list[str]:
    result = fusion.fuse(runs, weights)
    rows = result.ledger.order() if result.by_score else range(len(result.ledger.ids))
    return [result.ledger.ids[row] for row in rows]


def test_memini_counts_ranks_from_zero_with_k_five() -> None:
    scores = fused(Rrf(k=5, first_rank=0), KEYWORD, VECTOR)
    assert scores == {
        "a": 1 / (5 + 0) + 1 / (5 + 2),
        "b": 1 / (5 + 1),
        "c": 1 / (5 + 2) + 1 / (5 + 0),
        "d": 1 / (5 + 1),
    }


def test_gorag_counts_ranks_from_one_with_k_sixty() -> None:
    scores = fused(Rrf(k=60, first_rank=1), KEYWORD, VECTOR)
    assert scores == {"a": 1 / 61 + 1 / 63, "b": 1 / 62, "c": 1 / 63 + 1 / 61, "d": 1 / 62}


def test_a_deep_pool_with_k_sixty_lets_two_mediocre_ranks_beat_a_first_place() -> None:
    def deep(leg: str, best: str) -> Run:
        return run(leg, **{best: 30.0}, **{f"{leg}{n}": 29.0 - n for n in range(18)}, mediocre=1.0)

    runs = (deep("keyword", "first"), deep("vector", "second"))
    assert order(Rrf(k=60, first_rank=0), *runs)[0] == "mediocre"
    assert order(Rrf(k=5, first_rank=0), *runs)[0] == "first"


def test_rrf_weighs_its_legs() -> None:
    assert fused(Rrf(k=5), KEYWORD, VECTOR, keyword=2.0)["b"] == 2 * (1 / 6)


def test_k_of_zero_or_less_means_five_and_cut_of_zero_means_all() -> None:
    assert fused(Rrf(k=0, cut=0), KEYWORD) == fused(Rrf(k=-3, cut=-1), KEYWORD) == fused(Rrf(k=5), KEYWORD)


def test_cut_keeps_the_best() -> None:
    assert sorted(fused(Rrf(k=5, cut=2), KEYWORD, VECTOR)) == ["a", "c"]


def test_a_duplicate_inside_a_run_counts_once_at_its_best_rank() -> None:
    twice = Run("keyword", (Scored("a", 3.0), Scored("b", 2.0), Scored("a", 1.0)))
    assert fused(Rrf(k=5), twice) == {"a": 1 / 5, "b": 1 / 6}


def test_convex_scales_each_run_to_one_and_zero() -> None:
    scores = fused(Convex(), KEYWORD, VECTOR, keyword=0.5, vector=0.5)
    assert scores == pytest.approx(
        {"a": 0.5 * 1.0 + 0.5 * 0.0, "b": 0.5 * 0.5, "c": 0.5 * 0.0 + 0.5 * 1.0, "d": 0.5 * (0.8 - 0.5) / (0.9 - 0.5)}
    )


def test_convex_all_equal_is_one_and_a_missing_weight_is_one() -> None:
    assert fused(Convex(), run("keyword", a=4.0, b=4.0)) == {"a": 1.0, "b": 1.0}


def test_weighted_keeps_raw_cosine_and_scales_keywords() -> None:
    scores = fused(Weighted(), KEYWORD, VECTOR, keyword=0.3, vector=0.55)
    assert scores == pytest.approx(
        {"a": 0.3 * 1.0 + 0.55 * 0.5, "b": 0.3 * 0.5, "c": 0.3 * 0.0 + 0.55 * 0.9, "d": 0.55 * 0.8}
    )


def test_merge_concatenates_and_invents_no_score() -> None:
    assert order(Merge(), KEYWORD, VECTOR) == ["a", "b", "c", "d"]
    assert fused(Merge(), KEYWORD, VECTOR) == {"a": 9.0, "b": 6.0, "c": 3.0, "d": 0.8}
    assert order(Merge(cut=2), VECTOR, KEYWORD) == ["c", "d"]


def test_combsum_and_combmnz() -> None:
    total = {"a": 1.0 + 0.0, "b": 0.5, "c": 0.0 + 1.0, "d": (0.8 - 0.5) / (0.9 - 0.5)}
    assert fused(CombSum(), KEYWORD, VECTOR) == pytest.approx(total)
    legs = {"a": 2, "b": 1, "c": 2, "d": 1}
    assert fused(CombMnz(), KEYWORD, VECTOR) == pytest.approx({id: legs[id] * score for id, score in total.items()})


def test_inverse_square_rank() -> None:
    scores = fused(Isr(), KEYWORD, VECTOR)
    assert scores == pytest.approx({"a": 2 * (1 + 1 / 9), "b": 1 / 4, "c": 2 * (1 / 9 + 1), "d": 1 / 4})


def test_dbsf_scales_by_mean_and_three_sigma() -> None:
    mean, sigma = 6.0, math.sqrt(((9 - 6) ** 2 + 0 + (3 - 6) ** 2) / (3 - 1))
    assert fused(Dbsf(), KEYWORD) == pytest.approx(
        {id: (score - (mean - 3 * sigma)) / (6 * sigma) for id, score in (("a", 9.0), ("b", 6.0), ("c", 3.0))}
    )
    assert fused(Dbsf(), run("keyword", a=4.0, b=4.0)) == {"a": 0.5, "b": 0.5}
    assert fused(Dbsf(), run("keyword", a=4.0)) == {"a": 0.5}


def test_relative_score_divides_the_weights_by_their_sum() -> None:
    scores = fused(RelativeScore(), KEYWORD, VECTOR, keyword=3.0, vector=1.0)
    assert scores["a"] == pytest.approx(3 / 4 * 1.0 + 1 / 4 * 0.0)
    assert scores["b"] == pytest.approx(3 / 4 * 0.5)


def test_scores_filled_in_lie_on_the_runs_own_scale_and_not_below_zero() -> None:
    filled = Run("vector", VECTOR.hits, filled=(Scored("b", 0.6), Scored("z", 0.1)))
    result = Convex().fuse([KEYWORD, filled], {})
    values = dict(zip(result.ledger.ids, result.values["vector"].tolist(), strict=True))
    assert values["b"] == pytest.approx((0.6 - 0.5) / (0.9 - 0.5))
    assert values["z"] == 0.0
    assert fused(Rrf(k=5), KEYWORD, filled)["b"] == 1 / 6, "a filled score has no rank"


@pytest.mark.parametrize("name", sorted(FUSIONS))
def test_no_runs_give_nothing_and_one_run_is_still_scored(name: str) -> None:
    fusion = FUSIONS[name]()
    assert fused(fusion) == {}
    assert fused(fusion, Run("keyword")) == {}
    assert order(fusion, KEYWORD) == ["a", "b", "c"]


@pytest.mark.parametrize("name", sorted(set(FUSIONS) - {"merge"}))
def test_ties_keep_first_seen_order(name: str) -> None:
    runs = (run("keyword", z=1.0), run("other", a=1.0))
    assert order(FUSIONS[name](), *runs) == ["z", "a"]
