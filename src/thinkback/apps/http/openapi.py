"""The OpenAPI 3.1 document, generated from the table of routes."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from thinkback import __version__
from thinkback.apps.http.errors import ErrorShape
from thinkback.apps.http.route import Route
from thinkback.stores.base import SPACE_NAME

_REF = "#/components/schemas/{model}"
_ERRORS = {
    "401": "No token, or an unknown one.",
    "403": "The token lacks the scope or the space, or the Origin is not allowed.",
    "404": "There is nothing of that name.",
    "413": "The body is larger than the limit.",
    "421": "This server does not answer for that Host.",
    "422": "The request is invalid; the message names the field and the reason.",
    "429": "Too many requests; Retry-After says when to retry.",
    "504": "The search took longer than its deadline.",
}


@cache
def document(routes: tuple[Route, ...]) -> dict[str, Any]:
    """The whole document."""
    routes = documented(routes)
    schemas, definitions = _schemas(routes)
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, schemas, definitions)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Thinkback",
            "version": __version__,
            "summary": "Memory search for AI agents, with every score explained.",
        },
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": definitions,
            "responses": _errors(schemas),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def documented(routes: tuple[Route, ...]) -> tuple[Route, ...]:
    """The routes for programs, without the page and its files."""
    return tuple(route for route in routes if route.documented)


def _schemas(routes: tuple[Route, ...]) -> tuple[Mapping[tuple[str, str], Any], dict[str, Any]]:
    """The schemas of every request and response, by route, and the definitions they refer to."""
    wanted: list[tuple[str, Any, TypeAdapter[Any]]] = [("error", "serialization", TypeAdapter(ErrorShape))]
    for route in routes:
        wanted.append((f"{route.name} takes", "validation", TypeAdapter(route.takes)))
        if route.gives is not None:
            wanted.append((f"{route.name} gives", "serialization", TypeAdapter(route.gives)))
    schemas, found = TypeAdapter.json_schemas(wanted, ref_template=_REF)
    return {(key, mode): schema for (key, mode), schema in schemas.items()}, dict(found.get("$defs", {}))


def _operation(route: Route, schemas: Mapping[tuple[str, str], Any], definitions: dict[str, Any]) -> dict[str, Any]:
    model = _resolved(schemas[f"{route.name} takes", "validation"], definitions)
    fields = {**model.get("properties", {})}
    required = model.get("required", [])
    in_path = {name: fields.pop(name) for name in route.in_path}
    operation: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.about,
        "parameters": [_parameter(name, schema, "path", True) for name, schema in in_path.items()],
        "responses": _responses(route, schemas),
    }
    if route.public:
        operation["security"] = []
    if route.on_memory:
        operation["parameters"].append(_parameter("space", _SPACE, "query", False))
    if route.scope is not None:
        operation["x-scope"] = route.scope
    if route.has_json_body:
        left = [name for name in required if name in fields]
        body = {"type": "object", "properties": fields, "required": left, "additionalProperties": False}
        operation["requestBody"] = {"required": bool(left), "content": {"application/json": {"schema": body}}}
    else:
        operation["parameters"] += [
            _parameter(name, schema, "query", name in required) for name, schema in fields.items()
        ]
    if route.body is not None:
        operation["requestBody"] = {"required": True, "content": {route.body: {"schema": {"type": "string"}}}}
    return operation


_SPACE = {
    "type": "string",
    "pattern": f"^{SPACE_NAME.pattern}$",
    "description": "The space; default: the one the token reaches.",
}


def _parameter(name: str, schema: dict[str, Any], place: str, required: bool) -> dict[str, Any]:
    about = {"description": schema["description"]} if "description" in schema else {}
    parameter = {"name": name, "in": place, "required": required, **about}
    if name == "metadata":  # an object in a query string is written as JSON
        return {**parameter, "content": {"application/json": {"schema": schema}}}
    return {**parameter, "schema": schema}


def _responses(route: Route, schemas: Mapping[tuple[str, str], Any]) -> dict[str, Any]:
    schema = {"type": "string"} if route.content != "application/json" else {}
    if route.gives is not None:
        schema = schemas[f"{route.name} gives", "serialization"]
    good = {"description": "Done.", "content": {route.content: {"schema": schema}}}
    errors = ("403", "421") if route.public else tuple(_ERRORS)
    return {str(route.status): good, **{status: {"$ref": f"#/components/responses/{status}"} for status in errors}}


def _errors(schemas: Mapping[tuple[str, str], Any]) -> dict[str, Any]:
    content = {"application/json": {"schema": schemas["error", "serialization"]}}
    return {status: {"description": why, "content": content} for status, why in _ERRORS.items()}


def _resolved(schema: dict[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    reference = schema.get("$ref")
    return definitions[reference.rsplit("/", 1)[-1]] if reference else schema
