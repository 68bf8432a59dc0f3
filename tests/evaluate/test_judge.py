"""Judgements: checked, the latest holds, and a set survives export and import."""

import pytest

from thinkback.errors import DatasetError, InvalidInput
from thinkback.evaluate.datasets import Question
from thinkback.evaluate.judge import judged_questions, judgement, latest, read_judgements, write_judgements
from thinkback.stores.base import Judgement

MAY = 1_715_000_000_000_000


def test_white_space_does_not_make_another_question():
    assert judgement("  who\n is   Ada ", "m1", 1, MAY) == Judgement("who is Ada", "m1", 1, MAY)


@pytest.mark.parametrize(
    ("query", "memory", "grade"),
    [(" ", "m1", 1), ("who", " ", 1), ("who", "m1", -1), ("who", "m1", 4), ("who", "m1", True), ("who", "m1", 0.5)],
)
def test_a_judgement_that_means_nothing_is_refused(query, memory, grade):
    with pytest.raises(InvalidInput):
        judgement(query, memory, grade, MAY)


def test_the_latest_judgement_holds_whatever_the_order():
    old, new = judgement("q", "m1", 1, MAY), judgement("q", "m1", 0, MAY + 1)
    assert latest([old, new]) == latest([new, old]) == (new,)


def test_answers_are_gold_and_refusals_are_not():
    made = [
        judgement("boat?", "m1", 2, MAY),
        judgement("boat?", "m2", 0, MAY),
        judgement("cat?", "m3", 0, MAY),
        judgement("boat?", "m4", 1, MAY),
    ]
    questions, only_refusals = judged_questions(made, "own")
    assert questions == (Question("boat?", "own", "boat?", {"m1": 2.0, "m4": 1.0}, now_us=MAY),)
    assert only_refusals == 1


def test_a_set_survives_export_and_import(tmp_path):
    made = (judgement("what’s “new”?", "m1", 3, MAY), judgement("cat?", "m2", 0, MAY + 123_456))
    write_judgements(tmp_path / "set.jsonl", made)
    assert read_judgements(tmp_path / "set.jsonl") == made


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            '{"query": "q", "memory_id": "m", "grade": 9, "judged_at": "2026-01-01"}',
            "line 1: a grade is a whole number",
        ),
        ('{"query": "q", "memory_id": "m", "grade": "1", "judged_at": "2026-01-01"}', "expected a whole number"),
        ('{"query": "q", "memory_id": "m", "grade": 1, "judged_at": "soon"}', "line 1: not a time: 'soon'"),
        ('{"query": "q", "memori": "m", "grade": 1, "judged_at": "2026-01-01"}', "Did you mean 'memori'"),
        ('{"query": "", "memory_id": "m", "grade": 1, "judged_at": "2026-01-01"}', "needs a query"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, line, expected):
    (tmp_path / "set.jsonl").write_text(line)
    with pytest.raises(DatasetError, match=expected):
        read_judgements(tmp_path / "set.jsonl")
