"""The time that the text of a memory is about: "last weekend we went to the lake", said on 9 August, is about 5 and 6 August.

Read by the same rules as the time that a question names, and by a few more for what lies ahead ("tomorrow", "next Friday", "in two
weeks"). Habits ("every Monday"), open ends ("since May") and periods longer than a year tell of no such time.
"""

import re
from datetime import UTC, date, timedelta, tzinfo

from thinkback.clock import DAY
from thinkback.search.query.time import Anchor, EnglishExtractor
from thinkback.search.query.time_calendar import Now, Reading, month_after
from thinkback.search.query.time_compound import days_of
from thinkback.search.query.time_readings import WEEKDAYS

LONGEST_READ = 2000  # characters; a time that a long text names later is one of many
LONGEST_PERIOD = 366 * DAY
_EXTRACT = EnglishExtractor()
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10}
# Every time phrase holds one of these words, or a year; a text without one is not read further.
_HINTS = frozenset(
    """ago yesterday today tonight tomorrow morning afternoon evening night days week weeks weekend weekends month months year years
    spring summer autumn fall winter q1 q2 q3 q4 h1 h2 quarter monday tuesday wednesday thursday friday saturday sunday mon tue tues
    wed thu thurs fri sat sun january february march april may june july august september october november december jan feb mar apr
    jun jul aug sep sept oct nov dec christmas xmas boxing halloween valentine easter thanksgiving juneteenth independence memorial
    labor veterans mother father patrick""".split()  # noqa: SIM905
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_WORD = re.compile(r"[a-z]+[1-4]?")
# The same words without their digits, as bytes: found in a third of the time.
_LETTERS = bytes(sign if ord("a") <= sign <= ord("z") else ord(" ") for sign in range(256))
_BARE_HINTS = frozenset(word.rstrip("1234").encode() for word in _HINTS)
_HABIT = re.compile(r"\b(?:every|each|any|most|usually|always|often|typically)\b[^.!?\n]{0,24}\Z", re.IGNORECASE)
_OPEN = re.compile(r"(?:ever\s+)?since|after|before|prior|until|till|up\s+to|by|as\s+of", re.IGNORECASE)
_LAST = re.compile(r"last\s+(week|month|year)", re.IGNORECASE)
_DAYS_AGO = re.compile(r"\bdays?\s+ago\Z", re.IGNORECASE)
_AHEAD = re.compile(
    r"\b(?:(?P<after>the\s+day\s+after\s+)?(?P<tomorrow>tomorrow)"
    rf"|next\s+(?P<next>week(?:end)?|month|year|{_WEEKDAY})\b"
    rf"|in\s+(?P<count>\d{{1,3}}|{'|'.join(_COUNTS)}|a\s+couple\s+of|a\s+few)\s+(?P<unit>day|week|month|year)s?(?:['’]s?\s+time)?"
    r"(?=\s*[.,;!?)]|\s*\Z|\s+(?:i|we|you|he|she|it|they|my|our|the|there)\b))",
    re.IGNORECASE,
)


def about(text: str, said_us: int, zone: tzinfo = UTC) -> tuple[int, int] | None:
    """The first day and the day after the last, as moments, that a text said at this time is about; None if it names none."""
    read = text[:LONGEST_READ]
    now = Now.of(said_us, zone) if _hinted(read) else None
    if now is None:
        return None
    found, ahead = _EXTRACT(read, said_us, zone), _AHEAD.search(read)
    if ahead and (found is None or found.vague or ahead.start() < found.start):
        return None if _HABIT.search(read[: ahead.start()]) else _span(now, *_ahead(ahead, now))
    return None if found is None else _past(read, found, now)


def _hinted(read: str) -> bool:
    if ("19" in read or "20" in read) and _YEAR.search(read):
        return True
    lowered = read.lower()
    if _BARE_HINTS.isdisjoint(lowered.encode(errors="replace").translate(_LETTERS).split()):
        return False
    return not _HINTS.isdisjoint(_WORD.findall(lowered))


def _past(text: str, found: Anchor, now: Now) -> tuple[int, int] | None:
    if found.vague or _OPEN.match(found.phrase) or _HABIT.search(text[: found.start]):
        return None
    if last := _LAST.fullmatch(found.phrase):
        return _span(now, *_before(last[1].lower(), now))
    reading = Reading(found.centre_us, found.tolerance_us, found.first_us, found.last_us)
    first, end = days_of(reading, now)
    if _DAYS_AGO.search(found.phrase):  # a question may be off by a day or two, who tells of it is not
        first = first + (end - first - timedelta(days=1)) // 2
        end = first + timedelta(days=1)
    return _span(now, first, end)


def _before(unit: str, now: Now) -> tuple[date, date]:
    """The calendar week, month or year before this one, the last day exclusive."""
    today = now.today
    if unit == "week":
        return now.monday - timedelta(days=7), now.monday
    if unit == "year":
        return date(today.year - 1, 1, 1), date(today.year, 1, 1)
    this = today.replace(day=1)
    return (this - timedelta(days=1)).replace(day=1), this


def _span(now: Now, first: date, last: date) -> tuple[int, int] | None:
    period = now.span(first, last)
    return (period.first_us, period.last_us) if period.last_us - period.first_us <= LONGEST_PERIOD else None


def _ahead(found: re.Match[str], now: Now) -> tuple[date, date]:
    """The days of a phrase about the future, the last one exclusive."""
    if found["tomorrow"]:
        day = now.today + timedelta(days=2 if found["after"] else 1)
        return day, day + timedelta(days=1)
    if found["next"]:
        return _next(found["next"].lower(), now)
    word = " ".join(found["count"].lower().split())
    count = int(word) if word.isdigit() else {"a couple of": 2, "a few": 3}.get(word) or _COUNTS[word]
    length = {"day": 1, "week": 7, "month": 30, "year": 365}[found["unit"].lower()]
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
