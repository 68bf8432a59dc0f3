"""`thinkback agent`, `thinkback capture` and `thinkback hook`: memory for coding agents."""

import difflib
import os
import shutil
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option, Typer

from thinkback.apps.cli.command import command, epilog
from thinkback.apps.cli.options import Common
from thinkback.apps.cli.output import moment, show, show_json, styled
from thinkback.apps.cli.session import existing, settings_of
from thinkback.errors import InvalidInput

app = Typer()
agent_app = Typer(
    help="Give Claude Code, Codex or Cursor a memory through their hooks.",
    epilog=epilog("thinkback agent install claude-code --dry-run\nthinkback agent status"),
    no_args_is_help=True,
)
PANEL = "Serve"

ClientName = Annotated[str, Argument(metavar="CLIENT", help="claude-code, codex or cursor.")]
Project = Annotated[bool, Option("--project", help="The project's configuration instead of the user's.")]
DryRun = Annotated[bool, Option("--dry-run", help="Show what would be written, and write nothing.")]


@command(agent_app, example="thinkback agent install claude-code --dry-run\nthinkback agent install cursor --project")
def install(client: ClientName, dry_run: DryRun = False, project: Project = False) -> None:
    """Add the hooks to an agent's configuration; other entries stay, and a copy of the file is kept."""
    from thinkback.apps.agents.install import NOTES, check_client, config_file, installing

    plan = installing(check_client(client), config_file(client, _place(), project), _program())
    _carry_out(plan, dry_run, "the hooks are there already")
    if plan.changes and not dry_run:
        typer.echo(NOTES[client], err=True)


@command(agent_app, example="thinkback agent uninstall claude-code --dry-run")
def uninstall(client: ClientName, dry_run: DryRun = False, project: Project = False) -> None:
    """Take the hooks out of an agent's configuration; memories stay where they are."""
    from thinkback.apps.agents.install import check_client, config_file, uninstalling

    _carry_out(
        uninstalling(check_client(client), config_file(client, _place(), project)),
        dry_run,
        "there are no hooks of ours",
    )


@command(agent_app, example="thinkback agent status\nthinkback agent status --json")
def status(common: Common) -> None:
    """Show which agents have the hooks, and the stores of this folder."""
    from thinkback.apps.agents.events import EVENTS
    from thinkback.apps.agents.install import config_file, installed

    place = _place()
    for client, events in EVENTS.items():
        for project in (False, True):
            path = config_file(client, place, project)
            found = installed(path) if path.exists() else []
            state = "installed" if set(found) >= set(events) else "partly installed" if found else "not installed"
            row = {"client": client, "file": str(path), "state": state, "events": found}
            if project and not found:
                continue
            show_json(row) if common.json else show(f"{client:12} {state:16} {path}")
    for name, path in stores(common).items():
        one = {"store": name, "file": str(path), "exists": path.exists()}
        show_json(one) if common.json else show(f"{name:12} {'present' if path.exists() else 'not yet made':16} {path}")


@command(
    app,
    panel=PANEL,
    example="thinkback capture --review\nthinkback capture ~/.claude/projects/-src-app/3f0a.jsonl --client claude-code",
)
def capture(
    common: Common,
    transcript: Annotated[Path | None, Argument(help="A transcript to capture; hooks do it by themselves.")] = None,
    client: Annotated[str, Option(help="The agent that wrote it: claude-code or codex.")] = "claude-code",
    review: Annotated[
        bool, Option("--review", help="List what was captured, newest first, and what was left out.")
    ] = False,
    limit: Annotated[int, Option(min=1, help="How many to list.")] = 20,
) -> None:
    """Capture a transcript of a coding agent, or review what hooks have captured in this repository."""
    if (transcript is None) != review:
        raise InvalidInput("give a transcript, or --review")
    if transcript is None:
        _review(common, limit)
    else:
        _capture(common, transcript, client)


