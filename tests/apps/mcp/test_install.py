"""Telling clients about the server: their configuration gains an entry and loses nothing."""

import json
import os
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from thinkback.apps.mcp.cli import app
from thinkback.apps.mcp.clients import CLIENTS, Place, client_named, entry, merged, snippet, write
from thinkback.errors import InvalidInput
from thinkback.settings import FILE

COMMAND = ["/opt/venv/bin/thinkback", "mcp", "--read-only"]
JSON_CLIENTS = [client for client in CLIENTS.values() if client.form == "json"]
CODEX = CLIENTS["codex"]


@pytest.mark.parametrize(
    ("platform", "expected"),
    [
        ("linux", "/home/ada/.config/Claude/claude_desktop_config.json"),
        ("darwin", "/home/ada/Library/Application Support/Claude/claude_desktop_config.json"),
        ("win32", "/home/ada/AppData/Roaming/Claude/claude_desktop_config.json"),
    ],
)
def test_where_claude_desktop_looks(platform: str, expected: str) -> None:
    place = Place(platform, Path("/home/ada"), Path("/project"), {})
    assert CLIENTS["claude-desktop"].file(place) == Path(expected)


def test_where_the_others_look() -> None:
    place = Place("linux", Path("/home/ada"), Path("/project"), {"CODEX_HOME": "/c"})
    assert {name: str(client.file(place)) for name, client in CLIENTS.items() if name != "claude-desktop"} == {
        "claude-code": "/project/.mcp.json",
        "cursor": "/home/ada/.cursor/mcp.json",
        "vscode": "/home/ada/.config/Code/User/mcp.json",
        "codex": "/c/config.toml",
    }


@pytest.mark.parametrize("client", CLIENTS.values(), ids=lambda client: client.name)
def test_an_entry_into_an_empty_file_is_the_snippet(client: object) -> None:
    known = client_named(client.name)  # type: ignore[attr-defined]
    text = merged(known, "", "thinkback", COMMAND)
    assert text == snippet(known, "thinkback", COMMAND)
    read = json.loads(text) if known.form == "json" else tomllib.loads(text)
    assert read == {known.table: {"thinkback": entry(known, COMMAND)}}


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=50, deadline=None)
@given(st.sampled_from(JSON_CLIENTS), st.dictionaries(st.text(), JSON_VALUES), st.dictionaries(st.text(), JSON_VALUES))
def test_what_was_there_stays_in_its_order(client: object, rest: dict[str, object], servers: dict[str, object]) -> None:
    known = client_named(client.name)  # type: ignore[attr-defined]
    before = {**rest, known.table: servers}
    after = json.loads(merged(known, json.dumps(before), "thinkback", COMMAND))
    assert after == {**before, known.table: {**servers, "thinkback": entry(known, COMMAND)}}
    assert list(after) == list(before)


@pytest.mark.parametrize("text", ["{ // a comment\n}", "[]", "not json", '{"mcpServers": []}'])
def test_a_file_that_cannot_be_read_is_left_alone(text: str) -> None:
    with pytest.raises(InvalidInput):
        merged(CLIENTS["cursor"], text, "thinkback", COMMAND)


TOML = """# my settings
model = "o9"  # the best one

[mcp_servers.other]
command = "other"

[mcp_servers.thinkback]
command = "/old/thinkback"
args = ["mcp"]

[mcp_servers.thinkback.env]
A = "1"

[profiles.fast]
model = "o9-mini"
"""


def test_comments_survive_in_toml() -> None:
    before = TOML.replace('[mcp_servers.thinkback.env]\nA = "1"\n\n', "")
    after = merged(CODEX, before, "thinkback", COMMAND)
    assert "# my settings" in after
    assert 'model = "o9"  # the best one' in after
    assert "/old/thinkback" not in after
    assert tomllib.loads(after) == {
        **tomllib.loads(before),
        "mcp_servers": {"other": {"command": "other"}, "thinkback": entry(CODEX, COMMAND)},
    }
    assert merged(CODEX, after, "thinkback", COMMAND) == after


@pytest.mark.parametrize(
    "text",
    [
        TOML,  # the entry has a table of its own below it
        'mcp_servers = { thinkback = { command = "x" } }\n',
        "broken = [",
        'text = """\n[mcp_servers.thinkback]\ncommand = "not a table"\n"""\n',
    ],
)
def test_toml_that_cannot_be_changed_safely_is_left_alone(text: str) -> None:
    with pytest.raises(InvalidInput):
        merged(CODEX, text, "thinkback", COMMAND)


