"""The HTTP client that fetches weights, with retries and error messages."""

import ssl
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit, urlunsplit

import httpx

from thinkback.errors import ModelUnavailable, RemoteError
from thinkback.models.weights.options import FetchOptions

_TRIES = 3
_Answer = TypeVar("_Answer")


def open_client(options: FetchOptions) -> httpx.Client:
    """A client that trusts the configured certificates and follows redirects."""
    return httpx.Client(
        verify=_certificates(options.indexes.cert),
        timeout=httpx.Timeout(options.timeout, connect=min(options.timeout, 15.0)),
        follow_redirects=True,
        headers={"User-Agent": "thinkback", "Accept-Encoding": "identity"},
    )


def _certificates(cert: str | None) -> ssl.SSLContext | bool:
    if cert is None:
        return True
    try:
        if Path(cert).is_dir():
            return ssl.create_default_context(capath=cert)
        return ssl.create_default_context(cafile=cert)
    except (OSError, ssl.SSLError) as error:
        raise ModelUnavailable(
            f"the configured certificates at {cert} cannot be read: {error}", code="unreadable_certificates"
        ) from None


def redacted(url: str) -> str:
    """The URL without user, password, query and fragment, for error messages."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


def retrying(url: str, attempt: Callable[[], _Answer]) -> _Answer:
    """The result of `attempt`, repeated after connection errors and server errors (5xx)."""
    for remaining in reversed(range(_TRIES)):
        try:
            return attempt()
        except httpx.HTTPStatusError as error:
            if error.response.status_code < 500 or not remaining:
                raise RemoteError(
                    f"{redacted(url)} answered {error.response.status_code}", code="http_status"
                ) from None
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            if not remaining:
                raise RemoteError(f"{redacted(url)}: {_reason(error)}", code="unreachable") from None
    raise AssertionError("unreachable")


def _reason(error: Exception) -> str:
    """The class and message of an error; only the class if the message may quote an address with a password."""
    text = str(error)
    return type(error).__name__ if not text or "@" in text else f"{type(error).__name__}: {text}"
