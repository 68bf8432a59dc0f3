"""Times without a year in what is said or asked about the future: "we will meet on Friday", "where will we be in mid-August?".

Read alone, a month or a weekday is the latest one. Where the sentence is about what is to come, it is the next one.
"""

import re
from datetime import UTC, tzinfo

from thinkback.clock import DAY
from thinkback.search.query.time import Anchor, EnglishExtractor
from thinkback.search.query.time_calendar import Now

EXTRACT = EnglishExtractor()
# Sentences about what is to come, in memories and in questions, and words that say otherwise; "planned" is of the first kind.
SAID = re.compile(
    r"\b(?:will|shall|going\s+to|gonna|see\s+you|let['’]s|plan(?:s|ning|ned)?|scheduled|booked|upcoming|due|deadline|appointment"
    r"|looking\s+forward|can['’]?t\s+wait|(?:is|are|am|be|we['’]re|i['’]m|it['’]s)\s+(?:on|in|for|\w{2,}ing))\b|['’]ll\b",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"\b(?:will|shall|going\s+to|plan(?:s|ning|ned)?|scheduled|booked|upcoming|due|do\s+(?:i|we)\s+have"
    r"|(?:am|are)\s+(?:i|we|you|they)\s+(?:in|on|at|\w{2,}ing))\b|['’]ll\b",
    re.IGNORECASE,
)
_OVER = re.compile(
    r"\b(?!(?:planned|scheduled|booked|need|feed|speed|indeed)\b)(?:\w{2,}ed|was|were|did|had|been|went|(?<!['’]ve\s)got|came|saw|met"
    r"|took|made|gave|found|bought|told|said|began|won|lost|left|felt|ran|held|built|wrote|heard|kept|since|ago)\b|['’]ve\b(?!\s+got)",
    re.IGNORECASE,
)
_DATED = re.compile(r"\d{4}|\b(?:last|past|ago|yesterday|this|today|tonight|next)\b", re.IGNORECASE)
_OF_A_YEAR = re.compile(
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|spring|summer|autumn|fall|winter)", re.IGNORECASE
)
_WEEKDAY = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)day", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?\n](?=\s|\Z)")


class QuestionExtractor:
    """The time that a question names; of a question about the future the one to come."""

    def __call__(self, query: str, now_us: int, zone: tzinfo) -> Anchor | None:
        found = EXTRACT(query, now_us, zone)
        now = Now.of(now_us, zone) if found is not None and not found.vague and _ASKED.search(query) else None
        return found if now is None or found is None else to_come(query, found, now, _ASKED) or found


def to_come(text: str, found: Anchor, now: Now, form: re.Pattern[str] = SAID) -> Anchor | None:
    """The same phrase of the week or the year to come, where the sentence says so; else None."""
    if found.last_us > now.us or _DATED.search(found.phrase):
        return None
    ends = [0, *(end.end() for end in _SENTENCE_END.finditer(text)), len(text)]
    begin, end = max(e for e in ends if e <= found.start), min(e for e in ends if e >= found.end)
    sentence = text[begin:end]
    if not form.search(sentence) or _OVER.search(sentence):
        return None
    weekly = _WEEKDAY.search(found.phrase) and not _OF_A_YEAR.search(_WEEKDAY.sub("", found.phrase))
    later = EXTRACT(text, now.us + (7 if weekly else 364) * DAY, now.local.tzinfo or UTC)
    return later if later and later.start == found.start and later.first_us > now.us else None
