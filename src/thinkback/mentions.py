"""What a text mentions: a time, a number, a name in mid-sentence. Ranking asks for it where the question does.

The derived index keeps all three for every memory, packed by `mentions`, so that the texts of candidates need not be read for it.
"""

import re

LONGEST = 4000  # characters of a text that are read
A_TIME, A_NUMBER, A_NAME = 1, 2, 4
READ = 8  # marks a text that was read, whatever it mentions

_TIMES = frozenset(
    """yesterday today tonight tomorrow last next ago week weeks weekend weekends month months year years day days morning evening
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october
    november december recently soon since until""".split()  # noqa: SIM905
)
_NUMBERS = frozenset(
    "one two three four five six seven eight nine ten dozen hundred once twice couple".split()  # noqa: SIM905
)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_DIGIT = re.compile(r"\d")
# The capital first and then what is before it, as a pattern that begins with a set of letters passes over everything else.
_CAPITALISED = re.compile(r"[A-Z](?<!\w[A-Z])[a-z]+")  # where a word begins
_WITHIN = re.compile(r"[A-Z](?<=[a-z,;] [A-Z])[a-z]+")  # after a space in mid-sentence
_WORD = re.compile(r"[^\W_]+")
_SEPARATED = bytes(sign if sign < 128 and chr(sign).isalnum() else ord(" ") for sign in range(256))
_NONE: frozenset[str] = frozenset()


def words(text: str) -> list[str]:
    """The runs of letters and digits; those of plain English as bytes, in less than half the time of the pattern."""
    if not text.isascii():
        return _WORD.findall(text)
    return text.encode("ascii").translate(_SEPARATED).decode("ascii").split()


def mentions(text: str) -> int:
    """All that a text mentions."""
    found = words(text[:LONGEST].lower())
    number = not _NUMBERS.isdisjoint(found) or _DIGIT.search(text, 0, LONGEST) is not None
    time = not _TIMES.isdisjoint(found) or _has_year(text)
    return READ | A_TIME * time | A_NUMBER * number | A_NAME * bool(names_within(text))


def names_a_time(text: str) -> bool:
    """Whether it names a time: a word like "yesterday", or a year."""
    return not _TIMES.isdisjoint(words(text[:LONGEST].lower())) or _has_year(text)


def _has_year(text: str) -> bool:
    return ("19" in text or "20" in text) and _YEAR.search(text[:LONGEST]) is not None


def has_a_number(text: str) -> bool:
    """Whether it has a digit or a word for a number."""
    return _DIGIT.search(text, 0, LONGEST) is not None or not _NUMBERS.isdisjoint(words(text[:LONGEST].lower()))


def names_within(text: str) -> frozenset[str]:
    """The lower-cased words with a capital in mid-sentence, without those of times."""
    found = _WITHIN.findall(text, 0, LONGEST)
    return frozenset(map(str.lower, found)) - _TIMES if found else _NONE


def capitalised(text: str) -> frozenset[str]:
    """The lower-cased words with a capital, anywhere."""
    return frozenset(map(str.lower, _CAPITALISED.findall(text, 0, LONGEST)))
