"""Hooks in the configuration of agents: they come, are brought up to date and go, and nothing else changes."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from thinkback.apps.agents.cli import agent_app, app
from thinkback.apps.agents.events import EVENTS
from thinkback.apps.agents.install import config_file, installed, installing, uninstalling, without
from thinkback.apps.mcp.clients import Place
from thinkback.errors import InvalidFile, InvalidInput

from codes import raises  # isort: skip

PROGRAM = ["/opt/my tools/thinkback"]
OTHERS = {
    "claude-code": {
        "model": "opus",
        "hooks": {
            "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
            "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "guard hook claude-code"}]}],
        },
    },
    "codex": {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done", "timeout": 5}]}]}},
    "cursor": {
        "version": 1,
        "hooks": {"stop": [{"command": "./audit.sh"}], "afterFileEdit": [{"command": "./fmt.sh"}]},
    },
}


def test_where_each_agent_looks() -> None:
    place = Place("linux", Path("/home/ada"), Path("/src/app"), {"CODEX_HOME": "/c"})
    assert [str(config_file(client, place, project)) for client in EVENTS for project in (False, True)] == [
        "/home/ada/.claude/settings.json",
        "/src/app/.claude/settings.local.json",
        "/c/hooks.json",
        "/src/app/.codex/hooks.json",
        "/home/ada/.cursor/hooks.json",
        "/src/app/.cursor/hooks.json",
    ]


@pytest.mark.parametrize("client", EVENTS)
def test_hooks_come_and_go_and_the_rest_stays(client: str, tmp_path: Path) -> None:
    path = tmp_path / "hooks.json"
    before = json.dumps(OTHERS[client], indent=2) + "\n"
    path.write_text(before)
    plan = installing(client, path, PROGRAM)
    assert path.read_text() == before, "a plan writes nothing"
    path.write_text(plan.after)
    assert set(installed(path)) >= set(EVENTS[client])
    assert not installing(client, path, PROGRAM).changes, "installing twice changes nothing"
    moved = installing(client, path, ["/new/thinkback"])
    assert "/opt" not in moved.after
    path.write_text(moved.after)
    assert uninstalling(client, path).after == before


@pytest.mark.parametrize("client", EVENTS)
def test_a_command_survives_a_space_in_its_path(client: str, tmp_path: Path) -> None:
    assert f"'/opt/my tools/thinkback' hook {client}" in installing(client, tmp_path / "none.json", PROGRAM).after


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.text(), JSON), st.dictionaries(st.text(), JSON))
def test_what_is_not_ours_is_never_changed(rest: dict[str, object], hooks: dict[str, object]) -> None:
    data = {**rest, "hooks": hooks}
    assert without(data) == data
    assert list(without(data)) == list(data)


@pytest.mark.parametrize("text", ["{ // comments\n}", "[]", '{"hooks": []}', '{"hooks": {"Stop": {}}}'])
def test_a_file_that_cannot_be_changed_safely_is_left_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / "settings.json"
    path.write_text(text)
    with pytest.raises(InvalidFile):
        installing("claude-code", path, PROGRAM)
    assert path.read_text() == text


def test_the_commands(home: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository)
    run = CliRunner()
    file = home / ".claude" / "settings.json"
    shown = run.invoke(agent_app, ["install", "claude-code", "--dry-run"])
    assert (shown.exit_code, file.exists()) == (0, False)
    assert all(f'+    "{name}": [' in shown.output for name in EVENTS["claude-code"])
    file.parent.mkdir()
    file.write_text("{}\n")
    assert run.invoke(agent_app, ["install", "claude-code"]).exit_code == 0
    assert len(list(file.parent.glob("settings.json.*.bak"))) == 1
    status = [json.loads(line) for line in run.invoke(agent_app, ["status", "--json"]).stdout.splitlines()]
    assert {row["client"]: row["state"] for row in status if "client" in row} == {
        "claude-code": "installed",
        "codex": "not installed",
        "cursor": "not installed",
    }
    assert {row["store"]: row["exists"] for row in status if "store" in row} == {"repository": False, "user": False}
    assert "already" in run.invoke(agent_app, ["install", "claude-code"]).output
    assert run.invoke(agent_app, ["uninstall", "claude-code"]).exit_code == 0
    assert json.loads(file.read_text()) == {}
    wrong = run.invoke(agent_app, ["install", "claud-code"])
    assert isinstance(wrong.exception, InvalidInput)


def test_captures_are_reviewed(home: Path, repository: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from recorded import FACTS, FIRST, SECOND, write

    monkeypatch.chdir(repository)
    monkeypatch.setenv("THINKBACK_EMBEDDER", "none")
    write(tmp_path / "session.jsonl", FIRST, SECOND)
    run = CliRunner()
    captured = run.invoke(app, ["capture", str(tmp_path / "session.jsonl"), "--json"])
    assert (json.loads(captured.stdout)["stored"], json.loads(captured.stdout)["redacted"]) == (6, 1)
    again = run.invoke(app, ["capture", str(tmp_path / "session.jsonl"), "--json"])
    assert json.loads(again.stdout)["stored"] == 0
    rows = [json.loads(line) for line in run.invoke(app, ["capture", "--review", "--json"]).stdout.splitlines()]
    assert [row["text"] for row in rows][-1] == FACTS[0]
    assert "To remove one: thinkback forget ID" in run.invoke(app, ["capture", "--review"]).stdout
    with raises(InvalidInput, "invalid_input"):
        raise run.invoke(app, ["capture"]).exception  # type: ignore[misc]
