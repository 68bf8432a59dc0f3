"""How likely it is that the memory answers a question at all, and how likely each hit does: one small logistic.

    relevance of a hit = 1 / (1 + exp(−Σ weight · value))

The values of the whole question are the same for all hits. The first hit has the probability that there is an answer at all. Others
take over a part of its log-odds, since one hit is usually enough, and have values of their own: how far each is from the best.
A standing instruction answers nothing: where its cosine says more than all that, it counts alone. The weights were learned on
questions that their conversation answers and on the same questions asked of other conversations (`benchmarks/relevance.py`).
Everything is computed from what the search has read anyway, and nothing depends on the weights of
a recipe, so the numbers of two recipes can be compared.
"""

import math
import re
from collections.abc import Mapping, Sequence
from operator import itemgetter, mul, sub

from thinkback.model import Evidence, Run, StoredRecord
from thinkback.search.query.parse import Query
from thinkback.search.reading import Reading, Word, read, stem
from thinkback.search.selection import Shown, whole
from thinkback.values import dataclass

GATE = (
    0.4  # the default for text that is injected without being asked for; `recall.answered` means that a hit reaches it
)
BESIDE = 0.15  # the same for hits beside one that reaches it

HEAD = 10  # the first candidates are read for evidence
BEST = 5  # of these, the ones that may hold the answer alone
FIRST = 3  # of these, the ones in which words that stand together count
COSINES = 50  # of the vector run
ASKING = 0.2  # the weight of a word that asks for something, beside those that say for what

# Hits beside the first take over LENT of the log-odds above 0 that there is an answer, up to SURE of them; OTHER is their prior.
SURE, LENT, OTHER = 4.5, 0.15, -2.11

Input = tuple[str, float, float]  # name, value, weight
PRIOR = "prior"
OWN = ("own words", "own cosine", "own verdict")  # of a hit: the share of the question's words, its cosine, its verdict
# The weights by what was there to judge by: words alone, also vectors of the default embedder, also its cross-encoder's scores.
# Those of a hit's own inputs tell gold hits from others of the same question.
WORDS = {
    PRIOR: -0.5079,
    "covered": 3.526,
    "together": 2.355,
    "unknown": -0.4108,
    "dated": 1.183,
    "size": -0.2225,
    "own words": 1.77,
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
    "own words": 1.29,
    "own cosine": 5.13,
}
# Of standing instructions: of 601 that questions of other conversations find, none reaches the gate.
STANDING = {PRIOR: -41.35, "fit": 48.0}
VERDICTS = {**VECTORS, PRIOR: -24.17, "verdict": 0.086, "own verdict": 0.06}
CALIBRATED = ("e5-small",)  # embedders whose cosines the weights of VECTORS are for

_WORD = re.compile(r"[^\W_]+")
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


ASKING_STEMS = frozenset(map(stem, _ASKING.split()))


