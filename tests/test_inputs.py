"""What callers ask for is understood as what was stored, or refused in words."""

from typing import Any

import pytest
from engine_fixtures import toy_memory

from thinkback.errors import InvalidInput


def test_a_tag_is_asked_for_as_it_was_given() -> None:
    with toy_memory() as m:
        m.remember("a grey cat", tags=["#Pets", "two  words"])
        for tag in ("#pets", "pets", " PETS ", "two  words", "two words"):
            assert m.count(tags=[tag]) == 1


@pytest.mark.parametrize(
    "asked",
    [
        {"metadata": {"a": {1, 2}}},
        {"metadata": "ab"},
        {"min_trust": "x"},
        {"min_trust": 2},
        {"tags": ["a,b"]},
        {"limit": 10**30},
        {"limit": "5"},
    ],
    ids=str,
)
def test_what_cannot_be_asked_is_refused_in_words(asked: Any) -> None:
    with toy_memory() as m:
        m.remember("a grey cat")
        with pytest.raises(InvalidInput):
            m.list(**asked)
