"""Commands whose options come in dataclasses: each field becomes an option, so that commands share options by type.

    @command(app, example="thinkback get ID")
    def get(ids: Ids, common: Common) -> None: ...

`Common` being a dataclass, the command takes its fields as `--store` and `--json` and is called with one `Common`.
"""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints

import typer

Function = Callable[..., None]


def command(
    app: typer.Typer, name: str | None = None, *, example: str, panel: str | None = None
) -> Callable[[Function], Function]:
    """Register a command; its example is shown at the end of its `--help`."""

    def register(function: Function) -> Function:
        app.command(name, epilog=epilog(example), rich_help_panel=panel)(with_options(function))
        return function

    return register


def epilog(example: str) -> str:
    """One or more example lines as Typer prints them; its markup must not read their brackets."""
    lines = [line.replace("[", r"\[") for line in example.splitlines()]
    return "\n\n".join(["[bold]Example[/bold]" if len(lines) == 1 else "[bold]Examples[/bold]", *lines])


def with_options(function: Function) -> Function:
    """The function with every dataclass parameter replaced by that dataclass's fields."""
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}

    @wraps(function)
    def call(**given: Any) -> None:
        for name, kind in groups.items():
            given[name] = kind(**{one.name: given.pop(one.name) for one in fields(kind)})
        function(**given)

    parameters = [
        parameter
        for one in inspect.signature(function).parameters.values()
        for parameter in (
            _of_group(groups[one.name]) if one.name in groups else [one.replace(annotation=hints[one.name])]
        )
    ]
    call.__signature__ = inspect.Signature([one.replace(kind=one.KEYWORD_ONLY) for one in parameters])  # type: ignore[attr-defined]
    call.__annotations__ = {one.name: one.annotation for one in parameters}
    return call


def _of_group(kind: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=_default(one), annotation=hints[one.name])
        for one in fields(kind)
    ]


def _default(one: "Field[Any]") -> Any:
    return inspect.Parameter.empty if one.default is MISSING else one.default
