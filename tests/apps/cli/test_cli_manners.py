"""How the command line behaves: exit codes, streams, signals, odd stores, odd bytes."""

import json
import os
import signal
import stat
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import typer.main
from codes import warns

import thinkback
from thinkback.apps.cli import COMMANDS, OPTIONAL_COMMANDS, build
from thinkback.apps.cli.output import plain, shown, size
from thinkback.apps.cli.remedies import WORDS
from thinkback.errors import Action, ModelUnavailable


def own_commands():
    """Every command of this package by its full name."""
    found = {}

    def walk(command, name):
        below = getattr(command, "commands", None) or {}
        if name and not below:
            found[name] = command
        for part, one in below.items():
            if name or part not in {row.names for row in OPTIONAL_COMMANDS}:
                walk(one, f"{name} {part}".strip())

    walk(typer.main.get_command(build()), "")
    return found


# These edit the configuration of an agent, or answer it in its own words.
WITHOUT_STORE = {"agent install", "agent uninstall", "hook"}


@pytest.mark.parametrize("name", sorted(set(own_commands()) - WITHOUT_STORE))
def test_every_command_takes_a_store_and_json(name):
    options = {option for parameter in own_commands()[name].params for option in parameter.opts}
    named_by_argument = name == "move" or name.startswith("pg ")  # these take the store's address as an argument
    assert ({"--json"} if named_by_argument else {"--store", "--json"}) <= options


def test_store_wins_over_the_environment(cli, tmp_path):
    cli.ok("remember", "elsewhere", "--store", str(tmp_path / "other.db"))
    assert not cli.store.exists()
    assert len(cli.ok("list", "--store", str(tmp_path / "other.db"), "--json").lines) == 1


def test_without_any_store_named_the_data_folder_has_one(cli, monkeypatch, tmp_path):
    monkeypatch.delenv("THINKBACK_STORE")
    cli.ok("remember", "at home")
    assert (tmp_path / "data" / "thinkback" / "memory.db").exists()


# -- exit codes and streams --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "args",
    [
        ["recal", "cat"],
        ["recall"],
        ["recall", "cat", "--limti", "3"],
        ["recall", "cat", "--limit", "many"],
        ["list", "--limit", "0"],
        ["judge", "record", "q", "id", "--grade", "9"],
    ],
)
def test_wrong_usage_exits_with_two(cli, args):
    ran = cli(*args)
    assert (ran.code, ran.out) == (2, "")
    assert "Usage" in ran.err


@pytest.mark.parametrize(
    "args",
    [
        ["remember", "x", "--meta", "foo"],
        ["remember", "x", "--importance", "5"],
        ["remember", "x", "--kind", "nope"],
        ["remember", "x", "--valid-from", "2026-05-02", "--valid-to", "2026-05-01"],
        ["remember", "x", "--embedder", " "],
        ["recall", "cat", "--set", "legs"],
        ["recall", "cat", "--set", "legs.nope.limit=3"],
        ["recall", "cat", "--since", "nope"],
        ["recall", "cat", "--kind", "nope"],
        ["recall", "cat", "--recipe", "nope"],
        ["recall", "cat", "--min-trust", "7"],
        ["recipes", "show", "nope"],
        ["parse", "cat", "--now", "nope"],
        ["update", "cat"],
        ["embed"],
        ["tune", "--metric", "nope"],
        ["tune", "--split", "nope"],
        ["regress", "a.jsonl", "b.jsonl", "--metric", "nope"],
        ["bench", "own", "--recipe", "nope"],
        ["bench", "locomo", "x.json", "--level", "nope"],
        ["mcp", "install", "nosuch"],
        ["mcp", "install", "--write"],
        ["mcp", "install", "cursor", "--name", "a.b"],
    ],
    ids=" ".join,
)
def test_what_was_typed_wrong_exits_with_two(cli, args):
    cli.remember("Oscar the cat", "--id", "cat")
    ran = cli(*args)
    assert (ran.code, ran.out) == (2, "")
    assert "Traceback" not in ran.err
    assert len(cli.ok("list", "--json").lines) == 1


