"""The whole server as one ASGI app."""

import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response

from thinkback.apps.http.api import Api, Site
from thinkback.apps.http.errors import Refused
from thinkback.apps.http.guard import Doorkeeper, Doors, Hosts
from thinkback.apps.http.mcp import HttpDoor, McpEndpoint
from thinkback.apps.http.metrics import Metrics
from thinkback.apps.http.rate_limit import Rates
from thinkback.apps.http.route import Route
from thinkback.apps.http.routes import ROUTES
from thinkback.apps.http.sessions import Logins
from thinkback.apps.http.spaces import Spaces
from thinkback.apps.http.tokens import Tokens
from thinkback.apps.http.workers import Workers
from thinkback.clock import Clock, system_clock
from thinkback.opening import Opener


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much the server takes on."""

    per_second: float = 300.0
    burst: float = 600.0
    threads: int = 4
    most_waiting: int = 1000
    search_seconds: float = 10.0
    open_spaces: int = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What is served, to whom: a folder of spaces, the file of the default one, tokens, names of the host."""

    folder: Path
    opener: Opener
    tokens: Tokens
    default_file: Path | None = None
    host_names: Iterable[str] = ()
    origins: Iterable[str] = ()
    limits: Limits = Limits()
    routes: tuple[Route, ...] = ROUTES
    mcp_scopes: frozenset[str] | None = None
    read_only: bool = False
    clock: Clock = system_clock
    seconds: Callable[[], float] = time.monotonic


@dataclass(frozen=True, slots=True)
class Server:
    """The app, and what its owner may want to hold."""

    app: Starlette
    logins: Logins
    spaces: Spaces
    tokens: Tokens


def build(served: Served) -> Server:
    """Puts the parts together; nothing is opened before it is asked for."""
    limits, metrics = served.limits, Metrics()
    served.opener.watch(metrics)
    spaces = Spaces(
        served.folder,
        lambda path: served.opener(path, read_only=served.read_only),
        default_file=served.default_file,
        keep=limits.open_spaces,
    )
    workers, health = Workers(limits.threads, limits.most_waiting), Workers(1, limits.most_waiting)
    logins = Logins(served.tokens, served.clock)
    mcp = McpEndpoint(HttpDoor(spaces, workers, limits.search_seconds, served.mcp_scopes))
    site = Site(spaces, workers, health, logins, metrics, mcp, limits.search_seconds, served.routes)
    doors = Doors(
        hosts=Hosts.of(served.host_names, served.origins),
        tokens=served.tokens,
        logins=logins,
        rates=Rates(limits.per_second, limits.burst, served.seconds),
        metrics=metrics,
    )

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with mcp.sessions.run():
            yield
        workers.close()
        health.close()
        spaces.close()

    app = Starlette(
        middleware=[Middleware(Doorkeeper, doors=doors)],
        exception_handlers={Exception: _crashed},
        lifespan=lifespan,
    )
    app.router.default = Api(site)  # it has a table of its own: paths are taken apart before they are decoded
    return Server(app, logins, spaces, served.tokens)


async def _crashed(request: Request, error: Exception) -> Response:
    """A fault of ours; what it was goes to the log, not to the client."""
    return Refused(500, "internal", "the server failed; its log says how").response()
