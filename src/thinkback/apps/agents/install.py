"""The hooks in an agent's configuration: what would be written, and what is there; everything else in the file stays.

Claude Code keeps hooks in `settings.json` and Codex in `hooks.json`, each event with groups of commands; Cursor's `hooks.json` has
a version and plain commands.
"""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from thinkback.apps.agents.events import CLAUDE_CODE, CODEX, CURSOR, EVENTS
from thinkback.apps.mcp.clients import Place
from thinkback.errors import InvalidFile, InvalidInput, did_you_mean
from thinkback.values import dataclass

MARK = " hook "  # what tells our commands from others: `… thinkback hook CLIENT`
TIMEOUT_S = 30
END_S = 3  # the most that Codex gives the end of a session
NOTES = {
    CLAUDE_CODE: "Start a new session of Claude Code; /hooks lists the hooks.",
    CODEX: "Codex asks you to review new hooks before it runs them: see /hooks.",
    CURSOR: "Cursor reads hooks.json again when it changes; open a new chat.",
}


@dataclass(frozen=True, slots=True)
class Plan:
    """The configuration file of an agent, as it is and as it would be."""

    client: str
    path: Path
    before: str
    after: str

    @property
    def changes(self) -> bool:
        """Whether anything would be written."""
        return self.before != self.after


def check_client(name: str) -> str:
    """The name, if there is such an agent."""
    if name not in EVENTS:
        raise InvalidInput(
            f"unknown agent {name!r}; known: {', '.join(EVENTS)}.{did_you_mean(name, EVENTS)}", code="unknown_client"
        )
    return name


def config_file(client: str, place: Place, project: bool) -> Path:
    """Where an agent looks for hooks: the user's file, or the project's."""
    codex = Path(place.environ.get("CODEX_HOME") or place.home / ".codex")
    claude = Path(place.environ.get("CLAUDE_CONFIG_DIR") or place.home / ".claude")
    users = {
        CLAUDE_CODE: claude / "settings.json",
        CODEX: codex / "hooks.json",
        CURSOR: place.home / ".cursor" / "hooks.json",
    }
    projects = {CLAUDE_CODE: ".claude/settings.local.json", CODEX: ".codex/hooks.json", CURSOR: ".cursor/hooks.json"}
    return place.folder / projects[client] if project else users[client]


def installing(client: str, path: Path, program: Sequence[str]) -> Plan:
    """The plan that adds our hooks, or brings them up to date."""
    data = _read(path)
    bare = without(data)
    hooks = bare.setdefault("hooks", {})
    if not isinstance(hooks, dict) or not all(isinstance(hooks.get(name, []), list) for name in EVENTS[client]):
        raise InvalidFile(
            f"hooks in {path} have a form that cannot be changed safely; nothing was written", code="not_hooks"
        )
    if client == CURSOR:
        bare = {"version": 1, **bare}
    for name in EVENTS[client]:
        bare["hooks"][name] = [*hooks.get(name, []), entry(client, program, name)]
    return Plan(client, path, _text(path), _written(bare))


def uninstalling(client: str, path: Path) -> Plan:
    """The plan that takes our hooks out and leaves the rest."""
    before = _text(path)
    data = _read(path)
    rest = without(data)
    return Plan(
        client, path, before, before if rest == data else _written(rest) if rest not in ({}, {"version": 1}) else ""
    )


def installed(path: Path) -> list[str]:
    """The events that have a hook of ours."""
    hooks = _read(path).get("hooks")
    return [name for name, rows in hooks.items() if _ours(rows)] if isinstance(hooks, dict) else []


def entry(client: str, program: Sequence[str], event: str) -> dict[str, Any]:
    """Our entry for one event."""
    command = shlex.join([*program, "hook", client])
    timeout = END_S if (client, event) == (CODEX, "SessionEnd") else TIMEOUT_S
    if client == CURSOR:
        return {"command": command, "timeout": timeout}
    return {"hooks": [{"type": "command", "command": command, "timeout": timeout}]}


def without(data: dict[str, Any]) -> dict[str, Any]:
    """The configuration without our hooks, and without events that only we had."""
    hooks = data.get("hooks")
    if not isinstance(hooks, dict):
        return dict(data)
    kept = {name: _others(rows) for name, rows in hooks.items()}
    kept = {name: rows for name, rows in kept.items() if rows or not _ours(hooks[name])}
    rest = {name: value for name, value in data.items() if name != "hooks"}
    return {**data, "hooks": kept} if kept or not hooks else rest


def _others(rows: Any) -> Any:
    if not isinstance(rows, list):
        return rows
    return [kept for row in rows for kept in _without_ours(row)]


def _without_ours(row: Any) -> list[Any]:
    """A command or a group of commands without ours; nothing if nothing else was in it."""
    if _is_ours(row):
        return []
    if not isinstance(row, dict) or not isinstance(row.get("hooks"), list):
        return [row]
    commands = [one for one in row["hooks"] if not _is_ours(one)]
    return [{**row, "hooks": commands}] if commands or not row["hooks"] else []


def _ours(rows: Any) -> bool:
    return isinstance(rows, list) and any(
        _is_ours(row) or (isinstance(row, dict) and _ours(row.get("hooks"))) for row in rows
    )


def _is_ours(row: Any) -> bool:
    command = row.get("command") if isinstance(row, dict) else None
    return isinstance(command, str) and "thinkback" in command and any(f"{MARK}{name}" in command for name in EVENTS)


def _read(path: Path) -> dict[str, Any]:
    text = _text(path)
    try:
        data = json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise InvalidFile(f"{path} is not plain JSON ({error}); nothing was written", code="not_json") from None
    if not isinstance(data, dict):
        raise InvalidFile(f"{path} is JSON, but not an object; nothing was written", code="not_json")
    return data


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _written(data: dict[str, Any]) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
