"""Traits: what is packed of a record is true of it, and no part of its value."""

import pickle
from dataclasses import replace

import numpy as np

from thinkback.model import StoredRecord
from thinkback.search.traits import FLAGS, traits

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
