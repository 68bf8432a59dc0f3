"""Time as Thinkback keeps it: whole microseconds since the epoch, UTC."""

import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import overload

from thinkback.errors import Action, InvalidInput, Remedy, StoreDamaged

Clock = Callable[[], int]
Moment = int | str | date | datetime

SECOND = 1_000_000
HOUR = 3600 * SECOND
DAY = 24 * HOUR
WEEK = 7 * DAY

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
EARLIEST = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
LATEST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND


def system_clock() -> int:
    """The machine's clock."""
    return time.time_ns() // 1000


def to_us(moment: Moment) -> int:
    """Microseconds of a datetime, a date (its midnight), an ISO 8601 string or microseconds; naive times are UTC."""
    if isinstance(moment, bool):
        raise _not_a_time(f"{moment!r}; give a datetime, an ISO 8601 string or microseconds")
    if isinstance(moment, int):
        if not EARLIEST <= moment <= LATEST:
            raise _not_a_time(f"{moment} microseconds lies outside the years 1 to 9999")
        return moment
    if isinstance(moment, str):
        moment = _parse(moment)
    elif not isinstance(moment, datetime):
        if not isinstance(moment, date):
            raise _not_a_time(f"{moment!r}; give a datetime, an ISO 8601 string or microseconds")
        moment = datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // _MICROSECOND


def zone_of(moment: Moment | None) -> tzinfo:
    """The time zone a moment was given in, as an object or in its ISO 8601 text; UTC if it names none."""
    if isinstance(moment, str):
        moment = _parse(moment)
    return (moment.tzinfo if isinstance(moment, datetime) else None) or UTC


def _parse(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        raise _not_a_time(f"{text[:80]!r}; write it like 2026-05-08 or 2026-05-08T13:56:00+02:00") from None


def _not_a_time(given: str) -> InvalidInput:
    return InvalidInput(f"not a time: {given}", code="not_a_time")


def from_us(us: int) -> datetime:
    """The aware UTC datetime of a number of microseconds; only a damaged store has one beyond the calendar."""
    try:
        return _EPOCH + us * _MICROSECOND
    except OverflowError:
        raise StoreDamaged(
            f"a memory has the time {us}, which is beyond the calendar", code="damaged_row", remedy=Remedy(Action.CHECK)
        ) from None


@overload
def iso(moment: None) -> None: ...
@overload
def iso(moment: int | datetime) -> str: ...
def iso(moment: int | datetime | None) -> str | None:
    """ISO 8601 in UTC with all microseconds, so that writing and reading lose nothing."""
    if moment is None:
        return None
    time = from_us(moment) if isinstance(moment, int) else moment.astimezone(UTC)
    return time.isoformat(timespec="microseconds").replace("+00:00", "Z")
