"""Every time phrase with the window it means, read on Wednesday the 15th of May 2024 at 15:00 UTC."""

from datetime import UTC

import pytest

from recollect.clock import DAY, to_us
from recollect.query.time import EnglishExtractor

NOW = to_us("2024-05-15T15:00:00Z")
HALF = 0.5
HOUR = 1 / 24

# How many days before now, give or take how many.
RELATIVE = [
    # a number of units
    ("What did I eat 3 days ago?", "3 days ago", 3, 2),
    ("1 day ago", "1 day ago", 1, 2),
    ("0 days ago", "0 days ago", 0, 2),
    ("what was decided 10 days ago", "10 days ago", 10, 2),
    ("a day ago", "a day ago", 1, 2),
    ("four days ago", "four days ago", 4, 2),
    ("twenty-one days ago", "twenty-one days ago", 20 + 1, 2),
    ("Forty Five days ago", "Forty Five days ago", 40 + 5, 2),
    ("the note from 2 weeks ago", "2 weeks ago", 2 * 7, 5),
    ("1 week ago", "1 week ago", 1 * 7, 5),
    ("one week ago", "one week ago", 1 * 7, 5),
    ("three weeks ago", "three weeks ago", 3 * 7, 5),
    ("Three  Weeks\tAgo", "Three  Weeks\tAgo", 3 * 7, 5),
    ("eleven weeks ago", "eleven weeks ago", 11 * 7, 5),
    ("2 months ago", "2 months ago", 2 * 30, 10),
    ("six months ago", "six months ago", 6 * 30, 10),
    ("12 MONTHS AGO", "12 MONTHS AGO", 12 * 30, 10),
    ("2 years ago", "2 years ago", 2 * 365, 2 * 30),
    ("Where did Caroline move from 4 years ago?", "4 years ago", 4 * 365, 4 * 30),
    ("six years ago", "six years ago", 6 * 365, 6 * 30),
    ("ten years ago", "ten years ago", 10 * 365, 180),
    ("3 hours ago", "3 hours ago", 3 * HOUR, 3 * HOUR),
    ("an hour ago", "an hour ago", 1 * HOUR, 3 * HOUR),
    ("30 minutes ago", "30 minutes ago", 30 / 1440, 1 * HOUR),
    ("a fortnight ago", "a fortnight ago", 14, 5),
    ("two fortnights ago", "two fortnights ago", 2 * 14, 5),
    # a single one
    ("a week ago", "a week ago", 7, 3),
    ("about a week ago we spoke", "a week ago", 7, 3),
    ("a month ago", "a month ago", 30, 7),
    ("more than a month ago", "a month ago", 30, 7),
    ("a year ago", "a year ago", 365, 30),
    ("almost a year ago today", "a year ago", 365, 30),
    # halves
    ("half a year ago", "half a year ago", 0.5 * 365, 30),
    ("half an hour ago", "half an hour ago", 0.5 * HOUR, 3 * HOUR),
    ("two and a half years ago", "two and a half years ago", 2.5 * 365, 2.5 * 30),
    ("a year and a half ago", "a year and a half ago", 1.5 * 365, 1.5 * 30),
    ("a week and a half ago", "a week and a half ago", 1.5 * 7, 5),
    ("2 1/2 years ago", "2 1/2 years ago", 2.5 * 365, 2.5 * 30),
    ("1/2 hour ago", "1/2 hour ago", 0.5 * HOUR, 3 * HOUR),
    ("1/2 an hour ago", "1/2 an hour ago", 0.5 * HOUR, 3 * HOUR),
    ("3/4 year ago", "3/4 year ago", 0.75 * 365, 30),
    # sums: a month is .44 and a year .25 of a day longer than the round number
    ("two years and three months ago", "two years and three months ago", 2 * 365 + 3 * 30, 10 + 2 * 0.25 + 3 * 0.44),
    ("What did I buy 2 years, 3 months ago?", "2 years, 3 months ago", 2 * 365 + 3 * 30, 10 + 2 * 0.25 + 3 * 0.44),
    ("2 years 3 months ago", "2 years 3 months ago", 2 * 365 + 3 * 30, 10 + 2 * 0.25 + 3 * 0.44),
    ("a year and a month ago", "a year and a month ago", 365 + 30, 10 + 0.25 + 0.44),
    ("1 year, 2 months, and 3 days ago", "1 year, 2 months, and 3 days ago", 365 + 60 + 3, 2 + 0.25 + 2 * 0.44),
    ("3 days and 2 hours ago", "3 days and 2 hours ago", 3 + 2 * HOUR, 3 * HOUR),
    ("two weeks & 3 days ago", "two weeks & 3 days ago", 2 * 7 + 3, 2),
    ("two and a half years and 1 month ago", "two and a half years and 1 month ago", 2.5 * 365 + 30, 10 + 0.625 + 0.44),
    ("he came for 3 days, 2 weeks ago", "2 weeks ago", 2 * 7, 5),
    # vague amounts
    ("a couple of days ago", "a couple of days ago", 2, 2),
    ("a couple days ago", "a couple days ago", 2, 2),
    ("a couple of weeks ago", "a couple of weeks ago", 2 * 7, 5),
    ("a couple months ago", "a couple months ago", 2 * 30, 10),
    ("a couple of years ago", "a couple of years ago", 2 * 365, 2 * 30),
    ("a few days ago", "a few days ago", 3, 2 * 2),
    ("a few weeks ago", "a few weeks ago", 3 * 7, 5 * 2),
    ("a few months ago", "a few months ago", 3 * 30, 10 * 2),
    ("a few years ago", "a few years ago", 3 * 365, 3 * 30 * 2),
    ("several days ago", "several days ago", 5, 2 * 2),
    ("several weeks ago", "several weeks ago", 5 * 7, 5 * 2),
    # yesterday and its kin
    ("yesterday", "yesterday", 1, 1),
    ("What did Joanna write yesterday that made her smile?", "yesterday", 1, 1),
    ("Yesterday's lunch", "Yesterday", 1, 1),
    ("yesterday evening", "yesterday evening", 1, 1),
    ("last night", "last night", 1, 1),
    ("the day before yesterday", "the day before yesterday", 2, 1),
    # the last one
    ("last week", "last week", 7, 3),
    ("last week's meeting", "last week", 7, 3),
    ("What did we plan LAST WEEK?", "LAST WEEK", 7, 3),
    ("last month", "last month", 30, 7),
    ("last year", "last year", 365, 30),
    ("did prices fall last year", "last year", 365, 30),
    ("how long may last year's stock hold", "last year", 365, 30),
    ("Where did John explore on a road trip last year?", "last year", 365, 30),
    # until now
    ("in the last 3 days", "last 3 days", 3 / 2, 3 / 2),
    ("over the past two weeks", "past two weeks", 14 / 2, 14 / 2),
    ("in the past few days", "past few days", 3 / 2, 3 / 2),
    ("the last couple of months", "last couple of months", 60 / 2, 60 / 2),
    ("during the last 24 hours", "last 24 hours", 1 / 2, 1 / 2),
    ("over the past week", "the past week", 7 / 2, 7 / 2),
    ("this past month", "this past month", 30 / 2, 30 / 2),
    ("in the past year", "the past year", 365 / 2, 365 / 2),
    # only vaguely
    ("What did Melanie paint recently?", "recently", 14, 14),
    ("how have I slept lately", "lately", 14, 14),
]

