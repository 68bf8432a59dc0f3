"""From a request to a response: find the route, check the scope, read the parameters, run the handler."""

from typing import Any

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from thinkback.apps.http import requests
from thinkback.apps.http.body import read_json
from thinkback.apps.http.endpoints import Call, Site, encoded, json_response, with_memory
from thinkback.apps.http.errors import HttpError, invalid
from thinkback.apps.http.route import Route, match
from thinkback.apps.http.tokens import EVERY_SPACE, Grant

MCP_PATH = "/mcp"


class Api:
    """The application behind the access control."""

    def __init__(self, site: Site) -> None:
        self._site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        if scope["path"] == MCP_PATH and request.method == "POST":
            request.state.route = "mcp"
            await self._site.mcp(scope, receive, send)
        else:
            response = await self._answer(request)
            await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        call = await self._call(request)
        route = call.route
        if route.serve is not None:
            answer = await route.serve(self._site, call)
            return answer if isinstance(answer, Response) else json_response(answer, route.status)
        run = route.run
        assert run is not None
        seconds = self._site.search_seconds if route.searches else None
        # JSON is encoded in the worker's thread too: a long answer takes a while.
        body = await with_memory(self._site, call, lambda memory: encoded(run(memory, call.asked)), seconds)
        return Response(body, route.status, media_type="application/json")

    async def _call(self, request: Request) -> Call:
        """The route of a request and its parameters, once the grant allows it."""
        if request.scope["path"] == MCP_PATH:  # without sessions there is nothing to stream or to end
            raise _no_route("POST")
        matched = match(request.method, _raw_path(request.scope), self._site.routes)
        if not matched or isinstance(matched[0], str):
            raise _no_route(*map(str, matched))
        route, in_path = matched
        request.state.route = route.name
        if route.public:
            return Call(request, route, Grant("", frozenset(), frozenset()), None, requests.Nothing())
        grant: Grant = request.state.grant
        if route.scope is not None and route.scope not in grant.scopes:
            raise HttpError(403, "scope", f"this needs a token with the scope {route.scope}")
        if route.all_spaces and EVERY_SPACE not in grant.spaces:
            raise HttpError(403, "space", "this covers all spaces and needs a token that reaches every one")
        return Call(request, route, grant, request.state.space, await _parameters(request, route, in_path))


async def _parameters(request: Request, route: Route, in_path: dict[str, str]) -> requests.Parameters:
    """The parameters from path, query string and body, checked."""
    query = [(name, value) for name, value in request.query_params.multi_items() if name != "space"]
    if not route.has_json_body:
        given = _from_query(route, query)
    elif query:
        raise HttpError(422, "invalid_input", f"unknown parameter {query[0][0][:80]!r}; this route takes a JSON body")
    else:
        given = await read_json(request)
    if twice := next((name for name in in_path if name in given), None):
        raise HttpError(422, "invalid_input", f"{twice} is in the path and cannot be given again")
    try:
        return route.takes.model_validate({**given, **in_path}, strict=True if route.has_json_body else None)
    except ValidationError as error:
        raise invalid(error, route.takes, route.in_path) from None


def _from_query(route: Route, query: list[tuple[str, str]]) -> dict[str, Any]:
    """A repeated name makes a list where the field is one, and is an error elsewhere."""
    given: dict[str, Any] = {}
    for name, value in query:
        field = route.takes.model_fields.get(name)
        if field is not None and "list[" in str(field.annotation):
            given.setdefault(name, []).append(value)
        elif name in given:
            raise HttpError(422, "invalid_input", f"{name[:80]} was given more than once")
        else:
            given[name] = value
    return given


def _raw_path(scope: Scope) -> str:
    raw: bytes | None = scope.get("raw_path")
    return str(scope["path"]) if raw is None else raw.split(b"?")[0].decode("latin-1")


def _no_route(*allowed: str) -> HttpError:
    if not allowed:
        return HttpError(404, "no_route", "there is no such path; /openapi.json lists the routes")
    return HttpError(405, "method", f"this path takes {', '.join(allowed)}", {"Allow": ", ".join(allowed)})
