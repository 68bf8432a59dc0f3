"""The passage of a long memory that a search shows."""

import math

import pytest

import thinkback
from thinkback.memory import Memory
from thinkback.model import StoredRecord
from thinkback.passages import Span, split
from thinkback.search.excerpts import Split, Table, occurrences, said_by_user, stems
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


def table(text: str, spans: list[Span], *words: str) -> Table:
    return Table.of([Split(StoredRecord(id="1", text=text), spans)], stems(words))


def test_coverage_adds_the_idf_of_the_words_a_passage_has() -> None:
    text = "one cat sat. two cats ran. three dogs ran."
    spans = [Span(0, 12), Span(13, 26), Span(27, 42)]
    cat, ran = (math.log(1 + (3 - 2 + 0.5) / (2 + 0.5)) for _ in range(2))
    best = cat + ran

    def covered(*words: str) -> list[float]:
        made = table(text, spans, *words)
        return made.coverage(made.found())

    assert covered("cats", "ran") == pytest.approx([cat / best, 1.0, ran / best])
    assert covered("bird") == [0.0, 0.0, 0.0]
    assert covered() == [0.0, 0.0, 0.0]


def test_bm25_prefers_the_passage_that_says_it_more_often() -> None:
    def scored(text: str, *spans: Span) -> list[float]:
        made = table(text, list(spans), "cat")
        return made.bm25(made.found())

    once, thrice = 2.2 * 1 / (1 + 1.2), 2.2 * 3 / (3 + 1.2)
    said = scored("cat lay all. cat cat cat. nothing was.", Span(0, 11), Span(13, 24), Span(26, 37))
    assert said == pytest.approx([once / thrice, 1.0, 0.0])
    short, long = 2.2 / (1 + 1.2 * (0.25 + 0.75 * 0.5)), 2.2 / (1 + 1.2 * (0.25 + 0.75 * 1.5))
    assert scored("a cat. one cat of many.", Span(0, 5), Span(7, 22)) == pytest.approx([1.0, long / short])


def test_memories_are_judged_together_as_they_are_alone() -> None:
    texts = [LONG, LONG.replace("heron", "stork"), "\n\n".join([FILLER, "The heron stood by the mill. " * 9, FILLER])]
    parts = [Split(StoredRecord(id=str(place), text=text), split(text)) for place, text in enumerate(texts)]
    words = stems(["heron", "mill", "choir", "fills"])
    alone = [Table.of([part], words).best(None, True)[0] for part in parts]
    assert Table.of(parts, words).best(None, True) == alone


def test_words_are_counted_inside_of_passages_and_at_the_beginning_of_words_only() -> None:
    text = "concatenate. a cat, cats"
    assert occurrences(text, [(0, 11), (13, 18), (20, 22)], ("cat", "dog")) == [{1: 1}, {}]
    assert occurrences("我的猫叫奥斯卡", [(0, 3), (3, 7)], ("猫",)) == [{0: 1}]
    assert occurrences("part 79, part 791, 79th", [(0, 23)], ("79",)) == [{0: 2}]


def test_a_line_of_the_user_begins_with_the_role() -> None:
    lowered = "user: hello\nassistant: the user: field\nhuman:\tbye\nuser:name"
    spans = [(0, 11), (12, 38), (27, 38), (39, 49), (50, 59), (39, 45)]
    assert said_by_user(lowered, spans) == [True, False, True, True, False, False]


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