def test_what_a_file_has_wrong_exits_with_one(cli, tmp_path, monkeypatch):
    """The command was right; what it was given to read was not."""
    cli.remember("Oscar the cat", "--id", "cat")
    (tmp_path / "bad.jsonl").write_text('{"text": ""}\n')
    (tmp_path / "bad.toml").write_text("[legs.nope]\n")
    (tmp_path / "not.toml").write_text("= nonsense")
    (tmp_path / ".mcp.json").write_text("[]")
    (tmp_path / "empty.jsonl").write_text("")
    for args in (
        ["import", "bad.jsonl"],
        ["import", "absent.jsonl"],
        ["export", "absent/folder.jsonl"],
        ["judge", "import", "bad.jsonl"],
        ["recall", "cat", "--recipe", "bad.toml"],
        ["recall", "cat", "--recipe", "not.toml"],
        ["recipes", "show", "absent.toml"],
        ["regress", "empty.jsonl", "empty.jsonl"],
        ["tune"],
        ["mcp", "install", "claude-code", "--write"],
        ["token", "list", "--tokens", "not.toml"],
    ):
        ran = cli(*args)
        assert (ran.code, ran.out) == (1, ""), (args, ran.err)
        assert ran.err.startswith("error: ") or "\nerror: " in ran.err
    monkeypatch.setenv("THINKBACK_RECIPE", "nope")
    assert cli("recall", "cat").code == 1


def test_a_variable_that_is_no_setting_is_warned_of(cli, monkeypatch, caplog):
    """Kubernetes sets THINKBACK_SERVICE_HOST for a service of that name."""
    cli.remember("Oscar the cat")
    monkeypatch.setenv("THINKBACK_RECPIE", "default")
    cli.ok("stats")
    assert "THINKBACK_RECPIE" in caplog.text


def test_a_misspelt_command_is_answered_with_the_nearest(cli):
    assert "recall" in cli("recal", "cat").err


def test_help_and_version_succeed(cli):
    assert "thinkback COMMAND" in " ".join(cli.ok("--help").out.replace("[OPTIONS]", "").split())
    assert cli.ok("--version").out == f"thinkback {thinkback.__version__}\n"
    assert "Examples" in cli.ok("recall", "--help").out


def test_reading_never_creates_a_store(cli):
    for args in (["recall", "cat"], ["list"], ["stats"], ["doctor"], ["forget", "x"], ["export"], ["reembed"]):
        ran = cli(*args)
        assert ran.code == 1
        assert "there is no store at" in ran.err
    assert not cli.store.exists()


def test_reading_an_empty_file_leaves_it_empty(cli):
    """A file that was touched is no store yet, and looking at it must not make it one."""
    cli.store.touch()
    for args in (["recall", "cat"], ["list"], ["stats"], ["doctor"], ["forget", "x"], ["export"], ["bench", "own"]):
        ran = cli(*args)
        assert ran.code == 1
        assert f"there is no store at {cli.store}, only an empty file" in ran.err
    assert cli.ok("parse", "cat", "--json").json["mode"] == "bare"
    assert cli.store.stat().st_size == 0
    cli.ok("remember", "now it is one")
    assert len(cli.ok("list", "--json").lines) == 1


def test_warnings_go_to_stderr_and_leave_the_result_alone(cli, monkeypatch):
    monkeypatch.setenv("THINKBACK_OFFLINE", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(cli.store.parent / "cache"))
    ran = cli("remember", "a grey cat", "--embedder", "default", "--json")
    assert ran.code == 0
    assert ran.json["embedded"] is False
    assert ran.err.startswith("warning: stored without vectors")
    assert "thinkback models pull e5-small-v2" in ran.err
    ran = cli("recall", "cat", "--embedder", "default", "--json")
    assert [hit["text"] for hit in ran.lines] == ["a grey cat"]
    assert "thinkback models pull e5-small-v2" in ran.err


def test_every_remedy_has_words():
    assert set(WORDS) == set(Action)