def _asked(query: Query) -> tuple[list[Word], float]:
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
        asked.append(Word(spelt, term.phrase, rarity * (ASKING if spelt in ASKING_STEMS else 1), count > 0))
    return asked, math.log(2 + 2 * total)


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
        self._mass = sum(word.weight for word in self._asked) or 1.0
        vector = next((run for run in runs if run.leg == "vector" and run.skipped is None and run.hits), None)
        calibrated = (embedder or "").startswith(CALIBRATED)
        self._cosines = [hit.score for hit in vector.hits[:COSINES]] if vector and calibrated else []
        self._cosine = {hit.id: hit.score for hit in (*vector.hits, *vector.filled)} if vector and calibrated else {}
        fits = next((run.hits for run in runs if run.leg == "instructions" and calibrated), ())
        self._fit = {hit.id: hit.score for hit in fits}
        self._verdicts = {id: _logit(score) for id, score in verdicts.items()} if self._cosines else {}
        self._weights = VERDICTS if self._verdicts else VECTORS if self._cosines else WORDS
        self._own = [(name, self._weights[name]) for name in OWN if name in self._weights]
        self._readings: dict[str, Reading] = {}
        self.read(head, FIRST)
        self._question = self._of_question(query, head)
        self._first = head[0].id if head else ""
        self._best = max(map(self._standing, head[:BEST]), default=(0.0, [0.0] * len(self._own)), key=itemgetter(0))[1]
        self._shared: list[Input] = [(one.name, one.value, one.weight) for one in self._question]
        self._terms = [one.weight * one.value for one in self._question]
        odds = max(sum(self._terms), 0.0)
        self._sure = odds - LENT * min(odds, SURE)
        sure = [("sure", -1.0)] if self._sure > 0 else []
        self._apart_names, self._apart_weights = zip(*self._own, *sure, ("other", OTHER), strict=True)
        self.whole = Relevance(_probability(self._terms), self._question)

    def relevance(self, record: StoredRecord) -> float:
        """The probability that a hit answers."""
        terms = self._terms
        if record.id != self._first:
            terms = [*terms, *map(mul, self._apart(record), self._apart_weights)]
        fits = self._fits(record)
        return _probability([weight * value for _, value, weight in fits] if _outweighs(fits, terms) else terms)

    def evidence(self, record: StoredRecord) -> tuple[Evidence, ...]:
        """What the relevance of a hit was computed from."""
        inputs, fits = self._shared, self._fits(record)
        if record.id != self._first:
            inputs = [*inputs, *zip(self._apart_names, self._apart(record), self._apart_weights, strict=True)]
        chosen = fits if _outweighs(fits, [weight * value for _, value, weight in inputs]) else inputs
        return tuple(Evidence(*one) for one in chosen)

    def _fits(self, record: StoredRecord) -> list[Input]:
        """What tells how well a standing instruction fits the question; nothing of other hits."""
        cosine = self._fit.get(record.id)
        return [] if cosine is None else [(PRIOR, 1.0, STANDING[PRIOR]), ("fit", cosine, STANDING["fit"])]

    def _apart(self, record: StoredRecord) -> list[float]:
        """What tells a hit from the first and from the best one."""
        own = list(map(sub, self._standing(record)[1], self._best))
        return [*own, self._sure, 1.0] if self._sure > 0 else [*own, 1.0]

    def _standing(self, record: StoredRecord) -> tuple[float, list[float]]:
        """What a hit has of its own, in the order of OWN, and its weighted sum."""
        values = [self._readings[record.id].sum / self._mass]
        if self._cosines:
            values.append(self._cosine.get(record.id, self._cosines[-1]))
        if self._verdicts:
            values.append(self._verdicts.get(record.id, min(self._verdicts.values())))
        return sum([weight * value for (_, weight), value in zip(self._own, values, strict=True)]), values

    def read(self, records: Sequence[StoredRecord], pairs: int = 0) -> None:
        """Read some hits together, which costs less than one by one."""
        unread = [record for record in records if record.id not in self._readings]
        read_now = read(unread, self._shown, self._asked, pairs)
        self._readings |= {record.id: reading for record, reading in zip(unread, read_now, strict=True)}

    def _of_question(self, query: Query, head: Sequence[StoredRecord]) -> tuple[Evidence, ...]:
        best = head[:BEST]
        readings = [self._readings[record.id] for record in best]
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
            has, key = self._readings[record.id].has, record.thread or record.id
            found[key] = list(map(max, found[key], has)) if key in found else has
        return max((sum(has) for has in found.values()), default=0.0) / self._mass

    def _together(self, readings: Sequence[Reading]) -> float:
        close = frozenset[int]().union(*(reading.close for reading in readings[:FIRST]))
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


def _outweighs(fits: Sequence[Input], terms: Sequence[float]) -> bool:
    return bool(fits) and sum([weight * value for _, value, weight in fits]) > sum(terms)


def _probability(terms: Sequence[float]) -> float:
    return 1 / (1 + math.exp(-max(min(sum(terms), 700.0), -700.0)))
