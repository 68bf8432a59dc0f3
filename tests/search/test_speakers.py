"""Who said a memory, and whose words a question asks for."""

import pytest

import thinkback
from thinkback.model import StoredRecord
from thinkback.search.speakers import asks_what_assistant_said, in_first_person, names, speaker


def record(text, **fields):
    return StoredRecord(id="m", text=text, **fields)


def test_the_field_comes_first():
    assert speaker(record("Melanie: hello", speaker="Caroline")) == "caroline"


def test_else_the_name_at_the_head_of_a_short_text():
    assert speaker(record("Mary Ann: I painted a sunrise")) == "mary ann"


def test_the_source_is_no_speaker():
    assert speaker(record("the meeting was moved", source="Claude")) == ""


@pytest.mark.parametrize(
    "text",
    [
        "Cell death: how it begins",
        "no head at all",
        "Caroline: hello\nMelanie: hello",
        "Caroline: " + "a long day " * 200,
        "12: the number of apostles",
    ],
)
def test_titles_and_texts_of_several_speakers_have_none(text):
    assert speaker(record(text)) == ""


@pytest.mark.parametrize("text", ["What did I say?", "my budget", "Who helped us?", "What I’ve read"])
def test_the_first_person(text):
    assert in_first_person(text)


@pytest.mark.parametrize("text", ["What did Caroline say?", "Which item is it?", "the mine in Wales"[:3]])
def test_not_the_first_person(text):
    assert not in_first_person(text)


@pytest.mark.parametrize(
    "text",
    [
        "Which library did you recommend?",
        "What have you already told me about Oslo?",
        "the plan you suggested",
        "What was your advice?",
        "What did the assistant say about tests?",
    ],
)
def test_what_the_assistant_said_is_asked_for(text):
    assert asks_what_assistant_said(text)


@pytest.mark.parametrize(
    "text", ["What would you suggest?", "Do you think so?", "Can you explain it?", "What did I say?"]
)
def test_a_new_proposal_is_asked_for(text):
    assert not asks_what_assistant_said(text)


def test_function_words_name_nobody():
    assert names("What did Caroline do?") == {"caroline"}


def test_the_speaker_is_kept():
    with thinkback.open(":memory:", embedder=None, reranker=None) as memory:
        kept = memory.remember("I painted a sunrise", speaker="Caroline", source="chat")
        assert (memory.get(kept.id).speaker, memory.get(kept.id).source) == ("Caroline", "chat")
        memory.update(kept.id, speaker="Melanie")
        assert memory.get(kept.id).speaker == "Melanie"
