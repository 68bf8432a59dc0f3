"""Commands that carry a whole store: import and export."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

from typer import Argument, Option, Typer

from thinkback.apps.cli.command import command
from thinkback.apps.cli.options import Common, Embedder
from thinkback.apps.cli.output import Progress, facts, note, progress, show_json, show_result, warn
from thinkback.apps.cli.session import existing_memory, file_errors, open_lines, open_memory, settings_of
from thinkback.errors import Action, InvalidFile, InvalidInput, Notice, Remedy, ThinkbackError
from thinkback.settings import NONE

if TYPE_CHECKING:
    from thinkback.lifecycle.move import Moved
    from thinkback.lifecycle.transfer import ImportReport
    from thinkback.memory import Memory

app = Typer()
PANEL = "Carry"


@command(
    app,
    "import",
    panel=PANEL,
    example="thinkback import memories.jsonl\nthinkback import chatgpt-export.zip\nthinkback import vault/ --from obsidian\n"
    "ssh other thinkback export - | thinkback import - --store copy.db",
)
def import_(
    file: Annotated[str, Argument(help="A file or folder; - reads JSON Lines from stdin.")],
    embedder: Embedder,
    common: Common,
    skip_bad: Annotated[bool, Option("--skip-bad", help="Skip and report bad lines instead of failing.")] = False,
    embed: Annotated[bool, Option(help="Embed memories that have no vector in the file.")] = True,
    origin: Annotated[
        str | None,
        Option(
            "--from",
            metavar="FORMAT",
            help="thinkback, chatgpt, claude, mem0, engrava, mcp, langgraph, chat, obsidian or basic-memory; found out by default.",
        ),
    ] = None,
) -> None:
    """Read memories, links and judgements in one transaction, from our JSON Lines or another program's; twice adds nothing."""
    settings = settings_of(common, embedder)
    with open_memory(settings, create=True) as memory:
        report = _import(memory, file, origin, skip_bad)
        embedded = _embed(memory) if embed and settings.embedder != NONE else 0
    for bad in report.bad:
        warn(f"line {bad.line}: {bad.reason}")
    for warning in report.warnings:
        warn(warning)
    counts = {**report.counts, "embedded": embedded}
    bad_lines = [{"line": bad.line, "reason": bad.reason} for bad in report.bad]
    rows = facts({name.replace("_", " "): str(count) for name, count in counts.items()})
    show_result(common, {**counts, "bad": bad_lines}, rows)


def _of(total: int, step: Progress) -> Progress:
    """Progress of a known total (0 if unknown)."""
    return lambda done, _: step(done, max(done, total) if total else 0)


def _count_lines(file: str) -> int:
    """How many lines a file has, for the progress on a terminal; 0 if it cannot be read twice."""
    if not sys.stderr.isatty() or not Path(file).is_file():
        return 0
    with Path(file).open("rb") as lines:
        return sum(1 for _ in lines)


def _import(memory: "Memory", file: str, origin: str | None, skip_bad: bool) -> "ImportReport":
    from thinkback.interop.formats import OURS, detect, import_file
    from thinkback.interop.jsonl import import_lines

    path = Path(file)
    with file_errors(), progress("importing") as step:
        chosen = origin or (detect(path) if file != "-" and path.exists() else OURS)
        if chosen != OURS:
            return import_file(memory, path, chosen, skip_bad=skip_bad, progress=step)
        with open_lines(file) as lines:
            return import_lines(memory, lines, skip_bad=skip_bad, progress=_of(_count_lines(file), step))


def _embed(memory: "Memory") -> int:
    """Embed the imported memories; if the embedder fails, they are kept without vectors."""
    try:
        with progress("embedding") as step:
            return memory.embed_missing(step)
    except ThinkbackError as error:
        about = error.notice("imported without vectors, found by keyword")
        warn(about if about.remedy else Notice(about.code, about.message, Remedy(Action.EMBED_MISSING)))
        return 0


@command(
    app,
    "export",
    panel=PANEL,
    example="thinkback export memories.jsonl\nthinkback export - --vectors | gzip > memories.jsonl.gz",
)
def export(
    common: Common,
    file: Annotated[str, Argument(help="The file to write; - writes to stdout.")] = "-",
    vectors: Annotated[
        bool, Option("--vectors", help="Include the vectors, so that an import need not embed.")
    ] = False,
    to: Annotated[
        str,
        Option("--to", metavar="FORMAT", help="thinkback, with everything; or markdown or mcp, with what is present."),
    ] = "thinkback",
) -> None:
    """Write everything as JSON Lines: memories with all versions, links, judgements; or for people or other programs."""
    from thinkback.interop.formats import EXPORTS, OURS
    from thinkback.interop.jsonl import export_lines

    if to not in (OURS, *EXPORTS):
        raise InvalidInput(f"unknown format {to!r}; one of {', '.join((OURS, *EXPORTS))}", code="unknown_format")

    count = 0
    with (
        existing_memory(common) as memory,
        open_target(file) as target,
        progress("exporting") as step,
    ):
        counts = memory.stats()
        total = 1 + counts["memories"] + counts["versions"] + counts["edges"] + counts["judgements"]
        for count, line in enumerate(export_lines(memory, vectors=vectors) if to == OURS else EXPORTS[to](memory), 1):
            target.write(line + "\n")
            if count % 1000 == 0:
                step(count, max(count, total))
    if file == "-":
        return
    if common.json:
        show_json({"file": file, "lines": count})
    else:
        note(f"wrote {count} lines to {file}")


@contextmanager
def open_target(file: str) -> Iterator[TextIO]:
    """Stdout, or a file that appears only when it is complete."""
    if file == "-":
        yield sys.stdout
        return
    path = Path(file)
    part = path.with_name(path.name + ".part")
    try:
        with part.open("w", encoding="utf-8", newline="\n") as target:
            yield target
        part.replace(path)
    except OSError as error:
        raise InvalidFile(f"cannot write {file}: {error.strerror or error}") from None
    finally:
        part.unlink(missing_ok=True)


@command(
    app,
    "move",
    panel=PANEL,
    example="thinkback move memory.db postgresql://db.example/memories --space alice\n"
    "thinkback move --all-spaces spaces/ postgresql://db.example/memories",
)
def move(
    source: Annotated[str, Argument(help="A memory file or postgresql://…; it stays as it is.")],
    target: Annotated[str, Argument(help="Where to copy it: a new file, or postgresql://….")],
    space: Annotated[str, Option(help="The space on the server.")] = "default",
    all_spaces: Annotated[
        bool, Option("--all-spaces", help="Move every space; on the side of files, name their folder.")
    ] = False,
    json: Annotated[bool, Option("--json", help="Print JSON, one object a space.")] = False,
) -> None:
    """Copy everything from a file to a PostgreSQL server, or back, then compare rankings; continues where it stopped."""
    from thinkback import opening

    common = Common(json=json)
    with progress("moving") as step:
        if all_spaces:
            for name, result in opening.move_all(source, target, progress=step):
                _show_moved(common, name, result)
        else:
            _show_moved(common, space, opening.move(source, target, space=space, progress=step))


def _show_moved(common: Common, space: str, result: "Moved") -> None:
    for warning in result.warnings:
        warn(warning)
    counts = {"space": space, **{key: getattr(result, key) for key in _MOVED}}
    show_result(common, counts, facts({key.replace("_", " "): str(value) for key, value in counts.items()}))


_MOVED = ("memories", "versions", "edges", "judgements", "journal", "compared")
