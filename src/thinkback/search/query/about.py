"""The time that the text of a memory is about: "last weekend we went to the lake", said on 9 August, is about 5 and 6 August.

Read by the same rules as the time that a question names, and by a few more for what lies ahead ("in two weeks", "we will meet on
Friday"). Habits ("every Monday"), open ends ("since May") and periods longer than a year tell of no such time.
"""

import re
from collections.abc import Sequence
from datetime import UTC, date, timedelta, tzinfo
from itertools import pairwise

from thinkback.clock import DAY
from thinkback.search.query.time import Anchor
from thinkback.search.query.time_ahead import ahead
from thinkback.search.query.time_calendar import Now, Reading
from thinkback.search.query.time_compound import days_of
from thinkback.search.query.time_languages import HEADS, told_in_english
from thinkback.search.query.time_readings import DIGITS, TEENS, TENS, UNITS
from thinkback.search.query.time_to_come import EXTRACT, to_come

LONGEST_READ = 2000  # characters; a time that a long text names later is one of many
LONGEST_PERIOD = 366 * DAY
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
_DIGIT = re.compile(r"\d")
# The same words without their digits, as bytes: found in a third of the time.
_LETTERS = bytes(sign if ord("a") <= sign <= ord("z") else ord(" ") for sign in range(256))
_BARE_HINTS = frozenset(word.rstrip("1234").encode() for word in _HINTS)
_WITH_A_DIGIT = _BARE_HINTS.difference(word.encode() for word in _HINTS)  # "q" of "q3" alone is no hint
# Words that are seldom a time ("it may rain", "for years"): without a digit or another hint, a word that leads to a time must
# stand before one of them, or before another unit.
_SELDOM = frozenset((b"may", b"year", b"years"))
_LEADS = frozenset(
    word.encode()
    for word in (
        *"last this next past coming in during since over of between and from to until till through after before by".split(),  # noqa: SIM905
        *"than early mid late few couple several a an".split(),  # noqa: SIM905
        *DIGITS,
        *TEENS,
        *TENS,
    )
)
_LED = _SELDOM | {
    b"last",
    *(f"{unit}{plural}".encode() for unit in UNITS for plural in ("", "s")),
}  # "the year before last"
_FOREIGN_HINTS = frozenset(word.encode() for word in HEADS if word.isascii())
_ANY_HINTS = _BARE_HINTS | _FOREIGN_HINTS
_HABIT = re.compile(
    r"\b(?:every|each|any|most|usually|always|often|typically|used\s+to)\b[^.!?\n]{0,24}\Z", re.IGNORECASE
)
_HABIT_AFTER = re.compile(r",?\s(?:i|you|he|she|we|they)\s+(?:usually|always|often|typically)\b", re.IGNORECASE)
_OPEN = re.compile(r"(?:ever\s+)?since|after|before|prior|until|till|up\s+to|by|as\s+of|not?\s+later", re.IGNORECASE)
_LAST = re.compile(r"last\s+(week|month|year)", re.IGNORECASE)
_DAYS_AGO = re.compile(r"\bdays?\s+ago\Z", re.IGNORECASE)


def about(text: str, said_us: int, zone: tzinfo = UTC) -> tuple[int, int] | None:
    """The first day and the day after the last, as moments, that a text said at this time is about; None if it names none."""
    read = text[:LONGEST_READ]
    lowered = read.lower()
    words = lowered.encode(errors="replace").translate(_LETTERS).split()
    if _ANY_HINTS.isdisjoint(words) and read.isascii() and "19" not in read and "20" not in read:
        return None
    if _hinted(lowered, words):
        now = Now.of(said_us, zone)
        if now is None:
            return None
        found, coming = EXTRACT(read, said_us, zone), ahead(read, now, counted=True)
        if coming and (found is None or found.vague or coming[0] <= found.start):
            return None if _HABIT.search(read[: coming[0]]) else _span(now, *days_of(coming[2], now))
        if found is not None:
            return _named(read, found, now)
    elsewhere = "" if read.isascii() and _FOREIGN_HINTS.isdisjoint(words) else told_in_english(read)
    return about(elsewhere, said_us, zone) if elsewhere else None


def _hinted(lowered: str, words: Sequence[bytes]) -> bool:
    if ("19" in lowered or "20" in lowered) and _YEAR.search(lowered):
        return True
    found = _BARE_HINTS.intersection(words)
    if not found:
        return False
    if _DIGIT.search(lowered):
        return not _HINTS.isdisjoint(_WORD.findall(lowered))
    return not found <= _WITH_A_DIGIT and (not found <= _SELDOM or _led(words))


def _led(words: Sequence[bytes]) -> bool:
    return any(before in _LEADS for before, word in pairwise(words) if word in _LED)


def _named(text: str, found: Anchor, now: Now) -> tuple[int, int] | None:
    """The days of a phrase that a question may hold too, unless it tells of a habit or has an open end."""
    habit = _HABIT.search(text[: found.start]) or _HABIT_AFTER.match(text, found.end)
    if found.vague or habit or _OPEN.match(found.phrase):
        return None
    if last := _LAST.fullmatch(found.phrase):
        return _span(now, *_before(last[1].lower(), now))
    found = to_come(text, found, now) or found
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
