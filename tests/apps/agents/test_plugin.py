"""The plugin for Claude Code in this checkout: its parts name what exists."""

import json
import tomllib
from pathlib import Path
from typing import Any

from thinkback.apps.agents.events import CLAUDE_CODE, EVENTS
from thinkback.apps.agents.install import entry

ROOT = Path(__file__).parents[3]
PLUGIN = ROOT / "plugins" / "thinkback"


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_marketplace_lists_the_plugin() -> None:
    listed = read(ROOT / "plugins" / ".claude-plugin" / "marketplace.json")
    assert [ROOT / "plugins" / one["source"] for one in listed["plugins"]] == [PLUGIN]
    manifest = read(PLUGIN / ".claude-plugin" / "plugin.json")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (manifest["name"], manifest["version"], manifest["license"]) == (
        "thinkback",
        project["version"],
        project["license"],
    )


def test_its_hooks_are_those_that_are_installed() -> None:
    row = entry(CLAUDE_CODE, ["thinkback"], "Stop")
    assert read(PLUGIN / "hooks" / "hooks.json")["hooks"] == {name: [row] for name in EVENTS[CLAUDE_CODE]}


def test_its_server_and_its_skill() -> None:
    server = read(PLUGIN / ".mcp.json")["mcpServers"]["thinkback"]
    assert server == {"command": "thinkback", "args": ["mcp", "--repository"]}
    skill = (PLUGIN / "skills" / "memory" / "SKILL.md").read_text()
    assert skill.startswith("---\nname: memory\ndescription: ")
