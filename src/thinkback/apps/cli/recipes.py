"""The `recipes` commands: the named formulas, and any of them as TOML."""

from typing import Annotated

import typer

from thinkback.apps.cli.flat import command, epilog, flattened
from thinkback.apps.cli.options import Common, Words, changes
from thinkback.apps.cli.output import show, show_json, show_lines, styled, table
from thinkback.apps.cli.session import recipe_of, settings_of

app = typer.Typer()


@command(app, "list", example="thinkback recipes list --json")
def list_(common: Common) -> None:
    """List the named recipes."""
    from thinkback.apps import wire
    from thinkback.search.recipes.named import RECIPES

    if common.json:
        show_lines(wire.recipe(recipe) for recipe in RECIPES.values())
        return
    rows = table("recipe", "what it does", "fingerprint")
    for recipe in RECIPES.values():
        rows.add_row(styled(recipe.name, "bold cyan"), styled(recipe.about), styled(recipe.fingerprint, "dim"))
    show(rows)


@command(
    app,
    "show",
    example="thinkback recipes show default > mine.toml\nthinkback recipes show engrava --set signals.graph.weight=0.1",
)
def show_(
    name: Annotated[str, typer.Argument(help="A named recipe, or a TOML file.")],
    common: Common,
    set: Annotated[Words, typer.Option("--set", metavar="PATH=VALUE", help="A change; may be repeated.")] = None,
) -> None:
    """Print a recipe as TOML; the file can be changed and given to `recall --recipe`."""
    from thinkback.apps import wire
    from thinkback.search.recipes.toml import dumps

    recipe = recipe_of(name, settings_of(common))
    if set:
        recipe = recipe.with_(**changes(set))
    if common.json:
        show_json(wire.recipe(recipe))
    else:
        typer.echo(dumps(recipe), nl=False)


def _default(context: typer.Context, common: Common) -> None:
    """The named ranking formulas: list them, or show one as TOML."""
    if context.invoked_subcommand is None:
        list_(common)


app.callback(invoke_without_command=True, epilog=epilog("thinkback recipes\nthinkback recipes show default"))(
    flattened(_default)
)
