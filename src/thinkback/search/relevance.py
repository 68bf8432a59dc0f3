"""How likely it is that the memory answers a question at all, and how likely each hit does: one small logistic.

    relevance of a hit = 1 / (1 + exp(−Σ weight · value))

The values of the whole question are the same for all hits; those of a hit are its distance from the best one, so the best hit
has the probability that there is an answer at all. Other hits take over at most `SURE` of its log-odds. The weights were
learned on questions that their conversation answers and on the same questions asked of other conversations
(`benchmarks/relevance.py`). Everything is computed from what the search has read anyway, and nothing depends on the weights of
a recipe, so the numbers of two recipes can be compared.
"""

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from thinkback.model import REFLECTION, Evidence, Run, StoredRecord
from thinkback.search.query.parse import Query
from thinkback.search.selection import Shown, whole
from thinkback.values import dataclass

GATE = (
    0.4  # the default for text that is injected without being asked for; `recall.answered` means that a hit reaches it
)

HEAD = 10  # the first candidates are read for evidence
BEST = 5  # of these, the ones that may hold the answer alone
CLOSE = 4  # words apart at most
COSINES = 50  # of the vector run
LONGEST = 3000  # characters of a text, or of the passage of a long one, that are read
ASKING = 0.2  # the weight of a word that asks for something, beside those that say for what

# Log-odds that other hits than the best take over from the question: that there is surely an answer says nothing for them.
SURE = 4.5

PRIOR = "prior"
# The weights by what was there to judge by: words alone, also vectors of the default embedder, also its cross-encoder's scores.
# Those of a hit's own inputs have the direction that best tells gold hits from others, and such a length that at the gate four of
# five gold hits among the first ten of an answered question stay.
WORDS = {
    PRIOR: -0.5079,
    "covered": 3.526,
    "together": 2.355,
    "unknown": -0.4108,
    "dated": 1.183,
    "size": -0.2225,
    "own words": 5.0,
}
VECTORS = {
    PRIOR: -24.48,
    "covered": 2.226,
    "together": 1.475,
    "unknown": -0.2556,
    "dated": 1.302,
    "size": -0.086,
    "cosine": 27.33,
    "lead": 21.52,
    "both": 44.48,
    "own words": 4.3,
    "own cosine": 27.7,
}
VERDICTS = {**VECTORS, PRIOR: -24.17, "verdict": 0.086, "own verdict": 0.19}
CALIBRATED = ("e5-small",)  # embedders whose cosines the weights of VECTORS are for

_WORD = re.compile(r"[^\W_]+")
_SEPARATORS = {sign: " " for sign in range(128) if not chr(sign).isalnum()}
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
_ASKING = (
    "summarize summary discuss discussion mention describe description list order think thought say said tell told talk "
    "according opinion explain question answer conversation chat aspect walk kind type name called likely consider idea "
    "regarding concerning related specific specifically ever different various thing something someone person people bring "
    "brought share throughout across previously recommend suggest advise reason currently recently"
)


