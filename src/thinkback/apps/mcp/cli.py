"""`thinkback mcp`: serve a memory to MCP clients, and write their configuration."""

import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from thinkback.apps.agents.scope import repository_of, store_of
from thinkback.apps.cli.command import Command, epilog
from thinkback.apps.cli.session import existing, file_errors
from thinkback.apps.mcp.clients import CLIENTS, Client, Place, client_named, merged, snippet, write
from thinkback.errors import InvalidInput, MissingExtra
from thinkback.settings import ENVIRONMENT, FILE, Settings, described, load, user_file

app = typer.Typer(
    help="Serve a memory to MCP clients such as Claude, Cursor, VS Code and Codex.",
    epilog=epilog("thinkback mcp --read-only\nthinkback mcp install claude-desktop --write"),
    invoke_without_command=True,
    no_args_is_help=False,
)

_LOCAL_SOURCES = (ENVIRONMENT, FILE)  # settings that a program started elsewhere does not see

Store = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="FILE|URL",
        help="The store: a file, or postgresql://…. Default: THINKBACK_STORE, else a file in your data folder.",
    ),
]
Embedder = Annotated[
    str | None,
    typer.Option(
        "--embedder", help="The embedder: a model's name, openai:MODEL@URL, ollama:MODEL, or none for keywords only."
    ),
]
Repository = Annotated[
    bool,
    typer.Option(
        "--repository", help="The store of the git repository of this folder, as hooks use it, and yours beside it."
    ),
]
ReadOnly = Annotated[bool, typer.Option("--read-only", help="Offer only the tools that read.")]


@app.callback()
def mcp(
    context: typer.Context,
    http: Annotated[bool, typer.Option("--http", help="Serve over streamable HTTP at /mcp instead of stdio.")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port for --http; 0 for any free one.")] = 7077,
    read_only: ReadOnly = False,
    store: Store = None,
    embedder: Embedder = None,
    repository: Repository = False,
) -> None:
    """Serve the memory over standard input and output, as MCP clients expect: `thinkback mcp --read-only`."""
    if context.invoked_subcommand is not None:
        return
    settings = load(store=store, embedder=embedder)
    beside = None
    if repository and (found := _repository_store(settings)) != settings.store_path:
        beside, settings = settings.store_path, replace(settings, store=found)
    if read_only and settings.database is None:
        existing(settings.store_path)
    if http:
        _over_http(settings, port, read_only)
    else:
        _over_stdio(settings, read_only, beside)


@app.command(
    cls=Command,
    epilog=epilog("thinkback mcp install cursor\nthinkback mcp install claude-desktop --store memory.db --write"),
)
def install(
    context: typer.Context,
    client: Annotated[str | None, typer.Argument(help=f"One of {', '.join(CLIENTS)}; default: print all.")] = None,
    write_file: Annotated[bool, typer.Option("--write", help="Write the file instead of printing the entry.")] = False,
    name: Annotated[str, typer.Option(help="The name of this memory in the client.")] = "thinkback",
    read_only: ReadOnly = False,
    store: Store = None,
    embedder: Embedder = None,
    repository: Repository = False,
) -> None:
    """Print or write a client's configuration, with the store and the embedder in use here.

    Writing keeps the other entries of the file and saves a copy of it.
    """
    before = context.parent.params if context.parent else {}  # options may also stand before `install`
    flags = {
        "--read-only": read_only or before.get("read_only"),
        "--repository": repository or before.get("repository"),
    }
    command = _command(store or before.get("store"), embedder or before.get("embedder"), flags)
    place = Place(sys.platform, Path.home(), Path.cwd(), os.environ)
    if not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
        raise InvalidInput(f"a server's name has letters, digits, - and _; got {name!r}", code="server_name")
    if client is None:
        if write_file:
            raise InvalidInput(f"--write needs a client: one of {', '.join(CLIENTS)}")
        for row in CLIENTS.values():
            _print(row, place, name, command)
    elif write_file:
        _write(client_named(client), place, name, command)
    else:
        _print(client_named(client), place, name, command)


def _print(client: Client, place: Place, name: str, command: Sequence[str]) -> None:
    typer.echo(f"# {client.title}: {client.file(place)}", err=True)
    typer.echo(snippet(client, name, command))
    _note(client, command)


def _write(client: Client, place: Place, name: str, command: Sequence[str]) -> None:
    path = client.file(place)
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    with file_errors():
        after = merged(client, before, name, command)
    if after == before:
        typer.echo(f"{path} already has the entry")
        return
    backup = write(path, after, datetime.now(UTC))
    typer.echo(f"{client.title}: wrote {path}" + (f"; the previous file is {backup}" if backup else ""))
    _note(client, command)


def _note(client: Client, command: Sequence[str]) -> None:
    if client.note:
        typer.echo(client.note.replace("COMMAND", shlex.join(command)), err=True)


def _command(store: str | None, embedder: str | None, flags: Mapping[str, object]) -> list[str]:
    """The command for a client, with full paths and explicit options: desktop programs have neither the shell's PATH, nor its
    folder, nor its variables.
    """
    beside = Path(sys.executable).with_name("thinkback.exe" if sys.platform == "win32" else "thinkback")
    found = str(beside) if beside.exists() else shutil.which("thinkback")
    program = [found] if found else [sys.executable, "-m", "thinkback"]
    database = load(store=store).database
    chosen = {one.key: one for one in described(store=store, embedder=embedder) if one.source != "default"}
    options = [
        *(["--store", database or str(chosen["store"].value.resolve())] if "store" in chosen else []),
        *(["--embedder", _full_path(chosen["embedder"].value)] if "embedder" in chosen else []),
        *(flag for flag, given in flags.items() if given),
    ]
    if lost := [
        one for one in chosen.values() if one.key not in ("store", "embedder") and one.source in _LOCAL_SOURCES
    ]:
        typer.echo(
            f"the client will not see {', '.join(f'{one.key} (from {one.source})' for one in lost)}; "
            f"put settings for all programs into {user_file()}",
            err=True,
        )
    return [*program, "mcp", *options]


def _repository_store(settings: Settings) -> Path:
    """The store of the current folder's repository; outside of any, the user's."""
    found = repository_of(Path.cwd())
    return settings.store_path if found is None else store_of(found, settings.store_path.parent)


def _full_path(embedder: str) -> str:
    """A folder as a full path; any other embedder as given."""
    return str(Path(embedder).resolve()) if Path(embedder).is_dir() else embedder


def _over_stdio(settings: Settings, read_only: bool, beside: Path | None) -> None:
    try:
        from thinkback.apps.mcp.stdio import run
    except ImportError:
        raise MissingExtra.of("MCP", "mcp") from None
    from thinkback.memory import Memory
    from thinkback.opening import Opener

    opener = Opener(settings)
    with ExitStack() as stack:

        def opened(path: Path | None) -> Memory:
            if not read_only and path is not None:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return stack.enter_context(opener(path, read_only=read_only))

        there = beside is not None and (beside.exists() or not read_only)
        own = opened(settings.store_path if settings.database is None else None)
        run(own, read_only=read_only, beside=opened(beside) if beside and there else None)


def _over_http(settings: Settings, port: int, read_only: bool) -> None:
    from thinkback.apps.http.cli import serve_mcp

    serve_mcp(settings, port, read_only)