# The centre on the calendar, give or take how many days.
CALENDAR = [
    # this one: noon of a day, the middle of a period
    ("today", "today", "2024-05-15T12:00", HALF),
    ("what is on today's list", "today", "2024-05-15T12:00", HALF),
    ("earlier today", "earlier today", "2024-05-15T12:00", HALF),
    ("this morning", "this morning", "2024-05-15T12:00", HALF),
    ("this afternoon", "this afternoon", "2024-05-15T12:00", HALF),
    ("tonight", "tonight", "2024-05-15T12:00", HALF),
    ("this week", "this week", "2024-05-16T12:00", 7 / 2),  # Monday the 13th to Sunday the 19th
    ("this month", "this month", "2024-05-16T12:00", 31 / 2),
    ("this year", "this year", "2024-07-02T00:00", 366 / 2),
    ("this weekend", "this weekend", "2024-05-19T00:00", 2 / 2),
    ("last weekend", "last weekend", "2024-05-12T00:00", 2 / 2),
    ("this past weekend", "this past weekend", "2024-05-12T00:00", 2 / 2),
    # weekdays
    ("last Monday", "last Monday", "2024-05-13T12:00", 1),
    ("last tuesday", "last tuesday", "2024-05-14T12:00", 1),
    ("last Wednesday", "last Wednesday", "2024-05-08T12:00", 1),
    ("What did Joanna finish last Friday?", "last Friday", "2024-05-10T12:00", 1),
    ("last Friday night", "last Friday night", "2024-05-10T12:00", 1),
    ("last Sun", "last Sun", "2024-05-12T12:00", 1),
    ("this past Saturday", "this past Saturday", "2024-05-11T12:00", 1),
    ("this Monday", "this Monday", "2024-05-13T12:00", 1),
    ("this Wednesday", "this Wednesday", "2024-05-15T12:00", 1),
    ("this Friday", "this Friday", "2024-05-17T12:00", 1),
    ("What did we decide on Monday?", "on Monday", "2024-05-13T12:00", 1),
    ("on Wednesday", "on Wednesday", "2024-05-15T12:00", 1),
    ("on Thursday", "on Thursday", "2024-05-09T12:00", 1),
    ("What did we tell on Monday, Marcus?", "on Monday", "2024-05-13T12:00", 1),
    # days with a year
    ("on October 13, 2023", "October 13, 2023", "2023-10-13T12:00", 2),
    ("October 13 2023", "October 13 2023", "2023-10-13T12:00", 2),
    ("october 13th, 2023", "october 13th, 2023", "2023-10-13T12:00", 2),
    ("shared by John on December 1,2023", "December 1,2023", "2023-12-01T12:00", 2),
    ("Oct. 13, 2023", "Oct. 13, 2023", "2023-10-13T12:00", 2),
    ("on 1 February, 2023", "1 February, 2023", "2023-02-01T12:00", 2),
    ("16 November 2023", "16 November 2023", "2023-11-16T12:00", 2),
    ("8th December, 2023", "8th December, 2023", "2023-12-08T12:00", 2),
    ("the 21st of May 2023", "21st of May 2023", "2023-05-21T12:00", 2),
    ("may 3, 2023", "may 3, 2023", "2023-05-03T12:00", 2),
    ("2023-05-08", "2023-05-08", "2023-05-08T12:00", 2),
    ("the log of 2023-05-08T13:56:00Z", "2023-05-08T13:56:00Z", "2023-05-08T12:00", 2),
    ("on 2023/05/08.", "2023/05/08", "2023-05-08T12:00", 2),
    ("February 29, 2024", "February 29, 2024", "2024-02-29T12:00", 2),
    ("May 8-10, 2023", "May 8-10, 2023", "2023-05-09T12:00", 2 + 2 / 2),
    ("from 8 to 11 June 2023", "8 to 11 June 2023", "2023-06-10T00:00", 2 + 3 / 2),
    ("2021 May 3", "2021 May 3", "2021-05-03T12:00", 2),
    ("the log of 2021, May 3rd", "2021, May 3rd", "2021-05-03T12:00", 2),
    ("2021-May-03", "2021-May-03", "2021-05-03T12:00", 2),
    # days of a year counted from this one
    ("on May 3 last year", "May 3 last year", "2023-05-03T12:00", 2),
    ("on May 3 of last year", "May 3 of last year", "2023-05-03T12:00", 2),
    ("on May 3rd, last year", "May 3rd, last year", "2023-05-03T12:00", 2),
    ("the 3rd of May last year", "3rd of May last year", "2023-05-03T12:00", 2),
    ("on November 3 of last year", "November 3 of last year", "2023-11-03T12:00", 2),
    ("on May 8-10 last year", "May 8-10 last year", "2023-05-09T12:00", 2 + 2 / 2),
    ("on May 3 this year", "May 3 this year", "2024-05-03T12:00", 2),
    ("on May 3 two years ago", "May 3 two years ago", "2022-05-03T12:00", 2),
    # days without one: the most recent
    ("on March 14th", "March 14th", "2024-03-14T12:00", 2),
    ("on May 15", "May 15", "2024-05-15T12:00", 2),
    ("on May 16", "May 16", "2023-05-16T12:00", 2),
    ("when they met on Aug 15th", "Aug 15th", "2023-08-15T12:00", 2),
    ("the 4th of July", "4th of July", "2023-07-04T12:00", 2),
    ("on 3 June", "3 June", "2023-06-03T12:00", 2),
    ("on may 5", "may 5", "2024-05-05T12:00", 2),
    ("May 3rd was fun", "May 3rd", "2024-05-03T12:00", 2),
    ("February 29", "February 29", "2024-02-29T12:00", 2),
    # months
    ("What happened in May 2023?", "May 2023", "2023-05-15T12:00", 15),
    ("July, 2023", "July, 2023", "2023-07-15T12:00", 15),
    ("may of 2023", "may of 2023", "2023-05-15T12:00", 15),
    ("Sept 2022", "Sept 2022", "2022-09-15T12:00", 15),
    ("the beginning of November 2022", "November 2022", "2022-11-15T12:00", 15),
    ("in early March 2023", "March 2023", "2023-03-15T12:00", 15),
    ("in 2023-11", "in 2023-11", "2023-11-15T12:00", 15),
    ("When did Melanie go camping in June?", "in June", "2023-06-15T12:00", 15),
    ("in April", "in April", "2024-04-15T12:00", 15),
    ("in May", "in May", "2024-05-15T12:00", 15),
    ("in may?", "in may", "2024-05-15T12:00", 15),
    ("last May", "last May", "2023-05-15T12:00", 15),
    ("last April", "last April", "2024-04-15T12:00", 15),
    ("during December", "during December", "2023-12-15T12:00", 15),
    ("since august", "since august", "2023-08-15T12:00", 15),
    ("back in Feb", "in Feb", "2024-02-15T12:00", 15),
    ("in late September", "in late September", "2023-09-15T12:00", 15),
    ("in mid-January", "in mid-January", "2024-01-15T12:00", 15),
    ("in the second week of November", "week of November", "2023-11-15T12:00", 15),
    ("in May of last year", "May of last year", "2023-05-15T12:00", 15),
    ("in may last year", "may last year", "2023-05-15T12:00", 15),
    ("in April last year", "April last year", "2023-04-15T12:00", 15),
    ("in December this year", "December this year", "2024-12-15T12:00", 15),
    ("in May three years ago", "May three years ago", "2021-05-15T12:00", 15),
    ("on Friday in May", "in May", "2024-05-15T12:00", 15),
    # seasons
    ("in the summer of last year", "summer of last year", "2023-07-15T12:00", 45),
    ("in the fall of last year", "fall of last year", "2023-10-15T12:00", 45),
    ("in spring last year", "spring last year", "2023-04-15T12:00", 45),
    ("in the summer two years ago", "summer two years ago", "2022-07-15T12:00", 45),
    ("last summer", "last summer", "2023-07-15T12:00", 45),
    ("during the summer", "during the summer", "2023-07-15T12:00", 45),
    ("in the winter", "in the winter", "2024-01-15T12:00", 45),  # December 2023 to February 2024
    ("last winter", "last winter", "2024-01-15T12:00", 45),
    ("this spring", "this spring", "2024-04-15T12:00", 45),
    ("last spring", "last spring", "2023-04-15T12:00", 45),
    ("this past fall", "this past fall", "2023-10-15T12:00", 45),
    ("in the fall", "in the fall", "2023-10-15T12:00", 45),
    ("last autumn's harvest", "last autumn", "2023-10-15T12:00", 45),
    ("over the winter", "over the winter", "2024-01-15T12:00", 45),
    ("in late summer", "in late summer", "2023-07-15T12:00", 45),
    ("in summer 2021", "summer 2021", "2021-07-15T12:00", 45),
    ("the spring of 2022", "spring of 2022", "2022-04-15T12:00", 45),
    ("winter 2022", "winter 2022", "2023-01-15T12:00", 45),  # it begins in December 2022
    # years
    ("How often was she at the beach in 2023?", "in 2023", "2023-07-01T12:00", 120),
    ("in 1999", "in 1999", "1999-07-01T12:00", 120),
    ("since 2019", "since 2019", "2019-07-01T12:00", 120),
    ("during 2022", "during 2022", "2022-07-01T12:00", 120),
    ("in early 2022", "in early 2022", "2022-07-01T12:00", 120),
    ("in the year 2020", "in the year 2020", "2020-07-01T12:00", 120),
    ("In 2021 Caroline moved", "In 2021", "2021-07-01T12:00", 120),
    ("in 2020 was it better", "in 2020", "2020-07-01T12:00", 120),
    ("at the end of 2022", "end of 2022", "2022-07-01T12:00", 120),
    ("on Friday in 2019", "in 2019", "2019-07-01T12:00", 120),
    ("in 2021 may 3 people have come", "in 2021", "2021-07-01T12:00", 120),
]


