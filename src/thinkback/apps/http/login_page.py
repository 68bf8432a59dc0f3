"""Where a browser without a session ends up: a code in the address, or a form for a token."""

from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from thinkback.apps.http.login_form import form
from thinkback.apps.http.sessions import Logins
from thinkback.apps.http.tokens import Tokens

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
_FORM_LIMIT = 4096


class Entrance:
    """Turns a code or a token into a session cookie."""

    def __init__(self, tokens: Tokens, logins: Logins) -> None:
        self._tokens = tokens
        self._logins = logins

    def by_link(self, request: Request, known: bool) -> Response | None:
        """Follows a link with a code, also for a browser that is `known` already; None if this is no such link."""
        code = request.query_params.get("login")
        if request.method != "GET" or request.scope["path"] != "/" or not code:
            return None
        session = self._logins.redeem(code)
        if session is not None:
            return _welcome(request, session)
        return RedirectResponse("/", status_code=303) if known else form("That link has been used or is too old.")

    async def answer(self, request: Request) -> Response | None:
        """What a browser without a session gets, or None if this is no browser's business."""
        path, method = request.scope["path"], request.method
        if method == "POST" and path == "/login":
            return await self._login(request)
        if method == "GET" and path == "/" and "text/html" in request.headers.get("accept", ""):
            return form(
                "Show a token to look into the memory; the server's first one is in the file it named at its start."
            )
        return None

    async def _login(self, request: Request) -> Response:
        if not request.headers.get("origin"):
            return form("This form can only be sent from its own page.")
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > _FORM_LIMIT:
                return form("That is no token.")
        given = parse_qs(body.decode("utf-8", "replace")).get("token", [""])[0].strip()
        grant = self._tokens.grant(given)
        return form("That token is not known.") if grant is None else _welcome(request, self._logins.begin(grant))


def cookie_name(request: Request) -> str:
    """Cookies do not know ports, so two servers on one machine need two names."""
    return f"thinkback-{request.url.port or request.url.scheme}"


def _welcome(request: Request, session: str) -> Response:
    response = RedirectResponse("/", status_code=303)
    response.set_cookie(
        cookie_name(request), session, httponly=True, samesite="strict", secure=request.url.scheme == "https", path="/"
    )
    return response
