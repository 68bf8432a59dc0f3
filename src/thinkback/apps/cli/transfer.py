"""Commands that carry a whole store: import and export."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from thinkback.apps.cli.flat import command
from thinkback.apps.cli.options import Common, Embedder, Models
from thinkback.apps.cli.output import facts, note, progress, show, show_json, warn
from thinkback.apps.cli.session import in_file, lines_of, reading, settings_of, writing
from thinkback.errors import InvalidFile, ThinkbackError, sentence
from thinkback.settings import NONE

if TYPE_CHECKING:
    from thinkback.memory import Memory

app = typer.Typer()
PANEL = "Carry"


@command(
    app,
    "import",
    panel=PANEL,
    example="thinkback import memories.jsonl\nssh other thinkback export - | thinkback import - --store copy.db",
)
def import_(
    file: Annotated[str, typer.Argument(help="A JSON Lines file; - reads stdin.")],
    embedder: Embedder,
    common: Common,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Import the rest when lines are bad, and report each.")
    ] = False,
    embed: Annotated[bool, typer.Option(help="Embed what came without vectors.")] = True,
) -> None:
    """Read memories, links and judgements from JSON Lines: all or nothing, and twice is once."""
    from thinkback.interop.jsonl import import_lines

    with lines_of(file) as lines, writing(common, embedder) as memory:
        with in_file(), progress("importing") as step:
            report = import_lines(memory, lines, skip_bad=skip_bad, progress=step)
        embedded = _embed(memory) if embed and settings_of(common, embedder).embedder != NONE else 0
    for bad in report.bad:
        warn(f"line {bad.line}: {bad.reason}")
    for message in report.warnings:
        warn(message)
    counts = {**report.counts, "embedded": embedded}
    if common.json:
        show_json({**counts, "bad": [{"line": bad.line, "reason": bad.reason} for bad in report.bad]})
    else:
        show(facts({name.replace("_", " "): str(count) for name, count in counts.items()}))


def _embed(memory: "Memory") -> int:
    """What was imported is safe already; an embedder that fails only costs the vectors."""
    try:
        with progress("embedding") as step:
            return memory.embed_missing(step)
    except ThinkbackError as error:
        warn(f"imported without vectors, found by keyword: {sentence(error)} Later: thinkback embed --missing")
        return 0


@command(
    app,
    "export",
    panel=PANEL,
    example="thinkback export memories.jsonl\nthinkback export - --vectors | gzip > memories.jsonl.gz",
)
def export(
    common: Common,
    file: Annotated[str, typer.Argument(help="The file to write; - writes to stdout.")] = "-",
    vectors: Annotated[
        bool, typer.Option("--vectors", help="With the vectors, so that nothing has to be embedded again.")
    ] = False,
) -> None:
    """Write everything as JSON Lines: memories with all versions, links, judgements."""
    from thinkback.interop.jsonl import export_lines

    count = 0
    with (
        reading(common, Models(embedder="none", reranker="none")) as memory,
        target_of(file) as target,
        progress("exporting") as step,
    ):
        for count, line in enumerate(export_lines(memory, vectors=vectors), 1):
            target.write(line + "\n")
            if count % 1000 == 0:
                step(count, 0)
    if file == "-":
        return
    if common.json:
        show_json({"file": file, "lines": count})
    else:
        note(f"wrote {count} lines to {file}")


@contextmanager
def target_of(file: str) -> Iterator[TextIO]:
    """Stdout, or a file that appears only when it is whole."""
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
