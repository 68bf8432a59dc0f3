"""The command line. `main` is the whole of it: commands, errors, exit codes.

Exit 0 is success, 1 failure, 2 wrong usage, 130 Ctrl-C, 141 when whoever read the output left early. Results go to stdout,
everything else to stderr.
"""

import logging
import os
import sys
import warnings
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated, NamedTuple, TextIO

import typer

from thinkback.apps.cli.flat import epilog
from thinkback.errors import InvalidFile, InvalidInput, RecipeError, ThinkbackError

FAILURE, WRONG_USAGE = 1, 2
CLOSED_PIPE = 141  # 128 and SIGPIPE, as shells report it of other programs


class Row(NamedTuple):
    """Commands: where their Typer app or function stands, the name of their group, and its panel in `--help`."""

    place: str
    name: str = ""
    panel: str | None = None


# To add commands, add a row; an app without a name lends its commands to the top level. These modules are loaded for every
# `--help`, so they import what is heavy inside their functions.
COMMANDS = (
    Row("thinkback.apps.cli.write:app"),
    Row("thinkback.apps.cli.search:app"),
    Row("thinkback.apps.cli.lookup:app"),
    Row("thinkback.apps.cli.transfer:app"),
    Row("thinkback.apps.cli.recipes:app", "recipes", "Measure"),
    Row("thinkback.apps.cli.judge:app", "judge", "Measure"),
    Row("thinkback.apps.cli.bench:app", "bench", "Measure"),
    Row("thinkback.apps.cli.tune:app"),
    Row("thinkback.apps.cli.lifecycle:app"),
    Row("thinkback.apps.cli.maintain:app"),
    Row("thinkback.apps.cli.models:app", "models", "Keep"),
)
# The same for apps that may be left out of an installation.
OPTIONAL_COMMANDS = (
    Row("thinkback.apps.mcp.cli:app", "mcp", "Serve"),
    Row("thinkback.apps.http.cli:serve", "serve", "Serve"),
    Row("thinkback.apps.http.cli:token_app", "token", "Serve"),
)


def build() -> typer.Typer:
    """The whole command line as one Typer app."""
    app = typer.Typer(
        name="thinkback",
        help="A memory that can be searched: text goes in, the right memories come back, each with the reason for its place.",
        epilog=epilog(
            'thinkback remember "Caroline adopted a grey cat, Oscar"\nthinkback recall "what is Caroline\'s pet called?"'
        ),
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for row in (*COMMANDS, *filter(_exists, OPTIONAL_COMMANDS)):
        module, _, attribute = row.place.partition(":")
        part = getattr(import_module(module), attribute)
        if isinstance(part, typer.Typer):
            app.add_typer(part, name=row.name or None, rich_help_panel=row.panel)
        else:  # in an app of its own, so that help keeps the order of the rows
            alone = typer.Typer()
            alone.command(row.name, rich_help_panel=row.panel)(part)
            app.add_typer(alone)
    return app


def main(args: list[str] | None = None) -> None:
    """Runs one command and exits with its code."""
    _prepare_streams()
    warnings.simplefilter("always", UserWarning)
    warnings.showwarning = _show_warning
    logging.basicConfig(format="%(levelname)s: %(message)s", level=logging.WARNING)
    sys.exit(_run(args))


def _run(args: list[str] | None) -> int | str | None:
    """Runs one command; returns its exit code."""
    code: int | str | None = 0
    unread = False
    try:
        build()(args=args, prog_name="thinkback")
    except ThinkbackError as error:
        from thinkback.apps.cli.output import fail

        fail(error)
        code = exit_code(error)
    except SystemExit as left:
        # Typer and Rich call a closed pipe a failure, but `head` has what it wanted.
        code, unread = left.code, isinstance(left.__context__, BrokenPipeError)
    if unread or not _flushed():
        _let_go_of_stdout()
        return CLOSED_PIPE
    return code


def exit_code(error: ThinkbackError) -> int:
    """2 for what was typed, 1 for what was found: a file's faults are not those of the command that names it."""
    typed = isinstance(error, InvalidInput | RecipeError) and not isinstance(error, InvalidFile)
    return WRONG_USAGE if typed else FAILURE


def _flushed() -> bool:
    """Whether what was printed has arrived; otherwise Python would find out only after the exit code was chosen."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return False
    return True


def _let_go_of_stdout() -> None:
    """What is still in the buffer goes nowhere, silently."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


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
    """Holds the options that stand before a command."""


def _exists(row: Row) -> bool:
    try:
        return find_spec(row.place.partition(":")[0]) is not None
    except ModuleNotFoundError:
        return False


def _prepare_streams() -> None:
    """UTF-8 in and out; what cannot be decoded arrives as a lone surrogate and is refused by the engine with its place named."""
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
