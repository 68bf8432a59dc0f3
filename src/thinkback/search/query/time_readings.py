"""What each English time phrase means, given its match and the moment it is read at.

A reading is None when the words could as well mean something else: "May 3 people come?", "the last fall",
"in 2023 files". Seasons are those of the northern hemisphere.
"""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from itertools import pairwise

from thinkback.search.query.stopwords import FUNCTION_WORDS
from thinkback.search.query.time_calendar import Now, Reading, month_after

DIGITS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
TEENS = ("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
EARLIEST_YEAR = 1900
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
_LONGER_BY = {"month": 0.44, "year": 0.25}  # days by which the mean one exceeds the round number in UNITS

_BEFORE_DATES = frozenset({"on", "by", "in", "since", "until", "till", "before", "after", "from", "to", "of", "around"})
_DETERMINERS = frozenset({"the", "a", "an", "my", "your", "his", "her", "its", "our", "their"})
_COUNTED = frozenset({"people", "men", "women", "children", "percent", "feet", "kg", "km", "mb", "gb", "ms", "px", "x"})
_NOT_PLURAL = frozenset({"was", "is", "has", "does", "as", "this", "his", "its", "us", "always", "perhaps", "besides"})
_BEFORE_PERIODS = _BEFORE_DATES | {"during", "last", "over", "early", "mid", "late"}
_AFTER_DAYS = FUNCTION_WORDS | {"after", "before", "by", "from", "until", "with", "about", "during"}
_FURTHEST = 500  # weeks, within the margin of `Now`
_WORD_AFTER = re.compile(r"\s{1,4}([^\W\d_]{1,24})")
_WORD_BEFORE = re.compile(r"([^\W\d_]{1,24})\s{1,4}\Z")


def ago(found: re.Match[str], now: Now) -> Reading | None:
    """So many units before now; "a year and a half ago" adds half a unit."""
    amount, unit = _amount(found["quantity"]), found["unit"].lower().removesuffix("s")
    count = _last_count(found)
    if amount == "a" and count == 1 and unit in _TOLERANCES_OF_ONE:
        return now.ago(count * UNITS[unit], _TOLERANCES_OF_ONE[unit])
    tolerance = _TOLERANCES[unit] * _VAGUE_AMOUNTS.get(amount, 1)
    if unit == "year":
        tolerance = min(_WIDEST, tolerance * max(1, count))
    return now.ago(count * UNITS[unit], tolerance)


def sum_ago(found: re.Match[str], now: Now) -> Reading | None:
    """ "Two years and three months ago": as precise as the smallest unit, and as the round lengths of the others allow.

    None for "he came for 3 days, 2 weeks ago".
    """
    last = found["unit"].lower().removesuffix("s")
    parts = [*_counted_units(found["greater"]), (_last_count(found), last)]
    lengths = [UNITS[unit] for _, unit in parts]
    if any(longer <= shorter for longer, shorter in pairwise(lengths)):
        return None
    tolerance = _TOLERANCES[last] * _VAGUE_AMOUNTS.get(_amount(found["quantity"]), 1)
    drift = sum(count * _LONGER_BY.get(unit, 0) for count, unit in parts)
    return now.ago(sum(count * UNITS[unit] for count, unit in parts), tolerance + drift)


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
    number = _weekday(found)
    if which == "this":
        return now.day(now.monday + timedelta(days=number), 1)
    days_since = (now.today.weekday() - number) % 7
    return now.day(now.today - timedelta(days=days_since or (0 if which == "on" else 7)), 1)


def weekday_of_that_week(found: re.Match[str], now: Now) -> Reading | None:
    """ "Monday last week", but not "we sat last week"."""
    name, weeks = found["weekday"], _counted_from_now(found["that_week"])
    if abs(weeks) > _FURTHEST or not (name.lower().endswith("day") or name[0].isupper()):
        return None
    return now.day(now.monday + timedelta(days=7 * weeks + _weekday(found)), 1)


def day_of_that_month(found: re.Match[str], now: Now) -> Reading | None:
    """ "The 5th of last month", but not "last month on the 5th floor"."""
    months = 12 * now.today.year + now.today.month - 1 + _counted_from_now(found["that_month"])
    if months < 12 * EARLIEST_YEAR or _orders_something(found):
        return None
    day = _valid_date(months // 12, months % 12 + 1, int(found["dd"]))
    return now.day(day, 2) if day else None


def iso_date(found: re.Match[str], now: Now) -> Reading | None:
    day = _valid_date(int(found["year"]), int(found["mm"]), int(found["dd"]))
    return now.day(day, 2) if day else None


def iso_month(found: re.Match[str], now: Now) -> Reading | None:
    return now.month(int(found["year"]), int(found["mm"]))


def full_date(found: re.Match[str], now: Now) -> Reading | None:
    """A day of a named year, or the days until another one of the same month."""
    if _orders_something(found):
        return None
    year, month, until = _year(found, now), _month(found), found.groupdict().get("until")
    first = _valid_date(year, month, int(found["dd"]))
    last = _valid_date(year, month, int(until)) if until else first
    if first is None or last is None or last < first:
        return None
    return now.day(first, 2 + (last - first).days / 2, last)


def year_first(found: re.Match[str], now: Now) -> Reading | None:
    """ "2021 May 3", but not "in 2021 may 3 people come"."""
    verb = found["month"] in ("may", "march") and not found["dated"] and _word_after(found)
    return None if verb or _numbers_something(found) else full_date(found, now)


def month_of_that_year(found: re.Match[str], now: Now) -> Reading | None:
    """ "May last year", but not "it may last years"."""
    name, year = found["month"], _year(found, now)
    opens = name.lower() in ("may", "march") and not found.string[: found.start()].strip()
    if (name.islower() or opens) and _word_before(found) not in _BEFORE_PERIODS:
        return None
    return now.month(year, _month(found)) if year >= EARLIEST_YEAR else None


def year_and_month(found: re.Match[str], now: Now) -> Reading | None:
    """ "Last year in May", but not "last year in march formation"."""
    year = _year(found, now)
    if year < EARLIEST_YEAR or _is_other_word(found) or _numbers_something(found):
        return None
    return now.month(year, _month(found))


def year_and_season(found: re.Match[str], now: Now) -> Reading | None:
    """ "Last year in the fall", but not "last year's fall in prices"."""
    name, year = found["season"].lower(), _year(found, now)
    if name in ("fall", "spring") and not found["dated"] and _word_after(found):
        return None
    return now.season(year, SEASONS[name]) if year >= EARLIEST_YEAR and not _numbers_something(found) else None


def season_of_that_year(found: re.Match[str], now: Now) -> Reading | None:
    """ "The fall of last year", but not "did prices fall last year"."""
    name, year = found["season"].lower(), _year(found, now)
    if name in ("fall", "spring") and _word_before(found) not in (*_BEFORE_PERIODS, "the"):
        return None
    return now.season(year, SEASONS[name]) if year >= EARLIEST_YEAR else None


def month_of_year(found: re.Match[str], now: Now) -> Reading | None:
    """ "May in 2023", but not "it may in 2023"."""
    verb = found["in"] and found["month"] in ("may", "march") and _word_before(found) not in _BEFORE_PERIODS
    return None if verb or counts_something(found) else now.month(int(found["year"]), _month(found))


def season_of_year(found: re.Match[str], now: Now) -> Reading | None:
    """The one that begins in that year: the winter of 2022 ends in 2023. But "did prices fall in 2022" names the year."""
    name = found["season"].lower()
    verb = found["in"] and name in ("fall", "spring") and _word_before(found) not in (*_BEFORE_PERIODS, "the")
    return None if verb or counts_something(found) else now.season(int(found["year"]), SEASONS[name])


def year(found: re.Match[str], now: Now) -> Reading | None:
    return None if counts_something(found) else now.year(int(found["year"]))


def day_of_month(found: re.Match[str], now: Now) -> Reading | None:
    """The most recent one, today included; the 29th of February may be eight years back."""
    if _is_verb(found) or _orders_something(found):
        return None
    days = (_valid_date(now.today.year - back, _month(found), int(found["dd"])) for back in range(9))
    return next((now.day(day, 2) for day in days if day and day <= now.today), None)


def month(found: re.Match[str], now: Now) -> Reading | None:
    """The most recent one that has begun, after "last" the most recent one that has ended, after "this" that of this year."""
    if _is_other_word(found):
        return None
    number, today, which = _month(found), now.today, _which(found)
    ended = which in ("last", "this past")
    this_year = number < today.month or (number == today.month and not ended) or which == "this"
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
    quantity, half = quantity.lower(), " and a half"
    if quantity.endswith(half):
        return _count(quantity.removesuffix(half)) + 0.5
    if "/" in quantity:
        from fractions import Fraction

        return float(sum(Fraction(word) for word in quantity.split() if word[0].isdigit()))
    amount = _amount(quantity)
    if amount in _AMOUNTS:
        return _AMOUNTS[amount]
    if amount.isdigit():
        return int(amount)
    return sum(_NUMBERS[word] for word in quantity.replace("-", " ").split())


def _last_count(found: re.Match[str]) -> float:
    return _count(found["quantity"]) + (0.5 if found["half"] or found["more"] else 0)


def _counted_units(text: str) -> Iterator[tuple[float, str]]:
    """Every amount with its unit: "two years, 3 months and" holds (2, year) and (3, month)."""
    amount: list[str] = []
    for word in text.lower().replace(",", " ").split():
        unit = word.removesuffix("s")
        if unit in UNITS:
            yield _count(" ".join(amount)), unit
            amount = []
        elif amount or word not in ("and", "&"):
            amount.append(word)


def _year(found: re.Match[str], now: Now) -> int:
    """The year that is named: "2021", "last year", "two years ago", "next year"."""
    groups = found.groupdict()
    if groups.get("year"):
        return int(groups["year"])
    return now.today.year + _counted_from_now(groups["that_year"])


def _counted_from_now(phrase: str) -> int:
    """How many of its units a phrase lies ahead of now: "next week" 1, "this year" 0, "last month" -1, "two years ago" -2."""
    words = phrase.lower().split()
    return -int(_count(" ".join(words[:-2]))) if words[-1] == "ago" else {"last": -1, "this": 0, "next": 1}[words[0]]


def _weekday(found: re.Match[str]) -> int:
    return WEEKDAYS.index(found["weekday"][:3].lower())


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


def counts_something(found: re.Match[str]) -> bool:
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
    groups = found.groupdict()
    numbered = groups.get("nth") and not groups.get("the")  # "May the 3rd speaker come in?"
    dated = numbered or groups.get("of") or _word_before(found) in _BEFORE_DATES
    return not dated and bool(_word_after(found))


def _numbers_something(found: re.Match[str]) -> bool:
    """True in "room 2022 on May 3" and "version 2022 in May"."""
    groups, word = found.groupdict(), _word_before(found)
    dated = groups.get("dated") or groups.get("which")
    return bool(groups["year"] and dated and word and word not in _BEFORE_PERIODS and word != "year")


def _orders_something(found: re.Match[str]) -> bool:
    """True in "in May on the 3rd floor" and "on the 3 days": a day after an article is an ordinal and no adjective."""
    groups = found.groupdict()
    if not (groups.get("on") or groups.get("the")):
        return False
    word = _word_after(found).lower() if groups["nth"] and found.end() == found.end("nth") else ""
    return not groups["nth"] or bool(word and word not in _AFTER_DAYS)


def _is_other_word(found: re.Match[str]) -> bool:
    """True in "in march formation", "the last march" and "in august company", and of lower-case abbreviations."""
    name = found["month"]
    if not name.islower():
        return False
    if name in ("may", "march", "august"):
        return _which(found) in ("last", "this", "this past") or bool(_word_after(found))
    return name in MONTHS or name == "sept"
