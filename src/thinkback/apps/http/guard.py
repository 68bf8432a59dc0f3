"""The doorkeeper: nothing behind it is reached without an allowed Host and Origin, a token, a space it reaches, and a turn."""

import asyncio
import logging
import math
import time
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from thinkback.apps.http.errors import Refused, refusal
from thinkback.apps.http.login_page import Entrance, cookie_name
from thinkback.apps.http.metrics import Metrics
from thinkback.apps.http.rate_limit import Rates
from thinkback.apps.http.sessions import Logins
from thinkback.apps.http.tokens import Grant, Tokens, check_space
from thinkback.apps.http.workers import stopping
from thinkback.errors import InvalidInput, ThinkbackError

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
class Hosts:
    """The names this server answers for, whatever the port, and foreign origins that may call it."""

    names: frozenset[str]
    origins: frozenset[str] = frozenset()

    @classmethod
    def of(cls, names: Iterable[str] = (), origins: Iterable[str] = ()) -> "Hosts":
        """Loopback names and the ones given."""
        return cls(
            frozenset(name.lower() for name in (*LOOPBACK, *names)), frozenset(origin.lower() for origin in origins)
        )

    def knows(self, host: str) -> bool:
        """Whether a Host header names this server; DNS rebinding fails here."""
        name, colon, port = host.lower().rpartition(":")
        if not colon or "]" in port:
            name, port = host.lower(), ""
        return name in self.names and (not port or (port.isdigit() and int(port[:6]) < 65536))

    def welcomes(self, origin: str, host: str) -> bool:
        """Whether a page may call: it comes from this server itself, or is listed."""
        if origin.lower() in self.origins:
            return True
        parts = urlsplit(origin)
        return parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower() and not parts.path


@dataclass(frozen=True, slots=True)
class Doors:
    """What the doorkeeper asks."""

    hosts: Hosts
    tokens: Tokens
    logins: Logins
    rates: Rates
    metrics: Metrics


class Doorkeeper:
    """The outermost layer of the app."""

    def __init__(self, app: ASGIApp, doors: Doors) -> None:
        self._app = app
        self._doors = doors
        self._entrance = Entrance(doors.tokens, doors.logins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 0

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _harden(message)
            async with asyncio.timeout(SEND_SECONDS):
                await send(message)

        scope.setdefault("state", {})
        try:
            refused = await self._admit(Request(scope, receive))
            await (self._app if refused is None else refused)(scope, receive, watched)
        except asyncio.CancelledError:  # the server is going down, or the client is gone: nothing of ours has failed
            if not status:
                await stopping().response()(scope, receive, watched)
        finally:
            self._record(scope, status or 500, time.perf_counter() - started)

    async def _admit(self, request: Request) -> Response | None:
        """Lets a request through, leaving who it is from and which space it is about; or says why not."""
        try:
            self._check_host(request)
            if request.scope["path"] == LIVE:
                return None
            grant = self._grant(request)
            if welcome := self._entrance.by_link(request, grant is not None):
                return welcome
            if grant is None:
                return await self._entrance.answer(request) or _unauthorized()
            self._check_rate(grant)
            request.state.grant = grant
            request.state.space = _space(request, grant)
        except Refused as refused:
            return refused.response()
        except ThinkbackError as error:  # the file of tokens is gone, open to others, or no longer TOML
            log.error("the tokens cannot be read: %s", error)
            return Refused(503, "tokens", "the server cannot read its tokens; its log says why").response()
        return None

    def _check_host(self, request: Request) -> None:
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        if not self._doors.hosts.knows(host):
            raise Refused(421, "host", "this server does not answer for that Host; name it with --host-name")
        if origin is not None and not self._doors.hosts.welcomes(origin, host):
            raise Refused(403, "origin", "pages of that origin may not call this server; name it with --origin")

    def _grant(self, request: Request) -> Grant | None:
        given = request.headers.get("authorization")
        if given is not None:
            scheme, _, secret = given.partition(" ")
            return self._doors.tokens.grant(secret.strip()) if scheme.lower() == "bearer" else None
        session = request.cookies.get(cookie_name(request))
        if session is None:
            return None
        if request.method not in _SAFE and not request.headers.get("origin"):
            raise Refused(403, "origin", "a browser session may only change things from its own page")
        return self._doors.logins.grant(session)

    def _check_rate(self, grant: Grant) -> None:
        seconds = self._doors.rates.wait(grant.name)
        if seconds > 0:
            after = str(max(1, math.ceil(seconds)))
            raise Refused(429, "rate", f"too many requests; come back in {after} s", {"Retry-After": after})

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        route = scope["state"].get("route", "none")
        grant = scope["state"].get("grant")
        self._doors.metrics.answered(route, scope["method"], status, seconds)
        log.info(
            "%s %s %d %.1f ms token=%s", scope["method"], route, status, seconds * 1000, grant.name if grant else "-"
        )


def _space(request: Request, grant: Grant) -> str | None:
    """The space a request is about; one the token does not reach is refused whether it exists or not."""
    asked = request.query_params.getlist("space")
    if not asked:
        return grant.usual_space
    try:
        name = check_space(asked[-1])
    except InvalidInput as error:
        raise refusal(error) from None
    if not grant.reaches(name):
        raise Refused(403, "space", f"this token does not reach the space {name!r}")
    return name


def _unauthorized() -> Response:
    message = "show a token: Authorization: Bearer TOKEN"
    return Refused(401, "token", message, {"WWW-Authenticate": "Bearer"}).response()


def _harden(message: Message) -> None:
    headers = MutableHeaders(scope=message)
    for name, value in _HEADERS.items():
        headers.setdefault(name, value)