@pytest.mark.parametrize(("query", "phrase", "days", "tolerance"), RELATIVE, ids=[row[0] for row in RELATIVE])
def test_a_relative_phrase_is_so_many_days_before_now(query, phrase, days, tolerance):
    anchor = EnglishExtractor()(query, NOW, UTC)
    assert anchor is not None
    assert anchor.phrase == phrase == query[anchor.start : anchor.end]
    assert anchor.centre_us == NOW - round(days * DAY)
    assert anchor.tolerance_us == round(tolerance * DAY)
    assert anchor.window == (
        NOW - round(days * DAY) - anchor.tolerance_us,
        NOW - round(days * DAY) + anchor.tolerance_us,
    )
    assert anchor.days_before == pytest.approx(days, abs=1e-9)
    assert anchor.tolerance_days == pytest.approx(tolerance, abs=1e-9)


@pytest.mark.parametrize(("query", "phrase", "centre", "tolerance"), CALENDAR, ids=[row[0] for row in CALENDAR])
def test_a_calendar_phrase_has_its_centre_on_the_calendar(query, phrase, centre, tolerance):
    anchor = EnglishExtractor()(query, NOW, UTC)
    assert anchor is not None
    assert anchor.phrase == phrase == query[anchor.start : anchor.end]
    assert anchor.centre_us == to_us(centre)
    assert anchor.window == (to_us(centre) - round(tolerance * DAY), to_us(centre) + round(tolerance * DAY))
    assert anchor.days_before == (NOW - to_us(centre)) / DAY
    assert anchor.tolerance_days == tolerance