def test_the_engine_warns_in_python_too(tmp_path):
    class Absent:
        fingerprint = "absent"
        dimensions = 3

        def embed_passages(self, texts):
            raise ModelUnavailable("gone fishing", code="gone_fishing")

        embed_query = embed_passages

    with (
        thinkback.open(tmp_path / "m.db", embedder=Absent()) as memory,
        warns("gone_fishing"),
    ):
        memory.remember("still stored")


def test_text_that_would_steer_a_terminal_is_shown_not_obeyed(cli):
    cli.ok("remember", "-", stdin="\x1b[2J beware \x07[red]not markup[/red]\x9b1m")
    out = cli.ok("recall", "beware").out
    assert "\x1b" not in out
    assert "\x07" not in out
    assert "\\x1b[2J beware \\x07[red]not markup[/red]\\x9b1m" in out
    assert plain("tab\tand\nline stay") == "tab\tand\nline stay"


def test_json_is_utf8_whatever_it_holds(cli):
    text = "naïve 猫 \U0001f408 \u202e"
    assert cli.ok("remember", text, "--json").json["text"] == text


def test_values_as_people_read_them():
    assert [shown(value) for value in (None, [], True, 0.5, ["a", 1], {"a": 1}, 0)] == [
        "–",
        "–",
        "yes",
        "0.5",
        "a, 1",
        '{"a": 1}',
        "0",
    ]
    assert [size(count) for count in (0, 999, 34_000_000, 2.5e9)] == ["0 B", "999 B", "34 MB", "2.5 GB"]


def command(*args: str) -> list[str]:
    return [sys.executable, "-m", "thinkback", *args]


