"""The `recipes` commands: list the named ranking formulas, and print one as TOML."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from thinkback.apps.cli.command import command, epilog, with_options
from thinkback.apps.cli.options import Common, Words, changes
from thinkback.apps.cli.output import show_json, show_list, table
from thinkback.apps.cli.session import typed_recipe

if TYPE_CHECKING:
    from rich.console import RenderableType

    from thinkback.search.recipes.model import Recipe

app = typer.Typer()


@command(app, "list", example="thinkback recipes list --json")
def list_(common: Common) -> None:
    """List the named recipes."""
    from thinkback.apps import wire
    from thinkback.search.recipes.named import RECIPES

    show_list(common, list(RECIPES.values()), wire.recipe, _table)


def _table(recipes: "Sequence[Recipe]") -> "RenderableType":
    columns = {"recipe": "bold cyan", "what it does": "", "fingerprint": "dim"}
    return table(columns, ((one.name, one.about, one.fingerprint) for one in recipes))


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

    recipe = typed_recipe(name)
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
    with_options(_default)
)
