"""What HTTP and MCP share: the limit on a text, strict JSON, and how a validation error reads."""

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from thinkback.errors import InvalidInput, did_you_mean

TEXT_LIMIT = 200_000  # characters: in any script they fit into a request of a megabyte; longer texts come by import


def strict_json(text: str) -> Any:
    """Parse JSON by its standard; NaN, lone surrogates and very deep nesting raise ValueError."""
    try:
        data = json.loads(text, parse_constant=_not_json)
        json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("it holds a lone surrogate") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return data


def problems(error: ValidationError, model: type[BaseModel], hidden: Collection[str] = ()) -> list[str]:
    """One sentence for each invalid field, without its value; `hidden` fields are not suggested."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    return [_problem(one["type"], one["loc"], one["msg"], model, hidden) for one in found]


def _problem(
    kind: str, place: tuple[int | str, ...], message: str, model: type[BaseModel], hidden: Collection[str]
) -> str:
    if kind == "extra_forbidden":
        place, name = place[:-1], str(place[-1])
        known = [field for field in _model_at(model, place).model_fields if field not in hidden]
        message = f"unknown field {name[:80]!r}; known: {', '.join(known) or 'none'}.{did_you_mean(name, known)}"
    where = ".".join(map(str, place))
    return f"{where}: {message}" if where else message


def _model_at(model: type[BaseModel], place: Collection[int | str]) -> type[BaseModel]:
    """The model at a place inside another; numbers are positions in a list."""
    for part in place:
        if isinstance(part, str):
            model = next(_models(model.model_fields[part].annotation))
    return model


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)


def _not_json(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON number")


def check_overrides(overrides: Mapping[str, Any] | None) -> None:
    """A client may change every number of a recipe, but not choose a model: its name may be a path on the server."""
    for path, value in (overrides or {}).items():
        named = isinstance(value, Mapping) and "model" in value
        if path == "reranker.model" or (path == "reranker" and named):
            raise InvalidInput("reranker.model cannot be changed in a request; name a recipe", code="untrusted_setting")
