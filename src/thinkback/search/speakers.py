"""Who said a memory, and whose words a question asks for.

The speaker of a memory is its `speaker`, which a head such as "Caroline: I painted a sunrise" fills when it is written
(`heads.py`). Where it is empty, as in memories of an older version, the head is read here. `source` is provenance and says nothing
about who speaks.
"""

import re
from functools import lru_cache

from thinkback.heads import suggested_speaker
from thinkback.model import StoredRecord
from thinkback.search.once import Once
from thinkback.search.query.stopwords import FUNCTION_WORDS

USER, ASSISTANT = "user", "assistant"

_WORD = re.compile(r"[^\W_]+")
_TO_ASSISTANT = re.compile(
    r"\b(?:did|do|have|had|were|would) you\b|\bassistant\b"
    r"|\byou(?:['’]ve|r)? (?:recommend|suggest|advi[sc]e|explain|told|said|gave|propos|answer)",
    re.IGNORECASE,
)
_SAID_BY_ASSISTANT = re.compile(
    r"\b(?:did|have|had) you (?:\w+ )?"
    r"(?:recommend|suggest|advi[sc]e|explain|tell|told|say|said|give|propos|answer|mention|show|writ)"
    r"|\byou(?:['’]ve)? (?:recommended|suggested|advised|explained|told|said|gave|proposed|answered|mentioned|showed|wrote)\b"
    r"|\byour (?:recommendation|suggestion|advice|answer|explanation|proposal)s?\b"
    r"|\bthe assistant (?:say|said|recommend|suggest|advise|explain|propose|answer|mention)",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(?:i|i['’](?:m|ve|d|ll)|my|me|mine|we|our|us)\b", re.IGNORECASE)


def speaker(record: StoredRecord) -> str:
    """The speaker's name or role, lower-cased; empty if nobody is known to have said it."""
    return record.speaker.lower() if record.speaker else _at_head(record)


@Once
def _at_head(record: StoredRecord) -> str:
    return (suggested_speaker(record.text) or "").lower()


@lru_cache(maxsize=256)
def names(text: str) -> frozenset[str]:
    """The lower-cased words of a name or of a question that could name somebody."""
    return frozenset(word.lower() for word in _WORD.findall(text[:2000])) - FUNCTION_WORDS


def in_first_person(question: str) -> bool:
    """Whether a question is about the one who asks: "What did I decide about my budget?"."""
    return _FIRST_PERSON.search(question[:2000]) is not None


def asks_assistant(question: str) -> bool:
    """Whether a question is for what the assistant said: "Which library did you recommend?"."""
    return _TO_ASSISTANT.search(question[:2000]) is not None


def asks_what_assistant_said(question: str) -> bool:
    """Whether a question is for what the assistant said earlier, and not for a new proposal: "What did you recommend?"."""
    return _SAID_BY_ASSISTANT.search(question[:2000]) is not None
