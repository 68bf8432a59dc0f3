"""What a text mentions is the same whether it is asked one by one or packed for the index."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback import mentions
from thinkback.mentions import A_NAME, A_NUMBER, A_TIME, READ, words

TEXTS = st.lists(
    st.sampled_from(
        ["Ann", "we", "may", "May", "two", "2019", "19", "next", "_", "é", "²", ". ", ", ", " ", "\n", "x" * 1990]
    )
).map("".join)


@given(st.text(st.characters(max_codepoint=0x17F)) | st.text(st.characters(max_codepoint=0x7F)))
def test_words_are_runs_of_letters_and_digits(text: str) -> None:
    assert words(text) == re.findall(r"[^\W_]+", text)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("We met in 1999.", True),
        ("Since_2024, or rather 2023", True),
        ("Room 12019 has 20 chairs", False),
        ("It costs 2,000", False),
        ("Next-week!", True),
        ("nextweek", False),
        ("a " * 2000 + "yesterday", False),  # only the beginning of a long text is read
    ],
)
def test_a_time_is_a_word_or_a_year(text: str, named: bool) -> None:
    assert mentions.names_a_time(text) is named


@pytest.mark.parametrize(
    ("text", "has"), [("I have two cats", True), ("4 cats", True), ("twofold", False), ("", False)]
)
def test_a_number_is_a_digit_or_a_word(text: str, has: bool) -> None:
    assert mentions.has_a_number(text) is has


@pytest.mark.parametrize(
    ("text", "within"),
    [
        ("Ann and Ben met Carla Diaz; Emre, Fay", {"ben", "carla", "diaz", "emre", "fay"}),
        ("We left. Gus stayed (Hana) in May", set()),
        ("saw McDonald", {"mc"}),
        ("saw I", set()),
    ],
)
def test_a_name_is_a_capital_in_mid_sentence(text: str, within: set[str]) -> None:
    assert mentions.names_within(text) == within


@given(TEXTS)
def test_packed_it_is_the_same(text: str) -> None:
    expected = A_TIME * mentions.names_a_time(text) + A_NUMBER * mentions.has_a_number(text)
    assert mentions.mentions(text) == READ + expected + A_NAME * bool(mentions.names_within(text))
