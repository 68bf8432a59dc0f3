"""Rankings on disk: one line a question, read back exactly, resumed after a crash, never mixed."""

import json

import pytest
from codes import raises
from hypothesis import given, settings
from hypothesis import strategies as st

from thinkback.errors import DatasetError
from thinkback.evaluate.rankings import Ranking, RankingLog, read_rankings, to_line


def _write(path, rankings):
    path.write_text("".join(to_line(ranking) + "\n" for ranking in rankings), encoding="utf-8")


def _ranking(question="q1", **changes):
    fields = {
        "question_id": question,
        "gold": {"a": 1.0},
        "ids": ("x", "a"),
        "scores": (0.9, 1 / 3),
        "ms": 1.5,
        "cpu_ms": 1.25,
        "text": "Where is the — “boat”?",
        "category": "4",
        "group": "talk",
        "run": "r1",
    }
    return Ranking(**(fields | changes))


def test_a_line_holds_everything_needed_to_score_again():
    assert json.loads(to_line(_ranking(why="lost"))) == {
        "run": "r1",
        "question": "q1",
        "text": "Where is the — “boat”?",
        "category": "4",
        "group": "talk",
        "gold": {"a": 1.0},
        "ids": ["x", "a"],
        "scores": [0.9, 1 / 3],
        "ms": 1.5,
        "cpu_ms": 1.25,
        "why": "lost",
    }


def test_writing_and_reading_lose_nothing(tmp_path):
    rankings = (_ranking("q1"), _ranking("q2", ids=(), scores=()), _ranking("q3", why="line one\nline two"))
    _write(tmp_path / "r.jsonl", rankings)
    assert read_rankings(tmp_path / "r.jsonl") == rankings


@settings(deadline=None)
@given(st.text(min_size=1).filter(str.strip), st.floats(allow_nan=False, allow_infinity=False))
def test_any_text_and_any_score_survive(tmp_path_factory, text, score):
    path = tmp_path_factory.mktemp("r") / "r.jsonl"
    try:
        text.encode()
    except UnicodeEncodeError:
        return
    ranking = _ranking(text, text=text, scores=(score, score))
    _write(path, [ranking])
    assert read_rankings(path) == (ranking,)


def test_the_first_rank_is_that_of_the_first_gold():
    assert _ranking().first_rank == 2
    assert _ranking(ids=("x", "y")).first_rank is None


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("{", "not_json"),
        ('{"question": "q", "gold": {}, "ids": ["a"], "scores": []}', "unequal_lengths"),
        ('{"question": "q", "gold": {}, "ids": ["a", "a"], "scores": [1, 1]}', "duplicate_document"),
        ('{"question": "q", "gold": {"a": "1"}, "ids": [], "scores": []}', "not_a_number"),
        ('{"question": "q", "gold": {}, "ids": ["a"], "scores": [NaN]}', "not_a_number"),
        ('{"queston": "q", "gold": {}, "ids": [], "scores": []}', "missing_field"),
        ("[]", "wrong_type"),
        ("", "empty_file"),
    ],
)
def test_a_wrong_file_is_explained(tmp_path, line, code):
    (tmp_path / "r.jsonl").write_text(line)
    with raises(DatasetError, code):
        read_rankings(tmp_path / "r.jsonl")


def test_a_question_that_is_there_twice_is_refused(tmp_path):
    (tmp_path / "r.jsonl").write_text((to_line(_ranking()) + "\n") * 2)
    with raises(DatasetError, "duplicate_question"):
        read_rankings(tmp_path / "r.jsonl")


def test_a_log_goes_on_where_it_stopped(tmp_path):
    path = tmp_path / "r.jsonl"
    with RankingLog(path, "r1") as log:
        log.add(_ranking("q1"))
    with RankingLog(path, "r1") as log:
        assert list(log.done) == ["q1"]
        log.add(_ranking("q2"))
    assert [r.question_id for r in read_rankings(path)] == ["q1", "q2"]


def test_every_line_is_on_disk_as_soon_as_it_is_added(tmp_path):
    with RankingLog(tmp_path / "r.jsonl", "r1") as log:
        log.add(_ranking("q1"))
        assert len(read_rankings(tmp_path / "r.jsonl")) == 1


@pytest.mark.parametrize("cut", [1, 20, 100])
def test_a_line_cut_by_a_crash_is_dropped_and_written_again(tmp_path, cut):
    path = tmp_path / "r.jsonl"
    path.write_text(to_line(_ranking("q1")) + "\n" + to_line(_ranking("q2"))[:cut])
    with RankingLog(path, "r1") as log:
        assert list(log.done) == ["q1"]
        log.add(_ranking("q2"))
    assert read_rankings(path) == (_ranking("q1"), _ranking("q2"))


def test_rankings_of_another_run_are_refused_and_left_alone(tmp_path):
    path = tmp_path / "r.jsonl"
    _write(path, [_ranking(run="other")])
    with raises(DatasetError, "another_run"):
        RankingLog(path, "r1")
    assert read_rankings(path) == (_ranking(run="other"),)
