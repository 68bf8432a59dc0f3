"""Access control: every request needs an allowed Host and Origin, a token, a space the token reaches, and a free rate slot."""

import asyncio
import logging
import time
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from thinkback.apps.http.errors import HttpError, http_error
from thinkback.apps.http.login import Login, Sessions, cookie_name
from thinkback.apps.http.metrics import Metrics
from thinkback.apps.http.rates import RateLimiter, too_many
from thinkback.apps.http.tokens import Grant, Tokens
from thinkback.apps.http.workers import stopping
from thinkback.errors import InvalidInput, ThinkbackError
from thinkback.stores.base import check_space
from thinkback.values import dataclass

log = logging.getLogger("thinkback.http")

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
LIVE = "/health/live"
SEND_SECONDS = 60.0
_SAFE = ("GET", "HEAD", "OPTIONS")
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


@dataclass(frozen=True, slots=True)
class AllowedHosts:
    """The host names of this server, on any port, and the foreign origins that may call it."""

    names: frozenset[str]
    origins: frozenset[str] = frozenset()

    @classmethod
    def of(cls, names: Iterable[str] = (), origins: Iterable[str] = ()) -> "AllowedHosts":
        """Loopback names and the given ones."""
        return cls(frozenset(map(str.lower, (*LOOPBACK, *names))), frozenset(map(str.lower, origins)))

    def allow_host(self, host: str) -> bool:
        """Whether a Host header names this server; this defeats DNS rebinding."""
        name, colon, port = host.lower().rpartition(":")
        if not colon or "]" in port:
            name, port = host.lower(), ""
        return name in self.names and (not port or (port.isdigit() and int(port[:6]) < 65536))

    def allow_origin(self, origin: str, host: str) -> bool:
        """Whether a page may call: it comes from this server, or its origin is listed."""
        if origin.lower() in self.origins:
            return True
        parts = urlsplit(origin)
        return parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower() and not parts.path


@dataclass(frozen=True, slots=True)
class Access:
    """What requests are checked against."""

    hosts: AllowedHosts
    tokens: Tokens
    sessions: Sessions
    rates: RateLimiter
    metrics: Metrics


class AccessMiddleware:
    """The outermost layer: lets requests in, sets security headers, counts and logs."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access
        self._login = Login(access.tokens, access.sessions, access.rates.clock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 0

        async def send_hardened(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            async with asyncio.timeout(SEND_SECONDS):
                await send(message)

        scope.setdefault("state", {})
        try:
            refused = await self._check(Request(scope, receive))
            await (refused or self._app)(scope, receive, send_hardened)
        except asyncio.CancelledError:  # the server stops or the client is gone: no fault of the request's
            if not status:
                await stopping().response()(scope, receive, send_hardened)
        finally:
            self._record(scope, status or 500, time.perf_counter() - started)

    async def _check(self, request: Request) -> Response | None:
        """Let a request in, leaving its grant and its space in its state; otherwise the answer to send instead."""
        try:
            self._check_host(request)
            if request.scope["path"] == LIVE:
                return None
            grant = self._grant(request)
            if by_link := self._login.by_link(request, grant is not None):
                return by_link
            if grant is None:
                return await self._login.answer(request) or _unauthorized()
            self._check_rate(grant)
            request.state.grant = grant
            request.state.space = _space(request, grant)
        except HttpError as error:
            return error.response()
        except ThinkbackError as error:  # the file of tokens is gone, readable by others, or no longer TOML
            log.error("the tokens cannot be read: %s", error)
            return HttpError(503, "tokens", "the server cannot read its tokens; see its log").response()
        return None

    def _check_host(self, request: Request) -> None:
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        if not self._access.hosts.allow_host(host):
            raise HttpError(421, "host", "this server does not answer for that Host; allow it with --host-name")
        if origin is not None and not self._access.hosts.allow_origin(origin, host):
            raise HttpError(403, "origin", "pages of that origin may not call this server; allow them with --origin")

    def _grant(self, request: Request) -> Grant | None:
        header = request.headers.get("authorization")
        if header is not None:
            scheme, _, secret = header.partition(" ")
            return self._access.tokens.grant(secret.strip()) if scheme.lower() == "bearer" else None
        session = request.cookies.get(cookie_name(request))
        if session is None:
            return None
        if request.method not in _SAFE and not request.headers.get("origin"):
            raise HttpError(403, "origin", "a browser session may change things only from its own page")
        return self._access.sessions.grant(session)

    def _check_rate(self, grant: Grant) -> None:
        seconds = self._access.rates.wait(grant.name)
        if seconds > 0:
            raise too_many("too many requests", seconds)

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        method, route = scope["method"], scope["state"].get("route", "none")
        grant = scope["state"].get("grant")
        self._access.metrics.answered(route, method, status, seconds)
        log.info("%s %s %d %.1f ms token=%s", method, route, status, seconds * 1000, grant.name if grant else "-")


def _space(request: Request, grant: Grant) -> str | None:
    """The space of a request; one the token does not reach is refused whether it exists or not."""
    named = request.query_params.getlist("space")
    if not named:
        return grant.default_space
    try:
        name = check_space(named[-1])
    except InvalidInput as error:
        raise http_error(error) from None
    if not grant.reaches(name):
        raise HttpError(403, "space", f"this token does not reach the space {name!r}")
    return name


def _unauthorized() -> Response:
    message = "a token is needed: Authorization: Bearer TOKEN"
    return HttpError(401, "token", message, {"WWW-Authenticate": "Bearer"}).response()
