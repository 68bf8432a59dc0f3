"""The table of English time phrases: words that announce one, its bounded form, and its reading."""

import re
from collections.abc import Callable
from functools import cache

from thinkback.search.query import time_readings as read
from thinkback.search.query.time_calendar import Now, Reading
from thinkback.search.query.time_readings import DIGITS, MONTHS, SEASONS, TEENS, TENS, UNITS, WEEKDAYS
from thinkback.values import dataclass

# Which of several phrases is meant: beside a date with its year, "last Friday" is relative to that date.
EXPLICIT, NAMED, VAGUE = 0, 1, 2
YEAR = "<year>"


@dataclass(frozen=True, slots=True)
class Phrase:
    """One row; every match holds one of its `heads` as a word, or a number of four digits if that is `YEAR`."""

    rank: int
    heads: tuple[str, ...]
    form: str
    read: Callable[[re.Match[str], Now], Reading | None]
    also: tuple[str, ...] | None = None  # every match holds a digit or one of these too, in any case

    @property
    def pattern(self) -> re.Pattern[str]:
        """In a form a blank is white space, `<year>` a captured fragment, and both ends are ends of words."""
        return _compiled(self.form)


_LONG_MONTHS = ("january", "february", "march", "april", "june", "july", "august", "sept", "september", "october")
_LONG_WEEKDAYS = ("monday", "tues", "tuesday", "wednesday", "thurs", "thursday", "friday", "saturday", "sunday")
_MONTH_NAMES = (*MONTHS, *_LONG_MONTHS, "november", "december")
_WEEKDAY_NAMES = (*WEEKDAYS, *_LONG_WEEKDAYS)
_SEASON_NAMES = tuple(SEASONS)
_UNIT_NAMES = tuple(unit + plural for unit in UNITS for plural in ("", "s"))
_PERIODS = ("week", "month", "year")

_COUNT = rf"[0-9]{{1,5}}|(?:{'|'.join(TENS)})(?:[-\s](?:{'|'.join(DIGITS)}))?|{'|'.join((*TEENS, *DIGITS))}"
_SO_MANY = rf"{_COUNT}|an?|a couple(?: of)?"
_UNIT = "|".join(f"{unit}s?" for unit in UNITS)

_FRAGMENTS = {
    "count": _COUNT,
    "unit": _UNIT,
    "month": (
        r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
        r"|nov(?:ember)?|dec(?:ember)?"
    ),
    "weekday": r"mon(?:day)?|tues?(?:day)?|wed(?:nesday)?|thu(?:rs)?(?:day)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?",
    "season": "|".join(SEASONS),
    "year": r"(?:19|20)[0-9][0-9]",
    "that_year": rf"(?:last|this|next) year(?! of\b)|(?:{_SO_MANY}) years? ago",
    "that_month": rf"(?:last|this|next) month(?! of\b)|(?:{_SO_MANY}) months? ago",
    "that_week": rf"(?:last|this|next) week(?! of\b)|(?:{_SO_MANY}) weeks? ago",
    "mm": r"0[1-9]|1[0-2]",
    "dd": r"3[01]|[12][0-9]|0?[1-9]",
    "nth": r"st|nd|rd|th",
    "part": r"early|mid|late",
}
_FRAGMENT = re.compile(r"(?<!P)<(\w+)>")
_SPACE = r"\s{1,4}"


@cache
def _compiled(form: str) -> re.Pattern[str]:
    form = _FRAGMENT.sub(lambda name: rf"(?P<{name[1]}>{_FRAGMENTS[name[1]]})", form)
    return re.compile(rf"\b(?:{form})(?!\w)".replace(" ", _SPACE), re.IGNORECASE)


_FRACTION = r"(?:[0-9]{1,5} )?(?:1/[234]|2/3|3/4)"
_ANY_AMOUNT = rf"{_FRACTION}|{_COUNT}|a couple(?: of)?|a few|several|(?:half|1/2) an?|an?"
_AMOUNT = rf"(?P<quantity>{_ANY_AMOUNT})"
_DAY_PART = r"(?: (?:morning|afternoon|evening|night))?"
_UNTIL = r"(?:\s?(?:-|–|to|and)\s?(?P<until>3[01]|[12][0-9]|0?[1-9])(?:st|nd|rd|th)?)?"
_PIECE_OF = r"(?:beginning|start|middle|end|half|week|part|month) of"
_AT_PIECE_OF = rf"(?:(?:in|at|by|until|since|around|during) )?the (?:first |second |third |fourth |last )?{_PIECE_OF}"
_NOT_IN_A_NUMBER = r"(?<![0-9][.,:/-])"
_NOT_A_FRACTION = r"(?<![0-9][.,/])"
_NOT_OF = r"(?! of\b)"
_OF = r"(?:,? of|,? (?P<in>in)(?: the year)?|,)? "
_NO_OWNER_OR_DAY_NEXT = r"(?!['’-]|\.?,?\s{0,4}[0-9])"
_NO_YEAR_NEXT = r"(?!,?\s{0,4}(?:19|20)[0-9][0-9]\b)"
_NO_DATE_NEXT = (
    rf"(?!,? (?:the )?(?:[0-9]|(?:{'|'.join(_MONTH_NAMES)})\b))(?! (?:mornings|afternoons|evenings|nights)\b)"
    rf"(?!,? in (?:the )?(?:(?:19|20)[0-9][0-9]|{'|'.join((*_MONTH_NAMES, *_SEASON_NAMES))})\b)"
)
_NO_SEASON_NEXT = r"(?! (?:of|rolls?|onions?|water|mattress(?:es)?|guys?|over|apart|off|down|out)\b)(?!-|,? [0-9]{4})"

