"""Updates without a language model: two memories that state the same thing with another value.

"The response time is 800 ms" and, later, "the response time has improved to 250 ms": both have a value of the same unit, and the
words around the newer value share with the question nearly all that the words around the older one do. Where the newer one says
that something changed ("now", "moved to", "increased"), fewer words are enough, and a name may be the value too: "we use Jira",
"we switched to Linear". What the question names with a capital or a number and the older one is about, the newer one must name as
well. Then the newer one seems to replace the older one, for a question that asks for a value of today. It is a guess: nothing in
the store changes, the hit says so, and `contest` makes it a fact.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

from thinkback.model import REFLECTION, StoredRecord
from thinkback.search.once import Once
from thinkback.search.query.stopwords import FUNCTION_WORDS
from thinkback.search.speakers import ASSISTANT, in_first_person, speaker
from thinkback.values import dataclass

LONGEST_READ = 2000  # characters
BEFORE, AFTER = 14, 6  # words around a value that tell what it is the value of
SHARED = 2  # words that both contexts and the question must share, one more from a question of MANY words on
MANY = 5
NAME, DAY, DATE = "name", "day", "date"  # the units of values that are no plain numbers
_DAYS = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())  # noqa: SIM905
_MONTHS = frozenset("jan feb mar apr may jun jul aug sep oct nov dec".split())  # noqa: SIM905
_TOKEN = re.compile(r"[$€£]?\d+(?:[.,:/-]\d+)*%?|[^\W\d_]+|[.!?;\n]")
_LIGHT = FUNCTION_WORDS | frozenset(
    """about after for from into out over with much many called now new old favourite favorite current currently use uses using name
    version number""".split()  # noqa: SIM905
)
_SHORTEST = 3
_NO_UNIT = _LIGHT | frozenset(
    "last today tonight yesterday tomorrow this next again already instead per each every".split()  # noqa: SIM905
)
_DIGIT = re.compile(r"\d")
_VALUE = re.compile(
    r"\bhow (?:many|much|often|old|big|large|far|high)\b|\bw(?:hat|here|ho)(?:['’]s| is| are)\b"
    r"|\bw(?:hen|here|hat) (?:is|are|will|do|does)\b|\bw(?:hat|hich) \w+(?: \w+)? (?:is|are|am|do|does)\b"
    r"|\bw(?:hat|hich) (?:percent\w*|number|amount|time|date|day|version)\b",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"\b(?:what|which) (?:(?!do)\w+ )?(?!(?:is|does|was|has)\b)\w*[^s\W]s\b|\b(?:list|all|any)\b", re.IGNORECASE
)
_NOT_OF_TODAY = re.compile(
    r"\b(?:at first|first(?=\s*[:?]|\s*$)|initial(?:ly)?|original(?:ly)?|before|previous(?:ly)?|earlier|used to|chang\w*|history"
    r"|between|old(?! (?:is|are|am)\b)|over time|did|since|ever|total|across|compar\w*|different|ways|from \S+ to|summar\w*)\b",
    re.IGNORECASE,
)
# Words near a value that say that it changed; the first ones also where the value is a name.
_SWITCHED = re.compile(
    r"\b(?:now|new|instead|changed|moved|switched|migrated|replaced|renamed|upgraded|since (?:the|last|this|then))\b"
)
_CHANGED = re.compile(
    rf"{_SWITCHED.pattern}|\b(?:recently|no longer|these days|nowadays|updat(?:ed?|ing)|downgraded|increased|decreased|raised"
    r"|lowered|reduced|improved|extended|shortened|postponed|rescheduled|delayed|gr[eo]wn?|rose|risen|fell|fallen|dropped|reached|turned"
    r"|(?:went|gone) (?:up|down))\b"
)
NEAR_BEFORE, NEAR_AFTER = 6, 3  # words
LONGEST_NAMING = 600  # characters; a longer text names much
_MOVED = re.compile(r"\bmoved to (?:[A-Z]|\d)")  # to a place to live in
_BEFORE_VALUE = frozenset("is are to with named called on in at use uses using reads now".split())  # noqa: SIM905
_GONE = frozenset("from of replaced than left dropped".split())  # noqa: SIM905  # before what is no longer so
_END = frozenset(".!?;\n")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n")


@dataclass(frozen=True, slots=True)
class Fact:
    """A value with its unit, the words around it, and whether its sentence says that something changed."""

    unit: str
    value: str
    words: frozenset[str]
    changed: bool
    own: bool = False  # its sentence is in the first person


def asks_for_value(question: str) -> bool:
    """Whether a question asks for a value of today."""
    return _VALUE.search(question) is not None and _NOT_OF_TODAY.search(question) is None


def replaced(records: Sequence[StoredRecord], question: str) -> Mapping[str, str]:
    """Of these memories, the id of a newer one by each older one that it seems to replace, for a question of today."""
    if not asks_for_value(question):
        return {}
    asked = _Asked(question, records)
    told = [(record, asked.of(record)) for record in records if record.kind != REFLECTION]
    told = sorted(((record, facts) for record, facts in told if facts), key=lambda one: (-one[0].date, one[0].id))
    found: dict[str, str] = {}
    for place, (older, facts) in enumerate(told):
        for newer, values in told[:place]:
            if newer.date > older.date and older.id not in found and asked.replaces(newer, values, facts):
                found[older.id] = newer.id
    return found


class _Asked:
    """What a question asks for: its words, and those of them that tell one thing from another of its kind."""

    def __init__(self, question: str, records: Sequence[StoredRecord]) -> None:
        self.words = frozenset(map(_stem, _words(question)))
        self.shared = SHARED if len(self.words) < MANY else SHARED + 1
        self.own = in_first_person(question)
        self.names = not _SEVERAL.search(question) and any(_may_switch.each(records))
        within = [token for token in _TOKEN.findall(question)[1:] if len(token) > 1 and token not in _END]
        self.marks = frozenset(_stem(t.lower()) for t in within if t[0].isupper() or t[0].isdigit())

    def of(self, record: StoredRecord) -> list[Fact]:
        """The values that a memory states of what is asked; an assistant repeats and proposes, it does not know."""
        if not self.words or speaker(record) == ASSISTANT:
            return []
        facts = _numbers(record) if _DIGIT.search(record.text, 0, LONGEST_READ) else ()
        if self.names:
            facts = (*facts, *_names(record))
        kept = self.words | self.marks
        told = (Fact(one.unit, one.value, one.words & kept, one.changed, one.own) for one in facts)
        return [one for one in told if one.words and one.value not in self.marks]

    def replaces(self, record: StoredRecord, newer: Sequence[Fact], older: Sequence[Fact]) -> bool:
        """Whether a newer memory gives another value of one unit for the same words, and shares no such value."""
        gone = _gone(record) if any(one.unit == NAME for one in newer) else frozenset()
        pairs = [(a, b) for a in newer for b in older if _same_unit(a, b) and self._alike(a, b, gone)]
        numbers = [(a, b) for a, b in pairs if a.unit != NAME]
        known = {b.value for b in older if b.unit == NAME}
        other = bool(numbers) and all(a.value != b.value for a, b in numbers)
        if not other:
            pairs = [(a, b) for a, b in pairs if a.unit == NAME and a.value not in known]
        return any(self._marked(record, b) for _, b in (numbers if other else pairs))

    def _alike(self, a: Fact, b: Fact, gone: frozenset[str]) -> bool:
        """Whether the words around both values have enough of the question in common; of what is said to be gone, one word."""
        both, most = len(a.words & b.words), -(-2 * len(b.words) // 3)
        if a.unit in (NAME, DAY):
            enough = 1 if b.value in gone else max(min(SHARED, len(self.words)), most)
            return a.changed and both >= enough and (not self.own or a.own)
        if a.changed:
            return both >= max(1, min(self.shared, len(self.words)) - 1, most)
        return both >= max(self.shared, len(b.words))

    def _marked(self, record: StoredRecord, older: Fact) -> bool:
        """Whether the newer memory has every mark of the question that the words around the older value have."""
        return older.words & self.marks <= _all_words(record)


def _same_unit(a: Fact, b: Fact) -> bool:
    """The same unit, or none for the one and for the other a word that both have: "165" commits."""
    return a.unit == b.unit or ("" in (a.unit, b.unit) and (a.unit or b.unit) in a.words & b.words)


@Once
def _numbers(record: StoredRecord) -> tuple[Fact, ...]:
    """Every number of a text with its unit and the words around it in the sentence."""
    places = _places(record, lambda token, _: token[-1].isdigit() or token[-1] == "%")
    return tuple(Fact(*_measured(at), at.words(), at.says(_CHANGED)) for at in places if not at.is_year_of_date())


@Once
def _names(record: StoredRecord) -> tuple[Fact, ...]:
    """Every name of a short text, and the last word after "is" or "to", with the words around it in the sentence."""
    if len(record.text) > LONGEST_NAMING:
        return ()
    places = _places(record, lambda token, last: token.isalpha() and ((token[0].isupper() and len(token) > 1) or last))
    return tuple(
        Fact(DAY if at.token.lower() in _DAYS else NAME, at.token.lower(), at.words(), at.says(_SWITCHED), at.own)
        for at in places
        if at.before and at.before[0] not in _GONE and (at.token[0].isupper() or at.before[0] in _BEFORE_VALUE)
    )


@Once
def _gone(record: StoredRecord) -> frozenset[str]:
    """The names that a text says are no longer so: "from Jira to Linear"."""
    tokens = _TOKEN.findall(record.text[:LONGEST_NAMING])
    return frozenset(name.lower() for word, name in pairwise(tokens) if word.lower() in _GONE)


@Once
def _may_switch(record: StoredRecord) -> bool:
    """Whether a short text may say that something has another name now."""
    return len(record.text) <= LONGEST_NAMING and _SWITCHED.search(record.text.lower()) is not None


@dataclass(frozen=True, slots=True)
class _Place:
    """A token, the words before it, nearest first, those after it as they are spelt, and what is said of its sentence."""

    token: str
    before: Sequence[str]
    after: Sequence[str]
    own: bool
    implied: Sequence[str]

    def is_year_of_date(self) -> bool:
        """Whether it is the year in "April 5, 2024"."""
        return len(self.before) > 1 and self.before[0].isdigit() and self.before[1][:3] in _MONTHS

    def words(self) -> frozenset[str]:
        around = (*self.before, *map(str.lower, self.after), *self.implied)
        return frozenset(_stem(word) for word in around if word not in _LIGHT)

    def says(self, form: re.Pattern[str]) -> bool:
        near = (*reversed(self.before[:NEAR_BEFORE]), "|", *self.after[:NEAR_AFTER])
        return form.search(" ".join(near)) is not None


def _places(record: StoredRecord, wanted: Callable[[str, bool], bool]) -> Iterator[_Place]:
    """The places of the tokens that are wanted; a sentence without one is not read further."""
    for sentence in _SENTENCE_END.split(record.text[:LONGEST_READ]):
        tokens = [token for token in _TOKEN.findall(sentence) if token not in _END]
        last = len(tokens) - 1
        places = [place for place, token in enumerate(tokens) if wanted(token, place == last)]
        if not places:
            continue
        lowered, own = [token.lower() for token in tokens], in_first_person(sentence)
        implied = ("live",) if _MOVED.search(sentence) else ()
        for place in places:
            before = lowered[max(0, place - BEFORE) : place][::-1]
            yield _Place(tokens[place], before, tokens[place + 1 : place + 1 + AFTER], own, implied)


@Once
def _all_words(record: StoredRecord) -> frozenset[str]:
    return frozenset(_stem(token.lower()) for token in _TOKEN.findall(record.text[:LONGEST_READ]))


def _measured(at: _Place) -> tuple[str, str]:
    """The unit and the value of a number; of a date the month and the day."""
    token, after = at.token, at.after[0] if at.after else ""
    if token[-1] == "%" or token[0] in "$€£":
        return token[-1] if token[-1] == "%" else token[0], token.strip("$€£%")
    if at.before and at.before[0][:3] in _MONTHS:
        return DATE, f"{at.before[0][:3]} {token}"
    return _stem(after) if after.islower() and after not in _NO_UNIT else "", token


def _words(text: str) -> list[str]:
    words = (word for word in _TOKEN.findall(text) if word.isalpha() and (len(word) >= _SHORTEST or word.isupper()))
    return [lowered for word in words if (lowered := word.lower()) not in _LIGHT]


def _stem(word: str) -> str:
    return re.sub(r"(?:ing|ies|es|ed|s|e)$", "", word) if len(word) > 4 else word.removesuffix("s")
