"""Phrases built from other phrases, with the days they name, read on Wednesday the 15th of May 2024 at 15:00 UTC."""

from datetime import UTC

import pytest

from thinkback.clock import DAY, from_us, to_us
from thinkback.search.query.time import EnglishExtractor

NOW = to_us("2024-05-15T15:00:00Z")
TODAY = "2024-05-16"  # until the end of today

# The first day named, and the day after the last one.
NAMED = [
    # parts of months, seasons and years
    ("What happened in early June?", "2023-06-01", "2023-06-11"),
    ("early June 2023", "2023-06-01", "2023-06-11"),
    ("in early March 2023", "2023-03-01", "2023-03-11"),
    ("in mid-July", "2023-07-11", "2023-07-21"),
    ("in mid-January", "2024-01-11", "2024-01-21"),
    ("late August 2022", "2022-08-21", "2022-09-01"),
    ("in late September", "2023-09-21", "2023-10-01"),
    ("the beginning of November 2022", "2022-11-01", "2022-11-11"),
    ("the end of April", "2024-04-21", "2024-05-01"),
    ("the middle of last month", "2024-04-11", "2024-04-21"),
    ("early last year", "2023-01-01", "2023-05-01"),
    ("beginning of last year", "2023-01-01", "2023-05-01"),
    ("late this year", "2024-09-01", "2025-01-01"),
    ("in early 2022", "2022-01-01", "2022-05-01"),
    ("mid 2021", "2021-05-01", "2021-09-01"),
    ("in late 2022", "2022-09-01", "2023-01-01"),
    ("at the end of 2022", "2022-09-01", "2023-01-01"),
    ("the first half of 2023", "2023-01-01", "2023-07-01"),
    ("the second half of 2023", "2023-07-01", "2024-01-01"),
    ("early spring 2023", "2023-03-01", "2023-04-01"),
    ("in late summer", "2023-08-01", "2023-09-01"),
    ("the end of last summer", "2023-08-01", "2023-09-01"),
    ("last year in early May", "2023-05-01", "2023-05-11"),
    ("Q3 2023", "2023-07-01", "2023-10-01"),
    ("H1 2023", "2023-01-01", "2023-07-01"),
    ("the first quarter of 2023", "2023-01-01", "2023-04-01"),
    # weeks, weekends and weekdays of a month
    ("the first weekend of August 2023", "2023-08-05", "2023-08-07"),
    ("the last weekend of June", "2023-06-24", "2023-06-26"),
    ("in the second week of November", "2023-11-08", "2023-11-15"),
    ("the last week of March 2024", "2024-03-25", "2024-04-01"),
    ("the last Friday of April", "2024-04-26", "2024-04-27"),
    ("the second Tuesday of March 2024", "2024-03-12", "2024-03-13"),
    ("the week of 12 June", "2023-06-12", "2023-06-19"),
    ("the week of June 12th, 2023", "2023-06-12", "2023-06-19"),
    ("the weekend of June 10, 2023", "2023-06-10", "2023-06-12"),
    ("the week starting 5 June", "2023-06-05", "2023-06-12"),
    ("the week beginning Monday, June 5, 2023", "2023-06-05", "2023-06-12"),
    ("the week ending 9 June 2023", "2023-06-03", "2023-06-10"),
    ("We met on the first weekend of August.", "2023-08-05", "2023-08-07"),
    ("two weekends ago", "2024-05-04", "2024-05-06"),
    ("a few weekends ago", "2024-04-27", "2024-04-29"),
    ("the weekend before last", "2024-05-04", "2024-05-06"),
    ("the week before last", "2024-04-29", "2024-05-06"),
    ("the month before last", "2024-03-01", "2024-04-01"),
    ("the year before last", "2022-01-01", "2023-01-01"),
    ("the summer before last", "2022-06-01", "2022-09-01"),
    ("the Friday before last", "2024-05-03", "2024-05-04"),
    ("a week ago Monday", "2024-05-06", "2024-05-07"),
    # ranges, both ends counted in
    ("between May and July 2023", "2023-05-01", "2023-08-01"),
    ("between May and July", "2023-05-01", "2023-08-01"),
    ("from May to July 2023", "2023-05-01", "2023-08-01"),
    ("May–July 2023", "2023-05-01", "2023-08-01"),
    ("between 3 May and 10 June 2023", "2023-05-03", "2023-06-11"),
    ("from June 3 to June 10, 2023", "2023-06-03", "2023-06-11"),
    ("from 12 June to 3 July", "2023-06-12", "2023-07-04"),
    ("from November to February", "2023-11-01", "2024-03-01"),
    ("from 2019 to 2021", "2019-01-01", "2022-01-01"),
    ("What was decided between 2021 and 2023?", "2021-01-01", "2024-01-01"),
    ("between Christmas and Easter", "2023-12-25", "2024-04-01"),
    ("between yesterday and today", "2024-05-14", TODAY),
    ("from 3 to 10 April", "2024-04-03", "2024-04-11"),
    ("between the 3rd and the 10th of April", "2024-04-03", "2024-04-11"),
    ("Where was I July 3-10?", "2023-07-03", "2023-07-11"),
    ("from July 3rd until the 10th", "2023-07-03", "2023-07-11"),
    ("in May and June 2023", "2023-05-01", "2023-07-01"),
    ("from late May until mid-June 2023", "2023-05-21", "2023-06-21"),
    ("between late 2021 and early 2022", "2021-09-01", "2022-05-01"),
    # from then on
    ("since early April", "2024-04-01", TODAY),
    ("since the end of last year", "2023-09-01", TODAY),
    ("since March 2023", "2023-03-01", TODAY),
    ("since august", "2023-08-01", TODAY),
    ("since 2019", "2019-01-01", TODAY),
    ("since last week", "2024-05-06", TODAY),
    ("since yesterday", "2024-05-14", TODAY),
    ("since Monday", "2024-05-13", TODAY),
    ("since last Friday", "2024-05-10", TODAY),
    ("since Christmas", "2023-12-25", TODAY),
    ("since the start of May", "2024-05-01", TODAY),
    ("after 2021", "2022-01-01", TODAY),
    ("after last summer", "2023-09-01", TODAY),
    # relative to a date
    ("the Sunday before 25 May 2023", "2023-05-21", "2023-05-22"),
    ("last weekend before April 10, 2023", "2023-04-08", "2023-04-10"),
    ("the Friday after Thanksgiving", "2023-11-24", "2023-11-25"),
    ("the week before 9 June 2023", "2023-06-02", "2023-06-09"),
    ("the weekend after 4 July 2023", "2023-07-08", "2023-07-10"),
    ("the day after Christmas", "2023-12-26", "2023-12-27"),
    ("two weeks after Christmas", "2024-01-08", "2024-01-09"),
    ("three days before 1 March 2024", "2024-02-27", "2024-02-28"),
    ("two months after Halloween 2022", "2022-12-30", "2022-12-31"),
    # holidays
    ("last Christmas", "2023-12-25", "2023-12-26"),
    ("What did John get for Christmas?", "2023-12-25", "2023-12-26"),
    ("Halloween 2022", "2022-10-31", "2022-11-01"),
    ("for Thanksgiving", "2023-11-23", "2023-11-24"),
    ("on Black Friday", "2023-11-24", "2023-11-25"),
    ("over Easter", "2024-03-31", "2024-04-01"),
    ("Easter 2023", "2023-04-09", "2023-04-10"),
    ("new year's eve 2023", "2023-12-31", "2024-01-01"),
    ("on New Year's Day", "2024-01-01", "2024-01-02"),
    ("on Valentine’s Day", "2024-02-14", "2024-02-15"),
    ("on Mother's Day", "2024-05-12", "2024-05-13"),
    ("on Labor Day 2023", "2023-09-04", "2023-09-05"),
    ("Halloween two years ago", "2022-10-31", "2022-11-01"),
    ("What did we do for Christmas 3 years ago?", "2021-12-25", "2021-12-26"),
    # what lies ahead
    ("What is on tomorrow?", "2024-05-16", "2024-05-17"),
    ("the day after tomorrow", "2024-05-17", "2024-05-18"),
    ("What am I doing next week?", "2024-05-20", "2024-05-27"),
    ("who comes this coming weekend", "2024-05-18", "2024-05-20"),
    ("what did we plan for next Friday", "2024-05-17", "2024-05-18"),
    ("next month", "2024-06-01", "2024-07-01"),
    ("one of next year's goals", "2025-01-01", "2026-01-01"),
]