_ISO_DATE = r"(?<!-)<year>[-/]<mm>[-/](?P<dd>[0-3][0-9])(?:T[0-9:.]{2,15}Z?)?(?!-)"
_ISO_MONTH = r"(?:in|during|since) <year>-<mm>(?!-)"
_ANY_YEAR = "(?:<year>|<that_year>)"
_ON_THAT_DAY = rf"(?P<dated>in |on (?:the (?:morning|afternoon|evening|night) of |(?:{_FRAGMENTS['weekday']}),? )?)?"
_TO_DAY = r"(?:\.? (?P<the>the )?|,? (?P<on>on the ))"
_MONTH_DAY_YEAR = rf"<month>{_TO_DAY}<dd><nth>?{_UNTIL}(?:{_OF}|,){_ANY_YEAR}"
_DAY_MONTH_YEAR = rf"{_NOT_IN_A_NUMBER}<dd><nth>?{_UNTIL}(?: of)? <month>\.?(?:{_OF}|,){_ANY_YEAR}"
_YEAR_MONTH_DAY = (
    rf"{_ANY_YEAR}(?:,? {_ON_THAT_DAY}|-)<month>(?:-|{_TO_DAY})<dd><nth>?{_UNTIL}(?![:%/-]|[.,][0-9]){_NO_YEAR_NEXT}"
)
_YEAR_DAY_MONTH = rf"{_ANY_YEAR},? {_ON_THAT_DAY}(?:the )?<dd><nth>?{_UNTIL}(?: of)? <month>(?!['’-]){_NO_YEAR_NEXT}"
_MONTH_YEAR = rf"<month>\.?{_OF}<year>"
_MONTH_THAT_YEAR = rf"<month>\.?{_OF}<that_year>"
_YEAR_MONTH = (
    rf"{_ANY_YEAR},? (?:back )?(?P<which>in|during|since|around|by|until|from|{_AT_PIECE_OF}) (?:<part>[-\s])?<month>"
    rf"{_NO_OWNER_OR_DAY_NEXT}{_NOT_OF}"
)
_SEASON_YEAR = rf"<season>{_OF}<year>"
_SEASON_THAT_YEAR = rf"<season>{_OF}<that_year>"
_YEAR_SEASON = (
    rf"{_ANY_YEAR}(?:,? (?:back )?(?P<dated>in|during)(?: the)?|['’]s) (?:<part>[-\s])?<season>{_NO_SEASON_NEXT}"
)
_MONTH_DAY = rf"(?:in (?=[a-z]{{3,9}},? on the ))?<month>{_TO_DAY}<dd><nth>?(?![:%/]|[.,][0-9]){_NO_YEAR_NEXT}"
_DAY_MONTH = rf"{_NOT_IN_A_NUMBER}<dd><nth>?(?P<of> of)? <month>{_NO_YEAR_NEXT}"
_DAY_OF_THAT_MONTH = r"(?P<on>on the )?<dd><nth>(?(on)(?:,? of|,)?|,? of) <that_month>"
_THAT_MONTH_DAY = r"<that_month>,? (?P<on>on the |the )<dd><nth>"
_WEEKDAY_OF_THAT_WEEK = rf"(?:on )?<weekday>{_DAY_PART}(?:,? of|,)? <that_week>"
_THAT_WEEK_WEEKDAY = rf"<that_week>,? on <weekday>{_DAY_PART}(?!-){_NO_DATE_NEXT}"
_WEEKS_AGO_WEEKDAY = rf"(?P<that_week>(?:{_SO_MANY}) weeks? ago) <weekday>{_DAY_PART}(?!-){_NO_DATE_NEXT}"
_AGO = rf"{_NOT_A_FRACTION}{_AMOUNT}(?P<half> and a half)? <unit>(?P<more> and a half)? ago"
_GREATER = rf"(?:(?:{_ANY_AMOUNT})(?: and a half)? (?:{_UNIT})(?:,? and| &|,)? )"
_SUM_AGO = rf"{_NOT_A_FRACTION}(?P<greater>{_GREATER}{{1,2}}){_AMOUNT}(?P<half> and a half)? <unit>(?P<more>) ago"
_YESTERDAY = rf"(?P<before>(?:the )?day before )?(?:yesterday{_DAY_PART}|last night)"
_TODAY = r"(?:earlier )?today|tonight|this (?:morning|afternoon|evening)"
_PAST_UNITS = rf"(?:last|past) (?P<quantity><count>|few|couple(?: of)?|several) <unit>{_NOT_OF}"
_PAST_UNIT = rf"(?:the|this) past (?P<quantity>)(?P<unit>day|week|month|year){_NOT_OF}"
_WEEKEND = rf"(?P<which>last|this past|past|this) weekend{_NOT_OF}"
_WEEKDAY = rf"(?P<which>last|this past|past|this|on) <weekday>{_DAY_PART}(?!-){_NO_DATE_NEXT}{_NOT_OF}"
_MONTH = rf"(?P<which>in|last|this past|this|during|since|{_PIECE_OF}) (?:<part>[-\s])?<month>{_NO_OWNER_OR_DAY_NEXT}{_NOT_OF}"
_SEASON = rf"(?P<which>last|this past|this|in|during|over|since)(?: the)? (?:<part>[-\s])?<season>{_NO_SEASON_NEXT}"
_YEAR = rf"(?:in|during|since|{_PIECE_OF}) (?:the year )?(?:<part>[-\s])?<year>(?![-–/%:]|[.,][0-9])"

