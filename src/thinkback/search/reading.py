"""Which words of a question a text has, without reading all of its words.

A stem is the beginning of its word, so each is looked for as it stands; only the words that begin with it are read. Words are runs
of letters and digits.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, pairwise

from thinkback.mentions import words
from thinkback.model import REFLECTION, StoredRecord
from thinkback.search.selection import Shown
from thinkback.values import dataclass

LONGEST = 3000  # characters of a text, or of the passage of a long one, that are read
CLOSE = 4  # words apart at most
FEW = 60  # characters that mostly hold more words
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
    find = every.find
    for number, word in enumerate(asked):
        wanted = word.stem
        at = find(wanted)
        while at >= 0:
            is_word = _is_word(every, at, wanted)
            if is_word or word.phrase:
                row = bisect_right(starts, at) - 1
                has[row][number] = word.weight
                if row >= pairs:
                    at = find(wanted, starts[row + 1])
                    continue
                if is_word:
                    places[row][number].append(at)
            at = find(wanted, at + 1)
    stems = [word.stem for word in asked]
    for row, record in enumerate(records):
        if (record.speaker or record.tags) and not (labels := _labels(record.speaker, record.tags)).isdisjoint(stems):
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


@lru_cache(maxsize=1024)
def _labels(speaker: str | None, tags: tuple[str, ...]) -> frozenset[str]:
    """The stems of the speaker's name and of the tags, which count as words of the text."""
    return frozenset(map(stem, _WORD.findall(" ".join(((speaker or "").lower(), *tags)))))


def _close(text: str, places: Sequence[Sequence[int]]) -> set[int]:
    """The words that stand at most CLOSE words from the next one of the question, by their places in a text."""
    both = enumerate(pairwise(places))
    return {
        number
        for number, (one, other) in both
        if one and other and _are_close(text, one[:MOST_PLACES], other[:MOST_PLACES])
    }


def _are_close(text: str, some: Sequence[int], others: Sequence[int]) -> bool:
    """Whether one of some words is close to one of others; the nearest are neighbours."""
    if not set(some).isdisjoint(others):
        return True
    marked = sorted([*((place, True) for place in some), *((place, False) for place in others)])
    return any(
        of_some != of_other and _near(text, one, other) for (one, of_some), (other, of_other) in pairwise(marked)
    )


def _near(text: str, one: int, other: int) -> bool:
    """Whether at most CLOSE words begin from one place on and before the other; most often a few letters tell."""
    if other - one > FEW and len(words(text[one : one + FEW])) > CLOSE:
        return False
    return len(words(text[one:other])) <= CLOSE
