"""Which words of a question a text has, and which stand together; compared with reading every word."""

import random
import re

import pytest

from thinkback.model import StoredRecord
from thinkback.search.reading import CLOSE, MOST_PLACES, Word, read, stem

WORD = re.compile(r"[^\W_]+")


def plainly(text: str, asked: list[Word]) -> tuple[list[float], set[int]]:
    """The weights of the words in a text and the neighbours of the question that are close in it, word by word."""
    found = [stem(word) for word in WORD.findall(text.lower())]
    places = [[at for at, one in enumerate(found) if one == word.stem][:MOST_PLACES] for word in asked]
    close = {
        number
        for number in range(len(asked) - 1)
        if any(abs(one - other) <= CLOSE for one in places[number] for other in places[number + 1])
    }
    return [word.weight if at else 0.0 for word, at in zip(asked, places, strict=True)], close


@pytest.mark.parametrize("seed", range(30))
def test_texts_are_read_as_if_word_by_word(seed: int) -> None:
    chance = random.Random(seed)
    words = [
        "plan",
        "plans",
        "planned",
        "budget",
        "budgets",
        "tracker",
        "é",
        "42",
        "app",
        "happy",
        "Überprüfung",
        "the",
    ]
    between = [" ", ", ", "_", "\n", " - ", ". "]
    texts = [
        "".join(chance.choice(words) + chance.choice(between) for _ in range(chance.randint(0, 60))) for _ in range(6)
    ]
    asked = [Word(stem(chance.choice(words).lower()), False, float(number + 1), True) for number in range(5)]
    records = [StoredRecord(id=str(place), text=text) for place, text in enumerate(texts)]
    readings = read(records, lambda record: record.text, asked, pairs=4)
    for place, (reading, text) in enumerate(zip(readings, texts, strict=True)):
        has, close = plainly(text, asked)
        assert reading.has == has
        assert reading.sum == sum(has)
        assert reading.close == (close if place < 4 else set())


def test_speaker_and_tags_count_for_every_word_of_their_stem() -> None:
    asked = [Word("plan", False, 1.0, True), Word("tracker", False, 2.0, True), Word("plan", False, 3.0, True)]
    (reading,) = read([StoredRecord(id="1", text="nothing", tags=("plans",))], lambda record: record.text, asked)
    assert reading.has == [1.0, 0.0, 3.0]