# Up to a time: the day after the last one counted in.
BOUNDED = [
    ("before June 2023", "2023-06-01"),
    ("as of June 2023", "2023-07-01"),
    ("until yesterday", "2024-05-15"),
    ("by March 2024", "2024-04-01"),
    ("up to June 2022", "2022-07-01"),
    ("prior to 2020", "2020-01-01"),
    ("before Easter 2023", "2023-04-09"),
    ("What was planned before Monday?", "2024-05-13"),
    ("before mid-April", "2024-04-11"),
    ("until the end of March", "2024-04-01"),
    ("no later than April 5", "2024-04-06"),
]

QUIET = [
    "before May came",
    "after June left",
    "since May's party",
    "between may and june bugs",
    "between April and June's birthdays",
    "between 1950 and 2000 calories",
    "from 1900 to 2000 dollars",
    "before 2000 people",
    "from Monday to Friday",
    "between Monday and Friday",
    "before Sunday lunch",
    "after Sunday school",
    "a Christmas tree",
    "the Christmas party",
    "for Christmas cookies",
    "a Halloween costume",
    "for Halloween costumes",
    "the Easter bunny",
    "over Easter eggs",
    "Thanksgiving dinner",
    "Black Friday",
    "Mother's Day cards",
    "an early bird",
    "early in the morning",
    "the early days",
    "the late show",
    "a late reply",
    "the end of the road",
    "the beginning of the end",
    "the middle of nowhere",
    "the first half of the game",
    "the first week of school",
    "the last weekend of the holidays",
    "the week of the wedding",
    "two weekends a month",
    "the day before the wedding",
    "two days after the party",
    "since then",
    "since we met",
    "until further notice",
    "before breakfast",
    "by train",
    "as of now",
    "from A to B",
    "between you and me",
    "up to date",
    "the quarter of an hour",
    "from 3 to 10 people",
    "may 3 to 10 people come",
    "in may and june bugs",
    "the week starting well",
    "no later than that",
]


