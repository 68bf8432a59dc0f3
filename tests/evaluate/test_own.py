"""Judged queries as questions: the latest judgement holds, and answers are gold."""

from thinkback.evaluate.datasets import Question
from thinkback.evaluate.datasets.own import judged_questions
from thinkback.model import Judgement, StoredJudgement

MAY = 1_715_000_000_000_000


def judgement(query: str, id: str, grade: int, at: int) -> Judgement:
    return Judgement.of(StoredJudgement(query, id, grade, at))


def test_white_space_does_not_make_another_question():
    made = [judgement("  who\n is   Ada ", "m1", 1, MAY), judgement("who is Ada", "m2", 1, MAY)]
    assert judged_questions(made) == (
        [Question("who is Ada", "own", "who is Ada", {"m1": 1.0, "m2": 1.0}, now_us=MAY)],
        0,
    )


def test_the_latest_judgement_holds_whatever_the_order():
    old, new = judgement("q", "m1", 1, MAY), judgement("q", "m1", 3, MAY + 1)
    (question,), _ = judged_questions([old, new])
    assert question == Question("q", "own", "q", {"m1": 3.0}, now_us=MAY + 1)
    assert judged_questions([new, old]) == ([question], 0)


def test_answers_are_gold_and_a_grade_of_0_is_not():
    made = [
        judgement("boat?", "m1", 2, MAY),
        judgement("boat?", "m2", 0, MAY),
        judgement("cat?", "m3", 0, MAY),
        judgement("boat?", "m4", 1, MAY),
    ]
    questions, unanswered = judged_questions(made)
    assert questions == [Question("boat?", "own", "boat?", {"m1": 2.0, "m4": 1.0}, now_us=MAY)]
    assert unanswered == 1
