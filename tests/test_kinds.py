"""Which texts are suggested to be standing instructions or preferences."""

import pytest

from thinkback.inputs import draft
from thinkback.kinds import suggested_kind

STANDING = [
    "Always format code with syntax highlighting when I ask about implementation details.",
    "Never use abbreviations.",
    "Got it. From now on answer in French.",
    "User: Always include version numbers when I ask about dependencies.",
    "I prefer tea to coffee",
    "I'd rather take the train",
    "I usually prefer window seats, can you book one?",
    "as stated in my preferences, keep it short",
    "Please always cite the source",
    "Whenever I say report, I mean the weekly one",
    "I'd like you to be brief",
    "I don't want you to apologise",
]
ORDINARY = [
    "I've always loved the sea",
    "She never came back",
    "What do you prefer?",
    "He prefers tea",
    "It rained when I asked for the bill in the cafe",
    "We went hiking last weekend",
    "My favourite colour is green",
]


@pytest.mark.parametrize("text", STANDING)
def test_a_standing_instruction_is_suggested_as_a_preference(text):
    assert suggested_kind(text) == "preference"


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_words_stay_an_observation(text):
    assert suggested_kind(text) == "observation"


@pytest.mark.parametrize("role", ["assistant", "Assistant", "tool", "system"])
def test_what_an_assistant_says_is_no_instruction(role):
    assert suggested_kind("Always use a virtual environment.", role) == "observation"


def test_a_kind_that_is_given_is_kept():
    assert draft("I prefer tea", {"kind": "fact"}).kind == "fact"
    assert draft("I prefer tea", {}).kind == "preference"
    assert draft("Tea is hot", {}).kind == "observation"


def test_a_document_is_no_instruction_however_it_begins():
    document = "Always rinse the rice. " + "It was raining. " * 100
    assert suggested_kind(document) == "observation"
    assert suggested_kind(document, "user") == "preference"
