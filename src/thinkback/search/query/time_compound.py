"""Time phrases built from other time phrases: parts, ranges, bounds, distances from a date, and holidays.

"Early June", "the first weekend of August 2023", "between May and July 2023", "since last week", "the Sunday before 25 May 2023",
"three weeks after Christmas". The points inside are read by the table of simple phrases; every form is bounded.
"""

import re
from collections.abc import Callable, Iterator
from datetime import date, time, timedelta
from functools import cache
from itertools import islice

from thinkback.clock import DAY, from_us
from thinkback.search.query.time_calendar import Held, Now, Reading, month_after
from thinkback.search.query.time_holidays import HEADS, HOLIDAY, LONGEST_WORDS, NUMBERS, holiday, nth
from thinkback.search.query.time_readings import MONTHS, WEEKDAYS, counts_something
from thinkback.values import dataclass

Simple = Callable[[str, Now], tuple[int, int, Reading] | None]  # start, end and reading of the simple phrase in a text

_MOST = 16  # heads read in one text
_FADES = 7 * DAY  # how fast a boost fades outside a period that was named by its ends
_HORIZON = 3652  # days that "since" or "before" may reach beyond what was named

_YEAR = r"(?:19|20)[0-9][0-9]"
_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
)
_MONTH_NAMES = tuple(_MONTH[3:-1].split("|"))
_DAY = r"(?:3[01]|[12][0-9]|0?[1-9])(?:st|nd|rd|th)?"
_SEASON = "(?:spring|summer|autumn|fall|winter)"
_WEEKDAY = "(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
_WHICH_YEAR = rf"(?:{_YEAR}|(?:last|this) year)"
_COUNT = rf"(?:[0-9]{{1,3}}|{'|'.join(NUMBERS)}|an?|a couple(?: of)?|a few)"
_NTH = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "last": -1}


_NO_OBJECT = (
    r"(?![-'’]| (?:trees?|lights?|cards?|sweaters?|cookies|carols?|songs?|movies?|films?|decorations?|music|markets?"
    r"|gifts?|presents?|costumes?|candy|candies|turkeys?|eggs?|bunny|islands?|resolutions?|shopping|list|story|stories|sales?|pudding|cakes?)\b)"
)

_DATE = (
    rf"(?:the )?{_DAY}(?: of)? {_MONTH}\.?(?:,? {_WHICH_YEAR})?|{_MONTH}\.? (?:the )?{_DAY}(?:,? {_WHICH_YEAR})?"
    rf"|{_YEAR}-(?:0[1-9]|1[0-2])-[0-3][0-9]"
)
_MONTH_POINT = rf"{_MONTH}\.?(?:,? (?:of |in )?{_WHICH_YEAR})?"
_RELATIVE = (
    rf"yesterday|today|(?:last|this) (?:week|month|year|weekend|{_WEEKDAY}|{_SEASON})"
    rf"|{_COUNT} (?:day|week|month|year)s? ago"
)
_HOLIDAY_YEAR = rf"(?:{_WHICH_YEAR}|(?:[0-9]|{'|'.join(NUMBERS)}) years? ago)"
_HOLIDAY_POINT = rf"(?:last |this )?{HOLIDAY}(?:,? (?:of |in )?{_HOLIDAY_YEAR})?"
_SEASON_POINT = rf"(?:the )?{_SEASON}(?: of| in)? {_WHICH_YEAR}"
_PERIOD = rf"(?:{_MONTH_POINT}|(?:the )?{_SEASON}(?:(?: of| in)? {_WHICH_YEAR})?|{_YEAR}|(?:last|this) (?:month|year|{_SEASON}))"
_PART = "(?:early|mid|late|(?:beginning|start|middle|end|first half|second half|first part|last part) of)"
_PART_POINT = rf"(?:the )?(?P<part>{_PART})(?: |-)(?P<period>{_PERIOD})"
_POINT = (
    rf"(?:{_DATE}|{_RELATIVE}|{_HOLIDAY_POINT}|{_SEASON_POINT}|(?:the )?{_PART}(?: |-){_PERIOD}|{_MONTH_POINT}|{_WEEKDAY}"
    rf"|{_YEAR})"
)
_CLAUSE_ENDS = r"(?=\s{0,3}(?:[?.,;:!)]|$|(?:and|or|but|so|when|that)\b))"


