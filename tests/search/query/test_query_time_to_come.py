"""Times without a year in questions about the future, asked on Wednesday, 20 May 2026."""

from datetime import UTC

import pytest

from thinkback.clock import iso, to_us
from thinkback.search.query.parse import EXTRACTORS

NOW = to_us("2026-05-20T12:00:00Z")


def days(question):
    read = EXTRACTORS["english"]
    assert read is not None
    found = read(question, NOW, UTC)
    return None if found is None else (iso(found.first_us)[:10], iso(found.last_us)[:10])


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where will we be in mid-August?", ("2026-08-11", "2026-08-21")),
        ("Where are we in mid-August?", ("2026-08-11", "2026-08-21")),
        ("What is planned for mid-August?", ("2026-08-11", "2026-08-21")),
        ("What are we doing in August?", ("2026-08-01", "2026-09-01")),
        ("What do I have on 28 May?", ("2026-05-28", "2026-05-29")),
        ("Do we have anything booked in June?", ("2026-06-01", "2026-07-01")),
        ("Will we travel at Christmas?", ("2026-12-25", "2026-12-26")),
        ("What is due on 3 June?", ("2026-06-03", "2026-06-04")),
        ("Who's going to be there on 2 January?", ("2027-01-02", "2027-01-03")),
    ],
)
def test_a_question_about_the_future_names_the_time_to_come(question, expected):
    assert days(question) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What did I do in June?", ("2025-06-01", "2025-07-01")),
        ("Where were we in August?", ("2025-08-01", "2025-09-01")),
        ("What was scheduled on 3 June?", ("2025-06-03", "2025-06-04")),
        ("What was planned in August 2023?", ("2023-08-01", "2023-09-01")),
        ("What are we doing in August 2024?", ("2024-08-01", "2024-09-01")),
        ("Who plays in June?", ("2025-06-01", "2025-07-01")),
        ("Will it be as hot as last August?", ("2025-08-01", "2025-09-01")),
    ],
)
def test_any_other_question_names_the_time_that_was(question, expected):
    assert days(question) == expected