def test_a_copy_of_the_old_file_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text("old")
    path.chmod(0o600)
    backup = write(path, "new", datetime(2026, 5, 8, 13, 56, tzinfo=UTC))
    assert backup == tmp_path / "config.json.20260508-135600.bak"
    assert (path.read_text(), backup.read_text(), path.stat().st_mode & 0o777) == ("new", "old", 0o600)
    assert write(tmp_path / "deep" / "new.json", "x", datetime(2026, 5, 8, tzinfo=UTC)) is None
    assert sorted(p.name for p in tmp_path.iterdir()) == ["config.json", backup.name, "deep"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    ours = [name for name in os.environ if name.startswith("THINKBACK_")]
    for name in ("APPDATA", "XDG_CONFIG_HOME", "CODEX_HOME", *ours):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_printing_changes_nothing(home: Path) -> None:
    ran = CliRunner().invoke(app, ["install", "cursor", "--store", "memory.db"])
    assert ran.exit_code == 0
    told = json.loads(ran.stdout)["mcpServers"]["thinkback"]
    assert told["args"][-3:] == ["mcp", "--store", str(home / "memory.db")]
    assert list(home.iterdir()) == []


def options(*arguments: str) -> list[str]:
    """What the client is told to start, behind `mcp`."""
    ran = CliRunner().invoke(app, ["install", "cursor", *arguments])
    assert ran.exit_code == 0, ran.output
    args = json.loads(ran.stdout)["mcpServers"]["thinkback"]["args"]
    return args[args.index("mcp") + 1 :]  # type: ignore[no-any-return]


def test_what_nobody_chose_is_left_to_the_server(home: Path) -> None:
    assert options() == []


def test_the_memory_of_the_environment_is_written_out(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client does not share the shell's variables, and would open another, empty store."""
    monkeypatch.setenv("THINKBACK_STORE", "notes/mine.db")
    monkeypatch.setenv("THINKBACK_EMBEDDER", "none")
    assert options() == ["--store", str(home / "notes" / "mine.db"), "--embedder", "none"]
    assert options("--store=other.db") == ["--store", str(home / "other.db"), "--embedder", "none"]
    assert options("--embedder=ollama:e5") == ["--store", str(home / "notes" / "mine.db"), "--embedder", "ollama:e5"]


def test_the_memory_of_the_folder_is_written_out(home: Path) -> None:
    """A client is started in a folder of its own."""
    (home / "model").mkdir()
    (home / FILE).write_text('store = "mine.db"\nembedder = "model"\n')
    assert options() == ["--store", str(home / "mine.db"), "--embedder", str(home / "model")]


def test_the_memory_of_the_user_file_is_written_out(home: Path) -> None:
    file = home / ".config" / "thinkback" / FILE
    file.parent.mkdir(parents=True)
    file.write_text('store = "/srv/memory.db"\n')
    assert options() == ["--store", "/srv/memory.db"]


def test_options_may_stand_before_install(home: Path) -> None:
    ran = CliRunner().invoke(app, ["--store", "a b.db", "--embedder", "none", "--read-only", "install", "claude-code"])
    args = json.loads(ran.stdout)["mcpServers"]["thinkback"]["args"]
    assert args[args.index("mcp") + 1 :] == ["--store", str(home / "a b.db"), "--embedder", "none", "--read-only"]
    assert f"--store '{home / 'a b.db'}'" in ran.stderr, "the command to copy survives a space"


def test_the_command_may_be_for_the_repository(home: Path) -> None:
    for written in (["--repository", "install", "cursor"], ["install", "cursor", "--repository"]):
        entry = json.loads(CliRunner().invoke(app, ["--embedder", "none", *written]).stdout)["mcpServers"]["thinkback"]
        assert entry["args"][-3:] == ["--embedder", "none", "--repository"]


def test_settings_the_client_will_not_see_are_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THINKBACK_API_KEY", "very-secret")
    (home / FILE).write_text('recipe = "precise"\n')
    said = CliRunner().invoke(app, ["install", "cursor"]).stderr
    assert "the client will not see recipe (from thinkback.toml), api_key (from the environment)" in said
    assert str(home / ".config" / "thinkback" / FILE) in said
    assert "very-secret" not in said


def test_writing_twice_writes_once(home: Path) -> None:
    runner = CliRunner()
    assert runner.invoke(app, ["install", "cursor", "--write"]).exit_code == 0
    first = (home / ".cursor" / "mcp.json").read_text()
    again = runner.invoke(app, ["install", "cursor", "--write"])
    assert "already has the entry" in again.output
    assert (home / ".cursor" / "mcp.json").read_text() == first
    assert len(list((home / ".cursor").iterdir())) == 1


def test_all_clients_are_printed(home: Path) -> None:
    ran = CliRunner().invoke(app, ["install"])
    assert ran.exit_code == 0
    assert all(client.title in ran.output for client in CLIENTS.values())


@pytest.mark.parametrize(
    "arguments", [["install", "curser"], ["install", "--write"], ["install", "cursor", "--name", "a.b"]]
)
def test_a_mistake_is_named(home: Path, arguments: list[str]) -> None:
    ran = CliRunner().invoke(app, arguments)
    assert isinstance(ran.exception, InvalidInput)
