"""Key phrases by class-based TF-IDF (Grootendorst, 2022) over the store's own vocabulary.

weight(t, c) = tf(t, c) · ln(1 + A(c) / f(t)): tf is the frequency of the term in the cluster, f in the whole store, A the average
number of words in as many memories as the cluster has. A term is one content word, or two in a row with nothing between them.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import field

from thinkback.search.query.stopwords import CONTRACTED_ENDINGS, FUNCTION_WORDS, NEGATED_STEMS
from thinkback.stores.segmentation import segment
from thinkback.values import dataclass

Term = tuple[str, ...]

PHRASE = 1.5  # how much more two words in a row say than one
SUPPORT = 0.20  # a key phrase occurs in this share of the members, and in at least two
COMMON = 0.10  # and in at most this share of the other memories, or in two of them
HALF = 2 / 3  # a phrase replaces its word if it occurs in this share of the word's memories
_SHORTEST = 3
THIN = 3  # a label of one word is followed by others, until it has so many
LOWER = 0.2  # a word is written in lower case if this share of the store writes it so; a name hardly ever is
_PIECE = re.compile(r"[^\W_]+(?:-[^\W_]+)*|[^\w\s'’&/-]")  # a word, or a sign that parts words
# Frequent words of conversation that name no topic.
_CHATTER = (
    "absolutely actually ago all already always amazing awesome back came come cool day days definitely even feel "
    "feeling felt fun get gets getting give glad goes going gone gonna good got great guess guys haha happy hear "
    "heard hello help hey hope idea keep kind know lately let like little long look looking looks lot lots love "
    "loved made make makes making many maybe mean more most much need never new nice now okay other people pretty "
    "really right said saw say says see seem seems seen share since sounds still stuff super sure take taking talk "
    "tell thank thanks thing things think thought time times today took total totally true try trying want wanted "
    "way well went wonderful wow yeah year years yes yesterday yet"
)
# Words that describe, move or place something, and alone name no topic either.
_WEAK = (
    "able about above across add advice after again against agree almost alone along although among another anymore anyone "
    "anything anyway appreciate around ask asked asking away aww bad beautiful because become been before began begin behind "
    "believe believing best better between beyond big bit blast both bring bringing brought bunch but bye call called calm can "
    "care catch change chasing chat chatted chatting check cheers chill choose chose close congrats congratulations could "
    "couple course crazy curious currently cute deal dear decided deep delicious despite did difference different difficult "
    "does doing done down during each early easy effect either else end ended enjoy enjoyed enjoying enough epic especially "
    "ever every everyone everything exactly excellent excited excitement exciting experience experienced explore fabulous "
    "facing fam fantastic far fast favorite favorites favourite few finally find finding fine first focus for forward found "
    "free fresh from full further gave general gives gorgeous great hang happen happened happening hard has have having helped "
    "helpful helping helps her here him his hit hold holding hoping huge image important impressive incredible inspire inspired "
    "inspiring instead interest interested interesting into join joined just keeping keeps kept kinds last late later learn "
    "learned learning least left less life liked likes live lived living local lovely low luck lucky main manage matter means "
    "meant mention mentioned met might mind moment month months morning motivated motivating must near nearly neat next nope "
    "nothing notice off often old once one only onto ooh oops open opportunity our out over own part past peaceful perfect "
    "perhaps photo photos pic pics picture pictures place places plan planned planning plans play played playing please pleased "
    "plus possible possibly present process proud provide push pushing put quite rather reach reached ready real reason recent "
    "recently refreshing relaxing remember reminded reminder reminds rest rewarding rock rocks sad safe same says second seeing "
    "sense several she should show showed showing shows sign signs simple sitting small some somebody someone something "
    "sometime sometimes somewhere soon sorry sort sound special spend spending spent standing start started starting starts "
    "stay stayed staying step stop strong stunning such supportive sweet talked talking tasty that the their them then there "
    "these they thinking third this those though three thrilled through tight together told tomorrow ton tonight tons totally "
    "touch tough toward towards truly turn turned turning two type under understand until upon use used using usually various "
    "very via vibe vibes visit wait waiting walking wander was watched watching week weekend weeks welcome were what whatever "
    "when where whether which while who whole why wild will wins wish with within without won wondering word words work worked "
    "working works world worried worries worry worth would write wrong yay yep you young your yourself yummy yup"
)
_STOPWORDS = (
    FUNCTION_WORDS | frozenset(_CHATTER.split()) | frozenset(_WEAK.split()) | NEGATED_STEMS | CONTRACTED_ENDINGS
)


@dataclass(slots=True)
class Lexicon:
    """The words of every memory of a store."""

    words: dict[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # as written, with the signs between them, by memory
    spelled: Counter[str] = field(default_factory=Counter)
    total: int = 0
    _terms: dict[str, str | None] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, texts: Iterable[tuple[str, str]]) -> "Lexicon":
        """From pairs of id and text."""
        lexicon = cls()
        for id, text in texts:
            lexicon.words[id] = pieces = tuple(_PIECE.findall(segment(text)))
            words = [piece for piece in pieces if piece[0].isalnum()]
            lexicon.spelled.update(words)
            lexicon.total += len(words)
        return lexicon

    def shown(self, word: str) -> str:
        """A word as a label shows it: "Winning" at the head of a sentence is no name."""
        lower = word.lower()
        often = self.spelled[lower]
        return lower if word.istitle() and often >= LOWER * (often + self.spelled[word]) else word

    def terms(self, id: str) -> Iterator[tuple[Term, Term]]:
        """Every term of a memory with its spelling there."""
        before: tuple[str, str] | None = None
        for word in self.words[id]:
            if word not in self._terms:
                self._terms[word] = _fold(word)
            folded = self._terms[word]
            if folded is None:
                before = None
                continue
            if _is_word(folded):
                yield (folded,), (word,)
            if before is not None:
                yield (before[0], folded), (before[1], word)
            before = folded, word


def key_phrases(lexicon: Lexicon, clusters: Sequence[Sequence[str]], most: int = 5) -> list[tuple[str, ...]]:
    """The terms that distinguish each cluster from the rest of the store, best first, ties by spelling; possibly none.

    Where that is one word ("support"), terms of single members follow that other memories know too ("support, veterans, marathon"),
    or a phrase takes its place ("grand opening, dancers").
    """
    counts = [_count(lexicon, members) for members in clusters]
    stored = _Stored.of(lexicon, {term for count in counts for term in count.supported})
    labels = [_ranked(count, count.supported, lexicon, stored) for count in counts]
    thin = [place for place, label in enumerate(labels) if len(label) == 1 and len(label[0]) == 1]
    stored = _Stored.of(lexicon, {term for place in thin for term in counts[place].often})
    for place in thin:
        known = [term for term in counts[place].often if stored.holding[term] > 1]
        more = _ranked(counts[place], known, lexicon, stored)
        fuller = _without_parts([*labels[place], *more])[:THIN]
        paired = {word for term in fuller if len(term) > 1 for word in term}
        labels[place] = [term for term in fuller if len(term) > 1 or term[0] not in paired]
    return [_written(label, count, lexicon)[:most] for label, count in zip(labels, counts, strict=True)]


@dataclass(frozen=True, slots=True)
class _Stored:
    """How often terms occur in the whole store, and in how many of its memories."""

    often: Counter[Term]
    holding: Counter[Term]

    @classmethod
    def of(cls, lexicon: Lexicon, wanted: Set[Term]) -> "_Stored":
        stored = cls(Counter(), Counter())
        for id in lexicon.words if wanted else ():
            terms = [term for term, _ in lexicon.terms(id) if term in wanted]
            stored.often.update(terms)
            stored.holding.update(set(terms))
        return stored


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


def _ranked(count: _Count, terms: Sequence[Term], lexicon: Lexicon, stored: _Stored) -> list[Term]:
    """Those of the terms that tell the cluster apart, best first."""
    others = len(lexicon.words) - count.members
    elsewhere = max(2, COMMON * others)
    average = lexicon.total / max(len(lexicon.words), 1) * count.members
    distinct = [term for term in terms if stored.holding[term] - count.holding[term] <= elsewhere]
    distinct = _without_halves(distinct, count.holding)
    weights = {
        term: weight(count.often[term], stored.often[term], average) * (PHRASE if len(term) > 1 else 1)
        for term in distinct
    }
    return _without_parts(sorted(weights, key=lambda term: (-weights[term], term)))


def _written(label: Sequence[Term], count: _Count, lexicon: Lexicon) -> tuple[str, ...]:
    return tuple(_spelling(count.spelled[term], lexicon) for term in label)


def _without_halves(terms: Sequence[Term], holding: Counter[Term]) -> list[Term]:
    """Drop a word that occurs mostly inside one of the phrases."""
    pairs = [term for term in terms if len(term) == 2]
    halves = {(word,) for pair in pairs for word in pair if holding[pair] >= HALF * holding[(word,)]}
    return [term for term in terms if term not in halves]


def _without_parts(ranked: Sequence[Term]) -> list[Term]:
    """Drop terms whose words are all in better terms."""
    kept: list[Term] = []
    known: set[str] = set()
    for term in ranked:
        if not set(term) <= known:
            kept.append(term)
            known.update(term)
    return kept


def _spelling(spelled: Counter[Term], lexicon: Lexicon) -> str:
    words = min(spelled, key=lambda words: (-spelled[words], words))
    return ("" if all(len(word) == 1 for word in words) else " ").join(map(lexicon.shown, words))


def _fold(word: str) -> str | None:
    """The word in lower case and singular, or None for a stop word."""
    low = word.lower()
    if low in _STOPWORDS or not any(letter.isalpha() for letter in low):
        return None
    if len(low) < _SHORTEST:
        return None if low.isascii() else low
    if low.endswith("ies") and len(low) > 4:
        return low[:-3] + "y"
    return low[:-1] if low.endswith("s") and not low.endswith(("ss", "us", "is")) and len(low) > _SHORTEST else low


def _is_word(folded: str) -> bool:
    """A single character of a script without spaces is only part of a word."""
    return len(folded) >= _SHORTEST
