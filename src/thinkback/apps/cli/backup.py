"""Commands for the worst day: backup, restore-backup and salvage."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Exit, Option, Typer

from thinkback.apps.cli.command import command
from thinkback.apps.cli.options import Common
from thinkback.apps.cli.output import facts, show_result, styled
from thinkback.apps.cli.session import existing_memory, file_errors, settings_of

app = Typer()
PANEL = "Keep"


@command(app, panel=PANEL, example="thinkback backup ~/backups/memory.db --replace")
def backup(
    file: Annotated[Path, Argument(help="The copy to make.")],
    common: Common,
    replace: Annotated[bool, Option("--replace", help="Replace an older copy of that name.")] = False,
) -> None:
    """Copy the store while others may write, open the copy, and compare every index of it with its text."""
    with existing_memory(common) as memory:
        done = memory.backup(file, replace)
    show_result(common, done.to_dict(), styled(f"backed up to {done.file}, and checked", "green"))


@command(app, "restore-backup", panel=PANEL, example="thinkback restore-backup ~/backups/memory.db --replace")
def restore_backup(
    file: Annotated[Path, Argument(help="The copy to put in the place of the store.")],
    common: Common,
    replace: Annotated[
        bool, Option("--replace", help="Move an existing store aside; no program may have it open.")
    ] = False,
) -> None:
    """Check a backup and put it in the place of the store; the old file is kept under another name."""
    from thinkback import opening

    store = settings_of(common).store_path
    with file_errors():
        moved = opening.restore_backup(file, store, replace)
    kept = f"; the old one is {moved}" if moved else ""
    data = {"store": str(store), "moved": str(moved) if moved else None}
    show_result(common, data, styled(f"{store} is {file} again{kept}", "green"))


@command(app, panel=PANEL, example="thinkback salvage damaged.db saved.db")
def salvage(
    damaged: Annotated[Path, Argument(help="The damaged file; it is not changed.")],
    new: Annotated[Path, Argument(help="The store to make.")],
    common: Common,
) -> None:
    """Read every row that can be read into a new store, rebuild its indexes, and list what was lost; exit 1 if anything was."""
    from thinkback import opening

    with file_errors():
        done = opening.salvage(damaged, new)
    lost, left = list(map(str, done.losses)), [problem.message for problem in done.problems]
    data = {"rows": dict(done.rows), "lost": lost, "problems": left}
    rows = facts({name: str(count) for name, count in done.rows.items()})
    show_result(common, data, rows, *(styled(f"lost: {line}", "red") for line in (*lost, *left)))
    if lost or left:
        raise Exit(1)
