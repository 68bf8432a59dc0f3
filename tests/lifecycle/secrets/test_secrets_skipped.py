"""What a write looks for is left out where it cannot be found: the same findings as if everything were looked for."""

import re
from datetime import UTC
from re import _parser  # type: ignore[attr-defined]

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback import kinds
from thinkback.lifecycle.secrets import detect
from thinkback.lifecycle.secrets.door import Door
from thinkback.model import Draft
from thinkback.search.query import about as told
from thinkback.search.query import time, time_compound

NOW = 1_700_000_000_000_000
SECRET_PARTS = (
    *(
        "password",
        "pass:",
        "is",
        "my",
        "PIN",
        "4821",
        "PUK",
        "12345678",
        "the code to the gate",
        "4711#",
        "key=",
        "token =",
    ),
    *(
        "Tr0ub4dor&3",
        "sk-" + "aB3dE6gH9jK2mN5pQ8sT1vW4",
        "passphrase",
        "seed phrase",
        "https://u:p4ss@host",
        "curl -u a:b1c2d3",
    ),
    *(
        "safe combination",
        "12-34-56",
        "4111 1111 1111 1111",
        "and",
        "pw:a1b2",
        "４８２１",
        "creds",
        "login: me / x7y8z9!",
    ),
)
TIME_PARTS = (
    *(
        "may",
        "May",
        "5",
        "12th",
        "2023",
        "of",
        "in",
        "last",
        "this",
        "year",
        "years",
        "two",
        "ago",
        "the",
        "day",
        "before",
    ),
    *(
        "after",
        "Christmas",
        "New Year's Eve",
        "mother’s day",
        "week",
        "next",
        "Friday",
        "good",
        "q1",
        "h2o",
        "summer",
        "late",
    ),
    *("from", "to", "between", "and", "2019-05-06", "ſummer", "İ", "tomorrow", "in a day.", "émay", "MARCH"),
)
KIND_PARTS = (
    *(
        "always",
        "Never",
        "please",
        "when I",
        "ask",
        "whenever ı",
        "I",
        "prefer",
        "rather",
        "I'd",
        "like you",
        "want you to",
    ),
    *("from now on", ".", "in future,", "my preferences", "don’t ever", "going forward"),
)


def texts(parts):
    return st.lists(st.sampled_from(parts), min_size=1, max_size=9).map(" ".join)


@given(texts(SECRET_PARTS))
def test_patterns_that_cannot_match_find_nothing(text):
    with pytest.MonkeyPatch.context() as everything:
        everything.setattr(detect, "_possible", lambda lowered: list(detect.PATTERNS))
        found = detect.secrets(text)
    assert detect.secrets(text) == found


@given(st.text(alphabet="ab7_+/=.~%- \n:éA²", max_size=40).map(str.lower))
def test_digits_and_long_runs_are_found_as_the_patterns_find_them(lowered):
    assert detect._signs(lowered) == (bool(detect._DIGIT(lowered)), bool(detect._LONG_RUN(lowered)))


def test_no_secret_is_shorter_than_the_shortest_text_that_is_searched():
    widths = [_parser.parse(one.source, one.flags).getwidth()[0] for one in detect.PATTERNS if one.words]
    assert min(widths) >= detect._SHORTEST
    assert detect.secrets("OTP:12")
    assert detect.secrets("pw:a1b2")


@given(texts(TIME_PARTS))
def test_times_that_cannot_be_meant_are_not_read(text):
    with pytest.MonkeyPatch.context() as everything:
        everything.setattr(time, "Held", lambda text: lambda also: True)
        everything.setattr(time_compound, "Held", lambda text: lambda also: True)
        found = time.EnglishExtractor()(text, NOW, UTC)
    assert time.EnglishExtractor()(text, NOW, UTC) == found


@given(texts(TIME_PARTS))
def test_a_text_without_hints_of_a_time_tells_of_none(text):
    def hinted(lowered, words):
        return not told._HINTS.isdisjoint(re.findall(r"[a-z]+[1-4]?", lowered)) or bool(
            re.search(r"(?:19|20)\d\d", lowered)
        )

    with pytest.MonkeyPatch.context() as everything:
        everything.setattr(told, "_hinted", hinted)
        everything.setattr(told, "_ANY_HINTS", frozenset(text.lower().encode(errors="replace").split()) or {b""})
        found = told.about(text, NOW)
    assert told.about(text, NOW) == found


@pytest.mark.parametrize("lead", sorted(told._LEADS))
def test_a_word_that_is_seldom_a_time_is_read_after_a_word_that_leads_to_one(lead):
    assert told._hinted(f"it was {lead.decode()} may", [b"it", b"was", lead, b"may"])


@pytest.mark.parametrize("text", ["it may rain", "we lived there for years", "the year of the cat", "years went by"])
def test_a_word_that_is_seldom_a_time_is_not_read_alone(text):
    assert not told._hinted(text, text.encode().split())


@pytest.mark.parametrize(
    "text",
    [
        "in may",
        "mid-May",
        "since May",
        "the year before last",
        "last year",
        "two years ago",
        "next year",
        "the past year",
    ],
)
def test_a_word_that_is_seldom_a_time_may_be_one(text):
    lowered = text.lower()
    assert told._hinted(lowered, lowered.encode().translate(told._LETTERS).split())


@given(texts(KIND_PARTS))
def test_a_kind_is_suggested_as_by_all_patterns_together(text):
    hinted = any(hint in text.lower() for hint in kinds._HINTS)
    found = hinted and any(form.search(text) for _, form in kinds._ROWS)
    assert kinds.suggested_kind(text) == ("preference" if found else "observation")


def test_a_thread_of_many_memories_is_searched_once(monkeypatch):
    searched = []

    def listening(name):
        searched.append(name)
        return []

    monkeypatch.setattr("thinkback.lifecycle.secrets.door.secrets_in_name", listening)
    Door().admit([Draft(text=f"number {n}", thread="chat") for n in range(5)])
    assert searched == ["chat"]


def test_a_secret_in_a_speaker_of_many_memories_is_found_in_each():
    drafts = [Draft(text=f"number {n}", speaker="pw: hunter2horse", thread="chat") for n in range(3)]
    _, notice = Door().admit([*drafts, Draft(text="no more", speaker="Ines", thread="chat")])
    assert notice is not None
    assert "password in 3 memories" in notice.message


def test_a_secret_in_a_source_counts_beside_one_in_a_thread():
    draft = Draft(text="a", source="pw: hunter2horse", thread="AKIA" + "ABCDEFGH23456777")
    assert Door().checked(draft)[1] == {"password", "AWS access key"}
