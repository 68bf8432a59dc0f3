"""A day, month, season or weekday beside the year, month or week it lies in names the same time in every order.

Phrases are written out from a small grammar with the days they mean, and read on three days of two years.
"""

from collections.abc import Iterator
from datetime import UTC, date, timedelta
from itertools import product

import pytest

from thinkback.clock import from_us, to_us
from thinkback.search.query.time import EnglishExtractor

Days = tuple[date, date]  # the last one exclusive

MONTHS = {"March": 3, "May": 5, "July": 7, "November": 11}
SEASONS = {"spring": 3, "summer": 6, "fall": 9, "winter": 12}
WEEKDAYS = {"Monday": 0, "Tuesday": 1, "Thursday": 3, "Sunday": 6}
ORDINALS = {1: "1st", 3: "3rd", 12: "12th", 21: "21st"}
AROUND = ("{}", "What did we do {}?", "Was it {}, or was it not?")


def day(first: date) -> Days:
    return first, first + timedelta(days=1)


def months(year: int, month: int, count: int = 1) -> Days:
    """So many whole months; a month beyond December is one of the next year."""
    ends = [divmod(12 * year + month - 1 + more, 12) for more in (0, count)]
    first, last = (date(years, months + 1, 1) for years, months in ends)
    return first, last


def both_orders(part: str, whole: str, joints: tuple[str, ...] = (" ", ", ")) -> Iterator[str]:
    yield from (f"{part}{joint}{whole}" for joint in joints)
    yield from (f"{whole}{joint}{part}" for joint in (" ", ", "))


def in_years(today: date) -> Iterator[tuple[str, Days]]:
    this = today.year
    of = (" ", ", ", " of ")
    years = [("last year", this - 1, of), ("this year", this, of), ("next year", this + 1, of)]
    years += [("two years ago", this - 2, of[:2]), ("3 years ago", this - 3, of[:2]), ("in 2022", 2022, of[:2])]
    for (name, year, joints), (month, number), nth in product(years, MONTHS.items(), ORDINALS):
        days = (
            f"on {month} {nth}",
            f"on the {ORDINALS[nth]} of {month}",
            f"on {nth} {month}",
            f"{month} {ORDINALS[nth]}",
        )
        for form in (*days, f"on {month} the {ORDINALS[nth]}", f"in {month} on the {ORDINALS[nth]}"):
            yield from ((phrase, day(date(year, number, nth))) for phrase in both_orders(form, name, joints))
    for (name, year, joints), (month, number) in product(years, MONTHS.items()):
        for form in (f"in {month}", f"during {month}", f"back in {month}"):
            yield from ((phrase, months(year, number)) for phrase in both_orders(form, name, joints))
        early = date(year, number, 1), date(year, number, 11)
        yield from ((phrase, early) for phrase in both_orders(f"in early {month}", name, joints))
    for (name, year, joints), (season, first) in product(years, SEASONS.items()):
        for form in (f"in the {season}", f"in {season}", f"during the {season}"):
            yield from ((phrase, months(year, first, 3)) for phrase in both_orders(form, name, joints))


def in_months(today: date) -> Iterator[tuple[str, Days]]:
    away = {"last month": -1, "this month": 0, "next month": 1, "two months ago": -2}
    for (name, count), nth in product(away.items(), ORDINALS):
        first, _ = months(today.year, today.month + count)
        for phrase in both_orders(f"on the {ORDINALS[nth]}", name, (" ", ", ") if "ago" in name else (" ", " of ")):
            yield phrase, day(first.replace(day=nth))


def in_weeks(today: date) -> Iterator[tuple[str, Days]]:
    away = {"last week": -1, "this week": 0, "next week": 1, "two weeks ago": -2}
    monday = today - timedelta(days=today.weekday())
    for (name, count), (weekday, number) in product(away.items(), WEEKDAYS.items()):
        joints = (" ", ", ") if "ago" in name else (" ", " of ")
        for phrase in (*both_orders(f"on {weekday}", name, joints), f"{weekday} {name}"):
            yield phrase, day(monday + timedelta(days=7 * count + number))


@pytest.mark.parametrize("today", ["2024-05-15", "2024-01-01", "2023-12-31"])
@pytest.mark.parametrize("grammar", [in_years, in_months, in_weeks], ids=lambda grammar: grammar.__name__)
def test_every_order_names_the_same_days(grammar, today):
    now = to_us(f"{today}T15:00Z")
    wrong = []
    for (phrase, days), around in product(grammar(date.fromisoformat(today)), AROUND):
        query = around.format(phrase)
        anchor = EnglishExtractor()(query, now, UTC)
        read = anchor and (from_us(anchor.first_us).date(), from_us(anchor.last_us).date())
        if read != days:
            wrong.append((query, days, anchor))
    assert wrong == []


def test_the_grammar_says_what_it_means():
    """Written out by hand, read on Wednesday the 15th of May 2024."""
    said = {phrase: days for grammar in (in_years, in_months, in_weeks) for phrase, days in grammar(date(2024, 5, 15))}
    assert said["last year on May 3"] == (date(2023, 5, 3), date(2023, 5, 4))
    assert said["in the winter of last year"] == (date(2023, 12, 1), date(2024, 3, 1))
    assert said["next year in March"] == (date(2025, 3, 1), date(2025, 4, 1))
    assert said["last month on the 1st"] == (date(2024, 4, 1), date(2024, 4, 2))
    assert said["on Monday last week"] == (date(2024, 5, 6), date(2024, 5, 7))
    assert len(said) > 1500
