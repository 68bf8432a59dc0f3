"""The time a question names, as an anchor: a centre and a tolerance that memories are compared with.

Time phrases only ever raise scores (`proximity`); a hard window is what the caller passes. Every pattern is
bounded, so a phrase has a greatest length and reading a query is linear in its own.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta, tzinfo
from itertools import islice
from typing import Protocol

from thinkback.clock import DAY, to_us
from thinkback.errors import InvalidInput
from thinkback.search.query.time_ahead import ahead
from thinkback.search.query.time_calendar import Held, Now, Reading
from thinkback.search.query.time_compound import compound
from thinkback.search.query.time_patterns import EXPLICIT, PHRASES, VAGUE, YEAR, Phrase
from thinkback.values import dataclass

# Phrases are looked for this far around the words that announce one, and around no more words than this.
_LONGEST = 64
_MOST_HEADS = 128


@dataclass(frozen=True, slots=True)
class Anchor:
    """A time named in a query: `query[start:end]` is the phrase.

    `first_us` and `last_us` bound the calendar period that was named (a day, a month, a season, a year; the last
    one exclusive); a phrase that names no such period has that of its window.
    """

    phrase: str
    start: int
    end: int
    centre_us: int
    tolerance_us: int
    days_before: float
    tolerance_days: float
    first_us: int
    last_us: int
    fade_us: int | None = None
    vague: bool = False

    def proximity(self, moment_us: int, until_us: int | None = None) -> float:
        """How near a moment, or the nearest moment of a period, is to this time: 1 within its tolerance, 0 far away."""
        nearest = moment_us if until_us is None else min(max(self.centre_us, moment_us), until_us)
        return proximity(nearest - self.centre_us, self.tolerance_us, self.fade_us)

    @property
    def window(self) -> tuple[int, int]:
        """The centre give or take the tolerance."""
        return self.centre_us - self.tolerance_us, self.centre_us + self.tolerance_us

    @property
    def reach(self) -> tuple[int, int]:
        """The window, widened to the whole of the period that was named: "in 2023" reaches January."""
        begin, end = self.window
        return min(begin, self.first_us), max(end, self.last_us)


@dataclass(frozen=True, slots=True)
class NamedTime:
    """A time that a query names, as an extractor of your own gives it; `phrase` is a part of the query, if it can be told."""

    when: datetime
    tolerance: timedelta
    phrase: str = ""


class AnchorExtractor(Protocol):
    """Finds the time a query names, if any, seen from `now`; made by you and given to `open` or `recall`.

    memini's pair of days before now and tolerance in days will do as well.
    """

    def __call__(self, query: str, now: datetime) -> NamedTime | tuple[float, float] | None: ...


def extracted(extractor: AnchorExtractor, query: str, now_us: int, zone: tzinfo) -> Anchor | None:
    """What an extractor finds; its failures, and answers that are no time, raise InvalidInput."""
    now = Now.of(now_us, zone)
    if now is None:
        return None
    try:
        found = extractor(query, now.local)
        if found is None:
            return None
        if isinstance(found, tuple):
            found = NamedTime(now.local - timedelta(days=found[0]), timedelta(days=found[1]))
        centre, tolerance = to_us(found.when), found.tolerance // timedelta(microseconds=1)
    except Exception as error:  # an extractor is the caller's own code, which may raise anything
        message = f"the time extractor failed with {type(error).__name__}: {str(error)[:200]}"
        raise InvalidInput(message, code="extractor_failed") from error
    start = query.find(found.phrase) if found.phrase else -1
    span = (start, start + len(found.phrase)) if start >= 0 else (0, 0)
    window = Reading(centre, tolerance, centre - tolerance, centre + tolerance)
    return anchor_at(query, span, now_us, window)


class Rules(Protocol):
    """Finds the time a query names, if any, seen from `now_us` in a time zone."""

    def __call__(self, query: str, now_us: int, zone: tzinfo) -> Anchor | None: ...


def proximity(distance_us: int, tolerance_us: int, fade_us: int | None = None) -> float:
    """1 within the tolerance, from there linearly to 0 over twice the tolerance, or over twice `fade_us` if that is given."""
    distance = abs(distance_us)
    if tolerance_us <= 0:
        return 0.0
    if distance <= tolerance_us:
        return 1.0
    return max(0.0, 1.0 - (distance - tolerance_us) / (2 * (fade_us or tolerance_us)))


def anchor_at(query: str, span: tuple[int, int], now_us: int, reading: Reading, vague: bool = False) -> Anchor:
    """The anchor of a phrase that has been read."""
    start, end = span
    return Anchor(
        phrase=query[start:end],
        start=start,
        end=end,
        centre_us=reading.centre_us,
        tolerance_us=reading.tolerance_us,
        days_before=(now_us - reading.centre_us) / DAY,
        tolerance_days=reading.tolerance_us / DAY,
        first_us=reading.first_us,
        last_us=reading.last_us,
        fade_us=reading.fade_us,
        vague=vague,
    )


# Form, days before now (for each of the number, if it begins with one), tolerance in days.
_TEMPLATES = (
    (r"(?<![0-9][.,])[0-9]{1,5} days? ago", 1, 2),
    (r"a couple (?:of )?days? ago", 2, 2),
    (r"yesterday", 1, 1),
    (r"(?<![0-9][.,])[0-9]{1,5} weeks? ago", 7, 5),
    (r"(?:a|last) week(?: ago)?", 7, 3),
    (r"(?<![0-9][.,])[0-9]{1,5} months? ago", 30, 10),
    (r"(?:a|last) month(?: ago)?", 30, 7),
    (r"(?:a|last) year(?: ago)?", 365, 30),
    (r"recently", 14, 14),
)
_TEMPLATE = re.compile(
    rf"\b(?=[0-9alyr])(?:{'|'.join(f'({form})' for form, _, _ in _TEMPLATES)})\b".replace(" ", r"\s{1,4}"),
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class TemplatedExtractor:
    """memini's first list and nothing beyond it; the first template of the list that matches wins."""

    def __call__(self, query: str, now_us: int, zone: tzinfo) -> Anchor | None:
        now = Now.of(now_us, zone)
        found = min(_TEMPLATE.finditer(query), key=lambda match: match.lastindex or 0, default=None)
        if now is None or found is None or found.lastindex is None:
            return None
        _, days, tolerance = _TEMPLATES[found.lastindex - 1]
        count = int(found[0].split()[0]) if found[0][0].isdigit() else 1
        reading = now.ago(count * days, tolerance)
        return anchor_at(query, found.span(), now_us, reading) if reading else None


