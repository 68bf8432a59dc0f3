"""A language model that reads the time phrases no rule can: "a couple of weeks before my trip"."""

import json
import re
from dataclasses import dataclass
from datetime import date, tzinfo
from typing import Any

from thinkback.errors import RemoteError
from thinkback.models.chat import Chat
from thinkback.search.query.time import Anchor, anchor_at
from thinkback.search.query.time_calendar import Now

MAX_QUERY = 300
MAX_TOKENS = 100

_INSTRUCTION = (
    "You find the time a question is about. Answer with one JSON object and nothing else: "
    '{"phrase": the words of the question that name a time, "date": the day they mean as YYYY-MM-DD, '
    '"tolerance_days": how many days either way it may lie}. If the question names no time, or one that cannot be '
    'placed, answer {"date": null}.'
)
# Without one of these there is no time to read, and no reason to ask. "When" asks for a time; it names none.
_HINT = re.compile(
    r"\b(?:ago|recent|back then|the other day|minutes?|hours?|days?|nights?|mornings?|afternoons?|evenings?|weeks?"
    r"|weekends?|months?|quarters?|years?|decades?|semesters?|terms?|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|spring|summer|autumn|fall|winter|christmas|easter|thanksgiving|halloween|birthday|holidays?|anniversary"
    r"|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?|(?:19|20)[0-9][0-9])\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class LlmExtractor:
    """Asks a model for a day and a tolerance; put it last: `first_of(EnglishExtractor(), LlmExtractor(chat))`.

    A model that fails or answers nonsense raises `RemoteError`; one that finds no time gives None.
    """

    chat: Chat

    def __call__(self, query: str, now_us: int, zone: tzinfo) -> Anchor | None:
        now, asked = Now.of(now_us, zone), query[:MAX_QUERY]
        if now is None or not _HINT.search(asked):
            return None
        question = json.dumps({"now": now.local.strftime("%A %Y-%m-%d %H:%M"), "question": asked})
        answer = _parsed(self.chat.complete(_INSTRUCTION, question, MAX_TOKENS))
        if answer.get("date") is None:
            return None
        day, tolerance = _day(answer), _tolerance(answer)
        return anchor_at(query, _span(query, answer.get("phrase")), now_us, now.day(day, tolerance))


def _parsed(answer: str) -> dict[str, Any]:
    begin, end = answer.find("{"), answer.rfind("}")
    try:
        parsed = json.loads(answer[begin : end + 1])
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        raise RemoteError(f"the language model answered no JSON object to a question about time: {answer[:80]!r}")
    return parsed


def _day(answer: dict[str, Any]) -> date:
    try:
        day = date.fromisoformat(str(answer["date"])[:10])
    except ValueError:
        raise RemoteError(f"the language model answered no day: {str(answer['date'])[:40]!r}") from None
    if not 1900 <= day.year <= 2100:
        raise RemoteError(f"the language model answered a day out of reach: {day}")
    return day


def _tolerance(answer: dict[str, Any]) -> float:
    """Between half a day and half a year; a week when the model says nothing useful."""
    given = answer.get("tolerance_days")
    if isinstance(given, bool) or not isinstance(given, int | float) or given != given:
        return 7.0
    return float(min(183.0, max(0.5, given)))


def _span(query: str, phrase: object) -> tuple[int, int]:
    """Where the phrase stands, or the whole question if the model did not copy it."""
    start = query.find(phrase) if isinstance(phrase, str) and phrase else -1
    return (start, start + len(str(phrase))) if start >= 0 else (0, min(len(query), MAX_QUERY))
