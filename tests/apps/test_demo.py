"""`thinkback demo` tells its story on any memory, with a model or without one, and with the default model every answer is right."""

import io

import pytest
from rich.console import Console

import thinkback
from thinkback.apps import demo
from thinkback.apps.tour import Tour
from thinkback.testing import FixedClock, ToyEmbedder


@pytest.mark.parametrize("embedder", [None, ToyEmbedder()], ids=["keywords", "vectors"])
def test_the_story_is_told(embedder):
    printed = io.StringIO()
    clock = FixedClock("2026-05-29T09:00:00Z")
    with thinkback.open(":memory:", embedder=embedder, reranker=None, clock=clock) as memory:
        demo.tell(memory, Console(file=printed, width=200))
        assert memory.count() == 35  # 36 memories, one more that replaces one that is closed, and one forgotten
        assert len(memory.search_keywords("4417")) == 0
    story = printed.getvalue()
    for question in demo.QUESTIONS:
        assert question.text in story
    assert "why not" in story
    today, _, then = story.partition("as of the tenth of May")
    assert demo.AFTER in today.rpartition("(today)")[2]
    assert demo.BEFORE in then
    assert "nothing is left" in story


@pytest.mark.models
def test_every_answer_of_the_demo_is_right_under_the_default():
    with thinkback.open(":memory:") as memory:
        demo.remember(memory)
        for question, found in demo.answers(memory):
            assert question.answer in found[0].text, question.text
            # The words that make the answer are its own: no other memory of the story has them.
            assert sum(question.answer in record.text for record in memory.list(limit=100)) == 1


@pytest.mark.models
def test_the_demo_with_a_model_shows_both_facts_that_changed(tmp_path):
    printed = io.StringIO()
    with thinkback.open(tmp_path / "story.db") as memory:
        demo.tell(memory, Console(file=printed, width=200))
    today, _, then = printed.getvalue().partition("as of the tenth of May")
    assert demo.AFTER in today.rpartition("(today)")[2]
    assert demo.BEFORE in then


def test_the_tour_takes_what_the_user_types():
    typed = iter(["Ada built a kite", "what did Ada build?", "", "", "Ada's kite broke", ""])
    printed = io.StringIO()
    with thinkback.open(":memory:", embedder=None) as memory:
        tour = Tour(memory, Console(file=printed, width=120), ask=lambda prompt: next(typed))
        told = {one["step"]: one for one in tour.take()}
    assert told["recall"]["ids"][0] == told["remember"]["id"]
    assert told["update"]["versions"] == ["Ada built a kite", "Ada's kite broke"]
    assert told["forget"]["verified"]
    assert "Ada built a kite" in printed.getvalue()
    assert "thinkback mcp install" in printed.getvalue()


def test_the_tour_tells_all_and_ends_where_nobody_types():
    printed = io.StringIO()
    with thinkback.open(":memory:", embedder=None) as memory:
        told = Tour(memory, Console(file=printed, width=120), ask=None).take()
        assert [one["step"] for one in told] == ["remember", "recall", "explain", "why_not", "update", "forget"]
        assert memory.count() == 3
    assert "Something worth remembering" in printed.getvalue()


def test_the_tours_suggested_question_has_its_answer_whatever_was_typed():
    typed = iter(["Ada built a kite", "", "", "", "", ""])
    with thinkback.open(":memory:", embedder=None) as memory:
        told = {one["step"]: one for one in Tour(memory, Console(quiet=True), ask=lambda prompt: next(typed)).take()}
        assert "Oscar" in memory.get(told["recall"]["ids"][0]).text
    assert all("Ada built a kite" in version for version in told["update"]["versions"])


def test_the_tour_takes_the_end_of_input_for_enter():
    def ended(prompt):
        raise EOFError

    with thinkback.open(":memory:", embedder=None) as memory:
        assert len(Tour(memory, Console(quiet=True), ask=ended).take()) == 6
