"""Asking a language model about a query: its tags if none were inferred, and a time that no rule understands."""

import json
import re
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import replace
from datetime import date, tzinfo
from typing import Any

from thinkback.errors import RemoteError, ThinkbackError
from thinkback.models.chat import Chat, Guarded
from thinkback.search.query.parse import Parsing, Query
from thinkback.search.query.tags import InferredTag, Vocabulary
from thinkback.search.query.time import Anchor, anchor_at
from thinkback.search.query.time_calendar import Now
from thinkback.values import dataclass

MAX_TAGS = 50
MAX_QUERY = 300  # characters of the query that the model reads
MAX_TOKENS = 100
MAX_ANSWER = 4000  # characters of the answer that are parsed


@dataclass(frozen=True, slots=True)
class Asked:
    """Requests in progress, without the parts that the rules already found."""

    tags: Future[tuple[InferredTag, ...]] | None
    time: Future[Anchor | None] | None

    def answer(self, query: Query, warn: Callable[[str, ThinkbackError], None]) -> Query:
        """The query with the model's additions; a failure adds a warning and changes nothing."""
        for part, field in (("tags", "tags"), ("time", "anchor")):
            request: Future[Any] | None = getattr(self, part)
            try:
                query = query if request is None else replace(query, **{field: request.result()})
            except ThinkbackError as error:
                warn(f"the language model gave no {part}", error)
        return query


def ask(query: Query, parsing: Parsing, chat: Chat, vocabulary: Vocabulary, pool: Executor, zone: tzinfo) -> Asked:
    """Ask for tags if neither a hashtag nor the vocabulary gave one, and for a time if no rule found one."""
    chat = Guarded(chat)
    wants_time = parsing.time != "none" and query.anchor is None
    return Asked(
        tags=pool.submit(ask_for_tags, query.text, vocabulary, chat) if parsing.tags and not query.tags else None,
        time=pool.submit(ask_for_time, query.text, query.now, zone, chat) if wants_time else None,
    )


# -- tags --------------------------------------------------------------------------------------------------------------------------

_PICK_TAGS = (
    "You pick tags for a search in someone's notes. Answer with a JSON array of the tags from the list that fit the "
    "question, copied exactly, and with [] if none fits. Write nothing else."
)
_QUOTED = re.compile(r'"([^"\n]{1,100})"')


def ask_for_tags(query: str, vocabulary: Vocabulary, chat: Chat) -> tuple[InferredTag, ...]:
    """The model's choice among the most used tags; an answer without any known tag raises `RemoteError`."""
    offered = vocabulary.tags[:MAX_TAGS]
    if not offered or not query.strip():
        return ()
    question = json.dumps({"tags": offered, "question": query[:MAX_QUERY]})
    answer = chat.complete(_PICK_TAGS, question, MAX_TOKENS)
    chosen = _named(answer[:MAX_ANSWER])
    spellings = (tag for name in chosen for tag in vocabulary.spellings(name) if tag in offered)
    tags = tuple(InferredTag(tag, "llm") for tag in dict.fromkeys(spellings))
    if chosen and not tags:
        raise RemoteError(f"the language model named no known tag: {answer[:80]!r}", code="invalid_answer")
    return tags


def _named(answer: str) -> list[str]:
    """The names in an answer that should be a JSON array, and may be a part of one, a list, or prose."""
    begin, end = answer.find("["), answer.rfind("]")
    if 0 <= begin < end:
        try:
            return [name for name in json.loads(answer[begin : end + 1]) if isinstance(name, str)]
        except RecursionError:
            raise RemoteError(
                "the language model returned JSON that is nested too deeply", code="invalid_answer"
            ) from None
        except ValueError:
            return _QUOTED.findall(answer)
    names = (line.strip(" \t\r.*-•#`") for line in re.split(r"[,\n]", answer))
    return _QUOTED.findall(answer) or [name for name in names if name]


# -- time --------------------------------------------------------------------------------------------------------------------------

_FIND_TIME = (
    "You find the time a question is about. Answer with one JSON object and nothing else: "
    '{"phrase": the words of the question that name a time, "date": the day they mean as YYYY-MM-DD, '
    '"tolerance_days": how many days either way it may lie}. If the question names no time, or one that cannot be '
    'placed, answer {"date": null}.'
)
# A query without one of these words names no time, so the model is not asked. "When" asks for a time; it names none.
_HINT = re.compile(
    r"\b(?:ago|recent|back then|the other day|minutes?|hours?|days?|nights?|mornings?|afternoons?|evenings?|weeks?"
    r"|weekends?|months?|quarters?|years?|decades?|semesters?|terms?|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|spring|summer|autumn|fall|winter|christmas|easter|thanksgiving|halloween|birthday|holidays?|anniversary"
    r"|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?|(?:19|20)[0-9][0-9])\b",
    re.IGNORECASE,
)


def ask_for_time(query: str, now_us: int, zone: tzinfo, chat: Chat) -> Anchor | None:
    """The day that the model reads in a query, with its tolerance; an answer that cannot be used raises `RemoteError`."""
    now, asked = Now.of(now_us, zone), query[:MAX_QUERY]
    if now is None or not _HINT.search(asked):
        return None
    question = json.dumps({"now": now.local.strftime("%A %Y-%m-%d %H:%M"), "question": asked})
    answer = _parsed(chat.complete(_FIND_TIME, question, MAX_TOKENS))
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
        raise RemoteError(f"the language model returned no JSON object: {answer[:80]!r}", code="invalid_answer")
    return parsed


def _day(answer: dict[str, Any]) -> date:
    try:
        day = date.fromisoformat(str(answer["date"])[:10])
    except ValueError:
        raise RemoteError(
            f"the language model returned no date: {answer['date']!r:.40}", code="invalid_answer"
        ) from None
    if not 1900 <= day.year <= 2100:
        raise RemoteError(f"the language model returned a date out of range: {day}", code="invalid_answer")
    return day


def _tolerance(answer: dict[str, Any]) -> float:
    """Between half a day and half a year; a week if the model gives no usable answer."""
    given = answer.get("tolerance_days")
    if isinstance(given, bool) or not isinstance(given, int | float) or given != given:
        return 7.0
    return float(min(183.0, max(0.5, given)))


def _span(query: str, phrase: object) -> tuple[int, int]:
    """The position of the phrase, or the whole query if the model did not copy it."""
    start = query.find(phrase) if isinstance(phrase, str) and phrase else -1
    return (start, start + len(str(phrase))) if start >= 0 else (0, min(len(query), MAX_QUERY))