# Within a rank the first phrase of a text wins, and at one place the first row.
PHRASES = (
    Phrase(EXPLICIT, (YEAR,), _ISO_DATE, read.iso_date),
    Phrase(EXPLICIT, (YEAR,), _ISO_MONTH, read.iso_month),
    Phrase(EXPLICIT, _MONTH_NAMES, _MONTH_DAY_YEAR, read.full_date, ()),
    Phrase(EXPLICIT, _MONTH_NAMES, _DAY_MONTH_YEAR, read.full_date, ()),
    Phrase(EXPLICIT, _MONTH_NAMES, _YEAR_MONTH_DAY, read.year_first, ()),
    Phrase(EXPLICIT, _MONTH_NAMES, _YEAR_DAY_MONTH, read.year_first, ()),
    Phrase(EXPLICIT, _MONTH_NAMES, _MONTH_YEAR, read.month_of_year, ()),
    Phrase(EXPLICIT, _MONTH_NAMES, _MONTH_THAT_YEAR, read.month_of_that_year, ("year",)),
    Phrase(EXPLICIT, _MONTH_NAMES, _YEAR_MONTH, read.year_and_month, ("year",)),
    Phrase(EXPLICIT, _SEASON_NAMES, _SEASON_YEAR, read.season_of_year, ()),
    Phrase(EXPLICIT, _SEASON_NAMES, _SEASON_THAT_YEAR, read.season_of_that_year, ("year",)),
    Phrase(EXPLICIT, _SEASON_NAMES, _YEAR_SEASON, read.year_and_season, ("year",)),
    Phrase(NAMED, _MONTH_NAMES, _MONTH_DAY, read.day_of_month, ()),
    Phrase(NAMED, _MONTH_NAMES, _DAY_MONTH, read.day_of_month, ()),
    Phrase(NAMED, ("month", "months"), _DAY_OF_THAT_MONTH, read.day_of_that_month, ()),
    Phrase(NAMED, ("month", "months"), _THAT_MONTH_DAY, read.day_of_that_month, ()),
    Phrase(NAMED, (*_WEEKDAY_NAMES, "week", "weeks"), _WEEKDAY_OF_THAT_WEEK, read.weekday_of_that_week),
    Phrase(NAMED, (*_WEEKDAY_NAMES, "week", "weeks"), _THAT_WEEK_WEEKDAY, read.weekday_of_that_week),
    Phrase(NAMED, ("ago",), _WEEKS_AGO_WEEKDAY, read.weekday_of_that_week),
    Phrase(NAMED, ("ago",), _SUM_AGO, read.sum_ago),
    Phrase(NAMED, ("ago",), _AGO, read.ago),
    Phrase(NAMED, ("yesterday", "night"), _YESTERDAY, read.yesterday),
    Phrase(NAMED, ("today", "tonight", "morning", "afternoon", "evening"), _TODAY, read.today),
    Phrase(NAMED, _PERIODS, rf"last (?P<period>week|month|year){_NOT_OF}", read.last_period),
    Phrase(NAMED, _PERIODS, rf"this (?P<period>week|month|year){_NOT_OF}", read.this_period),
    Phrase(NAMED, _UNIT_NAMES, _PAST_UNITS, read.past_units),
    Phrase(NAMED, ("day", *_PERIODS), _PAST_UNIT, read.past_units),
    Phrase(NAMED, ("weekend",), _WEEKEND, read.weekend),
    Phrase(NAMED, _WEEKDAY_NAMES, _WEEKDAY, read.weekday),
    Phrase(NAMED, _MONTH_NAMES, _MONTH, read.month),
    Phrase(NAMED, _SEASON_NAMES, _SEASON, read.season),
    Phrase(NAMED, (YEAR,), _YEAR, read.year),
    Phrase(VAGUE, ("recently", "lately"), r"recently|lately", read.recently),
)
