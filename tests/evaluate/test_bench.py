"""The runner: every question once, timed, saved, resumed; its numbers are those of the rankings."""

from dataclasses import replace
from itertools import count

import pytest
from codes import raises
from evaluate_toys import DATASET, TALK, Toy

from thinkback.errors import DatasetError, InvalidInput
from thinkback.evaluate.bench import BenchSettings, Contender, bench, latency, rankings_file
from thinkback.evaluate.datasets import Question
from thinkback.evaluate.metrics import metric
from thinkback.evaluate.rankings import Ranking, read_rankings
from thinkback.evaluate.scores import Interval

OVERLAP = Contender("overlap", "f00d", "toy-embedder", {"legs.keyword": 0.5})


def _ticking():
    """A clock that moves 2 ms between the two looks at each question."""
    ticks = count()
    return lambda: next(ticks) * 0.002


def test_the_numbers_are_those_of_the_rankings():
    """q1 finds t1 first; q2 shares 'the' with t3 and 'boat' with t2, equal scores keep their order; q3 gets r1 and r2."""
    cpu = count()
    result = bench(DATASET, [OVERLAP], Toy().open, BenchSettings(timer=_ticking(), cpu_timer=lambda: next(cpu) * 0.003))
    recipe = result.recipes[0]
    assert [r.ids for r in recipe.rankings] == [("t1", "t3", "t2"), ("t1", "t2", "t3"), ("r1", "r2")]
    assert (result.n, recipe.missing) == (3, 0)
    assert recipe.overall.means["any@1"].mean == pytest.approx(2 / 3)
    assert recipe.overall.means["all@5"].mean == 1.0
    assert recipe.overall.means["mrr"].mean == pytest.approx((1 + 1 / 2 + 1) / 3)
    assert recipe.categories["easy"].n == 2
    assert recipe.categories["easy"].means["any@1"].mean == 0.5
    assert recipe.categories["hard"].means["any@1"].mean == 1.0
    assert (recipe.p50_ms, recipe.p95_ms) == (pytest.approx(2.0), pytest.approx(2.0))
    assert recipe.cpu_ms == pytest.approx(3.0)


def test_what_is_left_out_is_said():
    assert bench(DATASET, [OVERLAP], Toy().open).left_out == {"without evidence": 2}


def test_two_recipes_are_compared_question_by_question():
    toy = Toy("overlap", "nothing")
    result = bench(DATASET, [Contender("nothing"), OVERLAP], toy.open)
    assert [(d.before, d.after) for d in result.differences] == [("nothing", "overlap")]
    assert result.differences[0].means["any@5"] == Interval(1.0, 1.0, 1.0)
    assert toy.opened == ["talk", "trip"]


def test_one_recipe_has_nothing_to_be_compared_with():
    assert bench(DATASET, [OVERLAP], Toy().open).differences == ()


def test_the_result_is_the_same_every_time():
    first, second = (
        bench(DATASET, [OVERLAP], Toy().open, BenchSettings(timer=_ticking(), cpu_timer=_ticking())) for _ in range(2)
    )
    assert first == second


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path):
    settings = BenchSettings(save=tmp_path, timer=_ticking())
    with pytest.raises(KeyboardInterrupt):
        bench(DATASET, [OVERLAP], Toy(fail_at="q2").open, settings)
    again = Toy()
    result = bench(DATASET, [OVERLAP], again.open, settings)
    assert again.asked == [("overlap", "q2"), ("overlap", "q3")]
    assert result.n == 3
    assert result.recipes[0].overall.means["any@1"].mean == pytest.approx(2 / 3)


def test_a_finished_run_opens_no_corpus(tmp_path):
    settings = BenchSettings(save=tmp_path)
    first = bench(DATASET, [OVERLAP], Toy().open, settings)
    again = Toy()
    second = bench(DATASET, [OVERLAP], again.open, settings)
    assert again.opened == []
    assert second.recipes[0].overall == first.recipes[0].overall


def test_a_longer_run_takes_over_what_a_shorter_one_did(tmp_path):
    settings = BenchSettings(save=tmp_path)
    bench(DATASET.first(2), [OVERLAP], Toy().open, settings)
    again = Toy()
    bench(DATASET, [OVERLAP], again.open, settings)
    assert again.asked == [("overlap", "q2")]


def test_a_shorter_run_counts_only_its_own_questions(tmp_path):
    settings = BenchSettings(save=tmp_path)
    bench(DATASET, [OVERLAP], Toy().open, settings)
    short = bench(DATASET.first(2), [OVERLAP], Toy().open, settings)
    assert short.n == 2
    assert [r.question_id for r in short.recipes[0].rankings] == ["q1", "q3"]


@pytest.mark.parametrize("changed", [{"recipe": "beef"}, {"embedder": "another"}])
def test_a_changed_recipe_or_embedder_does_not_mix_with_old_rankings(tmp_path, changed):
    bench(DATASET, [OVERLAP], Toy().open, BenchSettings(save=tmp_path))
    with raises(DatasetError, "another_run"):
        bench(DATASET, [replace(OVERLAP, **changed)], Toy().open, BenchSettings(save=tmp_path))


def test_saved_rankings_have_one_line_a_question(tmp_path):
    bench(DATASET, [OVERLAP], Toy().open, BenchSettings(save=tmp_path))
    saved = read_rankings(rankings_file(tmp_path, DATASET, OVERLAP))
    assert [r.question_id for r in saved] == ["q1", "q2", "q3"]
    assert (tmp_path / "toy.overlap.jsonl").exists()


def test_failures_are_explained_on_request_and_successes_are_not():
    corpus = replace(TALK, documents=TALK.documents[:2])
    lost = Question("lost", "talk", "red gate", {"t9": 1.0})
    dataset = replace(DATASET, corpora=(corpus,), questions=(DATASET.questions[0], lost))
    found = bench(dataset, [OVERLAP], Toy().open, BenchSettings(explain=True)).recipes[0].rankings
    assert [r.why for r in found] == ["", "why lost"]
    assert [r.why for r in bench(dataset, [OVERLAP], Toy().open).recipes[0].rankings] == ["", ""]


def test_an_excluded_document_is_passed_over():
    question = replace(DATASET.questions[0], excluded=frozenset({"t1"}))
    dataset = replace(DATASET, corpora=(TALK,), questions=(question,))
    result = bench(dataset, [OVERLAP], Toy().open)
    assert result.recipes[0].rankings[0].ids == ("t3", "t2")


def test_progress_counts_every_question_of_every_recipe():
    heard = []
    settings = BenchSettings(progress=lambda done, total, what: heard.append((done, total)))
    bench(DATASET, [OVERLAP, Contender("nothing")], Toy("overlap", "nothing").open, settings)
    assert heard[0] == (0, 6)
    assert heard[-1] == (6, 6)


def test_metrics_can_be_chosen():
    result = bench(DATASET, [OVERLAP], Toy().open, BenchSettings(metrics=(metric("precision@1"),)))
    assert list(result.recipes[0].overall.means) == ["precision@1"]


@pytest.mark.parametrize("contenders", [[], [OVERLAP, OVERLAP]])
def test_recipes_need_different_names(contenders):
    with raises(InvalidInput, "duplicate_name"):
        bench(DATASET, contenders, Toy().open)


def test_latency_is_interpolated():
    """Of 0, 10, …, 100 ms the median is 50 and the 95th percentile 95."""
    rankings = [Ranking(f"q{i}", {}, (), (), ms=10.0 * i) for i in range(11)]
    assert latency(rankings) == (50.0, 95.0)
    assert latency([]) == (0.0, 0.0)
