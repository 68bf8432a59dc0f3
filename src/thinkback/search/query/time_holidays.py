"""Well-known holidays and the days they fall on."""

import re
from collections.abc import Callable
from datetime import date, timedelta

from thinkback.search.query.time_calendar import Now, Reading
from thinkback.search.query.time_readings import DIGITS, TEENS

NUMBERS = {word: value for value, word in enumerate((*DIGITS, *TEENS), start=1)} | {"a": 1}


def nth(first: date, weekday: int, number: int) -> date:
    """The so-many-th weekday on or after a day."""
    return first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (number - 1))


def _easter(year: int) -> date:
    """The anonymous Gregorian computus."""
    a, b, c = year % 19, year // 100, year % 100
    h = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    rest = (32 + 2 * (b % 4) + 2 * (c // 4) - h - c % 4) % 7
    month, day = divmod(h + rest - 7 * ((a + 11 * h + 22 * rest) // 451) + 114, 31)
    return date(year, month, day + 1)


HOLIDAYS: dict[str, Callable[[int], date]] = {
    "christmas eve": lambda year: date(year, 12, 24),
    "christmas day": lambda year: date(year, 12, 25),
    "christmas": lambda year: date(year, 12, 25),
    "xmas": lambda year: date(year, 12, 25),
    "boxing day": lambda year: date(year, 12, 26),
    "new year's eve": lambda year: date(year, 12, 31),
    "new year's day": lambda year: date(year, 1, 1),
    "new year's": lambda year: date(year, 1, 1),
    "halloween": lambda year: date(year, 10, 31),
    "valentine's day": lambda year: date(year, 2, 14),
    "valentine's": lambda year: date(year, 2, 14),
    "st. patrick's day": lambda year: date(year, 3, 17),
    "st patrick's day": lambda year: date(year, 3, 17),
    "fourth of july": lambda year: date(year, 7, 4),
    "independence day": lambda year: date(year, 7, 4),
    "juneteenth": lambda year: date(year, 6, 19),
    "good friday": lambda year: _easter(year) - timedelta(days=2),
    "easter sunday": _easter,
    "easter monday": lambda year: _easter(year) + timedelta(days=1),
    "easter": _easter,
    "mother's day": lambda year: nth(date(year, 5, 1), 6, 2),
    "father's day": lambda year: nth(date(year, 6, 1), 6, 3),
    "memorial day": lambda year: nth(date(year, 5, 25), 0, 1),
    "labor day": lambda year: nth(date(year, 9, 1), 0, 1),
    "thanksgiving": lambda year: nth(date(year, 11, 1), 3, 4),
    "black friday": lambda year: nth(date(year, 11, 1), 3, 4) + timedelta(days=1),
    "cyber monday": lambda year: nth(date(year, 11, 1), 3, 4) + timedelta(days=4),
    "veterans day": lambda year: date(year, 11, 11),
}
HOLIDAY = "(?:" + "|".join(name.replace("'", "['’]") for name in HOLIDAYS) + ")"
# The longest word of each: "new" and "day" stand in many texts.
_LONGEST = {max(re.split(r"[ .]+", name), key=len) for name in HOLIDAYS}
LONGEST_WORDS = tuple(sorted(_LONGEST | {word.replace("'", "’") for word in _LONGEST}))
HEADS = tuple(dict.fromkeys(re.split(r"\W", name)[0] for name in HOLIDAYS))
_YEAR = re.compile(r"(?:19|20)[0-9][0-9]")
_YEARS_AGO = re.compile(r"(\S+) years? ago")


def holiday(text: str, now: Now) -> Reading:
    """The most recent one, that of a named year, or after "this" that of this year."""
    words = text.lower().replace("’", "'")
    day_of = HOLIDAYS[next(name for name in HOLIDAYS if name in words)]
    if year := _YEAR.search(words):
        return now.day(day_of(int(year[0])), 2)
    if ago := _YEARS_AGO.search(words):
        return now.day(day_of(now.today.year - int(NUMBERS.get(ago[1], ago[1]))), 2)
    if "last year" in words:
        return now.day(day_of(now.today.year - 1), 2)
    this = day_of(now.today.year)
    if words.startswith("this "):
        return now.day(this, 2)
    past = this < now.today or (this == now.today and not words.startswith("last "))
    return now.day(this if past else day_of(now.today.year - 1), 2)
