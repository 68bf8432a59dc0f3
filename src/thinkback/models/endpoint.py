"""Calling a model server: JSON over HTTP, tried again a bounded number of times, the key never shown."""

import json
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from thinkback.errors import InvalidInput, RemoteError
from thinkback.models.weights.http import redacted

_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
_LONGEST_WAIT = 30.0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server's base address and how patiently it is called.

    A request is repeated after a broken connection, 429 and the server's passing failures, `tries` times in all,
    waiting what `Retry-After` says or twice as long each time, and never more than half a minute.
    """

    url: str
    api_key: str | None = field(default=None, repr=False)
    timeout: float = 30.0
    tries: int = 4
    first_wait: float = 0.5
    sleep: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise InvalidInput(f"a server's address begins with http:// or https://, not {redacted(self.url)!r}")

    def client(self, owner: object) -> httpx.Client:
        """A connection pool for this server, closed when its owner is gone."""
        headers = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        client = httpx.Client(headers=headers, timeout=self.timeout)
        weakref.finalize(owner, client.close)
        return client

    def post(self, client: httpx.Client, path: str, payload: object) -> Any:
        """The JSON a server answers to this payload."""
        url = f"{self.url.rstrip('/')}/{path.lstrip('/')}".rstrip("/")
        for attempt in range(self.tries):
            last = attempt + 1 == self.tries
            try:
                response = client.post(url, json=payload)
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                if last or isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol):
                    raise RemoteError(self._safe(f"{redacted(url)} did not answer: {_name(error)}")) from None
                self.sleep(self._wait(attempt, None))
                continue
            if response.is_success:
                return self._parsed(response, url)
            if last or response.status_code not in _AGAIN:
                said = " ".join(response.text.split())[:200]
                raise RemoteError(self._safe(f"{redacted(url)} answered {response.status_code}: {said}"))
            self.sleep(self._wait(attempt, response.headers.get("retry-after")))
        raise InvalidInput(f"an endpoint must be tried at least once, not {self.tries} times")

    def _parsed(self, response: httpx.Response, url: str) -> Any:
        try:
            return json.loads(response.content)
        except ValueError:
            said = " ".join(response.text.split())[:80]
            raise RemoteError(self._safe(f"{redacted(url)} answered something that is not JSON: {said!r}")) from None

    def _wait(self, attempt: int, retry_after: str | None) -> float:
        asked = _seconds(retry_after)
        return min(_LONGEST_WAIT, self.first_wait * 2**attempt if asked is None else asked)

    def _safe(self, message: str) -> str:
        """Servers like to quote the key they did not accept."""
        return message.replace(self.api_key, "***") if self.api_key else message


def _name(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _seconds(retry_after: str | None) -> float | None:
    """`Retry-After` is a number of seconds or a date; anything else is as if it were not there."""
    if retry_after is None:
        return None
    try:
        return max(0.0, float(int(retry_after)))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    return max(0.0, (moment - datetime.now(UTC if moment.tzinfo else None)).total_seconds())
