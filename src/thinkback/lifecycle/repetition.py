"""When a memory repeats another: by its words; where only light words differ, the vectors must agree as well.

Two texts are the same statement if they have the same words in the same order, ignoring case, spacing and punctuation; signs count
(A+ is not A-, −5 not 5, 👍 not 👎), and so does a question mark. They are also the same if they differ only in articles,
contractions and opening words ("oh", "also", "please remember that") and their cosine is at least `NEAR`. A cosine alone is not
enough: with the default embedder "my locker code is 4711" and "… 4712" reach .987, good paraphrases .95 to .99, so any threshold
would let some facts be confirmed by their opposite. Personal statements ("I", "you") are the same only from the same source. Texts
of less than three words are replies, not statements, and repeat nothing.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from thinkback.model import REFLECTION, Draft, Filter, KeywordQuery, StoredRecord, Vector
from thinkback.search.query.keywords import parse_keywords
from thinkback.stores.base import Store
from thinkback.stores.segmentation import segment
from thinkback.stores.stemming import expression
from thinkback.stores.together import holding_all
from thinkback.values import dataclass

MIN_WORDS = 3
LONGEST_STATEMENT = 50_000  # characters; a longer text is a document, which repeats nothing
NEAR = 0.95
_SIGNS = frozenset("-#%/&*@?？")  # punctuation that carries meaning next to a word
_PERSONAL = frozenset(
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
_CONTRACTED = frozenset(("will", "have"))  # what stands for a contraction, of at least so many letters
_PLAIN = 4
_OPENING = re.compile(
    r"(?:(?:oh|well|hey|okay|ok|yes|yeah|also|and|so|btw|by way|please|(?:note|remember)(?: that)?) )+"
)
_QUERY_WORDS = 6  # the longest words of a text are usually its rarest, and a few are enough to find it
_CANDIDATES = 100


@dataclass(frozen=True, slots=True)
class Statement:
    """A text for comparison: its exact `words`, its `gist` without light words, and its `speaker` if it is personal."""

    words: str
    gist: str
    speaker: str | None = None

    @staticmethod
    def of(text: str, source: str | None = None) -> "Statement | None":
        """None for a text that is too short to be a statement, or a document."""
        if len(text) > LONGEST_STATEMENT:
            return None
        words = _words(text)
        if len(words) < MIN_WORDS or not any(letter.isalnum() for word in words for letter in word):
            return None
        gist = _gist(words)
        personal = not _PERSONAL.isdisjoint(gist.split())
        return Statement(" ".join(words).lower(), gist, source if personal else None)

    def may_resemble(self, text: str) -> bool:
        """Whether a text holds the plain words of the gist in their order; most that hold a few of them do not."""
        lowered, at = text.lower(), 0
        for word in self.gist.split():
            if len(word) >= _PLAIN and word.isascii() and word.isalnum() and word not in _CONTRACTED:
                at = lowered.find(word, at)
                if at < 0:
                    return False
                at += len(word)
        return True

    def resembles(self, other: "Statement | None") -> bool:
        """Whether the two may be the same statement."""
        return other is not None and self.gist == other.gist and self.speaker == other.speaker

    def repeats(self, other: "Statement | None", mine: Vector | None, theirs: Vector | None) -> bool:
        """Whether the two are the same statement; the vectors decide where the words differ."""
        if other is None or not self.resembles(other):
            return False
        if self.words == other.words:
            return True
        return mine is not None and theirs is not None and float(mine @ theirs) >= NEAR


def _words(text: str) -> list[str]:
    """Words without the punctuation around them; a symbol or an emoji alone is a word, a punctuation mark is not."""
    spaced = text
    if not text.isascii():
        spaced = segment(unicodedata.normalize("NFC", text)).replace("−", "-").replace("’", "'")
    return [word for part in spaced.split() if (word := _bare(part))]


def _bare(part: str) -> str:
    start, end = 0, len(part)
    while start < end and _is_mark(part[start], leading=True):
        start += 1
    while end > start and _is_mark(part[end - 1], leading=False):
        end -= 1
    bare = part[start:end]
    return bare if bare.isalnum() or any(map(_has_meaning, bare)) else ""


def _is_mark(letter: str, leading: bool) -> bool:
    """Whether a character at the edge of a word is mere punctuation."""
    if letter.isalnum() or not unicodedata.category(letter).startswith("P"):
        return False
    return letter not in _SIGNS or (leading and letter in "?？")


def _has_meaning(letter: str) -> bool:
    return letter.isalnum() or unicodedata.category(letter)[0] in "SM"


def _gist(words: Sequence[str]) -> str:
    # An upper-case A may be a grade or a vitamin, unless the text begins with it.
    heavy = [word for place, word in enumerate(words) if (word if place else word.lower()) not in _ARTICLES]
    gist = " ".join(heavy).lower()
    for short, full in _CONTRACTIONS:
        gist = short.sub(full, gist)
    return _OPENING.sub("", gist, count=1) if _OPENING.match(gist) else gist


def by_age(record: StoredRecord) -> tuple[int, int, str]:
    """A sort key that puts the oldest memory first; the others repeat it."""
    return record.recorded_at, record.created_at, record.id


def repeated(store: Store, drafts: Sequence[Draft], now: int) -> dict[int, str]:
    """The id of the oldest memory that each draft repeats, by the place of the draft."""
    found: dict[int, str] = {}
    for place, draft in enumerate(drafts):
        statement = statement_in(draft)
        if statement is None:
            continue
        ids = holding_all(store, holding(statement.gist), Filter(now=now, without_kinds=(REFLECTION,)), _CANDIDATES)
        held = store.get(ids).values() if ids else ()
        near = [r for r in held if statement.may_resemble(r.text) and statement.resembles(statement_of(r))]
        vectors = store.vectors([record.id for record in near]) if near else {}
        alike = [r for r in near if statement.repeats(statement_of(r), draft.vector, vectors.get(r.id))]
        if alike:
            found[place] = min(alike, key=by_age).id
    return found


def statement_in(draft: Draft) -> Statement | None:
    """A draft as a statement; None if it repeats nothing."""
    usable = draft.kind != REFLECTION and isinstance(draft.text, str)  # the store checks the type later
    return Statement.of(draft.text, draft.source) if usable else None


def statement_of(record: StoredRecord) -> Statement | None:
    """A memory as a statement."""
    return Statement.of(record.text, record.source)


def repetitions(
    texts: Iterable[tuple[str, str, str | None]],
    vectors: Callable[[list[str]], Mapping[str, Vector]],
    parse: Callable[[str, str | None], Statement | None] = Statement.of,
) -> dict[str, str]:
    """Given (id, text, source), oldest first: the oldest one that each repeats. Vectors are read only where words differ."""
    groups: dict[tuple[str, str | None], list[tuple[str, Statement]]] = defaultdict(list)
    for id, text, source in texts:
        statement = parse(text, source)
        if statement is not None:
            groups[statement.gist, statement.speaker].append((id, statement))
    found: dict[str, str] = {}
    for group in groups.values():
        same_words = len({statement.words for _, statement in group}) == 1
        known = {} if same_words else vectors([id for id, _ in group])
        heads: list[tuple[str, Statement]] = []
        for id, statement in group:
            head = next((h for h, first in heads if statement.repeats(first, known.get(id), known.get(h))), None)
            if head is None:
                heads.append((id, statement))
            else:
                found[id] = head
    return found


def holding(text: str) -> KeywordQuery:
    """A query for memories that contain all the longest content words of a text."""
    parsed = parse_keywords(text, drop_function_words=True)
    terms = sorted(parsed.terms, key=lambda term: (-len(term.text), term.text))[:_QUERY_WORDS]
    if not terms:
        return KeywordQuery("empty", (), (), "")
    return KeywordQuery("expert", tuple(terms), (), " AND ".join(map(expression, terms)))
