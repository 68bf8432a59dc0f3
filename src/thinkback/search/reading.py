"""Which words of a question a text has, without reading all of its words.

A stem is the beginning of its word, so each is looked for as it stands; only the words that begin with it are read. Words are runs
of letters and digits.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise

from thinkback.model import REFLECTION, StoredRecord
from thinkback.search.once import Once
from thinkback.search.selection import Shown
from thinkback.search.traits import words
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


def read(records: Sequence[StoredRecord], shown: Shown, asked: Sequence[Word], pairs: int = 0) -> list[Reading]:
    """The readings of some memories, of the first `pairs` of them with the words that stand together.

    A reflection is read by its essence; of a long text only what is `shown`, because all of it has most words somewhere.
    """
    texts = [((one.kind == REFLECTION and one.essence) or shown(one))[:LONGEST].lower() for one in records]
    every = "\n".join(texts)
    starts = [0, *accumulate(len(text) + 1 for text in texts)]
    has = [[0.0] * len(asked) for _ in records]
    places: list[list[list[int]]] = [[[] for _ in asked] for _ in range(min(pairs, len(records)))]
    for number, word in enumerate(asked):
        at = every.find(word.stem)
        while at >= 0:
            row = bisect_right(starts, at) - 1
            is_word = _is_word(every, at, word.stem)
            if is_word or word.phrase:
                has[row][number] = word.weight
            if is_word and row < pairs:
                places[row][number].append(at)
            done = row >= pairs and has[row][number]
            at = every.find(word.stem, starts[row + 1] if done else at + 1)
    for row, record in enumerate(records):
        if record.speaker or record.tags:
            labels = _labels(record)
            has[row] = [
                word.weight if word.stem in labels else found for word, found in zip(asked, has[row], strict=True)
            ]
    close = [_close(every, found) for found in places]
    return [Reading(found, sum(found), close[row] if row < pairs else set()) for row, found in enumerate(has)]


def _is_word(text: str, at: int, wanted: str) -> bool:
    """Whether a word of this stem begins here."""
    if at and text[at - 1].isalnum():
        return False
    word = _WORD.match(text, at)
    return word is not None and stem(word[0]) == wanted


@Once
def _labels(record: StoredRecord) -> frozenset[str]:
    """The stems of the speaker's name and of the tags, which count as words of the text."""
    return frozenset(map(stem, _WORD.findall(" ".join(((record.speaker or "").lower(), *record.tags)))))


def _close(text: str, places: Sequence[Sequence[int]]) -> set[int]:
    """The words that stand at most CLOSE words from the next one of the question, by their places in a text."""
    places = [found[:MOST_PLACES] for found in places]
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
        number += len(words(between))
        numbers[other] = number
    return numbers
