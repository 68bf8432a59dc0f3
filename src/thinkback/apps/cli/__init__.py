"""The command line: the table of commands, and how they end.

Exit code 0 is success, 1 failure, 2 wrong usage, 130 Ctrl-C, 141 a closed pipe. Results go to stdout, everything else to stderr.
"""

import logging
import os
import sys
import warnings
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated, NamedTuple, TextIO

import typer

from thinkback.apps.cli.command import Command, Group, epilog
from thinkback.errors import InvalidFile, InvalidInput, RecipeError, ThinkbackError

FAILURE, WRONG_USAGE = 1, 2
CLOSED_PIPE = 141  # 128 and SIGPIPE, as shells report it of other programs


class Row(NamedTuple):
    """Where a Typer app or function is defined, its commands or the name of its group, and its panel in `--help`."""

    place: str
    names: str
    panel: str | None = None
    grouped: bool = True


def _top(module: str, names: str) -> Row:
    """The app of a module whose commands stand at the top level."""
    return Row(f"thinkback.apps.{module}:app", names, grouped=False)


# To add commands, add a row, or a name to one. Only the row of the command that is run is loaded; `--help` loads them all, so these
# modules import heavy ones inside their functions.
COMMANDS = (
    _top("cli.start", "demo tour"),
    _top("cli.write", "remember update forget tombstones link unlink"),
    _top("cli.search", "recall search-keywords search-reflections parse"),
    _top("cli.lookup", "get list history neighbours stats"),
    _top("cli.transfer", "import export move"),
    _top("cli.backup", "backup restore-backup salvage"),
    Row("thinkback.apps.cli.recipes:app", "recipes", "Measure"),
    Row("thinkback.apps.cli.judge:app", "judge", "Measure"),
    Row("thinkback.apps.cli.bench:app", "bench", "Measure"),
    _top("cli.tune", "tune regress"),
    _top("cli.upkeep", "reflect tidy undo archive restore contest audit doctor embed reembed reindex settings"),
    Row("thinkback.apps.cli.models:app", "models", "Keep"),
    Row("thinkback.apps.cli.pg:app", "pg", "Keep"),
    _top("agents.cli", "capture hook"),
    Row("thinkback.apps.agents.cli:agent_app", "agent", "Serve"),
)
# The same for apps that an installation may lack.
OPTIONAL_COMMANDS = (
    Row("thinkback.apps.mcp.cli:app", "mcp", "Serve"),
    Row("thinkback.apps.http.cli:serve", "serve", "Serve"),
    Row("thinkback.apps.http.cli:token_app", "token", "Serve"),
)


def build(name: str | None = None) -> typer.Typer:
    """The command line as one Typer app: the part that has the command of this name, or else all of it."""
    app = typer.Typer(
        name="thinkback",
        cls=Group,
        help="A searchable memory: text goes in, and the right memories come back, each with the reason for its rank.",
        epilog=epilog(
            'thinkback remember "Caroline adopted a grey cat, Oscar"\nthinkback recall "what is Caroline\'s pet called?"'
        ),
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    rows = (*COMMANDS, *filter(_exists, OPTIONAL_COMMANDS))
    for row in [row for row in rows if name in row.names.split()] or rows:
        module, _, attribute = row.place.partition(":")
        part = getattr(import_module(module), attribute)
        if isinstance(part, typer.Typer):
            app.add_typer(part, name=row.names if row.grouped else None, cls=Group, rich_help_panel=row.panel)
        else:  # in its own app, so that help keeps the order of the rows
            alone = typer.Typer()
            alone.command(row.names, cls=Command, rich_help_panel=row.panel)(part)
            app.add_typer(alone)
    return app


def main(args: list[str] | None = None) -> None:
    """Run one command and exit with its code."""
    _prepare_streams()
    warnings.simplefilter("always", UserWarning)
    warnings.showwarning = _show_warning
    logging.basicConfig(format="%(levelname)s: %(message)s", level=logging.WARNING)
    sys.exit(_run(args))


def _run(args: list[str] | None) -> int | str | None:
    """Run one command and return its exit code."""
    code: int | str | None = 0
    try:
        first = next(iter(sys.argv[1:] if args is None else args), None)
        build(first)(args=args, prog_name="thinkback")
    except ThinkbackError as error:
        from thinkback.apps.cli.output import fail

        fail(error)
        code = exit_code(error)
    except SystemExit as end:
        # Typer and Rich report a closed pipe as a failure, but `head` has what it wanted.
        code = CLOSED_PIPE if isinstance(end.__context__, BrokenPipeError) else end.code
    try:
        sys.stdout.flush()  # Python itself would flush only after the exit code was chosen
    except BrokenPipeError:
        code = CLOSED_PIPE
    if code == CLOSED_PIPE:  # discard what is still in the buffer
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)
    return code


def exit_code(error: ThinkbackError) -> int:
    """2 for wrong usage, 1 for anything else; errors in files are not usage errors."""
    typed = isinstance(error, InvalidInput | RecipeError) and not isinstance(error, InvalidFile)
    return WRONG_USAGE if typed else FAILURE


def _print_version(asked: bool) -> None:
    if asked:
        from thinkback import __version__

        typer.echo(f"thinkback {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit.")
    ] = False,
) -> None:
    """The options before a command."""


def _exists(row: Row) -> bool:
    try:
        return find_spec(row.place.partition(":")[0]) is not None
    except ModuleNotFoundError:
        return False


def _prepare_streams() -> None:
    """UTF-8 in and out; bytes that cannot be decoded become lone surrogates, which the engine rejects by their position."""
    for stream, errors in (
        (sys.stdin, "surrogateescape"),
        (sys.stdout, "backslashreplace"),
        (sys.stderr, "backslashreplace"),
    ):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(encoding="utf-8", errors=errors)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    from thinkback.apps.cli.output import warn

    own = category.__module__.startswith("thinkback")
    warn(getattr(message, "notice", None) or (str(message) if own else f"{category.__name__}: {message}"))
