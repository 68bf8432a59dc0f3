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
from thinkback.search.reading import stem
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
    "able about above across add advice after afterwards again against agree agreed allow allows almost alone along "
    "although amidst among another anymore anyone anything anytime anyway appreciate appreciated area around ask asked "
    "asking away aww bad beat beautiful because become becomes becoming been before began begin behind believe believing "
    "best better between beyond big bit blast both bring bringing brings brought built bunch but bye call called calm can "
    "care catch challenging chance change chasing chat chatted chatting check cheers chill choose chose close comes coming "
    "congrats congratulations continue continues continuing could couple course crazy create created creates creating "
    "curious currently cute deal dear decided deep delicious despite did difference different difficult does doing done "
    "down during each early easy effect either else encourages encouraging end ended enjoy enjoyable enjoyed enjoying "
    "enough epic especially eventually ever every everyone everything exactly excellent excited excitement exciting expect "
    "experience experienced explore express expressed expressing extra fabulous facing fam fantastic far fascinating fast "
    "favorite favorites favourite feels few figure filled finally find finding fine first fit focus focused following for "
    "forget forgot forward found free fresh from full further gave general gives gorgeous gotten grab grateful great "
    "greatly group guy handle hang happen happened happening hard has have having helped helpful helping helps her here him "
    "his hit hold holding hopefully hoping huge image imagine importance important impressive improve improving include "
    "includes including incredible inside inspire inspired inspiring instead interest interested interesting into involve "
    "involved items join joined just keeping keeps kept key kinda kinds known last late later latest learn learned learning "
    "least leave leaving left less level life liked likes line live lived living local lose losing lost lovely low luck "
    "lucky main man manage managed matter meaningful means meant meet mention mentioned met might mind missed missing mix "
    "moment month months morning motivate motivated motivating move moved moving must near nearly neat needed needs next "
    "nope nothing notice noticed number off offer offered offering offers often old once one ones only onto ooh oops open "
    "opportunity others our out outside over own part past peaceful perfect perhaps person photo photos pic pick picked "
    "pics picture pictures piece place places plan planned planning plans play played playing please pleased plus point "
    "positive possible possibly present probably process proud provide pull push pushing put quick quickly quite rather "
    "reach reached ready real realise realize realized reason receive received recent recently recommend refreshing relate "
    "related relaxing rely relying remember remind reminded reminder reminds rest result return rewarding rock rocks sad "
    "safe same says second seeing seek send sending sense sent seriously set setting several shared sharing she should show "
    "showed showing shows sign signs simple sitting small some somebody somehow someone something sometime sometimes "
    "somewhere soon sorry sort sound special spend spending spent spot stand standing start started starting starts stay "
    "stayed staying step steps stick stop strong struggle stuck stunning such suggest supportive surprise surprised "
    "surrounded sweet tackle tackling taken talked talking tasty thankful thankfully that thats the their them then there "
    "these they thinking third this those though three thrilled through tight together told tomorrow ton tonight tons top "
    "totally touch tough toward towards tried tries truly turn turned turning two type under understand unique unless until "
    "upon use used using usually various very via vibe vibes visit wait waiting walking wander wants was watched watching "
    "wearing week weekend weeks welcome were what whatever when whenever where whether which while who whole why wild will "
    "wins wish with within without woman won wonder wondering word words work worked working works world worried worries "
    "worry worth would write wrong yay yep you young your yourself yummy yup"
)
_BETWEEN = frozenset("of for in and with to at on the a my our your his her their".split())  # noqa: SIM905
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

    def joined(self, id: str) -> Iterator[tuple[Term, Term]]:
        """Two words of a memory with small ones between them ("sources of joy"), and their spelling there."""
        words = self.words[id]
        for place, word in enumerate(words):
            end = place + 1
            while end < len(words) and words[end] in _BETWEEN:
                end += 1
            if place + 1 < end < len(words) and end <= place + 3:
                first, last = _fold(word), _fold(words[end])
                if first is not None and last is not None:
                    yield (first, *words[place + 1 : end], last), words[place : end + 1]


def key_phrases(lexicon: Lexicon, clusters: Sequence[Sequence[str]], most: int = 5) -> list[tuple[str, ...]]:
    """The terms that distinguish each cluster from the rest of the store, best first, ties by spelling; possibly none.

    Where that is one word ("support"), terms of single members follow that other memories know too ("support, veterans, marathon"),
    or a phrase takes its place ("grand opening, dancers"). Two words without a phrase become one that a member says ("served in the
    military"). Phrases come first, and of the forms of a word ("mentoring", "mentor") one is shown.
    """
    counts = [_count(lexicon, members) for members in clusters]
    stored = _Stored.of(lexicon, {term for count in counts for term in count.supported})
    labels = [_ranked(count, count.supported, lexicon, stored) for count in counts]
    thin = [place for place, label in enumerate(labels) if len(label) == 1 and len(label[0]) == 1]
    bare = [place for place, label in enumerate(labels) if label and len(label) < THIN and not _phrases(label)]
    stored = _Stored.of(lexicon, {term for place in bare for term in counts[place].often})
    for place in thin:
        known = [term for term in counts[place].often if stored.holding[term] > 1]
        more = _ranked(counts[place], known, lexicon, stored)
        fuller = _without_parts([*labels[place], *more])[:THIN]
        paired = {word for term in fuller if len(term) > 1 for word in term}
        labels[place] = [term for term in fuller if len(term) > 1 or term[0] not in paired]
    for place in bare:
        if not _phrases(labels[place]):
            labels[place] = _without_parts(
                [*_central(lexicon, clusters[place], labels[place], counts[place], stored), *labels[place]]
            )
    return [
        _written(_phrases_first(_one_form_each(label))[:most], count, lexicon)
        for label, count in zip(labels, counts, strict=True)
    ]


def _phrases(label: Sequence[Term]) -> list[Term]:
    return [term for term in label if len(term) > 1]


def _phrases_first(label: Sequence[Term]) -> list[Term]:
    return sorted(label, key=lambda term: len(term) == 1)


def _one_form_each(label: Sequence[Term]) -> list[Term]:
    """Without words of which another form is in the label: of "mentoring" and "mentor" the shorter one, in the better place."""
    within = {stem(word) for term in _phrases(label) for word in term}
    forms: dict[str, Term] = {}
    for term in label:
        if len(term) == 1 and stem(term[0]) not in within:
            forms[stem(term[0])] = min(forms.get(stem(term[0]), term), term, key=lambda one: len(one[0]))
    kept: dict[Term, None] = {}
    for term in label:
        if len(term) > 1:
            kept[term] = None
        elif stem(term[0]) in forms:
            kept[forms[stem(term[0])]] = None
    return list(kept)


def _central(
    lexicon: Lexicon, members: Sequence[str], label: Sequence[Term], count: "_Count", stored: "_Stored"
) -> list[Term]:
    """The phrase of a member that says most of the label: words of it with small ones between, or one of them with another."""
    named = {word for term in label for word in term}
    found: dict[Term, tuple[int, int]] = {}
    for id in members:
        for term, spelling in (*lexicon.joined(id), *lexicon.terms(id)):
            said = len(named.intersection(term))
            known = said == 2 or all(word in named or stored.holding[(word,)] > 1 for word in term)
            if len(term) > 1 and said and known and stem(term[0]) != stem(term[-1]) and (len(term) == 2 or said == 2):
                found[term] = said, found.get(term, (0, 0))[1] + 1
                count.spelled.setdefault(term, Counter())[spelling] += 1
    return sorted(found, key=lambda term: (found[term], term))[-1:]


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
