"""What HTTP and MCP take, and how they say what is wrong with it, alike."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from thinkback.errors import did_you_mean

TEXT_LIMIT = 200_000  # characters: in any script they fit into a request of a megabyte


def problems(error: ValidationError, model: type[BaseModel], without: Collection[str] = ()) -> list[str]:
    """What is wrong with what was given, field by field, without repeating values; `without` are no fields to suggest."""
    told = error.errors(include_url=False, include_input=False, include_context=False)
    return [_problem(problem["type"], problem["loc"], problem["msg"], model, without) for problem in told]


def reworded(message: str, words: Mapping[str, str]) -> str:
    """An error of the engine as its reader can act on it: what names a command names this surface's own way instead."""
    for said, instead in words.items():
        message = message.replace(said, instead)
    return message


def _problem(
    kind: str, place: tuple[int | str, ...], told: str, model: type[BaseModel], without: Collection[str]
) -> str:
    if kind == "extra_forbidden":
        place, name = place[:-1], place[-1]
        known = [field for field in _model_at(model, place).model_fields if field not in without]
        told = f"unknown field {str(name)[:80]!r}; known: {', '.join(known) or 'none'}.{did_you_mean(str(name), known)}"
    where = ".".join(map(str, place))
    return f"{where}: {told}" if where else told


def _model_at(model: type[BaseModel], place: Collection[int | str]) -> type[BaseModel]:
    """The model that stands at a place inside another; numbers are places in a list."""
    for part in place:
        if isinstance(part, str):
            model = next(_models(model.model_fields[part].annotation))
    return model


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)