def test_the_tables_are_as_long_as_they_should_be():
    assert len({row[0] for row in RELATIVE + CALENDAR}) >= 120


# No time is named here, though a word of it could be.
QUIET = [
    "",
    "   ",
    "May I ask you something?",
    "may I come in",
    "you may leave",
    "May the force be with you",
    "May 3 people join the call?",
    "may 5 people come",
    "may be in the box",
    "the 8 may be wrong",
    "Theresa May",
    "What does May think?",
    "march on",
    "march 4 miles",
    "the last march",
    "in march formation",
    "the march on Washington",
    "Will April come to the party?",
    "What did April say to June?",
    "in April's room",
    "in May's opinion",
    "an august company",
    "in august company",
    "an Augustine monk",
    "in Mar-a-Lago",
    "on Sun-Maid raisins",
    "the last word",
    "What is her last name?",
    "the last time we met",
    "at the last minute",
    "the last day of school",
    "the last week of school",
    "the last year of college",
    "the last month of her pregnancy",
    "the last Monday of the month",
    "last but not least",
    "the first and last hour",
    "a second opinion",
    "just a second",
    "wait a minute",
    "once a week",
    "twice a month",
    "an apple a day",
    "3 days a week",
    "for three weeks",
    "in three weeks",
    "two weeks before my trip",
    "within 5 days",
    "a year of magical thinking",
    "a one-year-old child",
    "1.5 years ago",
    "long ago",
    "How long ago was Caroline's 18th birthday?",
    "a while ago",
    "99999999 days ago",
    "fall over",
    "the last fall broke her hip",
    "she got over the fall",
    "the fall of Rome",
    "since the fall of the wall",
    "spring roll",
    "in spring rolls",
    "spring water",
    "a winter coat",
    "summer camp",
    "in a spring-loaded box",
    "in 2023 files",
    "in 2000 words",
    "in 1999 cases",
    "in 2048 people",
    "in 2023%",
    "in 2023.5 seconds",
    "room 2023",
    "the 1990s",
    "in the 1990s",
    "ISO 2022",
    "flight BA2023",
    "in 1066",
    "Black Friday",
    "on Fridays",
    "on Friday nights",
    "every Monday",
    "in the sun",
    "this sat well with me",
    "What did he say on mon ami?",
    "next week",
    "next Friday",
    "in May next year",
    "on May 3 next year",
    "on the 3rd of May of next year",
    "in the summer next year",
    "in the summer of next year",
    "it may last years",
    "5/6 days ago",
    "3 day\u017f ago",
    "\u017fix days ago",
    "f\u0131ve days ago",
    "f\u0130ve weeks ago",
    "3 wee\u212as ago",
    "tomorrow",
    "What month was John in Italy?",
    "What year did Tim start?",
    "Which day is it?",
    "good morning",
    "a morning person",
    "the night shift",
    "the most recent one",
    "half past 3",
    "February 30, 2023",
    "on 31 June",
    "2023-13-08",
    "2023-02-30",
    "1-800-2023-05-08-99",
    "5/8/2023",
    "v2023",
    "at 12:30",
    "from http://x.y/2023",
]


@pytest.mark.parametrize("query", QUIET, ids=lambda query: query or "(nothing)")
def test_words_that_only_look_like_a_time_name_none(query):
    assert EnglishExtractor()(query, NOW, UTC) is None


def test_the_quiet_table_is_as_long_as_it_should_be():
    assert len(set(QUIET)) >= 60
