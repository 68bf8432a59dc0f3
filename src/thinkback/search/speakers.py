"""Who said a memory, and whose words a question asks for.

The speaker of a memory is its `speaker`; of a short text without one the name before a colon at its head ("Caroline: I painted a
sunrise"), if it is the only such head. `source` is provenance and says nothing about who speaks.
"""

import re

from thinkback.model import StoredRecord
from thinkback.search.once import Once
from thinkback.search.query.stopwords import FUNCTION_WORDS

USER, ASSISTANT = "user", "assistant"
LONGEST_HEADED = 1000  # characters; a longer text is a document, whose first speaker did not say all of it

_NAME = r"[^\W\d_][\w.'’-]*"
_HEAD = re.compile(rf"\s*({_NAME}(?: {_NAME}){{0,2}}):\s")
_OTHER_HEAD = re.compile(rf"\n\s*{_NAME}(?: {_NAME}){{0,2}}:\s")
_WORD = re.compile(r"[^\W_]+")
_TO_ASSISTANT = re.compile(
    r"\b(?:did|do|have|had|were|would) you\b|\bassistant\b"
    r"|\byou(?:['’]ve|r)? (?:recommend|suggest|advi[sc]e|explain|told|said|gave|propos|answer)",
    re.IGNORECASE,
)
_USER_LINE = re.compile(r"^(?:user|human):\s", re.IGNORECASE | re.MULTILINE)
_FIRST_PERSON = re.compile(r"\b(?:i|i['’](?:m|ve|d|ll)|my|me|mine|we|our|us)\b", re.IGNORECASE)


@Once
def speaker(record: StoredRecord) -> str:
    """The speaker's name or role, lower-cased; empty if nobody is known to have said it."""
    if record.speaker:
        return record.speaker.lower()
    return _headed(record.text) if len(record.text) <= LONGEST_HEADED else ""


def _headed(text: str) -> str:
    head = _HEAD.match(text[:80])
    if head is None or not head[1][0].isupper() or not all(word[0].isupper() for word in head[1].split(" ")[1:]):
        return ""
    return "" if "\n" in text and _OTHER_HEAD.search(text) else head[1].lower()


def names(text: str) -> frozenset[str]:
    """The lower-cased words of a name or of a question that could name somebody."""
    return frozenset(word.lower() for word in _WORD.findall(text[:2000])) - FUNCTION_WORDS


def in_first_person(question: str) -> bool:
    """Whether a question is about the one who asks: "What did I decide about my budget?"."""
    return _FIRST_PERSON.search(question[:2000]) is not None


def asks_assistant(question: str) -> bool:
    """Whether a question is for what the assistant said: "Which library did you recommend?"."""
    return _TO_ASSISTANT.search(question[:2000]) is not None


def says_user(text: str) -> bool:
    """Whether a part of a chat has a line that the user said."""
    return _USER_LINE.search(text) is not None
