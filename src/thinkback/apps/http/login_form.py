"""The form a browser without a session gets: one page that needs nothing else, since all else needs a session."""

from base64 import b64encode
from hashlib import sha256
from html import escape

from starlette.responses import HTMLResponse, Response

_STYLE = """
:root { color-scheme: light dark; }
* { box-sizing: border-box; }
body { display: grid; place-items: center; min-height: 100vh; margin: 0; padding: 16px;
  background: light-dark(#f6f5f2, #131519); color: light-dark(#1c1d21, #e9ebef);
  font: 15px/1.5 Inter, ui-sans-serif, system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { width: min(400px, 100%); padding: 32px; border: 1px solid light-dark(#e2e0da, #2d323b); border-radius: 16px;
  background: light-dark(#fff, #1a1d23); }
h1 { margin: 0 0 8px; font-size: 22px; letter-spacing: -0.02em; }
p { margin: 0 0 24px; color: light-dark(#55585f, #a9b0bb); }
label { display: block; margin-bottom: 6px; font-size: 13px; font-weight: 500; }
input, button { width: 100%; height: 42px; border-radius: 10px; font: inherit; }
input { margin-bottom: 16px; padding: 0 12px; border: 1px solid light-dark(#8b8a84, #6d7583); background: none;
  color: inherit; }
button { border: 0; background: light-dark(#4b4acf, #a3a2ff); color: light-dark(#fff, #14151f); font-weight: 600; }
:focus-visible { outline: 2px solid light-dark(#4b4acf, #a3a2ff); outline-offset: 2px; }
"""
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Thinkback</title><link rel="icon" href="data:,"><style>{style}</style></head>
<body><main><h1>Thinkback</h1><p role="status">{message}</p>
<form method="post" action="/login"><label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="off" required autofocus><button>Open</button></form>
</main></body></html>
"""
_POLICY = (
    "default-src 'none'; style-src 'sha256-{hash}'; img-src data:; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'"
)


def form(message: str) -> Response:
    """The form, with a sentence above it."""
    style = b64encode(sha256(_STYLE.encode()).digest()).decode()
    headers = {
        "Content-Security-Policy": _POLICY.format(hash=style),
        "Referrer-Policy": "same-origin",  # under no-referrer browsers send the form with Origin: null, which is refused
        "WWW-Authenticate": "Bearer",
    }
    page = _PAGE.format(style=_STYLE, message=escape(message))
    return HTMLResponse(page, status_code=401, headers=headers)
