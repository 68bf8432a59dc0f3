"""Anchors: which phrase of several is meant, in which calendar, and what the numbers promise."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.clock import DAY, HOUR, to_us
from thinkback.search.query.time import EnglishExtractor, TemplatedExtractor, proximity

NOW = to_us("2024-05-15T15:00:00Z")
english, templated = EnglishExtractor(), TemplatedExtractor()
moments = st.datetimes(timezones=st.timezones()).map(to_us) | st.datetimes(timezones=st.just(UTC)).map(to_us)
zones = st.timezones() | st.integers(-23, 23).map(lambda hours: timezone(timedelta(hours=hours)))

WORDS = (
    "a an the in on of last this past next few couple half ago day days week weeks month months year years yesterday "
    "today recently May March Aug 3 14th 31 2023 1999 2023-05-08 summer fall Monday weekend night and before , . - 's"
)
sentences = st.lists(st.sampled_from(WORDS.split()), max_size=12).map(" ".join)


class TestWhichPhraseIsMeant:
    @pytest.mark.parametrize(
        ("query", "phrase"),
        [
            ("What did she join last weekend before April 10, 2023?", "last weekend before April 10, 2023"),
            ("What did Joanna finish last Friday on 23 January, 2022?", "23 January, 2022"),
            ("What did she start recently, as mentioned on 3 June, 2023?", "3 June, 2023"),
            ("the cake she made recently in May 2022", "May 2022"),
            ("a puppy she got two weeks before August 11, 2023", "two weeks before August 11, 2023"),
        ],
    )
    def test_a_date_with_its_year_wins(self, query, phrase):
        """Beside it, a relative phrase is relative to that date, not to now."""
        assert english(query, NOW, UTC).phrase == phrase

    def test_otherwise_the_first_phrase_wins(self):
        assert english("Did it change last week or 3 weeks ago?", NOW, UTC).phrase == "last week"
        assert english("Did it change 3 weeks ago or last week?", NOW, UTC).phrase == "3 weeks ago"

    def test_recently_is_meant_only_when_nothing_else_is_named(self):
        assert english("What did I recently say about yesterday?", NOW, UTC).phrase == "yesterday"
        assert english("the charity event he recently ran in 2024", NOW, UTC).phrase == "in 2024"

    def test_a_date_that_does_not_exist_leaves_room_for_the_next_phrase(self):
        assert english("was it February 30 or yesterday", NOW, UTC).phrase == "yesterday"


class TestTheCalendar:
    def test_today_is_the_day_of_the_asker(self):
        """15:00 UTC on the 15th is already midnight of the 16th in Tokyo; noon there is 03:00 UTC."""
        anchor = english("today", NOW, ZoneInfo("Asia/Tokyo"))
        assert anchor.centre_us == to_us("2024-05-16T12:00+09:00") == to_us("2024-05-16T03:00Z")
        assert anchor.window == (to_us("2024-05-16T00:00+09:00"), to_us("2024-05-17T00:00+09:00"))

    def test_a_date_is_noon_in_the_zone_of_the_asker(self):
        anchor = english("on May 8, 2023", NOW, ZoneInfo("America/New_York"))
        assert anchor.centre_us == to_us("2023-05-08T12:00-04:00")
        assert (anchor.first_us, anchor.last_us) == (to_us("2023-05-08T00:00-04:00"), to_us("2023-05-09T00:00-04:00"))

    def test_a_day_the_clocks_change_has_its_own_length(self):
        """Berlin put its clocks forward on the 31st of March 2024: that day lasted 23 hours."""
        anchor = english("on 2024-03-31", NOW, ZoneInfo("Europe/Berlin"))
        assert anchor.last_us - anchor.first_us == 23 * HOUR
        assert anchor.centre_us == to_us("2024-03-31T12:00+02:00")

    def test_the_year_turns_with_the_asker(self):
        """At 02:00 UTC on New Year's Day it is still 2023 in New York, so "in December" is the month that is running."""
        new_year = to_us("2024-01-01T02:00Z")
        assert english("this year", new_year, UTC).first_us == to_us("2024-01-01T00:00Z")
        assert english("this year", new_year, ZoneInfo("America/New_York")).first_us == to_us("2023-01-01T00:00-05:00")

    def test_days_ago_are_days_of_24_hours_from_now(self):
        anchor = english("3 days ago", to_us("2024-04-01T10:00Z"), ZoneInfo("Europe/Berlin"))
        assert anchor.centre_us == to_us("2024-03-29T10:00Z")

    def test_the_29th_of_february_may_be_years_back(self):
        assert english("on February 29", to_us("2023-06-01"), UTC).centre_us == to_us("2020-02-29T12:00")
        assert english("on February 29", to_us("1903-06-01"), UTC).centre_us == to_us("1896-02-29T12:00")

    @pytest.mark.parametrize(
        ("phrase", "first", "last"),
        [
            ("in 2023", "2023-01-01", "2024-01-01"),
            ("in May 2023", "2023-05-01", "2023-06-01"),
            ("in December", "2023-12-01", "2024-01-01"),
            ("in summer 2021", "2021-06-01", "2021-09-01"),
            ("winter 2022", "2022-12-01", "2023-03-01"),
            ("on May 8, 2023", "2023-05-08", "2023-05-09"),
            ("May 8-10, 2023", "2023-05-08", "2023-05-11"),
        ],
    )
    def test_an_anchor_knows_the_period_that_was_named(self, phrase, first, last):
        anchor = english(phrase, NOW, UTC)
        assert (anchor.first_us, anchor.last_us) == (to_us(first), to_us(last))

    def test_the_reach_is_the_window_and_the_period_together(self):
        """1 July 2023 ± 120 days leaves out January, which "in 2023" names all the same."""
        year = english("in 2023", NOW, UTC)
        assert year.window == (to_us("2023-07-01T12:00") - 120 * DAY, to_us("2023-07-01T12:00") + 120 * DAY)
        assert year.reach == (to_us("2023-01-01"), to_us("2024-01-01"))
        day = english("on May 8, 2023", NOW, UTC)
        assert day.reach == day.window == (to_us("2023-05-06T12:00"), to_us("2023-05-10T12:00"))


