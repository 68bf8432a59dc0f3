"""A TIME as the command line takes it: ISO 8601, or a phrase that questions understand, such as "yesterday"."""

from datetime import datetime, tzinfo

from thinkback.clock import DAY, from_us, to_us
from thinkback.errors import InvalidInput


def read_time(text: str, now: datetime | None = None) -> datetime:
    """The time that is written; a phrase stands for the beginning of what it names, as a date stands for its midnight.

    `yesterday`, `3 days ago` and `last week` mean the beginning of that day, `May 2026` its first, `2 hours ago` that moment; a
    phrase is read in the time zone of `now`, by default the machine's.
    """
    try:
        return from_us(to_us(text))
    except InvalidInput:
        found = _phrase(text, now or datetime.now().astimezone())
        if found is None:
            raise
        return found


def _phrase(text: str, now: datetime) -> datetime | None:
    from thinkback.search.query.time import EnglishExtractor

    now = now.astimezone() if now.tzinfo is None else now
    zone: tzinfo = now.tzinfo  # type: ignore[assignment]
    # Periods of the calendar begin at midnight; a phrase that counts from now must not seem to.
    anchor = EnglishExtractor()(text.strip(), to_us(now.replace(microsecond=now.microsecond or 1)), zone)
    if anchor is None or anchor.phrase != text.strip():
        return None
    if (first := from_us(anchor.first_us).astimezone(zone)) == _midnight(first):
        return first
    centre = from_us(anchor.centre_us).astimezone(zone)
    return centre if anchor.tolerance_us < DAY else _midnight(centre)


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)
