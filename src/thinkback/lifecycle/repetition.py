"""When a memory repeats another: words decide, and where they differ in light ones, the vectors must agree.

Two texts say the same if they hold the same words in the same order, whatever their case, spacing, and the marks around words;
signs count (A+ is not A-, −5 not 5, 👍 not 👎), and so does a question mark. They also do if they differ only in articles,
contractions and opening words ("oh", "also", "please remember that") and their cosine is at least `NEAR`. A cosine alone cannot
tell: with the default embedder "my locker code is 4711" and "… 4712" reach .987, good paraphrases .95 to .99, so any threshold
would confirm some facts by their opposite. What is said of oneself is the same only from the same source. Texts of less than
three words are replies, not statements, and repeat nothing.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from thinkback.model import REFLECTION, Draft, Filter, KeywordQuery, StoredRecord, Vector
from thinkback.search.query.keywords import expression, parse_keywords
from thinkback.stores.base import Store
from thinkback.stores.segmentation import segment

FEWEST_WORDS = 3
NEAR = 0.95
_SIGNS = frozenset("-#%/&*@?？")  # marks that carry meaning where they touch a word
_ONESELF = frozenset(
    ["i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves", "you", "your", "yours"]
)
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
_LOOKED_AT = 100


@dataclass(frozen=True, slots=True)
class Saying:
    """What a text says: `words` to the letter, `gist` without what is light; `speaker` where it is said of oneself."""

    words: str
    gist: str
    speaker: str | None = None

    @staticmethod
    def of(text: str, source: str | None = None) -> "Saying | None":
        """None for a text too short to say anything."""
        words = _words(text)
        if len(words) < FEWEST_WORDS or not any(letter.isalnum() for word in words for letter in word):
            return None
        gist = _gist(words)
        personal = not _ONESELF.isdisjoint(gist.split())
        return Saying(" ".join(words).lower(), gist, source if personal else None)

    def resembles(self, other: "Saying | None") -> bool:
        """Whether the two may say the same."""
        return other is not None and self.gist == other.gist and self.speaker == other.speaker

    def repeats(self, other: "Saying | None", mine: Vector | None, theirs: Vector | None) -> bool:
        """Whether the two say the same; the vectors are asked where the words differ."""
        if other is None or not self.resembles(other):
            return False
        if self.words == other.words:
            return True
        return mine is not None and theirs is not None and float(mine @ theirs) >= NEAR


def _words(text: str) -> list[str]:
    """Words as they are spelled, without the marks around them; a mark alone is no word, a sign or a picture is."""
    spaced = segment(unicodedata.normalize("NFC", text)).replace("−", "-").replace("’", "'")
    return [word for part in spaced.split() if (word := _bare(part))]


def _bare(part: str) -> str:
    start, end = 0, len(part)
    while start < end and _is_mark(part[start], leading=True):
        start += 1
    while end > start and _is_mark(part[end - 1], leading=False):
        end -= 1
    return part[start:end] if any(_means(letter) for letter in part[start:end]) else ""


def _is_mark(letter: str, leading: bool) -> bool:
    """Whether a letter at the edge of a word is mere punctuation."""
    if not unicodedata.category(letter).startswith("P"):
        return False
    return letter not in _SIGNS or (leading and letter in "?？")


def _means(letter: str) -> bool:
    return letter.isalnum() or unicodedata.category(letter)[0] in "SM"


def _gist(words: Sequence[str]) -> str:
    # An upper-case A is a grade or a vitamin, unless the text begins with it.
    heavy = [word for place, word in enumerate(words) if (word if place else word.lower()) not in _ARTICLES]
    gist = " ".join(heavy).lower()
    for short, full in _CONTRACTIONS:
        gist = short.sub(full, gist)
    return _OPENING.sub("", gist, count=1) if _OPENING.match(gist) else gist


def by_age(record: StoredRecord) -> tuple[int, int, str]:
    """Sorts the one that all others repeat to the front."""
    return record.recorded_at, record.created_at, record.id


def repeated(store: Store, drafts: Sequence[Draft], now: int) -> dict[int, str]:
    """For each draft, by its place, the id of the oldest memory it repeats, if any."""
    found: dict[int, str] = {}
    for place, draft in enumerate(drafts):
        speaks = draft.kind != REFLECTION and isinstance(draft.text, str)  # the store has yet to check it
        saying = Saying.of(draft.text, draft.source) if speaks else None
        if saying is None:
            continue
        hits = store.search_keywords(holding(saying.gist), Filter(now=now, without_kinds=(REFLECTION,)), _LOOKED_AT)
        near = [r for r in store.get([hit.id for hit in hits]).values() if saying.resembles(saying_of(r))]
        vectors = store.vectors([record.id for record in near]) if near else {}
        alike = [r for r in near if saying.repeats(saying_of(r), draft.vector, vectors.get(r.id))]
        if alike:
            found[place] = min(alike, key=by_age).id
    return found


def saying_of(record: StoredRecord) -> Saying | None:
    """What a memory says."""
    return Saying.of(record.text, record.source)


def repetitions(
    spoken: Iterable[tuple[str, str, str | None]],
    vectors: Callable[[list[str]], Mapping[str, Vector]],
    says: Callable[[str, str | None], Saying | None] = Saying.of,
) -> dict[str, str]:
    """For ids with text and source, oldest first, the oldest one each repeats; vectors are asked for where words differ."""
    groups: dict[tuple[str, str | None], list[tuple[str, Saying]]] = defaultdict(list)
    for id, text, source in spoken:
        saying = says(text, source)
        if saying is not None:
            groups[saying.gist, saying.speaker].append((id, saying))
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
    return KeywordQuery("expert", tuple(terms), (), " AND ".join(map(expression, terms)))