class TestTheTemplatedList:
    """SPEC 5, number for number: days before now, tolerance."""

    @pytest.mark.parametrize(
        ("query", "days", "tolerance"),
        [
            ("5 days ago", 5, 2),
            ("a couple of days ago", 2, 2),
            ("a couple days ago", 2, 2),
            ("yesterday", 1, 1),
            ("3 weeks ago", 21, 5),
            ("a week ago", 7, 3),
            ("twice a week", 7, 3),
            ("last week", 7, 3),
            ("2 months ago", 60, 10),
            ("a month ago", 30, 7),
            ("last month", 30, 7),
            ("a year ago", 365, 30),
            ("last year", 365, 30),
            ("recently", 14, 14),
        ],
    )
    def test_each_template(self, query, days, tolerance):
        anchor = templated(f"What happened {query}?", NOW, UTC)
        assert (anchor.phrase, anchor.days_before, anchor.tolerance_days) == (
            query.removeprefix("twice "),
            days,
            tolerance,
        )
        assert anchor.window == (NOW - (days + tolerance) * DAY, NOW - (days - tolerance) * DAY)

    @pytest.mark.parametrize(
        "query",
        ["three weeks ago", "2 years ago", "today", "last Friday", "in May", "May 8, 2023", "last summer", "in 2023"],
    )
    def test_it_fires_on_nothing_else(self, query):
        assert templated(query, NOW, UTC) is None

    def test_the_order_of_the_list_decides_not_that_of_the_text(self):
        assert templated("recently, last month, or 4 days ago", NOW, UTC).phrase == "4 days ago"
        assert templated("last year, last week or yesterday", NOW, UTC).phrase == "yesterday"

    @given(st.integers(0, 3000), st.sampled_from(["days", "weeks", "months"]), moments)
    def test_the_wider_extractor_agrees_with_it(self, count, unit, now):
        query = f"What did I do {count} {unit} ago?"
        assert english(query, now, UTC) == templated(query, now, UTC)


class TestProximity:
    """1 within the tolerance, linearly to 0 at three times the tolerance."""

    @pytest.mark.parametrize(
        ("distance", "value"),
        [(0, 1.0), (1, 1.0), (2, 1.0), (3, 1 - (3 - 2) / 4), (4, 0.5), (5, 0.25), (6, 0.0), (7, 0.0), (400, 0.0)],
    )
    def test_days_from_a_tolerance_of_two(self, distance, value):
        assert proximity(distance * DAY, 2 * DAY) == value == proximity(-distance * DAY, 2 * DAY)

    def test_without_a_tolerance_nothing_is_near(self):
        assert proximity(0, 0) == proximity(0, -DAY) == 0.0

    @given(st.integers(-(10**18), 10**18), st.integers(1, 10**17))
    def test_it_lies_between_0_and_1_and_never_grows_with_distance(self, distance, tolerance):
        assert 0.0 <= proximity(distance, tolerance) <= 1.0
        assert proximity(abs(distance) + 1, tolerance) <= proximity(distance, tolerance)
        assert proximity(distance, tolerance) == proximity(3 * distance, 3 * tolerance)


class TestLaws:
    @given(st.text() | sentences, moments, zones)
    def test_no_text_at_no_moment_raises(self, query, now, zone):
        for extract in (english, templated):
            anchor = extract(query, now, zone)
            if anchor is not None:
                assert anchor.phrase == query[anchor.start : anchor.end]
                assert 0 < len(anchor.phrase) <= 128
                assert anchor.tolerance_us > 0
                assert anchor.window == (
                    anchor.centre_us - anchor.tolerance_us,
                    anchor.centre_us + anchor.tolerance_us,
                )
                assert anchor.reach[0] <= anchor.window[0] < anchor.window[1] <= anchor.reach[1]
                assert anchor.reach[0] <= anchor.first_us < anchor.last_us <= anchor.reach[1]

    @given(sentences, st.datetimes(datetime(1950, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)).map(to_us))
    def test_without_a_year_the_time_is_not_in_the_future(self, query, now):
        anchor = english(query, now, UTC)
        if anchor is not None and not any(sign in anchor.phrase for sign in ("19", "20", "this", "today", "next")):
            assert anchor.first_us <= now

    @given(sentences, moments)
    def test_what_stands_around_a_query_in_brackets_moves_the_span_only(self, query, now):
        inner, outer = english(query, now, UTC), english(f"x; ({query})", now, UTC)
        if inner is not None and inner.start > 0:
            assert outer is not None
            assert (outer.phrase, outer.centre_us) == (inner.phrase, inner.centre_us)
            assert outer.start == inner.start + len("x; (")

    def test_near_the_ends_of_the_calendar_no_time_is_named(self):
        for now in (datetime.min, datetime.max):
            for extract in (english, templated):
                assert extract("yesterday, in May or on February 29", to_us(now.replace(tzinfo=UTC)), UTC) is None
