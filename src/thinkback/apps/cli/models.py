"""The `models` commands: which weights are here, and how they come and go."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from thinkback.apps.cli.flat import command, epilog
from thinkback.apps.cli.options import Common
from thinkback.apps.cli.output import show, show_json, show_lines, size, styled, table
from thinkback.apps.cli.session import Fetching, settings_of
from thinkback.errors import NotFound

if TYPE_CHECKING:
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
    """List the known models and whether they are here."""
    from thinkback.models.weights import status

    found = status(_options(common))
    if common.json:
        show_lines(_object(one) for one in found)
        return
    rows = table("model", "kind", "state", "size", "licence", "about")
    for one in found:
        model = one.model
        state = styled(one.state, _COLOURS[one.state])
        rows.add_row(
            styled(model.name, "bold cyan"),
            model.kind,
            state,
            size(model.size) if model.size else "",
            model.licence,
            model.about,
        )
    show(rows)


@command(app, example="thinkback models pull\nthinkback models pull potion-base-8M")
def pull(common: Common, names: Names = None) -> None:
    """Fetch weights, verify every file, and keep them for offline use."""
    from thinkback.models.weights import ensure

    for name in _chosen(names):
        folder = ensure(name, _options(common), Fetching())
        if common.json:
            show_json({"model": name, "path": str(folder)})
        else:
            show(styled("ready", "green") + styled(f" {name}  ") + styled(str(folder), "dim"))


@command(app, example="thinkback models verify e5-small-v2")
def verify(common: Common, names: Names = None) -> None:
    """Read every byte of the weights again and compare checksums."""
    from thinkback.models.weights import verify as problems_of

    wrong = False
    for name in _chosen(names):
        problems = problems_of(name, _options(common))
        wrong = wrong or bool(problems)
        if common.json:
            show_json({"model": name, "problems": problems})
        else:
            verdict = styled("damaged", "bold red") if problems else styled("sound", "green")
            show(verdict + styled(f" {name}"), *(styled(f"  {problem}") for problem in problems))
    if wrong:
        raise typer.Exit(1)


@command(app, example="thinkback models path e5-small-v2")
def path(name: Name, common: Common) -> None:
    """Print the folder with a model's files; nothing is fetched."""
    from thinkback.models.weights import path as folder_of

    folder = folder_of(name, _options(common))
    if common.json:
        show_json({"model": name, "path": str(folder)})
    else:
        typer.echo(str(folder))


@command(app, example="thinkback models remove bge-small-en-v1.5")
def remove(name: Name, common: Common) -> None:
    """Delete a model's weights from the cache."""
    from thinkback.models.weights import remove as removed

    if not removed(name, _options(common)):
        raise NotFound(f"{name} is not in the cache, so there is nothing to remove")
    if common.json:
        show_json({"model": name, "removed": True})
    else:
        show(styled("removed", "green") + styled(f" {name}"))


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
