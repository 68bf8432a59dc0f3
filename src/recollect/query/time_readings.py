"""What each English time phrase means, given its match and the moment it is read at.

A reading is None when the words could as well mean something else: "May 3 people come?", "the last fall",
"in 2023 files". Seasons are those of the northern hemisphere.
"""

import re
from datetime import date, timedelta

from recollect.query.time_calendar import Now, Reading, month_after

DIGITS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
TEENS = ("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
UNITS = {"minute": 1 / 1440, "hour": 1 / 24, "day": 1, "week": 7, "fortnight": 14, "month": 30, "year": 365}

_NUMBERS = {word: value for value, word in enumerate((*DIGITS, *TEENS), start=1)} | {
    word: 10 * value for value, word in enumerate(TENS, start=2)
}
_AMOUNTS = {"a": 1, "an": 1, "couple": 2, "few": 3, "several": 5, "half": 0.5}

# Days either way: of so many units, of "a" single one, and how a vague amount widens it.
_TOLERANCES = {"minute": 1 / 24, "hour": 3 / 24, "day": 2, "week": 5, "fortnight": 5, "month": 10, "year": 30}
_TOLERANCES_OF_ONE = {"week": 3, "month": 7}
_VAGUE_AMOUNTS = {"few": 2, "several": 2}
_WIDEST = 180

_BEFORE_DATES = frozenset({"on", "by", "in", "since", "until", "till", "before", "after", "from", "to", "of", "around"})
_DETERMINERS = frozenset({"the", "a", "an", "my", "your", "his", "her", "its", "our", "their"})
_COUNTED = frozenset({"people", "men", "women", "children", "percent", "feet", "kg", "km", "mb", "gb", "ms", "px", "x"})
_NOT_PLURAL = frozenset({"was", "is", "has", "does", "as", "this", "his", "its", "us", "always", "perhaps", "besides"})
_WORD_AFTER = re.compile(r"\s{1,4}([^\W\d_]{1,24})")
_WORD_BEFORE = re.compile(r"([^\W\d_]{1,24})\s{1,4}\Z")


def ago(found: re.Match[str], now: Now) -> Reading | None:
    """So many units before now; "a year and a half ago" adds half a unit."""
    amount, unit = _amount(found["quantity"]), found["unit"].lower().removesuffix("s")
    count = _count(found["quantity"]) + (0.5 if found["half"] or found["more"] else 0)
    if amount == "a" and count == 1 and unit in _TOLERANCES_OF_ONE:
        return now.ago(count * UNITS[unit], _TOLERANCES_OF_ONE[unit])
    tolerance = _TOLERANCES[unit] * _VAGUE_AMOUNTS.get(amount, 1)
    if unit == "year":
        tolerance = min(_WIDEST, tolerance * max(1, count))
    return now.ago(count * UNITS[unit], tolerance)


def past_units(found: re.Match[str], now: Now) -> Reading | None:
    """From so many units ago until now."""
    count = _count(found["quantity"]) if found["quantity"] else 1
    return now.since(count * UNITS[found["unit"].lower().removesuffix("s")])


def last_period(found: re.Match[str], now: Now) -> Reading | None:
    days, tolerance = {"week": (7, 3), "month": (30, 7), "year": (365, 30)}[found["period"].lower()]
    return now.ago(days, tolerance)


def this_period(found: re.Match[str], now: Now) -> Reading | None:
    today, period = now.today, found["period"].lower()
    if period == "week":
        return now.span(now.monday, now.monday + timedelta(days=7))
    if period == "month":
        return now.span(today.replace(day=1), month_after(today.year, today.month))
    return now.span(date(today.year, 1, 1), date(today.year + 1, 1, 1))


def yesterday(found: re.Match[str], now: Now) -> Reading | None:
    return now.ago(2 if found["before"] else 1, 1)


def today(found: re.Match[str], now: Now) -> Reading | None:
    return now.day(now.today, 0.5)


def recently(found: re.Match[str], now: Now) -> Reading | None:
    return now.ago(14, 14)


def weekend(found: re.Match[str], now: Now) -> Reading | None:
    """`this` weekend ends this week, which begins on Monday; any other one ended before it."""
    saturday = now.monday + timedelta(days=5 if _which(found) == "this" else -2)
    return now.span(saturday, saturday + timedelta(days=2))


def weekday(found: re.Match[str], now: Now) -> Reading | None:
    """`last` is before today, `on` may be today, and `this` is the one of this week, which begins on Monday."""
    name, which = found["weekday"], _which(found)
    if (which == "on" or not name.lower().endswith("day")) and not name[0].isupper():
        return None
    number = WEEKDAYS.index(name[:3].lower())
    if which == "this":
        return now.day(now.monday + timedelta(days=number), 1)
    days_since = (now.today.weekday() - number) % 7
    return now.day(now.today - timedelta(days=days_since or (0 if which == "on" else 7)), 1)


def iso_date(found: re.Match[str], now: Now) -> Reading | None:
    day = _valid_date(int(found["year"]), int(found["mm"]), int(found["dd"]))
    return now.day(day, 2) if day else None


def iso_month(found: re.Match[str], now: Now) -> Reading | None:
    return now.month(int(found["year"]), int(found["mm"]))


def full_date(found: re.Match[str], now: Now) -> Reading | None:
    """A day of a named year, or the days until another one of the same month."""
    year, month = int(found["year"]), _month(found)
    first = _valid_date(year, month, int(found["dd"]))
    last = _valid_date(year, month, int(found["until"])) if found["until"] else first
    if first is None or last is None or last < first:
        return None
    return now.day(first, 2 + (last - first).days / 2, last)


def month_of_year(found: re.Match[str], now: Now) -> Reading | None:
    return None if _counts_something(found) else now.month(int(found["year"]), _month(found))


def season_of_year(found: re.Match[str], now: Now) -> Reading | None:
    """The one that begins in that year: the winter of 2022 ends in 2023."""
    return None if _counts_something(found) else now.season(int(found["year"]), SEASONS[found["season"].lower()])


def year(found: re.Match[str], now: Now) -> Reading | None:
    return None if _counts_something(found) else now.year(int(found["year"]))


def day_of_month(found: re.Match[str], now: Now) -> Reading | None:
    """The most recent one, today included; the 29th of February may be eight years back."""
    if _is_verb(found):
        return None
    days = (_valid_date(now.today.year - back, _month(found), int(found["dd"])) for back in range(9))
    return next((now.day(day, 2) for day in days if day and day <= now.today), None)


def month(found: re.Match[str], now: Now) -> Reading | None:
    """The most recent one that has begun, or after "last" the most recent one that has ended."""
    if _is_other_word(found):
        return None
    number, today = _month(found), now.today
    this_year = number < today.month or (number == today.month and _which(found) != "last")
    return now.month(today.year if this_year else today.year - 1, number)


def season(found: re.Match[str], now: Now) -> Reading | None:
    """As for months: the most recent one that has begun, or after "last" that has ended."""
    which, name = _which(found), found["season"].lower()
    if name in ("fall", "spring") and (which == "over" or _word_before(found) in _DETERMINERS):
        return None
    readings = (now.season(now.today.year - back, SEASONS[name]) for back in range(3))
    ended = which in ("last", "this past")
    return next((one for one in readings if (one.last_us if ended else one.first_us) <= now.us), None)


def _which(found: re.Match[str]) -> str:
    return " ".join(found["which"].lower().split())


def _amount(quantity: str) -> str:
    """The word that tells how many: "a couple of" is couple, "half an" is half."""
    words = quantity.lower().split()
    return next((word for word in words if word in _AMOUNTS and word not in ("a", "an")), words[0])


def _count(quantity: str) -> float:
    amount = _amount(quantity)
    if amount in _AMOUNTS:
        return _AMOUNTS[amount]
    if amount.isdigit():
        return int(amount)
    return sum(_NUMBERS[word] for word in quantity.lower().replace("-", " ").split())


def _month(found: re.Match[str]) -> int:
    return MONTHS.index(found["month"][:3].lower()) + 1


def _valid_date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _word_after(found: re.Match[str]) -> str:
    after = _WORD_AFTER.match(found.string, found.end())
    return after[1] if after else ""


def _word_before(found: re.Match[str]) -> str:
    before = _WORD_BEFORE.search(found.string[max(0, found.start() - 32) : found.start()])
    return before[1].lower() if before else ""


def _counts_something(found: re.Match[str]) -> bool:
    """True in "2023 files": the number is followed by what it counts."""
    word = _word_after(found)
    plural = len(word) > 2 and word.endswith("s") and word not in _NOT_PLURAL
    return word.islower() and (plural or word in _COUNTED)


def _is_verb(found: re.Match[str]) -> bool:
    """True in "may 3 people come" and "march 4 miles", unless something around it says that it is a date."""
    name = found["month"]
    opens = not found.string[: found.start()].strip()
    if name.lower() not in ("may", "march") or not (name.islower() or opens):
        return False
    dated = found["nth"] or found.groupdict().get("of") or _word_before(found) in _BEFORE_DATES
    return not dated and bool(_word_after(found))


def _is_other_word(found: re.Match[str]) -> bool:
    """True in "in march formation", "the last march" and "in august company", and of lower-case abbreviations."""
    name = found["month"]
    if not name.islower():
        return False
    if name in ("may", "march", "august"):
        return _which(found) == "last" or bool(_word_after(found))
    return name in MONTHS or name == "sept"
