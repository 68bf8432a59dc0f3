"""Every metric against arithmetic written out by hand; the oracle is in test_metrics_oracle.py."""

from math import log2

import pytest
from codes import raises
from hypothesis import given, settings
from hypothesis import strategies as st

from thinkback.errors import InvalidInput
from thinkback.evaluate.metrics import (
    STANDARD,
    Metric,
    all_at,
    any_at,
    first_rank,
    metric,
    ndcg_at,
    precision_at,
    recall_at,
    reciprocal_rank,
)

GOLD = {"a": 1.0, "b": 1.0, "c": 1.0}
RANKED = ["x", "a", "y", "b", "z"]


def test_any_is_one_as_soon_as_one_relevant_document_is_in_the_first_k():
    assert [any_at(GOLD, RANKED, k) for k in (1, 2, 5)] == [0.0, 1.0, 1.0]


def test_all_needs_every_relevant_document():
    assert all_at({"a": 1.0, "b": 1.0}, RANKED, 3) == 0.0
    assert all_at({"a": 1.0, "b": 1.0}, RANKED, 4) == 1.0
    assert all_at(GOLD, RANKED, 5) == 0.0


def test_all_can_never_score_with_more_gold_than_places():
    assert all_at(GOLD, ["a", "b", "c"], 2) == 0.0


def test_recall_is_the_share_of_all_gold():
    assert [recall_at(GOLD, RANKED, k) for k in (1, 2, 4)] == [0.0, 1 / 3, 2 / 3]


def test_precision_divides_by_k_even_where_the_list_is_shorter():
    assert precision_at(GOLD, RANKED, 4) == 2 / 4
    assert precision_at(GOLD, ["a"], 5) == 1 / 5
    assert precision_at(GOLD, ["a", "x"]) == 1 / 2
    assert precision_at(GOLD, []) == 0.0


def test_reciprocal_rank_is_that_of_the_first_relevant_document():
    assert reciprocal_rank(GOLD, RANKED) == 1 / 2
    assert reciprocal_rank(GOLD, RANKED, 1) == 0.0
    assert reciprocal_rank(GOLD, ["x", "y"]) == 0.0


def test_ndcg_takes_its_ideal_from_all_gold_not_from_what_was_retrieved():
    gained = 1 / log2(2 + 1) + 1 / log2(4 + 1)
    ideal = 1 / log2(1 + 1) + 1 / log2(2 + 1) + 1 / log2(3 + 1)
    assert ndcg_at(GOLD, RANKED, 10) == pytest.approx(gained / ideal, abs=1e-15)
    assert ndcg_at(GOLD, ["a"], 10) < 1.0


def test_the_ideal_is_cut_at_k_too():
    assert ndcg_at(GOLD, ["a", "b"], 2) == 1.0


def test_ndcg_uses_grades_linearly():
    gold = {"a": 3.0, "b": 1.0}
    gained = 1 / log2(2) + 3 / log2(3)
    ideal = 3 / log2(2) + 1 / log2(3)
    assert ndcg_at(gold, ["b", "a"], 10) == pytest.approx(gained / ideal, abs=1e-15)


def test_grades_of_zero_and_below_are_not_relevant():
    gold = {"a": 0.0, "b": -1.0, "c": 1.0}
    assert any_at(gold, ["a", "b"], 2) == 0.0
    assert recall_at(gold, ["c"], 1) == 1.0
    assert all_at(gold, ["c"], 1) == 1.0
    assert ndcg_at(gold, ["b", "c"], 2) == pytest.approx((1 / log2(3)) / 1, abs=1e-15)


def test_a_repeated_document_counts_at_its_first_place_only():
    assert recall_at(GOLD, ["a", "a", "a"], 3) == 1 / 3
    assert precision_at(GOLD, ["a", "a"], 2) == 1 / 2
    assert ndcg_at({"a": 1.0, "b": 1.0}, ["a", "a"], 2) == pytest.approx(1 / (1 + 1 / log2(3)), abs=1e-15)


@pytest.mark.parametrize("chosen", STANDARD, ids=lambda m: m.name)
def test_an_empty_ranking_and_empty_gold_score_zero(chosen):
    assert chosen(GOLD, []) == 0.0
    assert chosen({}, RANKED) == 0.0


def test_first_rank_counts_from_one():
    assert first_rank(GOLD, RANKED) == 2
    assert first_rank(GOLD, ["x"]) is None


def test_a_metric_is_read_from_its_name():
    assert metric("any@5") == Metric("any", 5)
    assert metric("mrr") == Metric("mrr", None)
    assert metric("ndcg@10").name == "ndcg@10"


@pytest.mark.parametrize("name", ["any@0", "any@", "recal@5", "", "any@-1", "ANY@5", "any@5@5"])
def test_an_unknown_metric_is_named_in_the_error(name):
    with raises(InvalidInput, "unknown_metric"):
        metric(name)


def test_a_near_miss_gets_a_suggestion():
    with pytest.raises(InvalidInput, match="Did you mean 'recall'"):
        metric("recal@5")


_ids = st.lists(st.sampled_from("abcdefghij"), unique=True)
_gold = st.dictionaries(st.sampled_from("abcdefghij"), st.integers(1, 3).map(float), min_size=1)


@settings(deadline=None)
@given(_gold, _ids, st.sampled_from(STANDARD))
def test_every_value_lies_between_zero_and_one(gold, ranked, chosen):
    assert 0.0 <= chosen(gold, ranked) <= 1.0 + 1e-12


@settings(deadline=None)
@given(_gold, _ids, st.sampled_from(["any", "all", "recall", "mrr"]), st.integers(1, 9))
def test_a_deeper_cut_never_scores_less(gold, ranked, measure, k):
    assert Metric(measure, k)(gold, ranked) <= Metric(measure, k + 1)(gold, ranked)


@settings(deadline=None)
@given(_gold)
def test_gold_in_the_order_of_its_grades_is_perfect(gold):
    best = sorted(gold, key=lambda i: -gold[i])
    assert ndcg_at(gold, best, 10) == pytest.approx(1.0, abs=1e-12)
    assert recall_at(gold, best) == all_at(gold, best) == reciprocal_rank(gold, best) == 1.0
