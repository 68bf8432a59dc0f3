"""The passage of a long memory that a search shows."""

import math

import numpy as np
import pytest

import thinkback
from thinkback.memory import Memory
from thinkback.passages import Span, split
from thinkback.search.excerpts import bm25, coverage, idf, occurrences, stems
from thinkback.search.selection import tokens
from thinkback.testing import ToyEmbedder

FILLER = "Nothing of note is told in these lines, which only fill the page. " * 12
TOPICS = (
    "The harbour crane was painted yellow in June.",
    "A heron nested beside the old mill.",
    "The choir sang at noon.",
)
LONG = "\n\n".join(f"{topic} {FILLER}" for topic in TOPICS)


@pytest.fixture
def memory() -> Memory:
    return thinkback.open(":memory:", embedder=ToyEmbedder())


def test_coverage_adds_the_idf_of_the_words_a_passage_has() -> None:
    text = "one cat sat. two cats ran. three dogs ran."
    spans = [Span(0, 12), Span(13, 26), Span(27, 42)]
    cat, ran = (math.log(1 + (3 - 2 + 0.5) / (2 + 0.5)) for _ in range(2))
    best = cat + ran

    def covered(*words: str) -> list[float]:
        counts = occurrences(text, spans, stems(words))
        return coverage(counts, idf(counts)).tolist()

    assert covered("cats", "ran") == pytest.approx([cat / best, 1.0, ran / best])
    assert covered("bird") == [0.0, 0.0, 0.0]
    assert covered() == [0.0, 0.0, 0.0]


def test_bm25_prefers_the_passage_that_says_it_more_often() -> None:
    counts = np.array([[1.0, 3.0, 0.0]])
    once, thrice = 2.2 * 1 / (1 + 1.2), 2.2 * 3 / (3 + 1.2)
    assert bm25(counts, idf(counts), [10, 10, 10]).tolist() == pytest.approx([once / thrice, 1.0, 0.0])
    short, long = 2.2 / (1 + 1.2 * (0.25 + 0.75 * 0.5)), 2.2 / (1 + 1.2 * (0.25 + 0.75 * 1.5))
    both = np.array([[1.0, 1.0]])
    assert bm25(both, idf(both), [5, 15]).tolist() == pytest.approx([1.0, long / short])


def test_words_are_counted_inside_of_passages_and_at_the_beginning_of_words_only() -> None:
    text = "concatenate. a cat, cats"
    spans = [Span(0, 11), Span(13, 18), Span(20, 22)]
    assert occurrences(text, spans, ("cat",)).tolist() == [[0.0, 1.0, 0.0]]
    assert occurrences("我的猫叫奥斯卡", [Span(0, 3), Span(3, 7)], ("猫",)).tolist() == [[1.0, 0.0]]
    assert occurrences("part 79, part 791, 79th", [Span(0, 23)], ("79",)).tolist() == [[2.0]]


CHAT = "\n".join(
    f"User: Our tracker keeps its budget of {place} euros in {town}.\nAssistant: "
    + "The budget of the tracker is kept by the tracker, and a budget is a plan. " * 18
    for place, town in ((100, "Ghent"), (200, "Turin"), (300, "Porto"))
)


@pytest.mark.parametrize(
    ("question", "users"),
    [
        ("What is the budget of my tracker?", True),
        ("What did you tell me the budget of my tracker is?", False),
        ("Which budget has the tracker?", False),
    ],
)
def test_who_asks_about_himself_is_shown_what_he_said(memory: Memory, question: str, users: bool) -> None:
    memory.remember(CHAT)
    (hit,) = memory.recall(question)
    assert hit.passage is not None
    assert ("User:" in hit.passage.text) is users


def test_stems_drop_common_endings() -> None:
    assert stems(["Painted", "painting", "paint", "bus", "gas"]) == ("paint", "bus", "gas")


@pytest.mark.parametrize("topic", TOPICS)
def test_a_hit_shows_the_passage_that_answers(memory: Memory, topic: str) -> None:
    memory.remember("a short note on the harbour")
    long = memory.remember(LONG)
    hit = next(hit for hit in memory.recall(topic) if hit.id == long.id)
    assert hit.passage is not None
    assert topic in hit.passage.text
    assert hit.passage.text == LONG[hit.passage.start : hit.passage.end]
    assert hit.text == LONG
    assert f"passage: characters {hit.passage.start} to {hit.passage.end}" in hit.why()
    assert sum(one.delta for one in hit.contributions) == pytest.approx(hit.score)


def test_a_short_memory_has_none(memory: Memory) -> None:
    memory.remember("a short note on the harbour")
    assert [hit.passage for hit in memory.recall("harbour")] == [None]


@pytest.mark.parametrize("recipe", ["keyword", "vector", "default", "engrava", "memini", "gorag"])
def test_every_recipe_shows_one(memory: Memory, recipe: str) -> None:
    memory.remember(LONG)
    (hit,) = memory.recall("heron beside the mill", recipe=recipe)
    assert hit.passage is not None
    assert "heron" in hit.passage.text


def test_without_an_embedder_the_words_choose() -> None:
    with thinkback.open(":memory:", embedder=None) as memory:
        memory.remember(LONG)
        (hit,) = memory.recall("herons")
        assert hit.passage is not None
        assert "heron" in hit.passage.text


def test_the_budget_counts_the_passage(memory: Memory) -> None:
    memory.remember(LONG)
    most = max(tokens(span.of(LONG)) for span in split(LONG))
    assert tokens(LONG) > most
    assert len(memory.recall("heron", max_tokens=most)) == 1
    found = memory.recall("heron", max_tokens=20)
    assert len(found) == 0
    assert found.trace.drops[0].code == "budget"


def test_the_past_shows_the_passage_of_then(memory: Memory) -> None:
    clock_before = memory.clock()
    record = memory.remember(LONG)
    then = memory.clock()
    memory.update(record.id, text=LONG.replace("heron", "stork"))
    (hit,) = memory.recall("heron", known_at=then)
    assert clock_before <= then
    assert hit.passage is not None
    assert "heron" in hit.passage.text
    (hit,) = memory.recall("stork")
    assert hit.passage is not None
    assert "stork" in hit.passage.text


def test_a_question_without_words_shows_the_beginning(memory: Memory) -> None:
    memory.remember(LONG)
    (hit,) = memory.recall("")
    assert hit.passage is not None
    assert hit.passage.start == 0


def test_a_long_memory_is_found_by_its_best_passage(memory: Memory) -> None:
    memory.remember(LONG)
    by_passage = memory.recall(TOPICS[1], recipe="vector")[0].placings[0].score
    by_mean = memory.recall(TOPICS[1], recipe="vector", overrides={"legs.vector.passages": False})[0].placings[0].score
    assert by_passage > by_mean


def test_why_not_tells_the_rank_of_a_long_memory(memory: Memory) -> None:
    long = memory.remember(LONG)
    memory.remember("heron heron")
    found = memory.recall("heron", limit=1, recipe="vector")
    reason = found.why_not(long.id)
    assert "vector: rank 2" in str(reason)
