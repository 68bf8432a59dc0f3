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


# What was so, what is so now, and a question for it: durations, dates, versions, addresses, prices, tools, people, names.
CHANGES = [
    ("The backend runs on Heroku.", "We moved the backend from Heroku to Kubernetes.", "Where does the backend run?"),
    ("The office is cleaned by Anna.", "We replaced Anna with Ben in the office.", "Who is cleaning the office?"),
    ("response time is 800 ms", "response time now 250 ms", "what's the response time?"),
    ("The launch deadline is March 3.", "The launch deadline was moved to March 17.", "When is the launch deadline?"),
    ("The launch is on March 3.", "We postponed the launch to March 17.", "When is the launch?"),
    (
        "Our dentist appointment is on Tuesday at 9:30.",
        "The dentist appointment was rescheduled to Thursday at 14:00.",
        "When is the dentist appointment?",
    ),
    (
        "We run Python 3.9 on the servers.",
        "We upgraded the servers to Python 3.12.",
        "Which Python version do the servers run?",
    ),
    (
        "The project uses Django version 4.1.",
        "I upgraded the project to Django 5.0 last night.",
        "What version of Django does the project use?",
    ),
    ("Node version: 16.2", "We are on Node 20.1 now", "Which version of Node are we on?"),
    ("The office is at 12 Baker Street.", "The office moved to 48 King Street.", "What is the address of the office?"),
    ("My address is 5 Elm Road, Leeds.", "I moved, my new address is 91 Oak Lane, York.", "What is my address?"),
    ("The rent is $900 a month.", "They raised the rent to $975 a month.", "How much is the rent?"),
    ("A ticket costs €25.", "Tickets cost €32 from June on.", "How much does a ticket cost?"),
    (
        "The budget for the kitchen is 12,000 euros.",
        "We increased the kitchen budget to 15,500 euros.",
        "What is the kitchen budget?",
    ),
    ("I weigh 82 kg.", "I weigh 78 kg now.", "How much do I weigh?"),
    ("My salary is 50,000 a year.", "My salary went up to 56,000.", "What is my salary?"),
    ("We use Jira for tickets.", "We switched from Jira to Linear for tickets.", "What do we use for tickets?"),
    (
        "The team uses Slack for chat.",
        "The team moved to Mattermost for chat.",
        "Which tool does the team use for chat?",
    ),
    ("Our database is MySQL.", "We migrated the database to PostgreSQL.", "Which database do we use?"),
    ("I live in Bergen.", "I moved to Oslo in May.", "Where do I live?"),
    ("My manager is Anna.", "Since the reorganisation my manager is Peter.", "Who is my manager?"),
    ("My favourite editor is Vim.", "I switched my editor to Helix.", "What is my favourite editor?"),
    ("The wifi password is on channel 6.", "The wifi now runs on channel 11.", "Which channel is the wifi on?"),
    ("The meeting room is 204.", "The meeting room was changed to 310.", "Which meeting room is it?"),
    (
        "The API allows 1,000 calls per day.",
        "The new quota of the API is 1,200 calls per day.",
        "How many calls per day does the API allow?",
    ),
    (
        "We have 45 sources in the library.",
        "I added more sources, the library now has 52.",
        "How many sources are in the library?",
    ),
    ("The class has 18 pupils.", "Two pupils left, so the class has 16.", "How many pupils are in the class?"),
    ("The test coverage is 65%.", "Test coverage went up to 78%.", "What is the test coverage?"),
    ("The train leaves at 8:15.", "The train leaves at 8:40 now.", "When does the train leave?"),
    ("My phone number is 555-1234.", "My new phone number is 555-9876.", "What is my phone number?"),
    ("Oscar is 6 years old.", "Oscar turned 7 years old today.", "How old is Oscar?"),
    ("The backup runs every 24 hours.", "The backup runs every 6 hours now.", "How often does the backup run?"),
    ("I run 5 km every morning.", "I run 8 km every morning these days.", "How far do I run every morning?"),
    ("Our CI is Jenkins.", "We replaced Jenkins with GitHub Actions as our CI.", "What is our CI?"),
    ("The default branch is master.", "We renamed the default branch to main.", "What is the default branch called?"),
    ("The server is named atlas.", "The server was renamed to hermes.", "What is the name of the server?"),
    ("The pool is open until 20:00.", "The pool is open until 22:00 in summer.", "Until what time is the pool open?"),
    ("The book club reads Dune.", "The book club reads Emma now.", "What does the book club read?"),
    ("My bank is Santander.", "I changed my bank to Monzo.", "Which bank do I use?"),
    (
        "The port of the service is 8080.",
        "The service listens on port 9090 now.",
        "What port does the service listen on?",
    ),
    ("timeout is set to 30 seconds", "timeout was lowered to 10 seconds", "what is the timeout?"),
]
# Two things of a kind, two times of one thing, or a question about the past.
NO_CHANGES = [
    ("The backend runs on Heroku.", "We moved the frontend from Vercel to Netlify.", "Where does the backend run?"),
    ("The backend runs on Heroku.", "We moved the wiki from Heroku to Notion.", "Where does the backend run?"),
    ("I read 12 books in March.", "I read 9 books in April.", "How many books did I read in March?"),
    ("Anna is 12 years old.", "Ben is 9 years old.", "How old is Anna?"),
    ("The kitchen costs $900.", "The bathroom costs $1,200.", "How much does the kitchen cost?"),
    ("Flight LH 400 leaves at 8:15.", "Flight LH 402 leaves at 9:40.", "When does flight LH 400 leave?"),
    (
        "The deadline of project Alpha is March 3.",
        "The deadline of project Beta is March 9.",
        "When is the deadline of project Alpha?",
    ),
    ("We use Jira for tickets.", "Linear is a nice tool, Anna says.", "What do we use for tickets?"),
    ("I live in Bergen.", "Anna moved to Oslo.", "Where do I live?"),
    ("I live in Bergen.", "I went to Oslo in May.", "Where do I live?"),
    ("My manager is Anna.", "I met Peter, the manager of the shop.", "Who is my manager?"),
    ("We use Jira for tickets.", "We switched from Jira to Linear for tickets.", "What did we use for tickets before?"),
    ("I moved to Oslo in May.", "I moved the sofa to Peter's flat.", "Where do I live?"),
    ("Our database is MySQL.", "We migrated the wiki to Confluence.", "Which database do we use?"),
    (
        "The response time of the API is 800 ms",
        "The response time of the login page is now 250 ms",
        "What is the response time of the API?",
    ),
    ("The class has 18 pupils.", "The class has 3 teachers.", "How many pupils are in the class?"),
    ("We have 45 sources in the library.", "The library has 52 chairs now.", "How many sources are in the library?"),
    ("The rent is $900.", "The deposit is $1,800.", "How much is the rent?"),
    ("Caroline painted a lake in 2022.", "Caroline painted a horse in 2023.", "What did Caroline paint?"),
    ("The team uses Slack for chat.", "The team met in Berlin to chat.", "Which tool does the team use for chat?"),
    ("My favourite editor is Vim.", "Peter switched his editor to Helix.", "What is my favourite editor?"),
    ("Melanie: I ran 5 miles on Sunday.", "Melanie: I ran 3 miles on Monday.", "How far did Melanie run?"),
    ("The port of the service is 8080.", "The service was restarted 3 times.", "What port does the service listen on?"),
    ("The book club reads Dune.", "The book club meets on Monday now.", "What does the book club read?"),
    ("I have two cats, Oscar and Bailey.", "I now have a dog named Rex.", "What pets do I have?"),
    ("I visited Paris in 2019.", "I visited Rome in 2021.", "Which cities have I visited?"),
    ("Tests: 120 passed.", "Docs: 14 pages now.", "How many tests passed?"),
]


@pytest.mark.parametrize(("old", "new", "question"), CHANGES)
def test_what_changed_is_replaced(old, new, question):
    assert replaced(records(old, new), question) == {"0": "1"}


@pytest.mark.parametrize(("old", "new", "question"), NO_CHANGES)
def test_what_did_not_change_stays(old, new, question):
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
