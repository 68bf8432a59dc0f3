"""Tables for a terminal and plain data for --json say the same."""

import json

import pytest
from evaluate_toys import DATASET, Toy
from rich.console import Console

from thinkback.apps.cli.render_bench import (
    bench_data,
    bench_tables,
    regression_data,
    regression_tables,
    verdict,
)
from thinkback.evaluate.bench import BenchSettings, Contender, bench
from thinkback.evaluate.rankings import Ranking
from thinkback.evaluate.regress import regress

CONTENDERS = [Contender("nothing"), Contender("overlap", "f00d", "toy-embedder", {"legs.keyword": 0.5})]


@pytest.fixture(scope="module")
def result():
    timer, cpu_timer = iter(range(1000)), iter(range(1000))
    settings = BenchSettings(timer=lambda: next(timer) / 100, cpu_timer=lambda: next(cpu_timer) / 50)
    return bench(DATASET, CONTENDERS, Toy("overlap", "nothing").open, settings)


def _printed(renderable, width=240):
    console = Console(width=width, record=True, file=None, force_terminal=False, quiet=True)
    console.quiet = False
    with console.capture() as captured:
        console.print(renderable)
    return captured.get()


def test_the_terminal_shows_every_number_a_reader_needs(result):
    text = _printed(bench_tables(result))
    for needed in (
        "n = 3",
        "any@1",
        "all@5",
        "recall@10",
        "mrr",
        "ndcg@10",
        "p50 ms",
        "cpu ms",
        "f00d",
        "toy-embedder",
        "10.0",
    ):
        assert needed in text
    assert ".667" in text
    assert "overlap − nothing" in text
    assert "+1.000*" in text
    assert "easy" in text


def test_eight_metrics_with_their_intervals_fit_a_page_of_120(result):
    assert "…" not in _printed(bench_tables(result), 120)


def test_what_n_leaves_out_is_one_sentence(result):
    assert result.counted == "n = 3, the first 50 results count; left out: 2 without evidence"


def test_plain_data_is_json_and_complete(result):
    data = json.loads(json.dumps(bench_data(result)))
    assert (data["dataset"], data["n"], data["left_out"]) == ("toy", 3, {"without evidence": 2})
    overlap = data["recipes"][1]
    assert (overlap["recipe"], overlap["recipe_fingerprint"]) == ("overlap", "f00d")
    assert overlap["embedder_fingerprint"] == "toy-embedder"
    assert overlap["weights"] == {"legs.keyword": 0.5}
    assert overlap["metrics"]["any@1"]["mean"] == pytest.approx(2 / 3)
    assert overlap["metrics"]["any@1"]["low"] <= 2 / 3 <= overlap["metrics"]["any@1"]["high"]
    assert overlap["categories"]["easy"]["n"] == 2
    assert overlap["p50_ms"] == 10.0
    assert overlap["cpu_ms"] == 20.0
    assert data["differences"][0]["metrics"]["any@5"] == {"mean": 1.0, "low": 1.0, "high": 1.0}


def test_a_recipe_name_with_markup_is_shown_as_it_is():
    result = bench(DATASET, [Contender("[red]x")], Toy("[red]x").open)
    assert "[red]x" in _printed(bench_tables(result))


def _regression():
    before = [Ranking("q1", {"g": 1.0}, ("g",), (1.0,), text="[b]who?"), Ranking("q2", {"g": 1.0}, ("x",), (1.0,))]
    after = [Ranking("q1", {"g": 1.0}, ("x", "g"), (1.0, 0.5)), Ranking("q3", {"g": 1.0}, (), ())]
    return regress(before, after, by="any@1")


def test_a_regression_is_told_with_its_verdict():
    found = _regression()
    assert verdict(found, 0.1).endswith(
        "0 rose, 1 fell, 1 no longer answered, 1 new and not judged: fell by more than 0.1"
    )
    assert verdict(found, 0.5).endswith("within 0.5")
    text = _printed(regression_tables(found, 0.1))
    assert "[b]who?" in text
    assert "fallen: 1" in text


def test_a_regression_is_plain_data_too():
    data = json.loads(json.dumps(regression_data(_regression(), 0.1)))
    assert data["fallen"] == [{"question": "q1", "text": "[b]who?", "category": "", "before": 1, "after": 2}]
    assert (data["before"], data["after"], data["fails"], data["threshold"]) == (0.5, 0.0, True, 0.1)
