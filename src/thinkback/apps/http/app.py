"""The whole server as one ASGI app."""

import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.middleware import Middleware

from thinkback.apps.http.api import Api
from thinkback.apps.http.endpoints import Site
from thinkback.apps.http.errors import HttpError, answer_crash, answer_engine_error, answer_http_error
from thinkback.apps.http.guard import Access, AccessMiddleware, AllowedHosts
from thinkback.apps.http.login import Sessions
from thinkback.apps.http.mcp import HttpAccess, McpEndpoint
from thinkback.apps.http.metrics import Metrics
from thinkback.apps.http.rates import RateLimiter
from thinkback.apps.http.route import Route
from thinkback.apps.http.routes import ROUTES
from thinkback.apps.http.spaces import Spaces
from thinkback.apps.http.tokens import Tokens
from thinkback.apps.http.workers import Workers
from thinkback.clock import Clock, system_clock
from thinkback.errors import ThinkbackError
from thinkback.opening import Opener, open_spaces
from thinkback.values import dataclass

if TYPE_CHECKING:  # it needs POSIX locks
    from thinkback.apps.http.shared import Shared


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on the load; rates are for each token."""

    per_second: float = 300.0
    burst: float = 600.0
    threads: int = 4
    max_queued: int = 1000
    search_seconds: float = 10.0
    open_spaces: int = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What the server offers: a folder or a database of spaces, the file of the default space, tokens, host names."""

    folder: Path
    opener: Opener
    tokens: Tokens
    default_file: Path | None = None
    database: str | None = None  # the address of a server that keeps the spaces instead of the folder
    host_names: Iterable[str] = ()
    origins: Iterable[str] = ()
    limits: Limits = Limits()
    routes: tuple[Route, ...] = ROUTES
    mcp_scopes: frozenset[str] | None = None
    read_only: bool = False
    shared: "Shared | None" = None  # what this process shares with other workers
    clock: Clock = system_clock
    seconds: Callable[[], float] = time.monotonic


@dataclass(frozen=True, slots=True)
class Server:
    """The app, and the parts its owner needs."""

    app: Starlette
    sessions: Sessions
    spaces: Spaces
    tokens: Tokens


def build(served: Served) -> Server:
    """Put the parts together; files are opened on first use."""
    limits, shared = served.limits, served.shared
    metrics = Metrics(shared.metrics if shared else None)
    served.opener.watch(metrics)
    place = open_spaces(
        served.database or served.folder,
        default_file=served.default_file,
        read_only=served.read_only,
        copies_mb=served.opener.settings.postgres.copies_mb,
    )
    spaces = Spaces(
        place,
        lambda store: served.opener.over(store, read_only=served.read_only),
        max_open=limits.open_spaces,
        shared=shared.spaces if shared else None,
    )
    workers, health = Workers(limits.threads, limits.max_queued), Workers(1, limits.max_queued)
    metrics.watch(spaces, workers)
    sessions = sessions_of(served.tokens, served.clock, shared)
    mcp = McpEndpoint(HttpAccess(spaces, workers, limits.search_seconds, served.mcp_scopes))
    access = Access(
        hosts=AllowedHosts.of(served.host_names, served.origins),
        tokens=served.tokens,
        sessions=sessions,
        rates=(shared.rates if shared else RateLimiter)(limits.per_second, limits.burst, served.seconds),
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
        middleware=[Middleware(AccessMiddleware, access=access)],
        exception_handlers={
            HttpError: answer_http_error,
            ThinkbackError: answer_engine_error,
            Exception: answer_crash,
        },
        lifespan=lifespan,
    )
    site = Site(spaces, workers, health, sessions, metrics, mcp, limits.search_seconds, served.routes, served.tokens)
    app.router.default = Api(site)  # it has its own table of routes: paths are split before they are decoded
    return Server(app, sessions, spaces, served.tokens)


def sessions_of(tokens: Tokens, clock: Clock, shared: "Shared | None" = None) -> Sessions:
    """The logins of this process, or those that the workers share."""
    if shared is None:
        return Sessions(tokens, clock)
    return Sessions(tokens, clock, codes=shared.codes, sessions=shared.sessions)