@dataclass(frozen=True, slots=True)
class _Form:
    """One row: every match begins with, or holds, one of its `heads`; a blank in the form is white space."""

    heads: tuple[str, ...]
    form: str
    read: Callable[[re.Match[str], Now, Simple], Reading | None]
    also: tuple[str, ...] | None = None  # every match holds a digit or one of these too, in any case

    @property
    def pattern(self) -> re.Pattern[str]:
        return _compiled(self.form)


@cache
def _compiled(form: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{form})(?!\w)".replace(" ", r"\s{1,4}"), re.IGNORECASE)


def compound(text: str, now: Now, simple: Simple) -> tuple[int, int, Reading] | None:
    """The first compound phrase of a text: its start, its end, and what it means."""
    held = Held(text)
    for place, rows in islice(_announced(text), _MOST):
        for row in rows:
            if not held(row.also):
                continue
            for found in row.pattern.finditer(text, max(0, place - 40), place + 80):
                if found.start() > place:
                    break
                reading = row.read(found, now, simple) if found.end() > place else None
                if reading:
                    return found.start(), found.end(), reading
    return None


def _announced(text: str) -> Iterator[tuple[int, tuple[_Form, ...]]]:
    for word in _WORD.finditer(text):
        rows = _ROWS.get(word[0].lower())
        if rows:
            yield word.start(), rows


# -- points --------------------------------------------------------------------------------------------------------------


def _point(text: str, now: Now, simple: Simple, year: str = "") -> Reading | None:
    """One end of a range, or the date that others are counted from."""
    text = " ".join(text.split()).rstrip(".")  # the stop of a sentence, or of "Jan."
    if year and not re.search(_YEAR, text) and re.search(rf"\b{_MONTH}\b", text, re.IGNORECASE):
        text = f"{text} {year}"
    if _compiled(_HOLIDAY_POINT).fullmatch(text):
        return holiday(text, now)
    if part := _compiled(_PART_POINT).fullmatch(text):
        return _part(part, now, simple)
    if _WHOLE.fullmatch(text):
        return _whole(text.lower(), now)
    for asked in (text, f"in {text}", f"on {text}"):
        found = simple(asked, now)
        if found and found[1] == len(asked) and found[0] <= len(asked) - len(text) + 4:
            return found[2]
    return None


def _whole(text: str, now: Now) -> Reading:
    """A week, month or year of the calendar: "early last year" is a part of it, not of the days around a year ago."""
    which, unit = text.split()
    back, today = which == "last", now.today
    if unit == "week":
        monday = now.monday - timedelta(days=7 * back)
        return now.span(monday, monday + timedelta(days=7))
    if unit == "month":
        first = _months_on(today, -back)
        return now.span(first, _months_on(first, 1))
    return now.span(date(today.year - back, 1, 1), date(today.year - back + 1, 1, 1))


def days_of(reading: Reading, now: Now) -> tuple[date, date]:
    """The days a reading names, the last one exclusive; of a time without borders those of its window."""
    first, last = (from_us(us).astimezone(now.local.tzinfo) for us in (reading.first_us, reading.last_us))
    if last - first <= timedelta(days=2) and first.time() != _MIDNIGHT:  # "yesterday" has no borders
        return _day(reading, now), _day(reading, now) + timedelta(days=1)
    end = last.date() if last.time() == _MIDNIGHT else last.date() + timedelta(days=1)
    return first.date(), max(end, first.date() + timedelta(days=1))


def _day(reading: Reading, now: Now) -> date:
    return from_us(reading.centre_us).astimezone(now.local.tzinfo).date()


def _span(now: Now, first: date, last: date) -> Reading | None:
    """From the first day to the last one, exclusive."""
    return now.span(first, last) if first < last else None


def _between(now: Now, first: date, last: date) -> Reading | None:
    """A range that was named by its ends: outside it the boost fades within weeks, however long it is."""
    reading = _span(now, first, last)
    return None if reading is None else reading.fading(min(_FADES, reading.tolerance_us))


def _count(text: str) -> int:
    words = text.lower().split()
    if words[0].isdigit():
        return int(words[0])
    return next((value for word, value in (("couple", 2), ("few", 3)) if word in words), NUMBERS.get(words[0], 1))


