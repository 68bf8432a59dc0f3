"""The hook as agents run it: a small process, a helper that comes and goes, and silence when something fails."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recorded import FACTS, FIRST, SECOND, SESSION, event, write  # isort: skip

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="no private sockets")]
BUDGET_S = 0.3  # of processor time
COMMAND = [sys.executable, "-m", "thinkback", "hook", "claude-code"]
NEXT = "11111111-2222-4333-8444-555555555555"


@pytest.fixture
def environment(home: Path, tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of hooks; helpers that a test leaves are ended."""
    runtime = tempfile.mkdtemp(dir="/tmp")  # the address of a socket is short
    settings = {"THINKBACK_EMBEDDER": "none", "THINKBACK_STORE": str(tmp_path / "data" / "memory.db")}
    yield {**os.environ, **settings, "XDG_RUNTIME_DIR": runtime}
    for pid in helpers(runtime):
        os.kill(pid, signal.SIGKILL)
    shutil.rmtree(runtime)


def helpers(folder: str) -> list[int]:
    """The helpers whose socket is in a folder."""
    listed = subprocess.run(
        ["ps", "-ww", "-eo", "pid,args"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return [int(line.split()[0]) for line in listed if "apps.agents.helper" in line and folder in line]


def hook(data: dict[str, Any] | str, environment: dict[str, str]) -> tuple[str, float]:
    """What a hook prints, and its own processor time."""
    given = data if isinstance(data, str) else json.dumps(data)
    before = os.times()
    ran = subprocess.run(COMMAND, input=given, env=environment, capture_output=True, text=True, check=False, timeout=60)
    after = os.times()
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout, after.children_user + after.children_system - before.children_user - before.children_system


def until(condition: Any, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_session_in_processes(environment: dict[str, str], repository: Path, tmp_path: Path) -> None:
    transcript = tmp_path / f"{SESSION}.jsonl"
    assert hook(event("SessionStart", repository, transcript, source="startup"), environment)[0] == ""
    assert len(helpers(environment["XDG_RUNTIME_DIR"])) == 1
    write(transcript, FIRST, SECOND)
    assert hook(event("Stop", repository, transcript), environment)[0] == ""
    ask = event(
        "UserPromptSubmit", repository, tmp_path / "n.jsonl", NEXT, prompt="which port does the database heron use?"
    )
    printed, spent = hook(ask, environment)
    assert FACTS[1] in json.loads(printed)["hookSpecificOutput"]["additionalContext"]
    assert spent < BUDGET_S
    assert len(helpers(environment["XDG_RUNTIME_DIR"])) == 1
    hook(event("SessionEnd", repository, transcript, reason="other"), environment)
    until(lambda: not helpers(environment["XDG_RUNTIME_DIR"]))
    assert not list(Path(environment["XDG_RUNTIME_DIR"]).rglob("*.sock"))


def test_a_helper_that_died_is_replaced(environment: dict[str, str], repository: Path, tmp_path: Path) -> None:
    start = event("SessionStart", repository, tmp_path / "t.jsonl", source="startup")
    hook(start, environment)
    (first,) = helpers(environment["XDG_RUNTIME_DIR"])
    os.kill(first, signal.SIGKILL)
    until(lambda: not helpers(environment["XDG_RUNTIME_DIR"]))
    hook(start, environment)
    (second,) = helpers(environment["XDG_RUNTIME_DIR"])
    assert second != first


def test_an_idle_helper_leaves(environment: dict[str, str], tmp_path: Path) -> None:
    socket = Path(environment["XDG_RUNTIME_DIR"]) / "idle.sock"
    command = [sys.executable, "-m", "thinkback.apps.agents.helper", str(socket), "0.2"]
    assert subprocess.run(command, env=environment, timeout=60, check=False).returncode == 0
    assert not socket.exists()


@pytest.mark.parametrize("given", ["", "not json", "[]", '{"hook_event_name": "Nothing"}'])
def test_what_is_no_event_prints_nothing(environment: dict[str, str], given: str) -> None:
    assert hook(given, environment)[0] == ""


def test_a_folder_that_others_may_enter_is_refused(
    environment: dict[str, str], tmp_path: Path, repository: Path
) -> None:
    folder = Path(environment["XDG_RUNTIME_DIR"]) / f"thinkback-{os.getuid()}"
    folder.mkdir(mode=0o755)
    assert hook(event("SessionStart", repository, tmp_path / "t.jsonl"), environment)[0] == ""
    assert helpers(environment["XDG_RUNTIME_DIR"]) == []
    assert "PermissionError" in (tmp_path / "data" / "thinkback" / "agent.log").read_text()