def _rows_by_head() -> dict[str, tuple[Phrase, ...]]:
    rows: dict[str, tuple[Phrase, ...]] = {}
    for phrase in PHRASES:
        for head in phrase.heads:
            rows[head] = (*rows.get(head, ()), phrase)
    return rows


_ROWS = _rows_by_head()
_WORD = re.compile(r"\b[0-9A-Za-z]{3,10}\b")
# Patterns that ignore case take these for i, s and k, but no table of words holds them.
_FOREIGN_LETTERS = str.maketrans(dict.fromkeys("ıİſ\u212a", "é"))


@dataclass(frozen=True, slots=True)
class EnglishExtractor:
    """Relative phrases, weekdays, dates, months, seasons and years, as English writes them.

    A date with its year wins over all else, "recently" only if nothing else is named, what lies ahead only beside no other time,
    and otherwise the first phrase.
    """

    def __call__(self, query: str, now_us: int, zone: tzinfo) -> Anchor | None:
        now = Now.of(now_us, zone)
        if now is None:
            return None
        read = query if query.isascii() else query.translate(_FOREIGN_LETTERS)
        built = compound(read, now, _simple)
        if built is not None:
            return anchor_at(query, built[:2], now.us, built[2])
        named = _named(read, now)
        if named is not None and not named.vague:
            return named
        coming = ahead(read, now)
        return named if coming is None else anchor_at(query, coming[:2], now.us, coming[2])


def _named(read: str, now: Now) -> Anchor | None:
    best: tuple[int, Anchor] | None = None
    held = Held(read)
    for place, rows in islice(_announced(read), _MOST_HEADS):
        better = [row for row in rows if (best is None or row.rank < best[0]) and held(row.also)]
        best = _first(read, place, better, now) or best
        if best and best[0] == EXPLICIT:
            break
    return best[1] if best else None


def _simple(text: str, now: Now) -> tuple[int, int, Reading] | None:
    """The simple phrase of a short text, for phrases that are built from others."""
    found = _named(text, now)
    if found is None or found.vague:
        return None
    return found.start, found.end, Reading(found.centre_us, found.tolerance_us, found.first_us, found.last_us)


def _first(query: str, place: int, rows: Iterable[Phrase], now: Now) -> tuple[int, Anchor] | None:
    """The phrase around a place that ranks first, then starts first."""
    best: tuple[int, Anchor] | None = None
    for row in rows:
        if best and row.rank > best[0]:
            break
        found = _covering(row, query, place)
        reading = row.read(found, now) if found else None
        if found and reading and (best is None or found.start() < best[1].start):
            best = row.rank, anchor_at(query, found.span(), now.us, reading, row.rank == VAGUE)
    return best


def _announced(query: str) -> Iterator[tuple[int, tuple[Phrase, ...]]]:
    """Where a word stands that announces a time phrase, and the rows it may belong to."""
    for word in _WORD.finditer(query):
        text = word[0]
        rows = _ROWS[YEAR] if len(text) == 4 and text.isdigit() else _ROWS.get(text.lower())
        if rows:
            yield word.start(), rows


def _covering(row: Phrase, query: str, place: int) -> re.Match[str] | None:
    """The match of a row that covers a place."""
    for found in row.pattern.finditer(query, max(0, place - _LONGEST), place + _LONGEST):
        if found.start() > place:
            return None
        if found.end() > place:
            return found
    return None