# -- readings ------------------------------------------------------------------------------------------------------------


def _period(found: re.Match[str], now: Now, simple: Simple) -> tuple[date, date] | None:
    """The days of the month, season or year that a part belongs to; its year may stand elsewhere: "last year in early May"."""
    around = simple(found.string, now)
    if around and around[0] < found.end("period") and around[1] > found.start("period"):
        days = days_of(around[2], now)
        if (days[1] - days[0]).days >= 28 and not _WHOLE.fullmatch(found["period"]):
            return days
    period = None if _other_word(found, "period") else _point(found["period"], now, simple)
    return None if period is None else days_of(period, now)


def _part(found: re.Match[str], now: Now, simple: Simple) -> Reading | None:
    """A third of a month, season or year, or half of it."""
    named = _period(found, now, simple)
    if named is None:
        return None
    first, last = named
    name = found["part"].lower().replace("-", " ").split()
    months = 12 * (last.year - first.year) + last.month - first.month
    half = "half" in name
    place = 0 if name[0] in ("early", "beginning", "start", "first") else 1 if name[0] in ("mid", "middle") else 2
    if half:
        place = 0 if "first" in name else 1
    if months == 1:
        marks = [1, 16, 0] if half else [1, 11, 21, 0]
        days = [first.replace(day=mark) if mark else last for mark in marks]
    else:
        pieces = 2 if half else 3
        days = [_months_on(first, months * piece // pieces) for piece in range(pieces + 1)]
    return _span(now, days[place], days[place + 1])


def _months_on(day: date, months: int) -> date:
    years, month = divmod(day.month - 1 + months, 12)
    return date(day.year + years, month + 1, 1)


def _week_of_period(found: re.Match[str], now: Now, simple: Simple) -> Reading | None:
    """ "The first weekend of August 2023", "the last week of June"."""
    named = _period(found, now, simple)
    if named is None:
        return None
    first, last = named
    number, weekend = _NTH[found["nth"].lower()], found["unit"].lower() == "weekend"
    if weekend:
        saturday = nth(first, 5, number) if number > 0 else nth(last - timedelta(days=7), 5, 1)
        return _span(now, saturday, saturday + timedelta(days=2)) if saturday < last else None
    begin = first + timedelta(days=7 * (number - 1)) if number > 0 else last - timedelta(days=7)
    return _span(now, begin, min(begin + timedelta(days=7), last))


def _weekday_of_period(found: re.Match[str], now: Now, simple: Simple) -> Reading | None:
    """ "The second Tuesday of March", "the last Friday in June 2023"."""
    named = _period(found, now, simple)
    if named is None:
        return None
    first, last = named
    number, weekday = _NTH[found["nth"].lower()], WEEKDAYS.index(found["weekday"][:3].lower())
    day = nth(first, weekday, number) if number > 0 else nth(last - timedelta(days=7), weekday, 1)
    return now.day(day, 1) if day < last else None


def _quarter(found: re.Match[str], now: Now, simple: Simple) -> Reading | None:
    name, year = found["quarter"].lower(), found["year"]
    number = int(name[1]) if name[0] in "qh" else _NTH[name.split()[0]]
    if number < 1:
        number = 4
    months = 6 if name[0] == "h" else 3
    which = int(year) if year.isdigit() else now.today.year - (year.lower().startswith("last"))
    first = date(which, months * (number - 1) + 1, 1)
    return _span(now, first, _months_on(first, months))


def _week_of(found: re.Match[str], now: Now, simple: Simple) -> Reading | None:
    """The week, from Monday, or the weekend of the week, that a date lies in."""
    point = _point(found["point"], now, simple)
    if point is None:
        return None
    day = _day(point, now)
    monday = day - timedelta(days=day.weekday())
    weekend = found["unit"].lower() == "weekend"
    return _span(now, monday + timedelta(days=5 if weekend else 0), monday + timedelta(days=7))


def _week_from(found: re.Match[str], now: Now, simple: Simple) -> Reading | None:
    """The seven days that begin with a date, or end with it."""
    point = _point(found["point"], now, simple)
    if point is None:
        return None
    first = _day(point, now) - timedelta(days=6 if found["side"].lower() == "ending" else 0)
    return _span(now, first, first + timedelta(days=7))


def _weekends_ago(found: re.Match[str], now: Now, simple: Simple) -> Reading | None:
    saturday = now.monday - timedelta(days=2 + 7 * (_count(found["count"]) - 1))
    return _span(now, saturday, saturday + timedelta(days=2))


def _before_last(found: re.Match[str], now: Now, simple: Simple) -> Reading | None:
    unit, today = found["unit"].lower(), now.today
    if unit == "weekend":
        return _span(now, now.monday - timedelta(days=9), now.monday - timedelta(days=7))
    if unit == "week":
        return _span(now, now.monday - timedelta(days=14), now.monday - timedelta(days=7))
    if unit == "month":
        first = _months_on(today, -2)
        return _span(now, first, month_after(first.year, first.month))
    if unit == "year":
        return _span(now, date(today.year - 2, 1, 1), date(today.year - 1, 1, 1))
    last = simple(f"last {unit}", now)
    if last is None:
        return None
    first, end = days_of(last[2], now)
    if unit.endswith("day"):
        return now.day(first - timedelta(days=7), 1)
    return _span(now, first.replace(year=first.year - 1), end.replace(year=end.year - 1))


def _beside(found: re.Match[str], now: Now, simple: Simple) -> Reading | None:
    """ "The Sunday before 25 May 2023", "the week after Christmas", "the day before 3 June"."""
    point = _point(found["point"], now, simple)
    if point is None:
        return None
    named, unit, before = days_of(point, now), found["unit"].lower(), found["side"].lower() == "before"
    day = named[0] if before else named[1] - timedelta(days=1)
    if point.tolerance_us <= 3 * DAY:
        day = _day(point, now)
    if unit == "day":
        return now.day(day + timedelta(days=-1 if before else 1), 1)
    if unit == "week":
        return _span(
            now, *((day - timedelta(days=7), day) if before else (day + timedelta(days=1), day + timedelta(days=8)))
        )
    if unit == "month":
        first = _months_on(day, -1 if before else 1)
        return _span(now, first, month_after(first.year, first.month))
    if unit == "year":
        year = day.year + (-1 if before else 1)
        return _span(now, date(year, 1, 1), date(year + 1, 1, 1))
    number = 5 if unit == "weekend" else WEEKDAYS.index(unit[:3])
    away = (day.weekday() - number - 1) % 7 + 1 if before else (number - day.weekday() - 1) % 7 + 1
    other = day + timedelta(days=-away if before else away)
    if unit == "weekend":
        return _span(now, other, other + timedelta(days=2))
    return now.day(other, 1)


def _away_from(found: re.Match[str], now: Now, simple: Simple) -> Reading | None:
    """ "Two days after 3 June 2023", "three weeks before Christmas"."""
    point = _point(found["point"], now, simple)
    if point is None:
        return None
    length, tolerance = {"day": (1, 1), "week": (7, 3), "month": (30, 7), "year": (365, 30)}[found["unit"].lower()]
    count = _count(found["count"]) * (-1 if found["side"].lower() == "before" else 1)
    if abs(count * length) > _HORIZON:
        return None
    return now.day(_day(point, now) + timedelta(days=count * length), tolerance)


def _range(found: re.Match[str], now: Now, simple: Simple) -> Reading | None:
    """Both ends count in; a year named at one end alone is that of both."""
    years = [re.search(_YEAR, found[name]) for name in ("first", "second")]
    if any(_other_word(found, name) for name in ("first", "second")) or _counts(found):
        return None
    shared = next((year[0] for year in years if year), "")
    first, second = (_point(found[name], now, simple, shared) for name in ("first", "second"))
    if first is None or second is None:
        return None
    begin, end = days_of(first, now)[0], days_of(second, now)[1]
    if begin >= end and not years[0]:  # "from November to February"
        begin = begin.replace(year=begin.year - 1, day=min(begin.day, 28))
    return _between(now, begin, end) if (end - begin).days <= _HORIZON else None


def _months_together(found: re.Match[str], now: Now, simple: Simple) -> Reading | None:
    """ "In May and June 2023"; two months that are apart are no range."""
    both = _range(found, now, simple)
    return both if both and both.last_us - both.first_us <= 62 * DAY else None


def _days_of_month(found: re.Match[str], now: Now, simple: Simple) -> Reading | None:
    """ "From 3 to 10 July", "July 3-10"; both days count in."""
    around, two_days = simple(found.string, now), "and" in found["to"].lower() and not found["between"]
    with_year = around and any(around[0] < place < around[1] for place in found.span())
    if two_days or with_year:
        return None
    verb = found["month"].lower() in ("may", "march") and not found["month"][0].isupper()
    if (verb and not _ENDS.match(found.string, found.end())) or _counts(found):
        return None
    point = _point(f"{found['until']} {found['month']}", now, simple)
    begin, last = int(re.sub(r"\D", "", found["begin"])), None if point is None else _day(point, now)
    return (
        None if last is None or begin >= last.day else _between(now, last.replace(day=begin), last + timedelta(days=1))
    )


def _since(found: re.Match[str], now: Now, simple: Simple) -> Reading | None:
    """From the beginning of what is named until now; "after" from its end on."""
    point = _point(found["point"], now, simple)
    if point is None or _other_word(found, "point") or _counts(found):
        return None
    first, end = days_of(point, now)
    begin = end if found["bound"].lower() == "after" else first
    return _between(now, max(begin, now.today - timedelta(days=_HORIZON)), now.today + timedelta(days=1))


def _until(found: re.Match[str], now: Now, simple: Simple) -> Reading | None:
    """Up to what is named; "before" leaves that out, "until", "by", "as of" and "no later than" count it in."""
    point = _point(found["point"], now, simple)
    if point is None or _other_word(found, "point") or _counts(found):
        return None
    first, end = days_of(point, now)
    bound = " ".join(found["bound"].lower().split())
    if bound == "by" and not re.search(r"[0-9]", found["point"]):
        return None
    last = first if bound in ("before", "prior to") else end
    return _between(now, last - timedelta(days=_HORIZON), last)


def _on_holiday(found: re.Match[str], now: Now, simple: Simple) -> Reading | None:
    return holiday(found["point"], now)


def _other_word(found: re.Match[str], name: str) -> bool:
    """True of "before May came", "after Sunday lunch" and "from Monday to Friday": a bare name that is no clear date."""
    text, bound = found[name], found.groupdict().get("bound", "since")
    weekday = _BARE_WEEKDAY.fullmatch(text)
    if weekday and name != "point":
        return True
    if not weekday and not _BARE_MONTH.fullmatch(text):
        return False
    verb = text.islower() and (text in ("may", "march", "august") or text in MONTHS)
    if verb or weekday or bound.lower() != "since":
        return not _ENDS.match(found.string, found.end())
    return found.string[found.end() : found.end() + 1] in ("'", "’", "-")


def _counts(found: re.Match[str]) -> bool:
    """True of "between 1950 and 2000 calories": the number at the end is followed by what it counts."""
    return found[0][-1].isdigit() and counts_something(found)


_ENDS = re.compile(_CLAUSE_ENDS)
_MIDNIGHT = time()
_BARE_MONTH = re.compile(_MONTH + r"\.?", re.IGNORECASE)
_BARE_WEEKDAY = re.compile(_WEEKDAY, re.IGNORECASE)
_WHOLE = re.compile("(?:last|this) (?:week|month|year)", re.IGNORECASE)
_TO_DAY = r"(?P<to>\s?[-–]\s?| (?:to|and|until|till|through) (?:the )?)"
_NTH_WORD = rf"(?P<nth>{'|'.join(_NTH)})"
_OF_PERIOD = rf"(?P<period>{_PERIOD})"

_FORMS = (
    _Form(("between",), rf"between (?P<first>{_POINT}) and (?P<second>{_POINT})", _range),
    _Form(("from",), rf"from (?P<first>{_POINT}) (?:to|until|till|through) (?P<second>{_POINT})", _range),
    _Form(
        ("in", "during", "over"),
        rf"(?:in|during|over) (?P<first>{_MONTH}) and (?P<second>{_MONTH_POINT})",
        _months_together,
    ),
    _Form(
        ("from", "between", *_MONTH_NAMES),
        rf"(?:(?P<between>between )|from )?(?:the )?(?P<begin>{_DAY}){_TO_DAY}(?P<until>{_DAY})(?: of)? (?P<month>{_MONTH})",
        _days_of_month,
        (),
    ),
    _Form(
        ("from", "between", *_MONTH_NAMES),
        rf"(?:(?P<between>between )|from )?(?P<month>{_MONTH})\.? (?:the )?(?P<begin>{_DAY}){_TO_DAY}(?P<until>{_DAY})"
        r"(?![:%/]|[.,][0-9])",
        _days_of_month,
        (),
    ),
    _Form(
        _MONTH_NAMES,
        rf"(?P<first>{_DATE}|{_MONTH})\s{{0,2}}[-–]\s{{0,2}}(?P<second>(?:{_DAY} )?{_MONTH}\.?(?: {_DAY})?,? {_YEAR})",
        _range,
        (),
    ),
    _Form(
        ("week",),
        rf"(?<!\ba\s)week (?P<side>starting|beginning|commencing|ending)(?: on)?(?: {_WEEKDAY},?)? (?P<point>{_DATE})",
        _week_from,
        (),
    ),
    _Form(("week", "weekend"), rf"(?P<unit>week|weekend) of (?:the )?(?P<point>{_DATE}|{_HOLIDAY_POINT})", _week_of),
    _Form(
        ("week", "weekend"),
        rf"{_NTH_WORD} (?:full )?(?P<unit>week|weekend) (?:of|in) {_OF_PERIOD}",
        _week_of_period,
    ),
    _Form(
        ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
        rf"{_NTH_WORD} (?P<weekday>{_WEEKDAY}) (?:of|in) {_OF_PERIOD}",
        _weekday_of_period,
    ),
    _Form(("weekend", "weekends"), rf"(?P<count>{_COUNT}) weekends? ago", _weekends_ago),
    _Form(
        ("last",),
        rf"the (?P<unit>week|weekend|month|year|{_SEASON}|{_WEEKDAY}) before last(?! (?:week|month|year|{_WEEKDAY}))",
        _before_last,
    ),
    _Form(
        ("before", "after"),
        rf"(?:the|last) (?P<unit>day|week|weekend|month|year|{_WEEKDAY}) (?P<side>before|after)"
        rf" (?P<point>{_DATE}|{_HOLIDAY_POINT}|{_MONTH} {_YEAR})",
        _beside,
        LONGEST_WORDS,
    ),
    _Form(
        ("before", "after"),
        rf"(?P<count>{_COUNT}) (?P<unit>day|week|month|year)s? (?P<side>before|after) (?P<point>{_DATE}|{_HOLIDAY_POINT})",
        _away_from,
        LONGEST_WORDS,
    ),
    _Form(
        ("since", "after"),
        rf"(?P<bound>(?:ever )?since|after)(?: the)?(?: (?:beginning|start) of)? (?P<point>{_POINT})",
        _since,
    ),
    _Form(
        ("before", "prior", "until", "till", "up", "by", "of", "later"),
        rf"(?<!day\s)(?P<bound>before|prior to|until|till|up to|by|as of|not? later than) (?P<point>{_POINT})",
        _until,
    ),
    _Form(
        ("early", "mid", "late", "of"),
        rf"(?:in |during |by |until |since |around |at )?{_PART_POINT}",
        _part,
    ),
    _Form(
        ("q1", "q2", "q3", "q4", "h1", "h2", "quarter"),
        rf"(?P<quarter>[qQ][1-4]|[hH][12]|(?:first|second|third|fourth|last) quarter)(?: of|,)? (?P<year>{_WHICH_YEAR})",
        _quarter,
    ),
    _Form(
        HEADS,
        rf"(?:(?:on|at|over|during|for|around) )?(?P<point>{HOLIDAY} (?:of |in )?{_HOLIDAY_YEAR}|last {HOLIDAY})"
        rf"{_NO_OBJECT}",
        _on_holiday,
        LONGEST_WORDS,
    ),
    _Form(
        HEADS,
        rf"(?:on|at|over|during|for|around)(?: the)? (?P<point>{HOLIDAY}){_NO_OBJECT}",
        _on_holiday,
        LONGEST_WORDS,
    ),
)


def _rows_by_head() -> dict[str, tuple[_Form, ...]]:
    rows: dict[str, tuple[_Form, ...]] = {}
    for form in _FORMS:
        for head in form.heads:
            rows[head] = (*rows.get(head, ()), form)
    return rows


_ROWS = _rows_by_head()
_WORD = re.compile(r"\b[0-9A-Za-z]{2,12}\b")
