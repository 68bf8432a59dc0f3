"""Questions made unanswerable, and the measures of telling them apart, with the arithmetic written out."""

import random

import numpy as np
import pytest
from codes import raises

from thinkback.errors import DatasetError
from thinkback.evaluate.answers import Asked, asked, auroc, data, measure_answers, nonsense, page, renamed, summary
from thinkback.evaluate.datasets.base import Corpus, Dataset, Document, Question
from thinkback.evaluate.systems import Recipes
from thinkback.search.recipes.named import KEYWORD


def dataset() -> Dataset:
    def corpus(id: str, name: str, texts: list[str]) -> Corpus:
        return Corpus(id, tuple(Document(f"{id}{n}", f"{name}: {text}", speaker=name) for n, text in enumerate(texts)))

    corpora = (
        corpus("a", "Ann", ["I adopted a grey cat", "my car broke down in Lisbon", "the violin lesson was hard"]),
        corpus("b", "Bob", ["the marathon in Oslo was cold", "I bake rye bread", "our chess club won"]),
    )
    questions = (
        Question("1", "a", "What did Ann adopt, a cat?", {"a0": 1.0}),
        Question("2", "a", "Where did the car of Ann break?", {"a1": 1.0}),
        Question("3", "b", "Which bread does Bob bake?", {"b1": 1.0}),
        Question("4", "b", "What did the chess club of Bob do?", {"b2": 1.0}),
    )
    return Dataset("toy", corpora, questions)


def test_questions_are_asked_elsewhere_with_the_names_of_that_place() -> None:
    made = asked(dataset())
    assert [one.kind for one in made].count("own") == 4
    assert Asked("b", "What did Bob adopt, a cat?", "other", None) in made
    assert asked(dataset()) == made


def test_names_are_replaced_as_whole_words() -> None:
    assert renamed("Ann and Anna met Bo", ["Ann", "Bo"], ["Tim", "Zoe"]) == "Tim and Anna met Zoe"
    assert renamed("Ann", ["Ann"], []) == "Ann"


def test_nonsense_keeps_the_shape() -> None:
    made = nonsense("Where is 42?", random.Random(1))
    assert len(made) == len("Where is 42?")
    assert made.endswith(" 42?")


def test_one_corpus_is_too_few() -> None:
    whole = dataset()
    with raises(DatasetError, "too_few_corpora"):
        asked(Dataset("one", whole.corpora[:1], whole.questions[:2]))


def test_the_measures_by_hand() -> None:
    """Pairs of (.9, .4) against (.4, .1): one tie of four, three won: (3 + 1/2) / 4."""
    assert auroc(np.array([0.9, 0.4, 0.4, 0.1]), np.array([True, True, False, False])) == 3.5 / 4
    judged = [(Asked("a", "", "own"), 0.9), (Asked("a", "", "own"), 0.8), (Asked("a", "", "other"), 0.1)]
    found = summary("default", judged, [(0.75, True), (0.25, True), (0.25, False)])
    # one pair is won and one a tie; two bins: (1 · |.75 − 1| + 2 · |.25 − 1/2|) / 3
    assert (found.hit_auroc, found.hit_calibration_error) == (1.5 / 2, pytest.approx(0.25))
    # three bins of one question each: (|.9 − 1| + |.8 − 1| + |.1 − 0|) / 3
    assert found.calibration_error == pytest.approx((0.1 + 0.2 + 0.1) / 3)
    assert (found.auroc, found.refused, len(found.bins)) == (1.0, 1.0, 3)
    drawn = page("toy <set>", [found])
    assert drawn.count("<polyline") == 2
    assert "toy &lt;set&gt;" in drawn
    assert f"{found.auroc:.3f}" in drawn
    assert "Content-Security-Policy" in drawn
    assert data(found)["counts"] == {"own": 2, "other": 1}


def test_relevance_tells_them_apart_in_a_toy() -> None:
    (found,) = measure_answers(dataset(), Recipes([KEYWORD]))
    assert found.auroc > 0.9
    assert found.hit_auroc > 0.9
