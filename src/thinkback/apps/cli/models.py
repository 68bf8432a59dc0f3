"""The `models` commands: list, fetch, verify and remove model weights."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thinkback.apps.cli.command import command, epilog
from thinkback.apps.cli.options import Common
from thinkback.apps.cli.output import FetchProgress, show_json, show_list, show_result, size, styled, table
from thinkback.apps.cli.session import settings_of
from thinkback.errors import NotFound

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from thinkback.models.weights import FetchOptions, Status

app = typer.Typer(
    help="Model weights: list, pull, verify, find and remove them.",
    epilog=epilog("thinkback models pull"),
    no_args_is_help=True,
)

Names = Annotated[
    list[str] | None,
    typer.Argument(help="Names that `thinkback models list` shows; without any, the default embedder and reranker."),
]
Name = Annotated[str, typer.Argument(help="A name that `thinkback models list` shows.")]
_COLOURS = {"ready": "green", "missing": "dim", "damaged": "bold red"}


@command(app, "list", example="thinkback models list --json")
def list_(common: Common) -> None:
    """List the known models and whether their weights are installed."""
    from thinkback.models.weights import status

    show_list(common, status(_options(common)), _object, _table)


def _table(found: "Sequence[Status]") -> "RenderableType":
    def row(one: "Status") -> "tuple[str | Text, ...]":
        model = one.model
        bytes = size(model.size) if model.size else ""
        return model.name, model.kind, styled(one.state, _COLOURS[one.state]), bytes, model.licence, model.about

    columns = dict.fromkeys(("model", "kind", "state", "size", "licence", "about"), "")
    return table({**columns, "model": "bold cyan"}, map(row, found))


@command(app, example="thinkback models pull\nthinkback models pull potion-base-8M")
def pull(common: Common, names: Names = None) -> None:
    """Fetch weights, verify every file, and keep them for offline use."""
    from thinkback.models.weights import ensure

    options = _options(common)
    for name in _chosen(names):
        folder = str(ensure(name, options, FetchProgress()))
        line = styled("ready", "green") + styled(f" {name}  ") + styled(folder, "dim")
        show_result(common, {"model": name, "path": folder}, line)


@command(app, example="thinkback models verify e5-small-v2")
def verify(common: Common, names: Names = None) -> None:
    """Compare the weights on disk with their checksums."""
    from thinkback.models.weights import verify as problems_of

    options = _options(common)
    found = {name: problems_of(name, options) for name in _chosen(names)}
    for name, problems in found.items():
        verdict = styled("damaged", "bold red") if problems else styled("sound", "green")
        lines = "".join(f"\n  {problem}" for problem in problems)
        show_result(common, {"model": name, "problems": problems}, verdict + styled(f" {name}{lines}"))
    if any(found.values()):
        raise typer.Exit(1)


@command(app, example="thinkback models path e5-small-v2")
def path(name: Name, common: Common) -> None:
    """Print the folder with a model's files; nothing is fetched."""
    from thinkback.models.weights import path as folder_of

    folder = folder_of(name, _options(common))
    if common.json:
        show_json({"model": name, "path": str(folder)})
    else:
        typer.echo(str(folder))  # not wrapped, for scripts


@command(app, example="thinkback models remove bge-small-en-v1.5")
def remove(name: Name, common: Common) -> None:
    """Delete a model's weights from the cache."""
    from thinkback.models.weights import remove as removed

    if not removed(name, _options(common)):
        raise NotFound(f"{name} is not in the cache, so there is nothing to remove")
    show_result(common, {"model": name, "removed": True}, styled("removed", "green") + styled(f" {name}"))


def _options(common: Common) -> "FetchOptions":
    from thinkback.opening import fetch_options

    return fetch_options(settings_of(common))


def _chosen(names: list[str] | None) -> list[str]:
    from thinkback.models.weights import DEFAULT_EMBEDDER, DEFAULT_RERANKER, find

    for name in names or ():
        find(name)
    return names or [DEFAULT_EMBEDDER, DEFAULT_RERANKER]


def _object(one: "Status") -> dict[str, Any]:
    model = one.model
    return {
        "model": model.name,
        "kind": str(model.kind),
        "state": one.state,
        "path": None if one.path is None else str(one.path),
        "problems": list(one.problems),
        "bytes": model.size,
        "dimensions": model.dimensions,
        "licence": model.licence,
        "sources": [str(source) for source in model.sources],
        "about": model.about,
    }
