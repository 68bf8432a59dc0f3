"""Key phrases by class-based TF-IDF (Grootendorst, 2022) over the store's own vocabulary.

weight(t, c) = tf(t, c) · ln(1 + A(c) / f(t)): tf is how often the term stands in the cluster, f how often in the whole store,
A the number of words that as many memories as the cluster has hold on average. A term is a content word or two in a row.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from thinkback.search.query.stopwords import CONTRACTED_ENDINGS, FUNCTION_WORDS, NEGATED_STEMS
from thinkback.stores.segmentation import segment

Term = tuple[str, ...]

SUPPORT = 0.20  # a key phrase stands in this share of the members, and in two at least
COMMON = 0.10  # and in no more than this share of all other memories, or two of them
HALF = 2 / 3  # of the memories that hold a word, for a phrase to stand for it
_SHORTEST = 3
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
# Words of talk: they fill a conversation and name nothing in it.
_TALK = (
    "absolutely actually ago all already always amazing awesome back came come cool day days definitely even feel "
    "feeling felt fun get gets getting give glad goes going gone gonna good got great guess guys haha happy hear "
    "heard hello help hey hope idea keep kind know lately let like little long look looking looks lot lots love "
    "loved made make makes making many maybe mean more most much need never new nice now okay other people pretty "
    "really right said saw say says see seem seems seen share since sounds still stuff super sure take taking talk "
    "tell thank thanks thing things think thought time times today took total totally true try trying want wanted "
    "way well went wonderful wow yeah year years yes yesterday yet"
)
_IDLE = FUNCTION_WORDS | frozenset(_TALK.split()) | NEGATED_STEMS | CONTRACTED_ENDINGS


@dataclass(slots=True)
class Lexicon:
    """The words of every memory of a store, read once."""

    words: dict[str, tuple[str, ...]] = field(default_factory=dict)  # as written, by memory
    total: int = 0
    _terms: dict[str, str | None] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, texts: Iterable[tuple[str, str]]) -> "Lexicon":
        """From pairs of a memory's id and its text."""
        lexicon = cls()
        for id, text in texts:
            lexicon.words[id] = words = tuple(_WORD.findall(segment(text)))
            lexicon.total += len(words)
        return lexicon

    def terms(self, id: str) -> Iterator[tuple[Term, Term]]:
        """Every term of a memory beside its spelling there."""
        before: tuple[str, str] | None = None
        for word in self.words[id]:
            if word not in self._terms:
                self._terms[word] = _fold(word)
            folded = self._terms[word]
            if folded is None:
                before = None
                continue
            if _stands_alone(folded):
                yield (folded,), (word,)
            if before is not None:
                yield (before[0], folded), (before[1], word)
            before = folded, word


def key_phrases(lexicon: Lexicon, clusters: Sequence[Sequence[str]], most: int = 5) -> list[tuple[str, ...]]:
    """For every cluster the terms that set it apart from the rest of the store, best first, ties by spelling; maybe none."""
    counts = [_count(lexicon, members) for members in clusters]
    wanted = {term for count in counts for term in count.supported}
    often: Counter[Term] = Counter()
    holding: Counter[Term] = Counter()
    if wanted:
        for id in lexicon.words:
            terms = [term for term, _ in lexicon.terms(id) if term in wanted]
            often.update(terms)
            holding.update(set(terms))
    return [_ranked(count, lexicon, often, holding)[:most] for count in counts]


@dataclass(frozen=True, slots=True)
class _Count:
    members: int
    often: Counter[Term]
    holding: Counter[Term]
    spelled: dict[Term, Counter[Term]]

    @property
    def supported(self) -> list[Term]:
        needed = max(2, math.ceil(SUPPORT * self.members))
        return [term for term, count in self.holding.items() if count >= needed]


def _count(lexicon: Lexicon, members: Sequence[str]) -> _Count:
    often: Counter[Term] = Counter()
    holding: Counter[Term] = Counter()
    spelled: dict[Term, Counter[Term]] = {}
    for id in members:
        here = list(lexicon.terms(id))
        often.update(term for term, _ in here)
        holding.update({term for term, _ in here})
        for term, spelling in here:
            spelled.setdefault(term, Counter())[spelling] += 1
    return _Count(len(members), often, holding, spelled)


def weight(here: int, everywhere: int, average: float) -> float:
    """tf · ln(1 + A / f)."""
    return here * math.log1p(average / everywhere)


def _ranked(count: _Count, lexicon: Lexicon, often: Counter[Term], holding: Counter[Term]) -> tuple[str, ...]:
    others = len(lexicon.words) - count.members
    elsewhere = max(2, COMMON * others)
    average = lexicon.total / max(len(lexicon.words), 1) * count.members
    telling = [term for term in count.supported if holding[term] - count.holding[term] <= elsewhere]
    telling = _without_halves(telling, count.holding)
    weights = {term: weight(count.often[term], often[term], average) for term in telling}
    best = sorted(weights, key=lambda term: (-weights[term], term))
    return tuple(_spelling(count.spelled[term]) for term in _without_parts(best))


def _without_halves(terms: Sequence[Term], holding: Counter[Term]) -> list[Term]:
    """A word that stands mostly inside one phrase gives way to it."""
    pairs = [term for term in terms if len(term) == 2]
    halves = {(word,) for pair in pairs for word in pair if holding[pair] >= HALF * holding[(word,)]}
    return [term for term in terms if term not in halves]


def _without_parts(ranked: Sequence[Term]) -> list[Term]:
    """A word that a better phrase holds adds nothing, nor does a phrase whose words both stand there already."""
    kept: list[Term] = []
    said: set[str] = set()
    for term in ranked:
        if not set(term) <= said:
            kept.append(term)
            said.update(term)
    return kept


def _spelling(spelled: Counter[Term]) -> str:
    words = min(spelled, key=lambda words: (-spelled[words], words))
    return ("" if all(len(word) == 1 for word in words) else " ").join(words)


def _fold(word: str) -> str | None:
    """The word without case and plural, or None for one that names nothing."""
    low = word.lower()
    if low in _IDLE or not any(letter.isalpha() for letter in low):
        return None
    if len(low) < _SHORTEST:
        return None if low.isascii() else low
    if low.endswith("ies") and len(low) > 4:
        return low[:-3] + "y"
    return low[:-1] if low.endswith("s") and not low.endswith(("ss", "us", "is")) and len(low) > _SHORTEST else low


def _stands_alone(folded: str) -> bool:
    """One character of a script without spaces is only ever half a word."""
    return len(folded) >= _SHORTEST
