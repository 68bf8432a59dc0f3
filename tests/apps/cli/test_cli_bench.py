"""`thinkback bench`, `tune` and `regress` from the shell: what they print, what they leave behind, how they exit."""

import json
import random
from pathlib import Path

import pytest
from codes import raises
from typer.testing import CliRunner

from thinkback.apps.cli import build

WORDS = "figs boat kite train door lamp rope garden gate hotel river stone bread candle violin ladder".split()  # noqa: SIM905


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A folder of one's own, no model, no settings of the user."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("THINKBACK_EMBEDDER", "none")
    monkeypatch.setenv("THINKBACK_STORE", str(tmp_path / "own.db"))
    return tmp_path


def run(*args, code=0):
    result = CliRunner().invoke(build(), [str(arg) for arg in args])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def run_json(*args, code=0):
    return json.loads(run(*args, "--json", code=code).stdout)


@pytest.fixture
def talks(home) -> Path:
    """Three conversations of ten turns; every question shares a rare word with its answer."""
    rng = random.Random(1)
    samples = []
    for number in range(3):
        words = rng.sample(WORDS, 10)
        turns = [
            {"speaker": "Ada", "dia_id": f"D1:{i + 1}", "text": f"we spoke about the {word}"}
            for i, word in enumerate(words)
        ]
        asked = [
            {"question": f"who named the {word}?", "answer": "", "evidence": [f"D1:{i + 1}"], "category": 1 + i % 4}
            for i, word in enumerate(words)
        ]
        conversation = {"session_1": turns, "session_1_date_time": "1:56 pm on 8 May, 2024"}
        samples.append({"sample_id": f"talk-{number}", "conversation": conversation, "qa": asked})
    path = home / "talks.json"
    path.write_text(json.dumps(samples))
    return path


def test_a_benchmark_prints_its_table(talks):
    printed = run("bench", "locomo", talks, "--recipe", "keyword").stdout
    assert "talks (turn)" in printed
    assert "any@5" in printed
    assert "n = 30" in printed


def test_several_recipes_stand_side_by_side_with_their_difference(talks):
    data = run_json("bench", "locomo", talks, "--recipe", "keyword", "--recipe", _other(talks.parent))
    assert [recipe["recipe"] for recipe in data["recipes"]] == ["keyword", "other"]
    assert data["differences"][0]["before"] == "keyword"
    assert data["recipes"][0]["metrics"]["any@1"]["mean"] == 1.0
    assert data["n"] == 30


def _other(folder):
    path = folder / "other.toml"
    path.write_text('extends = "keyword"\nname = "other"\n[selection]\ndedup = false\n')
    return path


def test_rankings_are_saved_resumed_and_compared(talks, home):
    run("bench", "locomo", talks, "--recipe", "keyword", "--save", "runs", "--limit-questions", 6)
    run("bench", "locomo", talks, "--recipe", "keyword", "--save", "runs")
    file = home / "runs" / "talks-turn.keyword.jsonl"
    assert len(file.read_text().splitlines()) == 30
    same = run("regress", file, file)
    assert "0 rose, 0 fell" in same.stdout


def test_a_fall_beyond_the_threshold_exits_with_one(talks, home):
    run("bench", "locomo", talks, "--recipe", "keyword", "--save", "runs")
    file = home / "runs" / "talks-turn.keyword.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines[:3]:
        line["ids"], line["scores"] = [], []
    worse = home / "worse.jsonl"
    worse.write_text("".join(json.dumps(line) + "\n" for line in lines))
    data = run_json("regress", file, worse, "--threshold", 0.05, code=1)
    assert (len(data["fallen"]), data["fails"]) == (3, True)
    assert data["before"] - data["after"] == pytest.approx(3 / 30)
    run("regress", file, worse, "--threshold", 0.1)
    run("regress", worse, file)


