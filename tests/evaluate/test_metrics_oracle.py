"""The metrics agree with ranx, an independent implementation, on random runs."""

import random
import warnings

import pytest

from thinkback.evaluate.metrics import metric

PAIRS = {
    "any@1": "hit_rate@1",
    "any@5": "hit_rate@5",
    "any@10": "hit_rate@10",
    "recall@5": "recall@5",
    "recall@10": "recall@10",
    "precision@5": "precision@5",
    "mrr": "mrr",
    "mrr@10": "mrr@10",
    "ndcg@5": "ndcg@5",
    "ndcg@10": "ndcg@10",
    "ndcg": "ndcg",
}


@pytest.fixture(scope="module")
def ranx():
    # Importing and compiling ranx warns about its own dependencies; only those warnings are let through.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("ranx")


def _random_run(seed: int, *, graded: bool) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Queries with 1 to 15 relevant documents of 60, and rankings of 1 to 40 of them with distinct scores."""
    rng = random.Random(seed)
    documents = [f"d{i}" for i in range(60)]
    qrels, run = {}, {}
    for number in range(40):
        gold = rng.sample(documents, rng.randint(1, 15))
        qrels[f"q{number}"] = {d: rng.randint(1, 3) if graded else 1 for d in gold}
        ranked = rng.sample(documents, rng.randint(1, 40))
        run[f"q{number}"] = {d: 1.0 - place / 100 for place, d in enumerate(ranked)}
    return qrels, run


@pytest.mark.slow
@pytest.mark.parametrize("graded", [False, True], ids=["binary", "graded"])
@pytest.mark.parametrize("seed", range(5))
def test_metrics_equal_ranx_question_by_question(ranx, seed, graded):
    qrels, run = _random_run(seed, graded=graded)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        judged, made = ranx.Qrels(qrels), ranx.Run(run)
        ranx.evaluate(judged, made, list(PAIRS.values()))
    for ours, theirs in PAIRS.items():
        for query, ranking in run.items():
            ranked = sorted(ranking, key=lambda d: -ranking[d])
            expected = made.scores[theirs][query]
            assert metric(ours)(qrels[query], ranked) == pytest.approx(expected, abs=1e-9), (ours, query)
            if theirs.startswith("recall"):
                assert metric(ours.replace("recall", "all"))(qrels[query], ranked) == float(expected == 1.0)


@pytest.mark.slow
def test_means_count_a_missing_question_as_zero_as_ranx_does(ranx):
    qrels, run = _random_run(99, graded=True)
    gone = {"q0", "q7"}
    kept = {query: ranking for query, ranking in run.items() if query not in gone}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(kept), "ndcg@10", make_comparable=True)
    ours = [metric("ndcg@10")(gold, sorted(kept.get(q, {}), key=lambda d: -kept[q][d])) for q, gold in qrels.items()]
    assert sum(ours) / len(qrels) == pytest.approx(theirs, abs=1e-9)