@pytest.mark.parametrize(("query", "first", "last"), NAMED, ids=[row[0] for row in NAMED])
def test_a_compound_phrase_names_its_days(query, first, last):
    anchor = EnglishExtractor()(query, NOW, UTC)
    assert anchor is not None
    assert (from_us(anchor.first_us).date().isoformat(), from_us(anchor.last_us).date().isoformat()) == (first, last)
    assert anchor.first_us <= anchor.centre_us <= anchor.last_us
    assert query[anchor.start : anchor.end] == anchor.phrase


@pytest.mark.parametrize(("query", "last"), BOUNDED, ids=[row[0] for row in BOUNDED])
def test_an_upper_bound_leaves_out_what_comes_later(query, last):
    anchor = EnglishExtractor()(query, NOW, UTC)
    assert anchor is not None
    assert from_us(anchor.last_us).date().isoformat() == last
    assert anchor.proximity(anchor.last_us - 1) == anchor.proximity(anchor.last_us - 400 * DAY) == 1
    assert anchor.proximity(anchor.last_us + 15 * DAY) == 0


@pytest.mark.parametrize("query", QUIET)
def test_words_that_only_look_like_a_compound_phrase_name_none(query):
    assert EnglishExtractor()(query, NOW, UTC) is None


def test_the_tables_are_as_long_as_they_should_be():
    assert len({row[0] for row in NAMED}) + len({row[0] for row in BOUNDED}) >= 80
    assert len(set(QUIET)) >= 40


def test_what_lies_ahead_raises_only_memories_of_that_time():
    anchor = EnglishExtractor()("what is on tomorrow?", NOW, UTC)
    assert anchor is not None
    assert anchor.proximity(anchor.centre_us) == 1
    assert anchor.proximity(NOW) == 0


def test_vague_words_are_read_but_marked():
    anchor = EnglishExtractor()("how have I slept lately", NOW, UTC)
    assert anchor is not None
    assert anchor.vague
    assert not EnglishExtractor()("how did I sleep yesterday", NOW, UTC).vague
