"""Commands that keep a store sound: doctor, embed, reembed, settings."""

from typing import Annotated

import typer

from thinkback.apps.cli.flat import command
from thinkback.apps.cli.options import Common, Embedder, Models
from thinkback.apps.cli.output import progress, show, show_json, show_lines, shown, styled, table
from thinkback.apps.cli.session import reading
from thinkback.errors import InvalidInput

app = typer.Typer()
PANEL = "Keep"


@command(app, panel=PANEL, example="thinkback doctor\nthinkback doctor --repair")
def doctor(
    common: Common,
    repair: Annotated[bool, typer.Option("--repair", help="Rebuild from the text what can be rebuilt.")] = False,
) -> None:
    """Compare every index with the text; exit 1 when something is wrong."""
    from thinkback.apps import wire
    from thinkback.apps.words import counted

    with reading(common, Models(embedder="none", reranker="none")) as memory:
        found = list(memory.check())
        left = list(memory.repair()) if repair and found else found
    if common.json:
        show_json(
            {
                "healthy": not left,
                "found": [wire.problem(one) for one in found],
                "left": [wire.problem(one) for one in left],
            }
        )
    else:
        for one in found:
            mended = repair and one not in left
            label = styled("mended  ", "green") if mended else styled("problem ", "bold red")
            show(label + styled(f"{one.area}: {one.message}"))
        problems = counted(len(left), "problem")
        show(
            styled("the store is healthy", "green")
            if not left
            else styled(f"{problems} left" if repair else f"{problems}; try --repair", "bold red")
        )
    if left:
        raise typer.Exit(1)


@command(app, panel=PANEL, example="thinkback embed --missing")
def embed(
    embedder: Embedder,
    common: Common,
    missing: Annotated[
        bool, typer.Option("--missing", help="Embed memories that were stored without a vector.")
    ] = False,
) -> None:
    """Embed what was stored while no embedder could be had."""
    if not missing:
        raise InvalidInput(
            "say what to embed: `thinkback embed --missing`; to embed everything anew: `thinkback reembed`"
        )
    with reading(common, embedder) as memory, progress("embedding") as step:
        count = memory.embed_missing(step)
    _show_count(count, "embedded", common)


@command(app, panel=PANEL, example="thinkback reembed --embedder bge-small-en-v1.5")
def reembed(embedder: Embedder, common: Common) -> None:
    """Embed everything anew, beside the old vectors, then switch at once; a killed run goes on where it stopped."""
    with reading(common, embedder) as memory, progress("embedding") as step:
        count = memory.reembed(step)
    _show_count(count, "embedded", common)


@command(app, panel=PANEL, example="thinkback settings\nTHINKBACK_RECIPE=precise thinkback settings --json")
def settings(common: Common) -> None:
    """Show every setting, its value and where it came from."""
    from thinkback.settings import described, variable

    found = described(store=common.store)
    if common.json:
        show_lines(
            {"key": one.key, "value": one.shown, "source": one.source, "variable": variable(one.key)} for one in found
        )
        return
    rows = table("setting", "value", "from", "variable")
    for one in found:
        style = "dim" if one.source == "default" else "green"
        rows.add_row(
            styled(one.key, "bold cyan"),
            styled(shown(one.shown)),
            styled(one.source, style),
            styled(variable(one.key), "dim"),
        )
    show(rows)


def _show_count(count: int, done: str, common: Common) -> None:
    from thinkback.apps.words import counted

    if common.json:
        show_json({done: count})
    else:
        show(styled(done, "green") + styled(f" {counted(count, 'memory', 'memories')}"))
