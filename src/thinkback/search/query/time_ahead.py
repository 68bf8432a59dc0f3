"""Time phrases about what lies ahead: "tomorrow", "next Friday", "this coming weekend", and in memories "in two weeks"."""

import re
from datetime import date, timedelta

from thinkback.search.query.time_calendar import Now, Reading, month_after
from thinkback.search.query.time_readings import WEEKDAYS

_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10}
_AHEAD = re.compile(
    r"\b(?:(?P<after>the\s+day\s+after\s+)?(?P<tomorrow>tomorrow)\b"
    rf"|(?<!the\s)next\s+(?P<next>week(?:end)?|month|year|{_WEEKDAY})\b"
    rf"|(?:this|the)\s+coming\s+(?P<coming>week(?:end)?|month|year|{_WEEKDAY})\b"
    rf"|in\s+(?P<count>\d{{1,3}}|{'|'.join(_COUNTS)}|a\s+couple\s+of|a\s+few)\s+(?P<unit>day|week|month|year)s?(?:['’]s?\s+time)?"
    r"(?=\s*[.,;!?)]|\s*\Z|\s+(?:i|we|you|he|she|it|they|my|our|the|there)\b))",
    re.IGNORECASE,
)
_HEADS, _COUNTED = ("tomorrow", "next", "coming"), ("day", "week", "month", "year")  # every match holds one
_FURTHEST = 3287  # days, within the margin of `Now`


def ahead(text: str, now: Now, counted: bool = False) -> tuple[int, int, Reading] | None:
    """The first such phrase of a text: its start, its end, and what it means; nothing near that time is meant.

    Only with `counted` also "in two weeks", which a question says of a length too.
    """
    lowered = text.lower()
    if not any(map(lowered.__contains__, (*_HEADS, *_COUNTED) if counted else _HEADS)):
        return None
    for found in _AHEAD.finditer(text):
        days = _days(found, now) if counted or not found["count"] else None
        if days:
            return found.start(), found.end(), now.span(*days).fading(1)
    return None


def _days(found: re.Match[str], now: Now) -> tuple[date, date] | None:
    """The days of a phrase, the last one exclusive."""
    if found["tomorrow"]:
        day = now.today + timedelta(days=2 if found["after"] else 1)
        return day, day + timedelta(days=1)
    if found["next"]:
        return _next(found["next"].lower(), now)
    if found["coming"]:
        unit, saturday = found["coming"].lower(), now.monday + timedelta(days=5)
        return (saturday, saturday + timedelta(days=2)) if unit == "weekend" else _next(unit, now)
    word = " ".join(found["count"].lower().split())
    count = int(word) if word.isdigit() else {"a couple of": 2, "a few": 3}.get(word) or _COUNTS[word]
    length = {"day": 1, "week": 7, "month": 30, "year": 365}[found["unit"].lower()]
    if count * length > _FURTHEST:
        return None
    day, slack = now.today + timedelta(days=count * length), length // 4
    return day - timedelta(days=slack), day + timedelta(days=slack + 1)


def _next(unit: str, now: Now) -> tuple[date, date]:
    monday, today = now.monday + timedelta(days=7), now.today
    if unit == "week":
        return monday, monday + timedelta(days=7)
    if unit == "weekend":
        return monday + timedelta(days=5), monday + timedelta(days=7)
    if unit == "month":
        first = month_after(today.year, today.month)
        return first, month_after(first.year, first.month)
    if unit == "year":
        return date(today.year + 1, 1, 1), date(today.year + 2, 1, 1)
    day = today + timedelta(days=(WEEKDAYS.index(unit[:3]) - today.weekday() - 1) % 7 + 1)
    return day, day + timedelta(days=1)
