"""Updates without a language model: two memories that state the same thing with another value.

"The response time is 800 ms" and, later, "the response time has improved to 250 ms": both have a value of the same unit, and the
words around the newer value share with the question nearly all that the words around the older one do. Then the newer one seems
to replace the older one, for a question that asks for a value of today. It is a guess: nothing in the store changes, the hit says
so, and `contest` makes it a fact.
"""

import re
from collections.abc import Mapping, Sequence

from thinkback.model import REFLECTION, StoredRecord
from thinkback.search.once import Once
from thinkback.search.query.stopwords import FUNCTION_WORDS
from thinkback.search.speakers import ASSISTANT, speaker

LONGEST_READ = 2000  # characters
BEFORE, AFTER = 14, 6  # words around a value that tell what it is the value of
SHARED = 2  # words that both contexts and the question must share, one more from a question of MANY words on
MANY = 5
_MONTHS = frozenset("jan feb mar apr may jun jul aug sep oct nov dec".split())  # noqa: SIM905
_TOKEN = re.compile(r"[$€£]?\d+(?:[.,:/]\d+)*%?|[^\W\d_]+|[.!?;\n]")
_LIGHT = FUNCTION_WORDS | frozenset("about after for from into out over with".split())  # noqa: SIM905
_SHORTEST = 3
_DIGIT = re.compile(r"\d")
_VALUE = re.compile(
    r"\bhow (?:many|much|often|old|big|large|far|high)\b|\bwhat(?:['’]s| is| are)\b|\bwhen (?:is|are|will|do|does)\b"
    r"|\bw(?:hat|hich) (?:percent\w*|number|amount|time|date|day|version)\b",
    re.IGNORECASE,
)
_NOT_OF_TODAY = re.compile(
    r"\b(?:at first|first(?=\s*[:?]|\s*$)|initial(?:ly)?|original(?:ly)?|before|previous(?:ly)?|earlier|used to|chang\w*|history"
    r"|between|old|over time|did|since|ever|total|across|compar\w*|different|ways|from \S+ to|summar\w*)\b",
    re.IGNORECASE,
)

Fact = tuple[str, str, frozenset[str]]  # unit, value, and the words around it


def asks_for_value(question: str) -> bool:
    """Whether a question asks for a value of today."""
    return _VALUE.search(question) is not None and _NOT_OF_TODAY.search(question) is None


def replaced(records: Sequence[StoredRecord], question: str) -> Mapping[str, str]:
    """Of these memories, the id of a newer one by each older one that it seems to replace, for a question of today."""
    if not asks_for_value(question):
        return {}
    asked = frozenset(map(_stem, _words(question)))
    shared = SHARED if len(asked) < MANY else SHARED + 1
    if len(asked) < shared:
        return {}
    told = [(record, _told(record, asked, shared)) for record in records if record.kind != REFLECTION]
    told = sorted(((record, facts) for record, facts in told if facts), key=lambda one: (-one[0].date, one[0].id))
    found: dict[str, str] = {}
    for place, (older, facts) in enumerate(told):
        for newer, values in told[:place]:
            if newer.date > older.date and older.id not in found and _other_value(values, facts, shared):
                found[older.id] = newer.id
    return found


def _told(record: StoredRecord, asked: frozenset[str], shared: int) -> list[Fact]:
    """The values a memory states of what is asked; an assistant repeats and proposes, it does not know."""
    if _DIGIT.search(record.text, 0, LONGEST_READ) is None or speaker(record) == ASSISTANT:
        return []
    facts = ((unit, value, words & asked) for unit, value, words in _facts(record))
    return [fact for fact in facts if len(fact[2]) >= shared]


def _other_value(newer: Sequence[Fact], older: Sequence[Fact], shared: int) -> bool:
    """Whether the two give different values of one unit for the same words, and share no such value."""
    pairs = [(a, b) for a in newer for b in older if _same_unit(a, b) and len(a[2] & b[2]) >= shared]
    return any(len(a[2] & b[2]) >= len(b[2]) - 1 for a, b in pairs) and all(a[1] != b[1] for a, b in pairs)


def _same_unit(a: Fact, b: Fact) -> bool:
    """The same unit, or none for the one and for the other a word that both have: "165" commits."""
    return a[0] == b[0] or ("" in (a[0], b[0]) and (a[0] or b[0]) in a[2] & b[2])


@Once
def _facts(record: StoredRecord) -> tuple[Fact, ...]:
    """Every number of a text with its unit and the words around it in the sentence."""
    tokens = _TOKEN.findall(record.text[:LONGEST_READ])
    found: list[Fact] = []
    for place, token in enumerate(tokens):
        if token[-1].isdigit() or token[-1] == "%":
            before = _sentence(tokens[max(0, place - BEFORE) : place][::-1])
            after = _sentence(tokens[place + 1 : place + 1 + AFTER])
            words = frozenset(_stem(word) for word in (*before, *after) if word not in _LIGHT)
            found.append((_unit(token, before[:1], after[:1]), token.strip("$€£%"), words))
    return tuple(found)


def _sentence(tokens: Sequence[str]) -> list[str]:
    """The words up to the end of the sentence, lower-cased."""
    words: list[str] = []
    for token in tokens:
        if token in ".!?;\n":
            break
        words.append(token.lower())
    return words


def _unit(token: str, before: Sequence[str], after: Sequence[str]) -> str:
    if token[-1] == "%" or token[0] in "$€£":
        return token[-1] if token[-1] == "%" else token[0]
    if before and before[0][:3] in _MONTHS:
        return "date"
    return _stem(after[0]) if after and after[0] not in FUNCTION_WORDS and after[0].isalpha() else ""


def _words(text: str) -> list[str]:
    words = (word for word in _TOKEN.findall(text.lower()) if word.isalpha() and len(word) >= _SHORTEST)
    return [word for word in words if word not in _LIGHT]


def _stem(word: str) -> str:
    return re.sub(r"(?:ing|ies|es|ed|s|e)$", "", word) if len(word) > 4 else word
