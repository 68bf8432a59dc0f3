"""Tables of scores: missing answers count as zero, questions without gold do not count."""

from codes import raises

from thinkback.errors import InvalidInput
from thinkback.evaluate.datasets import Question
from thinkback.evaluate.metrics import metric
from thinkback.evaluate.rankings import Ranking
from thinkback.evaluate.scores import by_category, differences, questions_of, score, summarize

ASKED = [
    Question("q1", "talk", "?", {"a": 1.0}, "easy"),
    Question("q2", "talk", "?", {"b": 1.0}, "hard"),
    Question("q3", "trip", "?", {}, "hard"),
    Question("q4", "trip", "?", {"z": 0.0}, "hard"),
]
FOUND = {"q1": Ranking("q1", {"a": 1.0}, ("a",), (1.0,))}
ANY = [metric("any@1"), metric("mrr")]


def test_a_question_without_a_ranking_scores_zero_and_one_without_gold_is_left_out():
    table = score(ASKED, FOUND, ANY)
    assert table.ids == ("q1", "q2")
    assert table.values.tolist() == [[1.0, 1.0], [0.0, 0.0]]
    assert (table.n, table.missing) == (2, 1)


def test_the_questions_gold_decides_not_the_rankings():
    claimed = {"q1": Ranking("q1", {"x": 1.0}, ("x",), (1.0,))}
    assert score(ASKED, claimed, ANY).values[0].tolist() == [0.0, 0.0]


def test_means_and_categories():
    table = score(ASKED, FOUND, ANY)
    assert summarize(table).means["any@1"].mean == 0.5
    assert {name: (s.n, s.means["mrr"].mean) for name, s in by_category(table).items()} == {
        "easy": (1, 1.0),
        "hard": (1, 0.0),
    }


def test_nothing_to_score_is_zero_of_zero():
    table = score([], {}, ANY)
    assert summarize(table).n == 0
    assert differences(table, table)["mrr"].mean == 0.0


def test_only_the_same_questions_can_be_compared():
    table = score(ASKED, FOUND, ANY)
    with raises(InvalidInput, "different_questions"):
        differences(table, score(ASKED[:1], FOUND, ANY))


def test_rankings_bring_their_questions():
    ranking = Ranking("q1", {"a": 2.0}, ("a",), (1.0,), text="who?", category="easy", group="talk")
    assert questions_of([ranking]) == (Question("q1", "talk", "who?", {"a": 2.0}, "easy"),)
