"""When a memory repeats another: the same words in the same order, whatever their case, punctuation and spacing.

Embeddings cannot tell this: with the default one, "my locker code is 4711" and "… 4712" have a cosine of .987, good paraphrases
.95 to .986, so any threshold would confirm some facts by their opposite. Texts of less than three words are replies, not
statements, and repeat nothing.
"""

import re
from collections.abc import Iterable, Sequence

from recollect.model import Draft, Filter, Record
from recollect.query.keywords import KeywordQuery, parse_keywords, segment
from recollect.reflect.model import REFLECTION
from recollect.stores.base import Store

FEWEST_WORDS = 3
_WORD = re.compile(r"\w+")
_WORDS_ASKED = 6  # the longest words of a text are its rarest, as a rule, and few are enough to find it
_LOOKED_AT = 20


def sameness(text: str) -> str | None:
    """What two texts that say the same share, or None for one too short to say anything."""
    words = _WORD.findall(segment(text).lower())
    return " ".join(words) if len(words) >= FEWEST_WORDS else None


def first(records: Iterable[Record]) -> Record:
    """The one all others repeat: the oldest."""
    return min(records, key=lambda record: (record.recorded_at, record.created_at, record.id))


def repeated(store: Store, drafts: Sequence[Draft], now: int) -> dict[int, str]:
    """For each draft, by its place, the id of the oldest memory it repeats, if any."""
    found: dict[int, str] = {}
    for place, draft in enumerate(drafts):
        speaks = draft.kind != REFLECTION and isinstance(draft.text, str)  # the store has yet to check it
        key = sameness(draft.text) if speaks else None
        if key is None:
            continue
        hits = store.search_keywords(holding(draft.text), Filter(now=now, without_kinds=(REFLECTION,)), _LOOKED_AT)
        alike = [r for r in store.get([hit.id for hit in hits]).values() if sameness(r.text) == key]
        if alike:
            found[place] = first(alike).id
    return found


def holding(text: str) -> KeywordQuery:
    """Asks for memories that hold all the telling words of a text."""
    parsed = parse_keywords(text, drop_function_words=True)
    terms = sorted(parsed.terms, key=lambda term: (-len(term.text), term.text))[:_WORDS_ASKED]
    if not terms:
        return KeywordQuery("empty", (), (), "")
    return KeywordQuery("expert", tuple(terms), (), " AND ".join(term.expression for term in terms))
