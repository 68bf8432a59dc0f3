"""The command line in this process: `cli("recall", "cat", "--json")`."""

import io
import json
import os
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from thinkback.apps.cli import main


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one object printed."""
        (line,) = self.lines
        return line

    @property
    def lines(self) -> list[Any]:
        """One object a line."""
        return [json.loads(line) for line in self.out.splitlines()]


class Cli:
    """Runs commands on one store, without a model unless the test names one."""

    def __init__(self, store: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.store = store
        self._capsys = capsys
        self._monkeypatch = monkeypatch

    def __call__(self, *args: str, stdin: str | bytes = b"") -> Ran:
        """The command's exit code and what it printed."""
        given = stdin.encode() if isinstance(stdin, str) else stdin
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given), encoding="utf-8"))
        self._capsys.readouterr()
        with warnings.catch_warnings(), pytest.raises(SystemExit) as left:
            main(list(args))
        printed = self._capsys.readouterr()
        return Ran(int(left.value.code or 0), printed.out, printed.err)

    def ok(self, *args: str, stdin: str | bytes = b"") -> Ran:
        """The same for a command that must succeed."""
        ran = self(*args, stdin=stdin)
        assert ran.code == 0, ran.err
        return ran

    def remember(self, text: str, *args: str) -> str:
        """The id of a new memory."""
        return str(self.ok("remember", text, *args, "--json").json["id"])


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    for name in [name for name in os.environ if name.startswith("THINKBACK_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("THINKBACK_STORE", str(tmp_path / "memory.db"))
    monkeypatch.setenv("THINKBACK_EMBEDDER", "none")
    monkeypatch.chdir(tmp_path)
    return Cli(tmp_path / "memory.db", capsys, monkeypatch)
