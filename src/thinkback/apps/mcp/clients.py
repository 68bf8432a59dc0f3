"""Where MCP clients keep their configuration, and how to add an entry without changing the rest."""

import json
import os
import shutil
import tomllib
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from thinkback.errors import InvalidInput, did_you_mean
from thinkback.values import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """The machine, as far as it decides where configuration files are."""

    platform: str  # a value of sys.platform
    home: Path
    folder: Path  # the current project
    environ: Mapping[str, str]

    @property
    def applications(self) -> Path:
        """The settings folder of desktop programs."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        if self.platform == "win32":
            return Path(self.environ.get("APPDATA") or self.home / "AppData" / "Roaming")
        return Path(self.environ.get("XDG_CONFIG_HOME") or self.home / ".config")


@dataclass(frozen=True, slots=True)
class Client:
    """A client, and the table in its configuration file that lists servers."""

    name: str
    title: str
    table: str
    form: Literal["json", "toml"] = "json"
    typed: bool = False  # whether an entry has a type
    note: str = ""

    def file(self, place: Place) -> Path:
        """The configuration file."""
        return {
            "claude-desktop": place.applications / "Claude" / "claude_desktop_config.json",
            "claude-code": place.folder / ".mcp.json",
            "cursor": place.home / ".cursor" / "mcp.json",
            "vscode": place.applications / "Code" / "User" / "mcp.json",
            "codex": Path(place.environ.get("CODEX_HOME") or place.home / ".codex") / "config.toml",
        }[self.name]


CLIENTS: dict[str, Client] = {
    client.name: client
    for client in (
        Client("claude-desktop", "Claude Desktop", "mcpServers", note="Restart Claude Desktop to load it."),
        Client(
            "claude-code",
            "Claude Code",
            "mcpServers",
            typed=True,
            note="This is the project's file; for all projects run: claude mcp add --scope user thinkback -- COMMAND",
        ),
        Client("cursor", "Cursor", "mcpServers"),
        Client("vscode", "VS Code", "servers", typed=True),
        Client("codex", "Codex", "mcp_servers", form="toml"),
    )
}


def client_named(name: str) -> Client:
    """The client of that name."""
    if name not in CLIENTS:
        known = f"known: {', '.join(CLIENTS)}.{did_you_mean(name, CLIENTS)}"
        raise InvalidInput(f"unknown client {name!r}; {known}", code="unknown_client")
    return CLIENTS[name]


def entry(client: Client, command: Sequence[str]) -> dict[str, Any]:
    """The configuration of the server."""
    started = {"command": command[0], "args": list(command[1:])}
    return {"type": "stdio", **started} if client.typed else started


def snippet(client: Client, name: str, command: Sequence[str]) -> str:
    """The entry as text for the client's file."""
    table = {client.table: {name: entry(client, command)}}
    if client.form == "json":
        return json.dumps(table, indent=2, ensure_ascii=False) + "\n"
    import tomli_w

    return tomli_w.dumps(table).replace(f"[{client.table}]\n\n", "").replace(f"[{client.table}]\n", "")


def merged(client: Client, before: str, name: str, command: Sequence[str]) -> str:
    """The file's text with our entry added or replaced and everything else unchanged; refuses a file it cannot parse."""
    if client.form == "json":
        return _merged_json(client, before, name, command)
    after = _merged_toml(client, before, name, command)
    _check_toml(client, before, after, name, command)
    return after


def write(path: Path, text: str, now: datetime) -> Path | None:
    """Replace the file atomically; returns the copy of the previous one, if there was one."""
    backup = None
    if path.exists():
        backup = path.with_name(f"{path.name}.{now:%Y%m%d-%H%M%S}.bak")
        shutil.copy2(path, backup)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.thinkback")
    beside.write_text(text, encoding="utf-8")
    if backup is not None:
        shutil.copymode(backup, beside)
    os.replace(beside, path)
    return backup


def _merged_json(client: Client, before: str, name: str, command: Sequence[str]) -> str:
    data = _read_json(before)
    servers = data.setdefault(client.table, {})
    if not isinstance(servers, dict):
        raise InvalidInput(
            f"{client.table} in the configuration of {client.title} is not an object; nothing was changed"
        )
    servers[name] = entry(client, command)
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _read_json(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise InvalidInput(
            f"the configuration is not plain JSON ({error}), it may have comments; add the entry by hand"
        ) from None
    if not isinstance(data, dict):
        raise InvalidInput("the configuration is JSON, but not an object; nothing was changed")
    return data


def _merged_toml(client: Client, before: str, name: str, command: Sequence[str]) -> str:
    """Replace or add our table as text, which keeps comments and order."""
    ours = f"[{client.table}.{name}]"
    kept: list[str] = []
    inside = False
    for line in before.splitlines(keepends=True):
        if line.lstrip().startswith("["):
            inside = line.split("#")[0].strip() == ours
        if not inside:
            kept.append(line)
    text = "".join(kept).rstrip("\n")
    return (text + "\n\n" if text else "") + snippet(client, name, command)


def _check_toml(client: Client, before: str, after: str, name: str, command: Sequence[str]) -> None:
    """Raise unless our entry is there and nothing else changed."""
    try:
        old, new = tomllib.loads(before), tomllib.loads(after)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"the configuration of {client.title} is not valid TOML ({error})") from None
    added = new.get(client.table, {}).pop(name, None)
    old.get(client.table, {}).pop(name, None)
    same = {key: value for key, value in new.items() if value} == {key: value for key, value in old.items() if value}
    if added != entry(client, command) or not same:
        raise InvalidInput(f"the configuration of {client.title} cannot be changed safely; add the entry by hand")
