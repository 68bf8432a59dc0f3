"""Traits: what is packed of a record is true of it, and no part of its value."""

import pickle
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from thinkback.model import StoredRecord
from thinkback.search.traits import FLAGS, LONGEST_PAIRED, may_have, traits

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


@given(st.text(max_size=40), st.text(min_size=1, max_size=3), st.text(max_size=40))
def test_a_word_of_the_text_is_never_ruled_out(before, word, after):
    record = StoredRecord(id="1", text=before + word + after)
    words = [word for word in (word.lower(),) if word in record.text.lower()]
    assert may_have(traits([record]), words).all()


def test_most_words_that_a_text_does_not_have_are_ruled_out():
    texts = ["we went to the lake", "the budget of May", "y" * (LONGEST_PAIRED + 1)]
    records = [StoredRecord(id=str(row), text=text) for row, text in enumerate(texts)]
    assert may_have(traits(records), ["lake", "budget"]).tolist() == [[True, False, True], [False, True, True]]
    assert may_have(traits(records), []).shape == (0, 3)
