"""Where a browser without a session ends up: a code in the address, or a form for a token."""

from html import escape
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from recollect.apps.http.logins import Logins
from recollect.apps.http.tokens import Tokens

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
_FORM_LIMIT = 4096
_FORM = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Recollect</title></head>
<body><main><h1>Recollect</h1><p>{message}</p>
<form method="post" action="/login"><label>Token <input name="token" type="password" autocomplete="off" required autofocus></label>
<button>Open</button></form></main></body></html>
"""


class Entrance:
    """Turns a code or a token into a session cookie."""

    def __init__(self, tokens: Tokens, logins: Logins) -> None:
        self._tokens = tokens
        self._logins = logins

    async def answer(self, request: Request) -> Response | None:
        """What a browser without a session gets, or None if this is no browser's business."""
        path, method = request.scope["path"], request.method
        if method == "GET" and path == "/" and (code := request.query_params.get("login")):
            session = self._logins.redeem(code)
            return (
                self._form("That link has been used or is too old.") if session is None else _welcome(request, session)
            )
        if method == "POST" and path == "/login":
            return await self._login(request)
        if method == "GET" and path == "/" and "text/html" in request.headers.get("accept", ""):
            return self._form(
                "Show a token to look into the memory; the server's first one is in the file it named at its start."
            )
        return None

    async def _login(self, request: Request) -> Response:
        if not request.headers.get("origin"):
            return self._form("This form can only be sent from its own page.")
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > _FORM_LIMIT:
                return self._form("That is no token.")
        given = parse_qs(body.decode("utf-8", "replace")).get("token", [""])[0].strip()
        grant = self._tokens.grant(given)
        return self._form("That token is not known.") if grant is None else _welcome(request, self._logins.begin(grant))

    def _form(self, message: str) -> Response:
        headers = {"Content-Security-Policy": PAGE_POLICY, "WWW-Authenticate": "Bearer"}
        return HTMLResponse(_FORM.format(message=escape(message)), status_code=401, headers=headers)


def cookie_name(request: Request) -> str:
    """Cookies do not know ports, so two servers on one machine need two names."""
    return f"recollect-{request.url.port or request.url.scheme}"


def _welcome(request: Request, session: str) -> Response:
    response = RedirectResponse("/", status_code=303)
    response.set_cookie(
        cookie_name(request), session, httponly=True, samesite="strict", secure=request.url.scheme == "https", path="/"
    )
    return response
