"""Calling a model server: JSON over HTTP with bounded retries; error messages never contain the key."""

import json
import math
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from thinkback.errors import InvalidInput, RemoteError
from thinkback.models.weights.http import redacted
from thinkback.values import dataclass

TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504, 529})  # worth another try
_LONGEST_WAIT = 30.0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server's base URL, its key, and how requests are retried.

    A request is sent up to `tries` times: again after a broken connection, 429 and transient server errors. The wait is what
    `Retry-After` says, else doubles each time, and is never more than half a minute.
    """

    url: str
    api_key: str | None = field(default=None, repr=False)
    timeout: float = 30.0
    tries: int = 4
    first_wait: float = 0.5
    sleep: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            message = f"a server's address begins with http:// or https://, not {redacted(self.url)!r}"
            raise InvalidInput(message, code="not_an_address")

    def client(self, owner: object) -> httpx.Client:
        """A connection pool for this server, closed when its owner is garbage collected."""
        headers = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        client = httpx.Client(headers=headers, timeout=self.timeout)
        weakref.finalize(owner, client.close)
        return client

    def post(self, client: httpx.Client, path: str, payload: object) -> Any:
        """Send the payload and return the JSON of the response."""
        url = f"{self.url.rstrip('/')}/{path.lstrip('/')}".rstrip("/")
        for attempt in range(self.tries):
            last = attempt + 1 == self.tries
            try:
                response = client.post(url, json=payload)
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                if last or isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol):
                    raise RemoteError(
                        self._safe(f"{redacted(url)} did not answer: {_name(error)}"), code="unreachable"
                    ) from None
                self.sleep(self._wait(attempt, None))
                continue
            if response.is_success:
                return self._parsed(response, url)
            if last or response.status_code not in TRANSIENT:
                body = " ".join(response.text.split())[:200]
                raise RemoteError(
                    self._safe(f"{redacted(url)} answered {response.status_code}: {body}"), code="http_status"
                )
            self.sleep(self._wait(attempt, response.headers.get("retry-after")))
        raise InvalidInput(f"an endpoint must be tried at least once, not {self.tries} times")

    def _parsed(self, response: httpx.Response, url: str) -> Any:
        try:
            return json.loads(response.content)
        except ValueError:
            body = " ".join(response.text.split())[:80]
            message = self._safe(f"{redacted(url)} returned something that is not JSON: {body!r}")
            raise RemoteError(message, code="invalid_answer") from None

    def _wait(self, attempt: int, retry_after: str | None) -> float:
        asked = retry_after_seconds(retry_after)
        return min(_LONGEST_WAIT, self.first_wait * 2**attempt if asked is None else asked)

    def _safe(self, message: str) -> str:
        """The message without the key, which servers may quote when they reject it."""
        return message.replace(self.api_key, "***") if self.api_key else message


def _name(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def retry_after_seconds(header: str | None) -> float | None:
    """`Retry-After` is a number of seconds or a date; anything else counts as absent."""
    if header is None:
        return None
    with suppress(ValueError):
        seconds = float(header)
        return seconds if math.isfinite(seconds) and seconds >= 0 else None
    with suppress(ValueError):
        moment = parsedate_to_datetime(header)
        return max(0.0, (moment - datetime.now(UTC if moment.tzinfo else None)).total_seconds())
    return None
