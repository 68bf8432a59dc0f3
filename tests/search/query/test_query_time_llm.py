"""The language model as an extractor of last resort."""

import json
from datetime import UTC
from zoneinfo import ZoneInfo

import pytest
from codes import raises
from hypothesis import given
from hypothesis import strategies as st

from thinkback.clock import DAY, to_us
from thinkback.errors import RemoteError
from thinkback.search.query.ask_model import ask_for_time

NOW = to_us("2024-05-15T15:00:00Z")
QUERY = "What did I pack a couple of weeks before my trip?"


class Scripted:
    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.asked: list[tuple[str, str, int]] = []

    def complete(self, system: str, user: str, max_tokens: int) -> str:
        self.asked.append((system, user, max_tokens))
        return self.answer


def test_a_day_and_a_tolerance_become_an_anchor():
    chat = Scripted('{"phrase": "a couple of weeks before my trip", "date": "2024-03-02", "tolerance_days": 5}')
    anchor = ask_for_time(QUERY, NOW, ZoneInfo("Europe/Berlin"), chat)
    assert anchor.phrase == "a couple of weeks before my trip" == QUERY[anchor.start : anchor.end]
    assert anchor.centre_us == to_us("2024-03-02T12:00+01:00")
    assert anchor.tolerance_us == 5 * DAY


def test_it_is_told_the_local_time_and_at_most_300_characters():
    chat = Scripted('{"date": null}')
    assert ask_for_time("some weeks back " + "x" * 1000, NOW, ZoneInfo("Asia/Tokyo"), chat) is None
    [(_, user, max_tokens)] = chat.asked
    asked = json.loads(user)
    assert asked["now"] == "Thursday 2024-05-16 00:00"
    assert len(asked["question"]) == 300
    assert max_tokens == 100


@pytest.mark.parametrize("query", ["What is her pet called?", "When did she move?", "", "the last word"])
def test_it_is_not_asked_when_no_word_hints_at_a_time(query):
    chat = Scripted("never")
    assert ask_for_time(query, NOW, UTC, chat) is None
    assert chat.asked == []


@pytest.mark.parametrize(
    ("given", "days"),
    [(3, 3), (0.1, 0.5), (0, 0.5), (-4, 0.5), (10**9, 183), (None, 7), ("many", 7), (True, 7), (float("nan"), 7)],
)
def test_a_tolerance_is_kept_within_reason(given, days):
    chat = Scripted(json.dumps({"date": "2024-03-02", "tolerance_days": given}))
    assert ask_for_time(QUERY, NOW, UTC, chat).tolerance_days == days


@pytest.mark.parametrize("phrase", ["words that are not there", "", 7, None, ["x"]])
def test_a_phrase_that_was_not_copied_means_the_whole_question(phrase):
    chat = Scripted(json.dumps({"date": "2024-03-02", "phrase": phrase}))
    assert ask_for_time(QUERY, NOW, UTC, chat).phrase == QUERY


def test_words_around_the_object_do_not_matter():
    chat = Scripted('Of course!\n```json\n{"date": "2024-03-02T09:00:00Z"}\n```')
    assert ask_for_time(QUERY, NOW, UTC, chat).centre_us == to_us("2024-03-02T12:00")


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "I do not know.",
        '{"date": ',
        "[1, 2]",
        '{"date": "soon"}',
        '{"date": "2024-02-30"}',
        '{"date": "0001-01-01"}',
        '{"date": 7}',
        "{" * 5000 + "}" * 5000,
    ],
)
def test_nonsense_is_a_remote_error(answer):
    """The pipeline makes a warning of it; silence would look like a query that names no time."""
    with raises(RemoteError, "invalid_answer"):
        ask_for_time(QUERY, NOW, UTC, Scripted(answer))


@given(
    st.text()
    | st.dictionaries(st.sampled_from(["date", "phrase", "tolerance_days"]), st.text() | st.floats()).map(json.dumps)
)
def test_any_answer_is_an_anchor_nothing_or_a_remote_error(answer):
    try:
        anchor = ask_for_time(QUERY, NOW, UTC, Scripted(answer))
    except RemoteError:
        return
    assert anchor is None or anchor.tolerance_us > 0
