"""From a request to an answer: find the row, check the scope, read what is asked, do it in a thread, write it as JSON."""

import json
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from importlib import resources
from typing import IO, Any, TypeVar

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from thinkback.apps import wire
from thinkback.apps.http import requests
from thinkback.apps.http.body import read_json, spool
from thinkback.apps.http.errors import Refused, invalid, printable, refusal, said
from thinkback.apps.http.login_page import PAGE_POLICY, cookie_name
from thinkback.apps.http.metrics import Metrics
from thinkback.apps.http.openapi import document
from thinkback.apps.http.route import Matched, Route, match
from thinkback.apps.http.routes import ROUTES
from thinkback.apps.http.sessions import Logins
from thinkback.apps.http.spaces import Spaces
from thinkback.apps.http.tokens import EVERY_SPACE, SCOPES, Grant
from thinkback.apps.http.workers import Workers, whose
from thinkback.errors import NotFound, ThinkbackError
from thinkback.memory import Memory

T = TypeVar("T")
MCP_PATH = "/mcp"
_CHUNK = 65536
# What the inspector is made of; a machine's own table of types may know none of them.
_KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


@dataclass(frozen=True, slots=True)
class Site:
    """Everything the routes need; `mcp` answers at /mcp, `routes` may be fewer than all."""

    spaces: Spaces
    workers: Workers
    health: Workers  # a thread of its own, so that being busy is not taken for being ill
    logins: Logins
    metrics: Metrics
    mcp: ASGIApp
    search_seconds: float = 10.0
    routes: tuple[Route, ...] = ROUTES


@dataclass(frozen=True, slots=True)
class Call:
    """A request that has been let in, and what it asks."""

    request: Request
    route: Route
    grant: Grant
    space: str | None
    asked: Any

    @property
    def whose(self) -> tuple[str, ...]:
        """Who has to share the threads with others."""
        return whose(self.grant, self.space)


