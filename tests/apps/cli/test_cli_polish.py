"""What makes the command line pleasant: help, hints, phrases for times, lists on a narrow terminal, the first minutes."""

import subprocess
import sys
from datetime import datetime, timedelta, timezone

import pytest
import typer.main
from codes import raises

from thinkback.apps.cli import build
from thinkback.apps.cli.output import progress
from thinkback.apps.cli.times import read_time
from thinkback.errors import InvalidInput

NOW = datetime(2026, 5, 29, 11, 0, tzinfo=timezone(timedelta(hours=2)))


def commands():
    found = {}

    def walk(command, name):
        found[name] = command
        for part, one in (getattr(command, "commands", None) or {}).items():
            walk(one, f"{name} {part}".strip())

    walk(typer.main.get_command(build()), "")
    return found


@pytest.mark.parametrize("name", sorted(commands()))
def test_help_shows_no_type_names_of_python(cli, name):
    shown = cli(*name.split(), "--help").out
    options = [line for line in shown.splitlines() if line.startswith("│ --")]
    assert not [
        line for line in options for type in ("<bool>", "<int", "<float", "<str>", "<list", "<path>") if type in line
    ]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["recall", "who", "did", "it"], 'thinkback recall "who did it"'),
        (["recall", "-n", "3", "who", "did", "it"], 'thinkback recall -n 3 "who did it"'),
        (["recall", "who", "did", "it", "--json"], 'thinkback recall "who did it" --json'),
        (["remember", "rent", "is", "due"], 'thinkback remember "rent is due"'),
    ],
)
def test_words_without_quotes_get_a_hint(cli, typed, meant):
    ran = cli(*typed)
    assert (ran.code, ran.out) == (2, "")
    assert meant in " ".join(ran.err.replace("│", " ").split())


def test_a_command_of_two_arguments_suggests_no_quotes(cli):
    ran = cli("link", "a", "b", "c")
    assert ran.code == 2
    assert "quotes" not in ran.err


# -- times -------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2026-05-08", "2026-05-08T00:00:00+00:00"),
        ("2026-05-08T13:56+02:00", "2026-05-08T13:56:00+02:00"),
        ("yesterday", "2026-05-28T00:00:00+02:00"),
        ("today", "2026-05-29T00:00:00+02:00"),
        ("3 days ago", "2026-05-26T00:00:00+02:00"),
        ("two weeks ago", "2026-05-15T00:00:00+02:00"),
        ("this week", "2026-05-25T00:00:00+02:00"),
        ("last monday", "2026-05-25T00:00:00+02:00"),
        ("May 2026", "2026-05-01T00:00:00+02:00"),
        ("8 May", "2026-05-08T00:00:00+02:00"),
        ("2 hours ago", "2026-05-29T09:00:00+02:00"),
    ],
)
def test_a_time_may_be_a_phrase(text, meant):
    """A phrase stands for the beginning of what it names, as a date stands for its midnight."""
    assert abs(read_time(text, NOW) - datetime.fromisoformat(meant)) < timedelta(milliseconds=1)


def test_a_phrase_at_midnight_counts_days_as_at_any_other_time():
    midnight = NOW.replace(hour=0)
    assert read_time("yesterday", midnight) == midnight - timedelta(days=1)


@pytest.mark.parametrize("text", ["nope", "yesterday evening or so", "", "see you yesterday"])
def test_what_is_no_time_is_an_error(text):
    with raises(InvalidInput, "not_a_time"):
        read_time(text, NOW)


def test_since_takes_what_a_question_takes(cli):
    cli.remember("old", "--created-at", "2026-05-01")
    cli.remember("new", "--created-at", "2026-05-28T15:00Z")
    found = cli.ok("recall", "", "--since", "yesterday", "--now", "2026-05-29T09:00+00:00", "--json").lines
    assert [hit["text"] for hit in found] == ["new"]
    assert [one["text"] for one in cli.ok("list", "--until", "May 27, 2026", "--json").lines] == ["old"]


# -- output ------------------------------------------------------------------------------------------------------------------------


def test_a_list_fits_eighty_columns(cli, monkeypatch):
    from thinkback.apps.cli import output

    monkeypatch.setattr(output, "PIPE_WIDTH", 80)
    cli.remember(
        "A man with a green parrot on his shoulder buys one cinnamon roll every day", "--tags", "customers,birds"
    )
    lines = cli.ok("list").out.splitlines()
    assert max(map(len, lines)) <= 80
    assert any("parrot on his shoulder buys" in line for line in lines)  # not a column of single words
    assert any("#birds" in line and "#customers" in line for line in lines)


def test_an_empty_list_says_so(cli):
    cli.remember("one")
    assert cli.ok("list", "--tags", "none-such").out.strip() == "nothing found"


def test_the_newest_have_no_score(cli):
    cli.remember("one", "--id", "one")
    shown = cli.ok("recall", "", "--explain").out
    assert "0.0000" not in shown
    assert "e+" not in shown
    assert "one of the newest" in shown


def test_progress_knows_its_total_and_the_time_left(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress("importing") as step:
        step(960, 4000)
    shown = capsys.readouterr().err
    assert "960/4000" in shown
    assert "?" not in shown.replace("\x1b[?25l", "").replace("\x1b[?25h", "")


def test_embedding_what_is_missing_tells_its_total(tmp_path):
    import thinkback
    from thinkback.testing import ToyEmbedder

    heard = []
    with thinkback.open(tmp_path / "a.db", embedder=None) as memory:
        memory.remember_many([{"text": f"number {n}"} for n in range(70)])
    with thinkback.open(tmp_path / "a.db", embedder=ToyEmbedder()) as memory:
        memory.embed_missing(lambda done, total: heard.append((done, total)))
    assert heard == [(64, 70), (70, 70)]


# -- the first minutes -------------------------------------------------------------------------------------------------------------


def test_demo_and_tour_print_json_and_keep_no_file(cli):
    questions = cli.ok("demo", "--json").lines
    assert len(questions) == 5
    assert all(one["hits"] for one in questions)
    assert [one["step"] for one in cli.ok("tour", "--json").lines][-1] == "forget"
    assert not cli.store.exists()


def test_demo_keeps_the_story_in_a_new_file_only(cli, tmp_path):
    target = str(tmp_path / "bakery.db")
    cli.ok("demo", "--store", target)
    assert len(cli.ok("list", "--store", target, "--limit", "100", "--json").lines) == 35
    assert cli("demo", "--store", target).code == 2


@pytest.mark.slow
def test_python_dash_m_is_the_command_line():
    ran = subprocess.run([sys.executable, "-m", "thinkback", "--version"], capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("thinkback ")
