"""Browser sessions: a one-time code or a token becomes a cookie that reveals nothing about the token."""

import secrets
from base64 import b64encode
from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from html import escape
from importlib import resources
from typing import Protocol
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from thinkback.apps.http.body import chunks
from thinkback.apps.http.rates import RateLimiter, too_many
from thinkback.apps.http.tokens import Grant, Tokens, digest_of
from thinkback.clock import HOUR, SECOND, Clock
from thinkback.values import dataclass

CODE_LIFETIME = 600 * SECOND
SESSION_LIFETIME = 12 * HOUR
MAX_SESSIONS = 1000
ATTEMPTS_PER_SECOND, ATTEMPTS_AT_ONCE = 0.5, 20.0  # for each address
_FORM_LIMIT = 4096
FORM_SECONDS = 5.0
_FORM_POLICY = (
    "default-src 'none'; style-src 'sha256-{hash}'; img-src data:; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'"
)


@dataclass(frozen=True, slots=True)
class Issued:
    """The identity of the token behind a code or a session, and when it expires."""

    token: str
    until: int


class IssuedTable(Protocol):
    """Codes or sessions by the hash of their secret, at most MAX_SESSIONS."""

    def put(self, key: str, issued: Issued) -> None: ...
    def get(self, key: str) -> Issued | None: ...
    def extend(self, key: str, until: int) -> None: ...
    def take(self, key: str) -> Issued | None: ...


class IssuedHere:
    """Codes or sessions in the memory of this process; of too many the least recently used is removed."""

    def __init__(self) -> None:
        self._issued: OrderedDict[str, Issued] = OrderedDict()

    def put(self, key: str, issued: Issued) -> None:
        """Keep one."""
        self._issued[key] = issued
        while len(self._issued) > MAX_SESSIONS:
            self._issued.popitem(last=False)

    def get(self, key: str) -> Issued | None:
        """The one with this key, if there is one."""
        return self._issued.get(key)

    def extend(self, key: str, until: int) -> None:
        """Let one expire later."""
        self._issued[key] = Issued(self._issued.pop(key).token, until)

    def take(self, key: str) -> Issued | None:
        """Remove one."""
        return self._issued.pop(key, None)


class Sessions:
    """Codes and sessions, which no restart survives; revoking the token behind them ends them too."""

    def __init__(
        self,
        tokens: Tokens,
        clock: Clock,
        new_secret: Callable[[], str] = lambda: secrets.token_urlsafe(32),
        *,
        codes: IssuedTable | None = None,
        sessions: IssuedTable | None = None,
    ) -> None:
        self._tokens = tokens
        self._clock = clock
        self._new_secret = new_secret
        self._codes = codes or IssuedHere()
        self._sessions = sessions or IssuedHere()

    def code(self, grant: Grant) -> str:
        """A code for the address bar; it works once, within ten minutes."""
        return self._issue(self._codes, grant.identity, CODE_LIFETIME)

    def redeem(self, code: str) -> str | None:
        """Exchange a code for a session."""
        found = self._codes.take(digest_of(code))
        if found is None or found.until <= self._clock() or self._tokens.identified(found.token) is None:
            return None
        return self._issue(self._sessions, found.token, SESSION_LIFETIME)

    def begin(self, grant: Grant) -> str:
        """A session for a token."""
        return self._issue(self._sessions, grant.identity, SESSION_LIFETIME)

    def grant(self, session: str) -> Grant | None:
        """The grant behind a session; every use extends the session."""
        key = digest_of(session)
        found = self._sessions.get(key)
        if found is None or found.until <= self._clock():
            return None
        self._sessions.extend(key, self._clock() + SESSION_LIFETIME)
        return self._tokens.identified(found.token)

    def end(self, session: str) -> None:
        """Log out."""
        self._sessions.take(digest_of(session))

    def _issue(self, table: IssuedTable, token: str, lifetime: int) -> str:
        secret = self._new_secret()
        table.put(digest_of(secret), Issued(token, self._clock() + lifetime))
        return secret


class Login:
    """The routes for a browser without a session: follow a link with a code, or send a token in a form."""

    def __init__(self, tokens: Tokens, sessions: Sessions, seconds: Callable[[], float]) -> None:
        self._tokens = tokens
        self._sessions = sessions
        self._attempts = RateLimiter(ATTEMPTS_PER_SECOND, ATTEMPTS_AT_ONCE, seconds)

    def by_link(self, request: Request, logged_in: bool) -> Response | None:
        """Follow a link with a code, also with a session; None if the request is no such link."""
        code = request.query_params.get("login")
        if request.method != "GET" or request.scope["path"] != "/" or not code:
            return None
        self._count_attempt(request)
        session = self._sessions.redeem(code)
        if session is not None:
            return _with_session(request, session)
        return RedirectResponse("/", status_code=303) if logged_in else _form("That link was used or has expired.")

    async def answer(self, request: Request) -> Response | None:
        """The form, or the answer to it; None if the request does not come from a browser."""
        path, method = request.scope["path"], request.method
        if method == "POST" and path == "/login":
            return await self._by_token(request)
        if method == "GET" and path == "/" and "text/html" in request.headers.get("accept", ""):
            return _form("Enter a token. The server printed the file with its first token when it started.")
        return None

    async def _by_token(self, request: Request) -> Response:
        if not request.headers.get("origin"):
            return _form("This form can only be sent from its own page.")
        self._count_attempt(request)
        body = b"".join([chunk async for chunk in chunks(request, _FORM_LIMIT, FORM_SECONDS)])
        secret = parse_qs(body.decode("utf-8", "replace")).get("token", [""])[0].strip()
        grant = self._tokens.grant(secret)
        return _form("Unknown token.") if grant is None else _with_session(request, self._sessions.begin(grant))

    def _count_attempt(self, request: Request) -> None:
        seconds = self._attempts.wait(request.client.host if request.client else "")
        if seconds > 0:
            raise too_many("too many attempts to log in", seconds)


def cookie_name(request: Request) -> str:
    """Cookies ignore ports, so two servers on one machine need two names."""
    return f"thinkback-{request.url.port or request.url.scheme}"


def _with_session(request: Request, session: str) -> Response:
    response = RedirectResponse("/", status_code=303)
    response.set_cookie(
        cookie_name(request), session, httponly=True, samesite="strict", secure=request.url.scheme == "https", path="/"
    )
    return response


def _form(message: str) -> Response:
    """The form for a token, with a sentence above it."""
    page, policy = _form_page()
    headers = {
        "Content-Security-Policy": policy,
        "Referrer-Policy": "same-origin",  # under no-referrer browsers send the form with Origin: null, which is refused
        "WWW-Authenticate": "Bearer",
    }
    return HTMLResponse(page.replace("{{message}}", escape(message)), status_code=401, headers=headers)


@cache
def _form_page() -> tuple[str, str]:
    """The page, and a policy that allows its own style and nothing else: every other file needs a session."""
    page = resources.files("thinkback.apps.inspector").joinpath("login.html").read_text(encoding="utf-8")
    style = page.partition("<style>")[2].partition("</style>")[0]
    return page, _FORM_POLICY.format(hash=b64encode(sha256(style.encode()).digest()).decode())
