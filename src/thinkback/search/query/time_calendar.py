"""Calendar arithmetic as seen from one moment in one time zone."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, tzinfo

from thinkback.clock import DAY, from_us, to_us
from thinkback.values import dataclass

_EARLIEST, _LATEST = to_us(datetime.min.replace(tzinfo=UTC)), to_us(datetime.max.replace(tzinfo=UTC))

_MARGIN = 10 * 366 * DAY


@dataclass(frozen=True, slots=True)
class Reading:
    """When a phrase means: a centre, a tolerance, and the period it names (the last moment exclusive).

    `fade_us` is how far the boost reaches beyond the tolerance on either side, in halves; by default the tolerance itself.
    """

    centre_us: int
    tolerance_us: int
    first_us: int
    last_us: int
    fade_us: int | None = None

    def fading(self, fade_us: int) -> "Reading":
        """The same time, whose boost fades within twice this length outside of it."""
        return replace(self, fade_us=fade_us)


@dataclass(frozen=True, slots=True)
class Now:
    """The moment a question is asked, and the calendar it is asked in."""

    us: int
    local: datetime

    @classmethod
    def of(cls, us: int, zone: tzinfo) -> "Now | None":
        """None near the ends of the calendar, where phrases would lead beyond it."""
        if not _EARLIEST + _MARGIN <= us <= _LATEST - _MARGIN:
            return None
        return cls(us, from_us(us).astimezone(zone))

    @property
    def today(self) -> date:
        return self.local.date()

    @property
    def monday(self) -> date:
        """The first day of this week."""
        return self.today - timedelta(days=self.today.weekday())

    def ago(self, days: float, tolerance: float) -> Reading | None:
        """A number of days before now, give or take; None before the calendar begins."""
        centre, reach = self.us - round(days * DAY), round(tolerance * DAY)
        if centre - reach < _EARLIEST:
            return None
        return Reading(centre, reach, centre - reach, centre + reach)

    def since(self, days: float) -> Reading | None:
        """From a number of days before now until now."""
        return self.ago(days / 2, days / 2)

    def day(self, day: date, tolerance: float, until: date | None = None) -> Reading:
        """Noon of a day, or the middle of the days until another one, give or take."""
        last = until or day
        middle = (self._noon(day) + self._noon(last)) // 2
        return self._around(middle, tolerance, day, last + timedelta(days=1))

    def month(self, year: int, month: int) -> Reading:
        """Mid-month, give or take fifteen days."""
        return self._around(self._noon(date(year, month, 15)), 15, date(year, month, 1), month_after(year, month))

    def year(self, year: int) -> Reading:
        """The first of July, give or take 120 days."""
        return self._around(self._noon(date(year, 7, 1)), 120, date(year, 1, 1), date(year + 1, 1, 1))

    def season(self, year: int, first_month: int) -> Reading:
        """The middle of the three months that begin in that year, give or take 45 days."""
        middle = month_after(year, first_month)
        end = month_after(*_next(middle.year, middle.month))
        return self._around(self._noon(middle.replace(day=15)), 45, date(year, first_month, 1), end)

    def span(self, first: date, last: date) -> Reading:
        """A period of the calendar, exactly: its middle give or take half its length (the last day exclusive)."""
        begin, end = self._midnight(first), self._midnight(last)
        return Reading((begin + end) // 2, (end - begin) // 2, begin, end)

    def _around(self, centre_us: int, tolerance: float, first: date, last: date) -> Reading:
        return Reading(centre_us, round(tolerance * DAY), self._midnight(first), self._midnight(last))

    def _midnight(self, day: date) -> int:
        return to_us(datetime(day.year, day.month, day.day, tzinfo=self.local.tzinfo))

    def _noon(self, day: date) -> int:
        return to_us(datetime(day.year, day.month, day.day, 12, tzinfo=self.local.tzinfo))


def _next(year: int, month: int) -> tuple[int, int]:
    return (year + 1, 1) if month == 12 else (year, month + 1)


def month_after(year: int, month: int) -> date:
    """The first day of the month that follows."""
    return date(*_next(year, month), 1)


class Held:
    """Tells whether a text has a digit or one of several words, without which a pattern cannot match; looks once for each."""

    def __init__(self, text: str) -> None:
        self._lowered = text.lower()
        self._known: dict[tuple[str, ...] | None, bool] = {None: True}  # None: no such condition

    def __call__(self, also: tuple[str, ...] | None) -> bool:
        found = self._known.get(also)
        if found is None:
            found = self._known[also] = any(map(self._lowered.__contains__, (*"0123456789", *(also or ()))))
        return found
