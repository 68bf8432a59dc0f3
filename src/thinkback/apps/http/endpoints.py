"""The routes that the server answers itself, and what every route needs: the parts of the server and the checked call."""

import json
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from importlib import resources
from typing import IO, Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp

from thinkback.apps import wire
from thinkback.apps.http import responses
from thinkback.apps.http.body import spool
from thinkback.apps.http.errors import HttpError, in_words, printable
from thinkback.apps.http.login import Sessions, cookie_name
from thinkback.apps.http.metrics import Metrics
from thinkback.apps.http.openapi import document
from thinkback.apps.http.route import Route
from thinkback.apps.http.spaces import Spaces, pool_of
from thinkback.apps.http.tokens import SCOPES, Grant, Tokens
from thinkback.apps.http.workers import Workers, clients_of
from thinkback.errors import NotFound
from thinkback.inputs import LONGEST_TEXT
from thinkback.memory import Memory
from thinkback.values import dataclass

T = TypeVar("T")
_CHUNK = 65536
_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
# The inspector's content types; the tables that Starlette's StaticFiles asks vary by machine.
_CONTENT_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


@dataclass(frozen=True, slots=True)
class Site:
    """The parts of the server; `mcp` answers at /mcp, `routes` may be fewer than all."""

    spaces: Spaces
    workers: Workers
    health: Workers  # a separate thread, so that a busy server still answers health checks
    sessions: Sessions
    metrics: Metrics
    mcp: ASGIApp
    search_seconds: float
    routes: tuple[Route, ...]
    tokens: Tokens


@dataclass(frozen=True, slots=True)
class Call:
    """A request that was let in, and its checked parameters."""

    request: Request
    route: Route
    grant: Grant
    space: str | None
    asked: Any

    @property
    def clients(self) -> tuple[str, ...]:
        """Whose share of the workers the call uses."""
        return clients_of(self.grant, self.space)


async def with_memory(site: Site, call: Call, work: Callable[[Memory], T], seconds: float | None = None) -> T:
    """The result of work on the memory of the call's space, done in a worker thread."""
    return await site.workers.run(_leased(site, call, work), seconds, call.clients)


def json_response(shape: Any, status: int = 200) -> Response:
    """A shape as a response."""
    return Response(encoded(shape), status, media_type="application/json")


def encoded(shape: Any) -> bytes:
    """A shape as JSON."""
    return json.dumps(shape, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


async def stats(site: Site, call: Call) -> responses.StatsShape:
    """Counts and sizes of a space."""
    counts = await with_memory(site, call, lambda memory: wire.stats(memory.stats()))
    counts["engine"].pop("path", None)  # clients need not know where the server keeps its files
    return {"space": call.space or "", "stats": counts}


async def export(site: Site, call: Call) -> Response:
    """Everything in a space as JSON Lines."""
    file = await with_memory(site, call, _export_file)
    return StreamingResponse(_streamed(file), media_type=call.route.content)


async def import_(site: Site, call: Call) -> responses.ImportedShape:
    """Import what an export wrote; up to 100 MB, streamed."""
    with closing(await spool(call.request, call.route.body or "")) as file:
        return {
            "imported": await with_memory(site, call, lambda memory: _import_file(memory, file, call.asked.skip_bad))
        }


async def who(site: Site, call: Call) -> responses.WhoShape:
    """The scopes and spaces of this token."""
    grant = call.grant
    scopes = [scope for scope in SCOPES if scope in grant.scopes]
    return {"name": grant.name, "scopes": scopes, "spaces": sorted(grant.spaces)}


async def spaces(site: Site, call: Call) -> responses.SpacesShape:
    """The spaces this token reaches."""
    names = await site.workers.run(site.spaces.names, clients=call.clients)
    return {"spaces": [name for name in names if call.grant.reaches(name)]}


async def drop_space(site: Site, call: Call) -> responses.SpacesShape:
    """Delete a whole space: its file is removed."""
    name = call.asked.name
    if not call.grant.reaches(name):
        raise HttpError(403, "space", f"this token does not reach the space {name[:80]!r}")
    await site.workers.run(lambda: site.spaces.drop(name), clients=clients_of(call.grant, name))
    return await spaces(site, call)


async def openapi(site: Site, call: Call) -> Response:
    """This document."""
    return json_response(document(site.routes))


async def live(site: Site, call: Call) -> responses.HealthShape:
    """Whether the process answers; the only route that needs no token."""
    return {"status": "live"}


async def ready(site: Site, call: Call) -> responses.HealthShape:
    """Whether the token's default space can be searched; of a database also how its connections are used."""
    await site.health.run(_leased(site, call, lambda memory: memory.state()), site.search_seconds)
    pool = pool_of(site.spaces.place)
    return {"status": "ready"} if pool is None else {"status": "ready", "pool": pool}


async def metrics(site: Site, call: Call) -> Response:
    """Metrics for Prometheus."""
    return Response(site.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


async def page(site: Site, call: Call) -> Response:
    """The inspector."""
    return _static_file("index.html")


async def static(site: Site, call: Call) -> Response:
    """A file of the inspector."""
    return _static_file(call.asked.file)


async def login_code(site: Site, call: Call) -> responses.LoginCodeShape:
    """A code that opens the inspector in a browser once, as /?login=CODE."""
    return {"code": site.sessions.code(call.grant)}


async def logout(site: Site, call: Call) -> Response:
    """End a browser session."""
    name = cookie_name(call.request)
    site.sessions.end(call.request.cookies.get(name, ""))
    response = json_response({"status": "logged out"})
    response.delete_cookie(name, path="/")
    return response


def _leased(site: Site, call: Call, work: Callable[[Memory], T]) -> Callable[[], T]:
    space = call.space
    if space is None:
        raise HttpError(422, "space", "this token reaches several spaces; name one: ?space=NAME")

    def leased() -> T:
        with site.spaces.lease(space, create=call.route.creates) as memory:
            return work(memory)

    return leased


def _export_file(memory: Memory) -> IO[bytes]:
    """The whole export in a temporary file, so that a slow reader does not block others."""
    from thinkback.interop.jsonl import export_lines

    file = tempfile.SpooledTemporaryFile(max_size=1_000_000)  # noqa: SIM115 - the response closes it
    for line in export_lines(memory):
        file.write(line.encode() + b"\n")
    file.seek(0)
    return file


async def _streamed(file: IO[bytes]) -> AsyncIterator[bytes]:
    with closing(file):
        while chunk := file.read(_CHUNK):
            yield chunk


def _import_file(memory: Memory, file: IO[bytes], skip_bad: bool) -> dict[str, Any]:
    from thinkback.interop.jsonl import import_lines

    lines = (line.decode("utf-8", "surrogateescape") for line in file)
    report = import_lines(memory, lines, skip_bad, longest=LONGEST_TEXT)
    bad = [{"line": one.line, "reason": printable(one.reason)} for one in report.bad]
    return {**report.counts, "bad": bad, "warnings": [in_words(warning) for warning in report.warnings]}


def _static_file(name: str) -> Response:
    """A file of the inspector, by its bare name."""
    file = resources.files("thinkback.apps.inspector").joinpath("static", name)
    if not all(letter.isalnum() or letter in "._-" for letter in name) or name.startswith(".") or not file.is_file():
        raise NotFound(f"there is no file {name[:80]!r}", code="unknown_file")
    kind = _CONTENT_TYPES.get(name.rpartition(".")[2], "application/octet-stream")
    return Response(file.read_bytes(), media_type=kind, headers={"Content-Security-Policy": _PAGE_POLICY})