@dataclass(frozen=True, slots=True)
class Relevance:
    """The probability that the memory holds an answer, and the inputs it was computed from."""

    probability: float = 0.0
    evidence: tuple[Evidence, ...] = ()

    @property
    def answered(self) -> bool:
        """Whether an answer is likely enough for the default gate."""
        return self.probability >= GATE


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """A lower-cased word without its English ending; rough, but the same for a question and a text."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


ASKING_STEMS = frozenset(map(stem, _ASKING.split()))


@dataclass(frozen=True, slots=True)
class _Word:
    """A word or a phrase of unspaced script that the question asks for, and its inverse document frequency."""

    stem: str
    phrase: bool
    weight: float
    known: bool


def _asked(query: Query) -> tuple[list[_Word], float]:
    """What the question asks for, apart from the time it names, and the weight of the rarest possible word."""
    total, counts = query.counts or (0, {})
    time = set() if query.anchor is None else set(_WORD.findall(query.anchor.phrase.lower()))
    asked = []
    for term in query.keywords.terms:
        text = term.text.lower()
        if text in time:
            continue
        count = counts.get(term.text, 0)
        spelt = text if term.phrase else stem(text)
        rarity = math.log(1 + (total - count + 0.5) / (count + 0.5)) if total else 1.0
        asked.append(_Word(spelt, term.phrase, rarity * (ASKING if spelt in ASKING_STEMS else 1), count > 0))
    return asked, math.log(2 + 2 * total)


@dataclass(slots=True)
class _Reading:
    """Which of the words a text has, as weights, their sum, and the pairs of neighbouring words that stand close together."""

    has: list[float]
    sum: float
    close: set[int]


def _read(record: StoredRecord, shown: str, asked: Sequence[_Word], heads: frozenset[str], pairs: bool) -> _Reading:
    """A reflection is read by its essence; of a long text only what is `shown`, because all of it has most words somewhere.

    `heads` are the first letters of what is asked for: a stem begins as its word does.
    """
    text = (record.essence or shown if record.kind == REFLECTION else shown)[:LONGEST].lower()
    words = _words(text)
    likely = {word: stem(word) for word in set(words) if word[:3] in heads}
    places: dict[str, list[int]] = {stemmed: [] for stemmed in likely.values()}
    if pairs and places:
        for place, word in enumerate(words):
            if word in likely:
                places[likely[word]].append(place)
    if record.speaker or record.tags:
        for word in _WORD.findall(" ".join(((record.speaker or "").lower(), *record.tags))):
            places.setdefault(stem(word), [])
    has = [(word.stem in text if word.phrase else word.stem in places) * word.weight for word in asked]
    found = [places.get(word.stem, ()) for word in asked] if pairs else []
    close = {number for number, (some, others) in enumerate(pairwise(found)) if _are_close(some, others)}
    return _Reading(has, sum(has), close)


def _words(text: str) -> list[str]:
    """The runs of letters and digits."""
    return text.translate(_SEPARATORS).split() if text.isascii() else _WORD.findall(text)


def _are_close(some: Sequence[int], others: Sequence[int]) -> bool:
    if not some or not others:
        return False
    return any(abs(one - other) <= CLOSE for one in some[:20] for other in others[:20])


class Judge:
    """Judges the hits of one search."""

    def __init__(
        self,
        query: Query,
        runs: Sequence[Run],
        head: Sequence[StoredRecord],
        embedder: str | None,
        verdicts: Mapping[str, float],
        shown: Shown = whole,
    ) -> None:
        """`head` are the best candidates; `verdicts` are scores of the cross-encoder, from 0 to 1, by memory."""
        self._shown = shown
        self._asked, self._rarest = _asked(query)
        self._heads = frozenset(word.stem[:3] for word in self._asked)
        self._mass = sum(word.weight for word in self._asked) or 1.0
        vector = next((run for run in runs if run.leg == "vector" and run.skipped is None and run.hits), None)
        calibrated = (embedder or "").startswith(CALIBRATED)
        self._cosines = [hit.score for hit in vector.hits[:COSINES]] if vector and calibrated else []
        self._cosine = {hit.id: hit.score for hit in (*vector.hits, *vector.filled)} if vector and calibrated else {}
        self._verdicts = {id: _logit(score) for id, score in verdicts.items()} if self._cosines else {}
        self._weights = VERDICTS if self._verdicts else VECTORS if self._cosines else WORDS
        self._own = {name: weight for name, weight in self._weights.items() if name.startswith("own ")}
        self._readings: dict[str, _Reading] = {}
        self._question = self._of_question(query, head)
        self._best = max((self._standing(record) for record in head[:BEST]), default=(0.0, {}), key=lambda own: own[0])
        self.whole = _relevance(self._question)
        self._excess = sum(one.weight * one.value for one in self._question) - SURE

    def hit(self, record: StoredRecord) -> Relevance:
        """The relevance of one hit, with its evidence."""
        standing, own = self._standing(record)
        if standing >= self._best[0]:
            return self.whole
        apart = [Evidence(name, own[name] - self._best[1][name], self._own[name]) for name in own]
        if self._excess > 0:
            apart.append(Evidence("sure", self._excess, -1.0))
        return _relevance((*self._question, *apart))

    def _standing(self, record: StoredRecord) -> tuple[float, dict[str, float]]:
        """What a hit has of its own: the share of the question's words, its cosine, its verdict."""
        values = {"own words": self._reading(record).sum / self._mass}
        if self._cosines:
            values["own cosine"] = self._cosine.get(record.id, self._cosines[-1])
        if self._verdicts:
            values["own verdict"] = self._verdicts.get(record.id, min(self._verdicts.values()))
        return sum(self._own[name] * value for name, value in values.items()), values

    def _reading(self, record: StoredRecord, pairs: bool = False) -> _Reading:
        if record.id not in self._readings:
            self._readings[record.id] = _read(record, self._shown(record), self._asked, self._heads, pairs)
        return self._readings[record.id]

    def _of_question(self, query: Query, head: Sequence[StoredRecord]) -> tuple[Evidence, ...]:
        best = head[:BEST]
        readings = [self._reading(record, pairs=True) for record in best]
        values = {
            PRIOR: 1.0,
            "covered": self._covered(head),
            "together": self._together(readings),
            "unknown": sum(word.weight for word in self._asked if not word.known) / self._rarest,
            "dated": _dated(query, best),
            "size": math.log(1 + (query.counts or (0, {}))[0]),
        }
        if self._cosines:
            mean = sum(self._cosines) / len(self._cosines)
            leads = [self._cosine.get(record.id, self._cosines[-1]) - mean for record in best]
            both = [reading.sum / self._mass * lead for reading, lead in zip(readings, leads, strict=True)]
            values["cosine"] = sum(self._cosines[:3]) / len(self._cosines[:3])
            values["lead"] = self._cosines[0] - mean
            values["both"] = max(both, default=0.0)
        if self._verdicts:
            values["verdict"] = max(self._verdicts.values())
        return tuple(Evidence(name, value, self._weights[name]) for name, value in values.items())

    def _covered(self, head: Sequence[StoredRecord]) -> float:
        """The greatest share of the question's words that candidates of one thread have together."""
        found: dict[str, list[float]] = {}
        for record in head:
            has, key = self._reading(record).has, record.thread or record.id
            found[key] = list(map(max, found[key], has)) if key in found else has
        return max((sum(has) for has in found.values()), default=0.0) / self._mass

    def _together(self, readings: Sequence[_Reading]) -> float:
        close = frozenset[int]().union(*(reading.close for reading in readings[:3]))
        return sum(min(self._asked[n].weight, self._asked[n + 1].weight) for n in close) / self._rarest


def _dated(query: Query, head: Sequence[StoredRecord]) -> float:
    """1 if the question names a time and one of the best candidates is of that time, −1 if none is, 0 if it names none.

    Beside the date of a memory, the time counts that its text tells of; of what lies ahead memories tell rarely.
    """
    if query.anchor is None or not head:
        return 0.0
    begin, end = query.anchor.window
    if any(begin <= record.date <= end or _tells_of(record, begin, end) for record in head):
        return 1.0
    return 0.0 if begin > query.now else -1.0


def _tells_of(record: StoredRecord, begin: int, end: int) -> bool:
    """Whether a text tells of a time within these moments, or of one about as long that overlaps them."""
    first, last = record.about_from, record.about_to
    if first is None or last is None or first > end or last <= begin:
        return False
    return last - first <= 2 * (end - begin)


def _logit(score: float) -> float:
    sure = min(max(score, 1e-6), 1 - 1e-6)
    return math.log(sure / (1 - sure))


def _relevance(evidence: Sequence[Evidence]) -> Relevance:
    odds = sum(one.weight * one.value for one in evidence)
    return Relevance(1 / (1 + math.exp(-max(min(odds, 700.0), -700.0))), tuple(evidence))
