"""Which words of a question a text has, without reading all of its words.

A stem is the beginning of its word, so each is looked for as it stands; only the words that begin with it are read. Words are runs
of letters and digits.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from thinkback.model import REFLECTION, StoredRecord
from thinkback.search.once import Once
from thinkback.values import dataclass

LONGEST = 3000  # characters of a text, or of the passage of a long one, that are read
CLOSE = 4  # words apart at most
MOST_PLACES = 20  # of a word in a text that are compared

_WORD = re.compile(r"[^\W_]+")
_ENDINGS = (
    *(
        "ations",
        "ation",
        "ingly",
        "ments",
        "ment",
        "ings",
        "ness",
        "ies",
        "ied",
        "ing",
        "ers",
        "est",
        "ion",
        "ed",
        "er",
    ),
    *("es", "ly", "al", "s", "e", "y"),
)
_SEPARATORS = {sign: " " for sign in range(128) if not chr(sign).isalnum()}
_NONE: frozenset[str] = frozenset()


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """A lower-cased word without its English ending; rough, but the same for a question and a text."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


@dataclass(frozen=True, slots=True)
class Word:
    """A word or a phrase of unspaced script that the question asks for, and its inverse document frequency."""

    stem: str
    phrase: bool
    weight: float
    known: bool


@dataclass(slots=True)
class Reading:
    """Which of the words a text has, as weights, their sum, and the pairs of neighbouring words that stand close together."""

    has: list[float]
    sum: float
    close: set[int]


def read(record: StoredRecord, shown: str, asked: Sequence[Word], pairs: bool) -> Reading:
    """A reflection is read by its essence; of a long text only what is `shown`, because all of it has most words somewhere."""
    text = (record.essence or shown if record.kind == REFLECTION else shown)[:LONGEST].lower()
    labels = _labels(record) if record.speaker or record.tags else _NONE
    most = MOST_PLACES if pairs else 1
    places = [_places(text, word.stem, most) if word.stem in text else () for word in asked]
    has = [
        word.weight if found or word.stem in labels or (word.phrase and word.stem in text) else 0.0
        for word, found in zip(asked, places, strict=True)
    ]
    return Reading(has, sum(has), _close(text, places) if pairs else set())


@Once
def _labels(record: StoredRecord) -> frozenset[str]:
    """The stems of the speaker's name and of the tags, which count as words of the text."""
    return frozenset(map(stem, _WORD.findall(" ".join(((record.speaker or "").lower(), *record.tags)))))


def _places(text: str, wanted: str, most: int) -> Sequence[int]:
    """Where the first words of this stem begin."""
    found: list[int] = []
    at = text.find(wanted)
    while at >= 0:
        if at == 0 or not text[at - 1].isalnum():
            word = _WORD.match(text, at)
            if word is not None and stem(word[0]) == wanted:
                found.append(at)
                if len(found) == most:
                    break
        at = text.find(wanted, at + 1)
    return found


def _close(text: str, places: Sequence[Sequence[int]]) -> set[int]:
    """The words that stand at most CLOSE words from the next one of the question."""
    some = [number for number, (one, other) in enumerate(pairwise(places)) if one and other]
    if not some:
        return set()
    wanted = sorted({place for number in some for place in (*places[number], *places[number + 1])})
    words = _numbered(text, wanted)
    return {number for number in some if _are_close(words, places[number], places[number + 1])}


def _are_close(words: Mapping[int, int], some: Sequence[int], others: Sequence[int]) -> bool:
    return any(abs(words[one] - words[other]) <= CLOSE for one in some for other in others)


def _numbered(text: str, places: Sequence[int]) -> Mapping[int, int]:
    """Of places in ascending order where words begin, how many words stand between the first and each."""
    numbers, number = {places[0]: 0}, 0
    for one, other in pairwise(places):
        between = text[one:other]
        number += len(between.translate(_SEPARATORS).split() if between.isascii() else _WORD.findall(between))
        numbers[other] = number
    return numbers