@command(app, panel=PANEL, example='echo \'{"hook_event_name": "SessionStart"}\' | thinkback hook claude-code')
def hook(client: ClientName) -> None:
    """Answer one event of a coding agent on standard input; `thinkback agent install` sets this up."""
    from thinkback.apps.agents.hook import main

    main([client])


def stores(common: Common) -> dict[str, Path]:
    """The stores of the current folder: its repository's and the user's."""
    from thinkback.apps.agents.scope import repository_of, store_of

    users = settings_of(common).store_path
    repository = repository_of(Path.cwd())
    mine = {} if repository is None else {"repository": store_of(repository, users.parent)}
    return {**mine, "user": users}


def _review(common: Common, limit: int) -> None:
    from thinkback.apps.agents.capture import SOURCE, State
    from thinkback.apps.agents.events import EVENTS
    from thinkback.apps.words import first_words
    from thinkback.opening import Opener

    path = existing(next(iter(stores(common).values())))
    with Opener(settings_of(common), embedder=None, reranker=None)(path, read_only=True) as memory:
        found = memory.list(limit=limit, sources=[SOURCE + client for client in EVENTS])
    captures = State(path).captures
    for record in found:
        row = {"id": record.id, "date": record.date.isoformat(), "speaker": record.speaker, "thread": record.thread}
        line = f"{styled(record.id, 'bold')}  {moment(record.date)}  {record.speaker}: {first_words(record)}"
        show_json({**row, "text": record.text}) if common.json else show(line)
    if not common.json:
        left: Counter[str] = Counter()
        for entry in captures:
            left.update(entry["left_out"])
        totals: dict[str, Any] = {
            "captures": len(captures),
            "redacted": sum(entry["redacted"] for entry in captures),
            **left,
        }
        show(", ".join(f"{name}: {number}" for name, number in totals.items()))
        show(f"To remove one: thinkback forget ID --store {path}")


def _capture(common: Common, transcript: Path, client: str) -> None:
    from thinkback.apps.agents.capture import capture
    from thinkback.apps.agents.install import check_client
    from thinkback.apps.agents.transcripts import read
    from thinkback.opening import Opener

    if not transcript.is_file():
        raise InvalidInput(f"there is no file {transcript}", code="no_file")
    found = read(transcript, check_client(client))
    path = next(iter(stores(common).values()))
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with Opener(settings_of(common), reranker=None, secrets="redact")(path) as memory:
        done = capture(memory, client, transcript.stem, found.turns, found.left_out)
    row = {"stored": done.stored, "redacted": done.redacted, "left_out": dict(done.left_out or {}), "store": str(path)}
    show_json(row) if common.json else show(
        f"captured {done.stored} turns into {path}, {done.redacted} with redactions"
    )


def _carry_out(plan: Any, dry_run: bool, nothing: str) -> None:
    from thinkback.apps.mcp.clients import write

    if not plan.changes:
        typer.echo(f"{plan.path}: {nothing}")
        return
    if dry_run:
        lines = difflib.unified_diff(
            plan.before.splitlines(), plan.after.splitlines(), str(plan.path), f"{plan.path} (new)", lineterm=""
        )
        typer.echo("\n".join(lines))
        return
    backup = write(plan.path, plan.after or "{}\n", datetime.now(UTC))
    typer.echo(f"wrote {plan.path}" + (f"; the previous file is {backup}" if backup else ""))


def _place() -> Any:
    from thinkback.apps.mcp.clients import Place

    return Place(sys.platform, Path.home(), Path.cwd(), os.environ)


def _program() -> list[str]:
    """The command of this installation, with its full path: agents do not share the shell's PATH."""
    beside = Path(sys.executable).with_name("thinkback.exe" if sys.platform == "win32" else "thinkback")
    found = str(beside) if beside.exists() else shutil.which("thinkback")
    return [found] if found else [sys.executable, "-m", "thinkback"]
