"""Updates without a language model: which of two memories seems to replace the other, and what a search makes of it."""

import numpy as np
import pytest

from thinkback.clock import DAY, to_us
from thinkback.memory import Memory
from thinkback.model import Filter, KeywordQuery, StoredRecord
from thinkback.search.query.parse import Query
from thinkback.search.signals import Scene
from thinkback.search.signals.updates import Updates
from thinkback.search.updates import replaced
from thinkback.stores.sqlite import SqliteStore
from thinkback.testing import FixedClock

OLD = "The response time of the dashboard API is 800 ms."
NEW = "I improved the dashboard API response time to 250 ms with a cache."
ASKED = "What is the response time of the dashboard API?"
COVERAGE = "What is the test coverage?"
COMMITS = "How many commits are merged into main?"


def records(*texts, **fields):
    return [StoredRecord(id=str(n), text=text, created_at=n * DAY, **fields) for n, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("old", "new", "question"),
    [
        (OLD, NEW, ASKED),
        ("The test coverage of the parser is 65%.", "Test coverage of the parser reached 78% today.", COVERAGE),
        ("We have 150 commits merged into main.", "Commits merged into main have now reached 165.", COMMITS),
        ("The sprint deadline is April 1.", "I moved the sprint deadline to April 5.", "When is the sprint deadline?"),
        ("The rent of the flat is $900.", "From May on the rent of the flat is $950.", "What is the rent of the flat?"),
    ],
)
def test_another_value_of_the_same_thing(old, new, question):
    assert replaced(records(old, new), question) == {"0": "1"}
    assert replaced(records(new, old), question) == {"0": "1"}  # the later one is the newer one, whatever it says


@pytest.mark.parametrize(
    ("old", "new", "question"),
    [
        (OLD, OLD, ASKED),  # the same value
        (OLD, "The dashboard API has 12 routes and a good response time.", ASKED),  # another unit
        (OLD, "The cache of the login page answers in 250 ms.", ASKED),  # of another thing
        (OLD, NEW, "What was the response time of the dashboard API originally?"),
        (OLD, NEW, "Who wrote the cache?"),  # nobody asks for it
        (OLD, NEW, "Can you improve the response time of the dashboard API?"),  # no value is asked for
        (OLD, NEW, "What are different ways to measure the dashboard API response time?"),
        (
            OLD,
            "The response time of the login page is 250 ms.",
            "What is the average response time of the dashboard API?",
        ),
        (OLD, "The dashboard API is fast.", ASKED),  # no value
    ],
)
def test_what_replaces_nothing(old, new, question):
    assert replaced(records(old, new), question) == {}


def test_of_several_the_newest_replaces_all():
    told = records(OLD, NEW, "The dashboard API response time is 90 ms now.")
    assert replaced(told, ASKED) == {"0": "2", "1": "2"}


def test_the_newer_one_is_raised_and_nothing_else_changes():
    told = tuple(records(OLD, NEW, "The dashboard API has a login page."))
    scene = Scene(
        Query(text=ASKED, filter=Filter(now=9 * DAY), keywords=KeywordQuery("empty", (), (), "")),
        told,
        np.array([0.9, 0.4, 0.6]),
    )
    assert Updates().values(scene) == pytest.approx([0, 0.5 + 1e-6, 0])


def test_an_assistant_replaces_nothing():
    assert replaced(records(OLD, NEW, speaker="assistant"), ASKED) == {}


def test_the_newer_one_ranks_first_says_so_and_the_store_stays_as_it_is(tmp_path):
    with Memory(SqliteStore(tmp_path / "m.db"), clock=FixedClock(to_us("2026-05-01T00:00:00Z"))) as memory:
        old = memory.remember(f"Dashboard API response time: {OLD}", created_at="2026-01-01")
        new = memory.remember(NEW, created_at="2026-02-01")
        before = memory.state().contents
        plain = memory.recall(ASKED, overrides={"signals.updates": False})
        assert ([hit.id for hit in plain], [hit.supersedes for hit in plain]) == ([old.id, new.id], [(), ()])
        found = memory.recall(ASKED)
        assert [hit.id for hit in found] == [new.id, old.id]
        assert [hit.supersedes for hit in found] == [(old.id,), ()]
        assert f"supersedes? {old.id}" in found[0].why()
        for hit in found:
            assert sum(c.delta for c in hit.contributions) == pytest.approx(hit.score, abs=1e-12)
        assert memory.state().contents == before
        memory.contest(new.id, old.id, close=True)
        assert [hit.id for hit in memory.recall(ASKED)] == [new.id]