def test_a_report_is_one_page(talks, home):
    run("bench", "locomo", talks, "--recipe", "keyword", "--report", "out.html")
    assert (home / "out.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_without_an_embedder_the_table_says_none(talks):
    assert run_json("bench", "locomo", talks, "--recipe", "default")["recipes"][0]["embedder_fingerprint"] == ""
    assert "none" in run("bench", "locomo", talks, "--recipe", "default").stdout


def test_a_model_that_does_not_exist_fails_with_the_nearest(talks):
    from thinkback.errors import InvalidInput

    with pytest.raises(InvalidInput, match=r"no embedder 'e5-smal-v2'.*Did you mean 'e5-small-v2'"):
        run("bench", "locomo", talks, "--recipe", "default", "--embedder", "e5-smal-v2")


def test_a_wrong_file_is_explained(home):
    from thinkback.errors import DatasetError

    (home / "bad.json").write_text("{}")
    with raises(DatasetError, "not_a_list"):
        run("bench", "locomo", "bad.json", "--recipe", "keyword")


def test_longmemeval_and_beir_run_too(home):
    question = {
        "question_id": "q1",
        "question_type": "x",
        "question": "where is the boat?",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_session_ids": ["s", "answer_1"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21"] * 2,
        "haystack_sessions": [
            [{"role": "user", "content": "a joke"}],
            [{"role": "user", "content": "a boat", "has_answer": True}],
        ],
        "answer_session_ids": ["answer_1"],
    }
    (home / "lme.json").write_text(json.dumps([question]))
    for level in ("session", "turn"):
        data = run_json("bench", "longmemeval", "lme.json", "--recipe", "keyword", "--level", level)
        assert data["recipes"][0]["metrics"]["any@1"]["mean"] == 1.0
    (home / "toy" / "qrels").mkdir(parents=True)
    (home / "toy" / "corpus.jsonl").write_text('{"_id": "d1", "text": "a boat"}\n{"_id": "d2", "text": "a fig"}\n')
    (home / "toy" / "queries.jsonl").write_text('{"_id": "q1", "text": "boat"}\n')
    (home / "toy" / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    assert run_json("bench", "beir", "toy", "--recipe", "keyword")["recipes"][0]["metrics"]["ndcg@10"]["mean"] == 1.0


def test_run_files_are_fused(home):
    (home / "a.run").write_text("q1 Q0 x 1 3 sparse\nq1 Q0 y 2 2 sparse\n")
    (home / "b.run").write_text("q1 Q0 y 1 3 dense\nq1 Q0 z 2 2 dense\n")
    (home / "qrels.txt").write_text("q1 0 y 1\n")
    data = run_json("bench", "trec", "--run", "a.run", "--run", "b.run", "--qrels", "qrels.txt", "--recipe", "gorag")
    values = {recipe["recipe"]: recipe["metrics"]["any@1"]["mean"] for recipe in data["recipes"]}
    assert values == {"sparse": 0.0, "dense": 1.0, "gorag": 1.0}
    every = run_json("bench", "trec", "--run", "a.run", "--run", "b.run", "--qrels", "qrels.txt")
    assert {"rrf", "convex", "isr"} <= {recipe["recipe"] for recipe in every["recipes"]}


def _judge_own(home, n):
    """A store whose judged answers are always among its important memories."""
    import thinkback

    with thinkback.open(home / "own.db", embedder=None) as memory:
        for number in range(n):
            memory.remember(f"note {number} about the boat and much else", id=f"a{number}", importance=1.0)
            memory.remember(f"note {number} boat", id=f"b{number}", importance=0.0)
            memory.judge(f"note {number} boat", f"a{number}")
            memory.judge(f"note {number} boat", f"b{number}", 0)


def test_own_judgements_are_a_benchmark(home):
    _judge_own(home, 3)
    data = run_json("bench", "own", "--recipe", "keyword")
    assert (data["dataset"], data["n"]) == ("own.db", 3)
    assert run_json("bench", "own", home / "own.db", "--recipe", "keyword")["n"] == 3


def test_tuning_learns_from_own_judgements_and_writes_a_recipe_that_is_better(home):
    _judge_own(home, 40)
    (home / "base.toml").write_text(
        'extends = "keyword"\nname = "base"\n[signals.importance]\nhow = "add"\nweight = 0.0\n'
    )
    data = run_json("tune", "--recipe", "base.toml", "--metric", "any@1", "--evaluations", 40, "--out", "mine.toml")
    assert data["accepted"], data["verdict"]
    assert data["written"] == "mine.toml"
    assert "signals.importance.weight" in data["changes"]
    both = run_json("bench", "own", "--recipe", "base.toml", "--recipe", "mine.toml")
    before, after = (recipe["metrics"]["any@1"]["mean"] for recipe in both["recipes"])
    assert after > before


def test_tuning_that_finds_nothing_writes_nothing(talks, home):
    data = run_json("tune", "--locomo", talks, "--recipe", "keyword", "--evaluations", 20)
    assert (data["accepted"], data["written"]) == (False, None)
    assert not (home / "tuned.toml").exists()
    assert "stays as it is" in run("tune", "--locomo", talks, "--recipe", "keyword", "--evaluations", 20).stdout


def test_tuning_learns_from_one_source_at_a_time(talks):
    from thinkback.errors import InvalidInput

    with raises(InvalidInput, "several_sources"):
        run("tune", "--locomo", talks, "--beir", talks)