def test_a_closed_pipe_is_no_traceback(cli):
    cli.ok("import", "-", stdin="".join(f'{{"text": "memory {n} {"x" * 200}"}}\n' for n in range(2000)))
    ran = subprocess.run(
        ["bash", "-c", 'set -o pipefail; "$@" | head -1', "-", *command("list", "--limit", "2000", "--json")],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert len(ran.stdout.splitlines()) == 1
    assert ran.stderr == ""
    assert ran.returncode == 141, "as shells report it of any program whose reader left"


@pytest.mark.parametrize("args", [["stats"], ["stats", "--json"], ["recipes", "show", "default"], ["export"]])
def test_a_pipe_closed_before_the_first_word_is_no_traceback_either(cli, args):
    """What is small waits in a buffer until the very end."""
    cli.remember("Oscar the cat")
    reading, writing = os.pipe()
    os.close(reading)
    ran = subprocess.run(command(*args), stdout=writing, stderr=subprocess.PIPE, text=True, timeout=120)
    os.close(writing)
    assert (ran.returncode, ran.stderr) == (141, "")


def attentive() -> None:
    """A job that a shell starts in the background ignores Ctrl-C, and so do its children: hear it again."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_leaves_quietly_and_writes_nothing(cli):
    cli.ok("remember", "before")
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    importing = subprocess.Popen(command("import", "-"), text=True, preexec_fn=attentive, **pipes)
    assert importing.stdin is not None
    for number in range(1200):  # more than two batches, so that the transaction is under way
        importing.stdin.write(json.dumps({"text": f"memory {number}"}) + "\n")
    importing.stdin.flush()
    while not Path(f"{cli.store}-wal").exists() and importing.poll() is None:
        os.sched_yield()
    importing.send_signal(signal.SIGINT)
    _, said = importing.communicate(timeout=60)
    assert importing.returncode in (130, -signal.SIGINT)
    assert "Traceback" not in said
    assert cli.ok("stats", "--json").json["memories"] == 1


# -- stores that are none ----------------------------------------------------------------------------------------------------------


def bad_file(cli, kind: str) -> Path:
    path = cli.store
    if kind == "text":
        path.write_text("these are my notes, not a database\n" * 20)
        return path
    cli.ok("remember", "Oscar the cat", "--id", "cat")
    data = bytearray(path.read_bytes())
    if kind == "cut":
        data = data[: len(data) // 2]
    elif kind == "scribbled":
        data[4096 : len(data) - 4096] = b"\xa5" * (len(data) - 8192)
    elif kind == "newer":
        data[60:64] = (9999).to_bytes(4, "big")
    elif kind == "foreign":
        data[68:72] = (1234).to_bytes(4, "big")
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("text", "is not a Thinkback store"),
        ("newer", "newer Thinkback"),
        ("foreign", "of another program"),
        ("scribbled", "damaged"),
        ("cut", "damaged"),
    ],
)
@pytest.mark.parametrize(
    "args", [["remember", "new"], ["recall", "cat"], ["doctor"], ["doctor", "--repair"], ["import", "-"], ["export"]]
)
def test_a_file_that_is_no_sound_store_is_refused_and_left_alone(cli, kind, said, args):
    path = bad_file(cli, kind)
    before = path.read_bytes()
    ran = cli(*args, stdin='{"text": "x"}\n')
    assert ran.code == 1
    assert said in ran.err + ran.out
    assert "Traceback" not in ran.err
    assert path.read_bytes() == before


def test_a_folder_is_no_store(cli, tmp_path):
    assert "is a folder" in cli("remember", "x", "--store", str(tmp_path)).err


def test_a_store_in_a_folder_that_does_not_exist_is_an_error(cli):
    ran = cli("remember", "x", "--store", "no/such/folder/m.db")
    assert ran.code == 1
    assert "create it first" in ran.err


def test_a_store_that_cannot_be_written_can_be_read(cli):
    cli.ok("remember", "Oscar the cat", "--id", "cat")
    before = cli.store.read_bytes()
    cli.store.chmod(stat.S_IREAD)
    assert cli.ok("recall", "cat", "--json").json["id"] == "cat"
    assert cli.ok("list", "--json").json["id"] == "cat"
    for args in (["remember", "x"], ["update", "cat", "--text", "y"], ["forget", "cat"]):
        ran = cli(*args)
        assert ran.code == 1
        assert (
            ran.err == f"error: {cli.store} cannot be written; make it writable, or name another with `--store FILE`\n"
        )
    assert cli.store.read_bytes() == before


def test_doctor_finds_and_mends_what_does_not_fit_the_text(cli):
    import apsw

    cli.ok("remember", "Oscar the cat", "--id", "cat")
    connection = apsw.Connection(str(cli.store))
    connection.execute("DELETE FROM fts")
    connection.close()
    ran = cli("doctor")
    assert ran.code == 1
    assert "problem" in ran.out
    assert cli("search-keywords", "Oscar", "--json").out == ""
    mended = cli("doctor", "--repair", "--json")
    assert mended.code == 0
    assert mended.json["healthy"] is True
    assert mended.json["found"] != []
    assert cli.ok("search-keywords", "Oscar", "--json").json["id"] == "cat"
    assert cli.ok("doctor").out.endswith("the store is healthy\n")


def test_no_warning_of_python_itself_reaches_the_user(cli):
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert cli.ok("remember", "quiet").err == ""


@pytest.mark.parametrize("row", [*COMMANDS, *OPTIONAL_COMMANDS], ids=lambda row: row.place)
def test_the_table_names_the_commands_of_each_part(row):
    """By these names one part is loaded without the others; an app without a name lists its own commands."""
    part = typer.main.get_command(build(row.names.split()[0]))
    found = sorted(name for name in part.commands)
    assert found == sorted(row.names.split())


def test_defaults_and_texts_need_no_pydantic(tmp_path):
    """Typer checks values by pydantic, whose import takes longer than a search."""
    script = (
        "import sys; from thinkback.apps.cli import main\n"
        "try:\n    main(['recall', 'What did Oscar eat?'])\n"
        "except SystemExit as end:\n    print(end.code, 'pydantic' in sys.modules)"
    )
    environ = {**os.environ, "THINKBACK_STORE": str(tmp_path / "none.db")}
    ran = subprocess.run([sys.executable, "-c", script], env=environ, capture_output=True, text=True, timeout=120)
    assert ran.stdout.split() == ["1", "False"], ran.stderr
