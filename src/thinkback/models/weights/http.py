"""The HTTP client that fetches weights, and how its failures are told."""

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
        raise ModelUnavailable(f"the configured certificates at {cert} cannot be read: {error}") from None


def redacted(url: str) -> str:
    """The address without user, password, query and fragment, fit for an error message."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


def retrying(url: str, attempt: Callable[[], _Answer]) -> _Answer:
    """The answer of `attempt`, tried again after a broken connection and after a server's own failure."""
    for remaining in reversed(range(_TRIES)):
        try:
            return attempt()
        except httpx.HTTPStatusError as error:
            if error.response.status_code < 500 or not remaining:
                raise RemoteError(f"{redacted(url)} answered {error.response.status_code}") from None
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            if not remaining:
                raise RemoteError(f"{redacted(url)}: {_reason(error)}") from None
    raise AssertionError("unreachable")


def _reason(error: Exception) -> str:
    """httpx quotes the address, which may hold a password, in few of its messages; the class says enough then."""
    text = str(error)
    return type(error).__name__ if not text or "@" in text else f"{type(error).__name__}: {text}"
