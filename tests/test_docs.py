"""The README and docs/ are run: every Python block, every console block, and every command is documented."""

import io
import os
import re
import shlex
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer.main

from thinkback.apps.cli import build, main
from thinkback.search.fusion import FUSIONS
from thinkback.search.legs import LEGS
from thinkback.search.signals import SIGNALS
from thinkback.settings import leaves, variable

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    line: int
    text: str


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [Block(found[1], text[: found.start()].count("\n") + 2, found[2]) for found in _BLOCK.finditer(text)]


def pages_with(language: str) -> list[object]:
    pages = [page for page in PAGES if any(block.language == language for block in blocks(page))]
    return [pytest.param(page, id=page.stem) for page in pages]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to run in, a store of its own, no model, and `thinkback` on the path."""
    bin = tmp_path / "bin"
    bin.mkdir()
    script = bin / "thinkback"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m thinkback "$@"\n')
    script.chmod(0o755)
    for name in [name for name in os.environ if name.startswith("THINKBACK_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", f"{bin}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("THINKBACK_STORE", str(tmp_path / "docs.db"))
    monkeypatch.setenv("THINKBACK_EMBEDDER", "none")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", pages_with("python"))
def test_python_blocks_run(page: Path, home: Path) -> None:
    """Blocks of one page share their names, as a reader who types them in order would have it."""
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks(page):
        if block.language == "python":
            padded = "\n" * (block.line - 1) + block.text
            exec(compile(padded, str(page), "exec"), names)


@pytest.mark.parametrize("page", pages_with("console"))
def test_console_blocks_run_and_print_what_they_show(page: Path, home: Path) -> None:
    """Commands of one page run one after the other; `…` stands for anything, a line of its own for any number of lines."""
    for block in blocks(page):
        for command, expected in entries(block) if block.language == "console" else ():
            code, out, err = run(command)
            assert code == 0, f"{page.name}: {command}\n{out}{err}"
            assert matches(expected, out), f"{page.name}: {command}\nshown:\n{expected}\nprinted:\n{out}"


def run(command: str) -> tuple[int, str, str]:
    """A plain command in this process, for speed; one that needs a shell in a shell."""
    if not command.startswith("thinkback ") or set(command) & set("|<>;&$`"):
        ran = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
        return ran.returncode, ran.stdout, ran.stderr
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), warnings.catch_warnings(), pytest.raises(SystemExit) as left:
        main(shlex.split(command)[1:])
    return int(left.value.code or 0), out.getvalue(), err.getvalue()


def entries(block: Block) -> Iterator[tuple[str, str]]:
    """Each command with the output shown below it."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def matches(expected: str, actual: str) -> bool:
    """Whether output is as shown; without anything shown, anything may be printed."""
    if not expected.strip():
        return True
    pattern = ""
    for line in expected.strip("\n").split("\n"):
        words = [r"[^\n]*?".join(re.escape(part) for part in piece.split("…")) for piece in line.split()]
        pattern += r"(?:[^\n]*\n)*?" if line.strip() == "…" else r"[^\S\n]*" + r"[^\S\n]*".join(words) + r"[^\S\n]*\n"
    return re.fullmatch(pattern, actual.strip("\n") + "\n") is not None


def commands() -> dict[str, object]:
    """Every command by its full name."""
    found: dict[str, object] = {}

    def walk(command: object, name: str) -> None:
        below = getattr(command, "commands", None)
        if name and not getattr(command, "hidden", False):
            found[name] = command
        for part, one in (below or {}).items():
            walk(one, f"{name} {part}".strip())

    walk(typer.main.get_command(build()), "")
    return found


@pytest.mark.parametrize("name", sorted(commands()))
def test_every_command_is_documented(name: str) -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert f"thinkback {name}" in text, f"docs/ does not show `thinkback {name}`"


@pytest.mark.parametrize("name", sorted(commands()))
def test_every_command_has_an_example_in_its_help(name: str) -> None:
    command = commands()[name]
    if not getattr(command, "commands", None):
        assert "thinkback " in f"{getattr(command, 'epilog', '')}{getattr(command, 'help', '')}"


def test_every_setting_is_documented() -> None:
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert [key for key in leaves() if f"| `{key}` | `{variable(key)}` |" not in text] == []


def test_every_part_of_a_recipe_is_documented() -> None:
    text = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
    assert [name for table in (LEGS, FUSIONS, SIGNALS) for name in table if f"`{name}`" not in text] == []


def test_links_between_pages_lead_somewhere() -> None:
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"
