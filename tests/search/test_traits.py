"""Traits: what is packed of a record is true of it, and no part of its value."""

import pickle
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.model import StoredRecord
from thinkback.search.signals.ranker_view import _names_a_time
from thinkback.search.traits import FLAGS, traits, words

RECORDS = [
    StoredRecord(id="1", text="Where is the key?", speaker="Ann", thread="t"),
    StoredRecord(id="2", text="x" * 1600, tier="working"),
    StoredRecord(id="3", text="Ann: under the mat", thread="t", kind="preference"),
]


def test_flags_are_those_of_each_record():
    found = {name: traits(RECORDS)["flags"][:, row].tolist() for row, name in enumerate(FLAGS)}
    assert found["asks"] == [1, 0, 0]
    assert found["short"] == [1, 0, 1]
    assert found["document"] == found["long"] == [0, 1, 0]
    assert found["spoken"] == [1, 0, 1]
    assert found["preference"] == [0, 0, 1]


def test_equal_threads_and_speakers_have_equal_numbers_and_none_has_0():
    read = traits(RECORDS)
    assert read["thread"][0] == read["thread"][2] != 0 == read["thread"][1]
    assert read["speaker"][0] == read["speaker"][2] != 0 == read["speaker"][1]


def test_a_short_lived_memory_has_no_lasting_quality():
    assert np.isnan(traits(RECORDS)["quality"]).tolist() == [False, True, False]


def test_what_is_packed_is_no_part_of_the_record():
    read, fresh = (StoredRecord(id="1", text="a") for _ in range(2))
    traits([read])
    assert read == fresh
    assert repr(read) == repr(fresh)
    assert not hasattr(pickle.loads(pickle.dumps(read)), "packed")
    assert not hasattr(replace(read, text="b"), "packed")


def test_lengths_and_dates_are_those_of_each_record():
    dated = replace(RECORDS[0], created_at=5), replace(RECORDS[1], created_at=5, valid_from=3)
    assert traits(dated)["length"].tolist() == [17, 1600]
    assert traits(dated)["date"].tolist() == [5, 3]


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
    ],
)
def test_a_time_is_a_word_or_a_year(text: str, named: bool) -> None:
    assert _names_a_time(StoredRecord(id="1", text=text)) is named
