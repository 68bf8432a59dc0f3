"""Commands whose options come in dataclasses: each field becomes an option, so that commands share options by type.

    @command(app, example="thinkback get ID")
    def get(ids: Ids, common: Common) -> None: ...

`Common` being a dataclass, the command takes its fields as `--store` and `--json` and is called with one `Common`.
"""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

Function = Callable[..., None]
# How help writes the value of an option that names none; a flag takes no value.
_VALUES: dict[Any, str] = {int: "N", float: "NUMBER", str: "TEXT", list[str]: "TEXT", Path: "FILE"}


class Command(TyperCommand):
    """A command whose help is free of type names, and which says how to quote words that it was given one by one."""

    def get_params(self, ctx: Any) -> Any:
        """The parameters, with the words that help shows for their values."""
        return _with_words(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; too many are an error, with the quotes that were probably meant."""
        typed = list(args)
        ctx.allow_extra_args = True
        rest = super().parse_args(ctx, args)
        if rest and not ctx.resilient_parsing:
            ctx.fail(f"Got unexpected extra argument(s) ({' '.join(rest)}){self._hint(ctx, typed, rest)}")
        return rest

    def _hint(self, ctx: Any, typed: list[str], rest: list[str]) -> str:
        own = [one for one in self.params if one.param_type_name == "argument"]
        starts = (at for at in range(len(typed)) if typed[at + 1 : at + 1 + len(rest)] == rest)
        first = next(starts, None)
        if len(own) != 1 or first is None:
            return ""
        end = first + 1 + len(rest)
        quoted = " ".join([*typed[:first], f'"{" ".join(typed[first:end])}"', *typed[end:]])
        return f". Put the words in quotes: {ctx.command_path} {quoted}"


class _Unchecked:
    """Takes defaults and plain texts as they are: Typer checks every value by pydantic, whose import is slow."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value, checked by Typer if there is anything to check."""
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        plain = type(value) is str and _value_type(param) is str and _parser(param) is None
        if not several and (plain or value is param.default):
            return value
        param._runtime_param = None
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


class Group(TyperGroup):
    """A group whose help is free of type names."""

    def get_params(self, ctx: Any) -> Any:
        """The parameters, with the words that help shows for their values."""
        return _with_words(super().get_params(ctx))


def _with_words(parameters: Any) -> Any:
    for one in parameters:
        if one.param_type_name == "option" and one.metavar is None:
            one.metavar = "" if getattr(one, "is_flag", False) else _VALUES.get(_value_type(one))
        if getattr(one, "_runtime_param", one) is None:  # this version of Typer has one, and has not made it yet
            one._runtime_param = _Unchecked()
    return parameters


def _value_type(option: Any) -> Any:
    """The Python type of an option's value, wherever this version of Typer keeps it."""
    described = getattr(option, "type_descriptor", None)
    return getattr(described, "annotation", None)


def _parser(option: Any) -> Any:
    return getattr(getattr(option.type_descriptor, "parameter_info", None), "parser", None)


def command(
    app: typer.Typer, name: str | None = None, *, example: str, panel: str | None = None
) -> Callable[[Function], Function]:
    """Register a command; its example is shown at the end of its `--help`."""

    def register(function: Function) -> Function:
        app.command(name, cls=Command, epilog=epilog(example), rich_help_panel=panel)(with_options(function))
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
