"""Hits: what is computed when it is read is a part of their value like the rest."""

import copy
import pickle
from dataclasses import replace

import pytest

from thinkback.model import Contribution, Hit, Later, Placing, StoredRecord

RECORD = StoredRecord(id="1", text="the key is under the mat")
PLACED, ADDED = (Placing("keyword", 1, 2.5),), (Contribution("leg", "keyword", 0.5, 1.0, "0.5 × value"),)


def computed(asked: list[str]) -> Hit:
    def read(name, value):
        asked.append(name)
        return value

    placings, added = (
        Later(lambda hit: read(f"placings of {hit.id}", PLACED)),
        Later(lambda hit: read(f"contributions of {hit.id}", ADDED)),
    )
    return Hit(1, 0.5, RECORD, placings, added)


def test_nothing_is_computed_before_it_is_read_and_then_once():
    asked: list[str] = []
    hit = computed(asked)
    assert hit.text
    assert asked == []
    assert (hit.contributions, hit.contributions, hit.placings) == (ADDED, ADDED, PLACED)
    assert asked == ["contributions of 1", "placings of 1"]


@pytest.mark.parametrize(
    "through",
    [
        lambda hit: hit,
        lambda hit: pickle.loads(pickle.dumps(hit)),
        copy.copy,
        copy.deepcopy,
        lambda hit: replace(hit, score=0.5),
    ],
)
def test_it_equals_a_hit_with_the_values_themselves(through):
    given = Hit(1, 0.5, RECORD, PLACED, ADDED)
    found = through(computed([]))
    assert found == given
    assert repr(found) == repr(given)
    assert found.why() == given.why()
    assert found.to_dict() == given.to_dict()
