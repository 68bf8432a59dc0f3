"""When a memory repeats another: words decide, and where they differ in light ones, the vectors must agree.

Two texts say the same if they hold the same words in the same order, whatever their case, punctuation and spacing. They also do
if they differ only in articles, contractions and opening words ("oh", "also", "please remember that") and their cosine is at
least `NEAR`. A cosine alone cannot tell: with the default embedder "my locker code is 4711" and "… 4712" reach .987, good
paraphrases .95 to .99, so any threshold would confirm some facts by their opposite. Texts of less than three words are replies,
not statements, and repeat nothing.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from recollect.model import REFLECTION, Draft, Filter, Record, Vector
from recollect.query.keywords import KeywordQuery, parse_keywords, segment
from recollect.stores.base import Store

FEWEST_WORDS = 3
NEAR = 0.95
_WORD = re.compile(r"\w+")
_WORD_WITH_APOSTROPHE = re.compile(r"\w+(?:['’]\w+)*")
_ARTICLES = frozenset({"a", "an", "the"})
_CONTRACTIONS = tuple(
    (re.compile(short), full)
    for short, full in (
        (r"\bcan(?:'t|not)\b", "can not"),
        (r"\bwon't\b", "will not"),
        (r"n't\b", " not"),
        (r"\bi'm\b", "i am"),
        (r"'re\b", " are"),
        (r"'ve\b", " have"),
        (r"'ll\b", " will"),
        (r"\b(it|he|she|that|there|what|who|where|here)'s\b", r"\1 is"),
    )
)
_OPENING = re.compile(
    r"(?:(?:oh|well|hey|okay|ok|yes|yeah|also|and|so|btw|by way|please|(?:note|remember)(?: that)?) )+"
)
_WORDS_ASKED = 6  # the longest words of a text are its rarest, as a rule, and few are enough to find it
_LOOKED_AT = 20


@dataclass(frozen=True, slots=True)
class Saying:
    """What a text says: `words` to the letter, `gist` without what is light."""

    words: str
    gist: str

    @staticmethod
    def of(text: str) -> "Saying | None":
        """None for a text too short to say anything."""
        spaced = segment(text)
        words = _WORD.findall(spaced.lower())
        return Saying(" ".join(words), _gist(spaced)) if len(words) >= FEWEST_WORDS else None

    def resembles(self, other: "Saying | None") -> bool:
        """Whether the two may say the same."""
        return other is not None and self.gist == other.gist

    def repeats(self, other: "Saying | None", mine: Vector | None, theirs: Vector | None) -> bool:
        """Whether the two say the same; the vectors are asked where the words differ."""
        if other is None or not self.resembles(other):
            return False
        if self.words == other.words:
            return True
        return mine is not None and theirs is not None and float(mine @ theirs) >= NEAR


def _gist(text: str) -> str:
    words = _WORD_WITH_APOSTROPHE.findall(text)
    # An upper-case A is a grade or a vitamin, unless the text begins with it.
    heavy = [word for place, word in enumerate(words) if (word if place else word.lower()) not in _ARTICLES]
    gist = " ".join(heavy).lower().replace("’", "'")
    for short, full in _CONTRACTIONS:
        gist = short.sub(full, gist)
    return _OPENING.sub("", gist, count=1) if _OPENING.match(gist) else gist


def by_age(record: Record) -> tuple[int, int, str]:
    """Sorts the one that all others repeat to the front."""
    return record.recorded_at, record.created_at, record.id


def repeated(store: Store, drafts: Sequence[Draft], now: int) -> dict[int, str]:
    """For each draft, by its place, the id of the oldest memory it repeats, if any."""
    found: dict[int, str] = {}
    for place, draft in enumerate(drafts):
        speaks = draft.kind != REFLECTION and isinstance(draft.text, str)  # the store has yet to check it
        saying = Saying.of(draft.text) if speaks else None
        if saying is None:
            continue
        hits = store.search_keywords(holding(saying.gist), Filter(now=now, without_kinds=(REFLECTION,)), _LOOKED_AT)
        near = {r.id: r for r in store.get([hit.id for hit in hits]).values() if saying.resembles(Saying.of(r.text))}
        vectors = store.vectors(list(near)) if near else {}
        alike = [r for r in near.values() if saying.repeats(Saying.of(r.text), draft.vector, vectors.get(r.id))]
        if alike:
            found[place] = min(alike, key=by_age).id
    return found


def repetitions(
    spoken: Iterable[tuple[str, str]], vectors: Callable[[list[str]], Mapping[str, Vector]]
) -> dict[str, str]:
    """For ids with their texts, oldest first, the oldest one each repeats; vectors are asked for where the words differ."""
    groups: dict[str, list[tuple[str, Saying]]] = defaultdict(list)
    for id, text in spoken:
        saying = Saying.of(text)
        if saying is not None:
            groups[saying.gist].append((id, saying))
    found: dict[str, str] = {}
    for group in groups.values():
        worded_alike = len({saying.words for _, saying in group}) == 1
        known = {} if worded_alike else vectors([id for id, _ in group])
        heads: list[tuple[str, Saying]] = []
        for id, saying in group:
            head = next((h for h, said in heads if saying.repeats(said, known.get(id), known.get(h))), None)
            if head is None:
                heads.append((id, saying))
            else:
                found[id] = head
    return found


def holding(text: str) -> KeywordQuery:
    """Asks for memories that hold all the telling words of a text."""
    parsed = parse_keywords(text, drop_function_words=True)
    terms = sorted(parsed.terms, key=lambda term: (-len(term.text), term.text))[:_WORDS_ASKED]
    if not terms:
        return KeywordQuery("empty", (), (), "")
    return KeywordQuery("expert", tuple(terms), (), " AND ".join(term.expression for term in terms))