class Api:
    """The application behind the doorkeeper."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._answers: Mapping[str, Callable[[Call], Awaitable[Response]]] = {
            "stats": self._stats,
            "export": self._export,
            "import": self._import,
            "who": self._who,
            "spaces": self._spaces,
            "drop_space": self._drop_space,
            "openapi": self._openapi,
            "ready": self._ready,
            "metrics": self._metrics,
            "page": self._page,
            "static": self._static,
            "login_code": self._login_code,
            "logout": self._logout,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        if scope["path"] == MCP_PATH and request.method == "POST":
            request.state.route = "mcp"
            await self._site.mcp(scope, receive, send)
            return
        try:
            response = await self._answer(request)
        except Refused as refused:
            response = refused.response()
        except ThinkbackError as error:
            response = refusal(error).response()
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        if request.scope["path"] == MCP_PATH:  # without sessions there is nothing to stream or to end
            raise _no_route(("POST",))
        matched = match(request.method, _raw_path(request.scope), self._site.routes)
        if not isinstance(matched, Matched):
            raise _no_route(matched)
        route = matched.route
        request.state.route = route.name
        if route.public:
            return _json({"status": "live"})
        grant: Grant = request.state.grant
        if route.scope is not None and route.scope not in grant.scopes:
            raise Refused(403, "scope", f"this needs a token with the scope {route.scope}")
        if route.everywhere and EVERY_SPACE not in grant.spaces:
            raise Refused(403, "space", "this is about all spaces; it needs a token that reaches them all")
        call = Call(request, route, grant, request.state.space, await _read(request, matched))
        if route.run is None:
            return await self._answers[route.name](call)
        return await self._verb(call, route.run)

    async def _verb(self, call: Call, run: Callable[[Memory, Any], Any]) -> Response:
        seconds = self._site.search_seconds if call.route.searches else None
        body = await self._with_memory(call, lambda memory: encoded(run(memory, call.asked)), seconds)
        return Response(body, call.route.status, media_type="application/json")

    async def _with_memory(self, call: Call, work: Callable[[Memory], T], seconds: float | None = None) -> T:
        return await self._site.workers.run(self._leased(call, work), seconds, call.whose)

    def _leased(self, call: Call, work: Callable[[Memory], T]) -> Callable[[], T]:
        space = call.space
        if space is None:
            raise Refused(422, "space", "this token reaches several spaces; say which: ?space=NAME")

        def leased() -> T:
            with self._site.spaces.lease(space, create=call.route.creates) as memory:
                return work(memory)

        return leased

    # -- what is not a verb on a memory

    async def _stats(self, call: Call) -> Response:
        counts = await self._with_memory(call, lambda memory: wire.stats(memory.stats()))
        counts.pop("path", None)  # where files lie is the server's own business
        return _json({"space": call.space, "stats": counts})

    async def _export(self, call: Call) -> Response:
        """Written to a temporary file first, so that a slow reader holds up nobody."""
        file = await self._with_memory(call, _exported)
        return StreamingResponse(_streamed(file), media_type=call.route.content)

    async def _import(self, call: Call) -> Response:
        with closing(await spool(call.request, call.route.takes or "")) as file:
            report = await self._with_memory(call, lambda memory: _imported(memory, file, call.asked.skip_bad))
        return _json({"imported": report})

    async def _who(self, call: Call) -> Response:
        grant = call.grant
        scopes = [scope for scope in SCOPES if scope in grant.scopes]
        return _json({"name": grant.name, "scopes": scopes, "spaces": sorted(grant.spaces)})

    async def _spaces(self, call: Call) -> Response:
        names = await self._site.workers.run(self._site.spaces.names, whose=call.whose)
        return _json({"spaces": [name for name in names if call.grant.reaches(name)]})

    async def _drop_space(self, call: Call) -> Response:
        name = call.asked.name
        if not call.grant.reaches(name):
            raise Refused(403, "space", f"this token does not reach the space {name[:80]!r}")
        await self._site.workers.run(lambda: self._site.spaces.drop(name), whose=whose(call.grant, name))
        return await self._spaces(call)

    async def _openapi(self, call: Call) -> Response:
        return _json(document())

    async def _ready(self, call: Call) -> Response:
        work = self._leased(call, lambda memory: memory.state())
        await self._site.health.run(work, self._site.search_seconds)
        return _json({"status": "ready"})

    async def _metrics(self, call: Call) -> Response:
        metrics = self._site.metrics
        metrics.open_spaces.set(self._site.spaces.open_count)
        metrics.waiting.set(self._site.workers.taken)
        return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    async def _page(self, call: Call) -> Response:
        return _file("index.html")

    async def _static(self, call: Call) -> Response:
        return _file(call.asked.file)

    async def _login_code(self, call: Call) -> Response:
        return _json({"code": self._site.logins.code(call.grant)})

    async def _logout(self, call: Call) -> Response:
        name = cookie_name(call.request)
        self._site.logins.end(call.request.cookies.get(name, ""))
        response = _json({"status": "logged out"})
        response.delete_cookie(name, path="/")
        return response


def encoded(shape: Any) -> bytes:
    """A shape as JSON; done in the worker's thread, for a long answer takes a while."""
    return json.dumps(shape, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _json(shape: Any) -> Response:
    return Response(encoded(shape), media_type="application/json")


async def _read(request: Request, matched: Matched) -> requests.Asked:
    """What is asked, from path, query string and body, checked."""
    route = matched.route
    query = [(name, value) for name, value in request.query_params.multi_items() if name != "space"]
    if route.has_json_body:
        if query:
            raise Refused(422, "invalid", f"unknown parameter {query[0][0][:80]!r}; this route takes a JSON body")
        fields: dict[str, Any] = await read_json(request)
    else:
        fields = _from_query(route, query)
    twice = next((name for name in matched.fields if name in fields), None)
    if twice is not None:
        raise Refused(422, "invalid", f"{twice} stands in the path; it cannot be given again")
    try:
        return route.asks.model_validate({**fields, **matched.fields}, strict=True if route.has_json_body else None)
    except ValidationError as error:
        raise invalid(error, route.asks, route.in_path) from None


def _from_query(route: Route, query: list[tuple[str, str]]) -> dict[str, Any]:
    """A repeated name is a list where the field is one; elsewhere it is a mistake."""
    fields: dict[str, Any] = {}
    for name, value in query:
        known = route.asks.model_fields.get(name)
        if known is not None and "list[" in str(known.annotation):
            fields.setdefault(name, []).append(value)
        elif name in fields:
            raise Refused(422, "invalid", f"{name[:80]} was given more than once")
        else:
            fields[name] = value
    return fields


def _raw_path(scope: Scope) -> str:
    raw: bytes | None = scope.get("raw_path")
    return str(scope["path"]) if raw is None else raw.split(b"?")[0].decode("latin-1")


def _no_route(allowed: tuple[str, ...]) -> Refused:
    if not allowed:
        return Refused(404, "no_route", "there is nothing here; /openapi.json lists what there is")
    return Refused(405, "method", f"this path takes {', '.join(allowed)}", {"Allow": ", ".join(allowed)})


def _exported(memory: Memory) -> IO[bytes]:
    from thinkback.interop.jsonl import export_lines

    file = tempfile.SpooledTemporaryFile(max_size=1_000_000)  # noqa: SIM115 - handed on to the response
    for line in export_lines(memory):
        file.write(line.encode() + b"\n")
    file.seek(0)
    return file


async def _streamed(file: IO[bytes]) -> AsyncIterator[bytes]:
    with closing(file):
        while chunk := file.read(_CHUNK):
            yield chunk


def _imported(memory: Memory, file: IO[bytes], skip_bad: bool) -> dict[str, Any]:
    from thinkback.interop.jsonl import import_lines

    report = import_lines(memory, (line.decode("utf-8", "surrogateescape") for line in file), skip_bad)
    bad = [{"line": one.line, "reason": printable(one.reason)} for one in report.bad]
    return {**report.counts, "bad": bad, "warnings": [printable(said(str(warning))) for warning in report.warnings]}


def _file(name: str) -> Response:
    """A file of the inspector, by its bare name."""
    if not all(letter.isalnum() or letter in "._-" for letter in name) or name.startswith("."):
        raise NotFound(f"there is no file {name[:80]!r}")
    file = resources.files("thinkback.apps").joinpath("inspector", "static", name)
    if not file.is_file():
        raise NotFound(f"there is no file {name[:80]!r}")
    kind = _KINDS.get(name.rpartition(".")[2], "application/octet-stream")
    return Response(file.read_bytes(), media_type=kind, headers={"Content-Security-Policy": PAGE_POLICY})
