"""One small chat protocol, and its implementation over OpenAI's HTTP convention.

Ollama, vLLM, llama.cpp and OpenAI all offer it. Nothing in Thinkback needs a language model; if there is one, it is asked
for tags and dates that rules cannot find, and for a sentence about each theme.
"""

import json
import math
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from thinkback.errors import InvalidInput, RemoteError, ThinkbackError
from thinkback.values import dataclass

if TYPE_CHECKING:
    import httpx

_FIRST_WAIT_S = 0.5


class Chat(Protocol):
    """Answers one user message under one system message; a failure is a `RemoteError`."""

    def complete(self, system: str, user: str, max_tokens: int) -> str: ...


@dataclass(frozen=True, slots=True)
class Guarded:
    """A chat function of the caller; every failure becomes a `RemoteError`."""

    chat: Chat

    def complete(self, system: str, user: str, max_tokens: int) -> str:
        try:
            answer: object = self.chat.complete(system, user, max_tokens)
        except ThinkbackError:
            raise
        except Exception as error:
            raise RemoteError(f"the language model failed with {type(error).__name__}: {str(error)[:200]}") from error
        if not isinstance(answer, str):
            raise RemoteError(
                f"the language model returned {type(answer).__name__}, expected str", code="invalid_answer"
            )
        return answer


class _Transient(RemoteError):
    """A failure that is worth another try."""

    def __init__(self, message: str, code: str, retry_after_s: float | None = None) -> None:
        super().__init__(message, code=code)
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True)
class OpenAiChat:
    """A chat model behind `<base_url>/chat/completions`, for example `http://localhost:11434/v1` for Ollama.

    `timeout_s` bounds a whole call, including retries, waits and slow responses. `options` go into every request
    unchanged; OpenAI's reasoning models need `{}` there and `max_completion_tokens` as the name of the token limit.
    """

    base_url: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    timeout_s: float = 20.0
    retries: int = 2
    max_answer_bytes: int = 256 * 1024
    options: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({"temperature": 0}))
    token_limit_name: str = "max_tokens"
    transport: "httpx.BaseTransport | None" = field(default=None, repr=False)
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)

    def __post_init__(self) -> None:
        _check_address(self.base_url)
        # httpx would quote a key that it cannot send.
        if self.api_key and not (self.api_key.isascii() and self.api_key.isprintable() and " " not in self.api_key):
            raise InvalidInput("api_key has characters that a header cannot carry, such as a space or a line break")
        if not (self.timeout_s > 0 and math.isfinite(self.timeout_s) and self.retries >= 0):
            message = f"timeout_s must be above 0 and retries at least 0: {self.timeout_s}, {self.retries}"
            raise InvalidInput(message, code="out_of_range")

    def complete(self, system: str, user: str, max_tokens: int) -> str:
        """The text of the model's answer."""
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        payload = {**self.options, "model": self.model, "messages": messages, self.token_limit_name: max_tokens}
        body = json.dumps(payload).encode()
        deadline = time.monotonic() + self.timeout_s
        failure: _Transient | None = None
        for attempt in range(self.retries + 1):
            if failure is not None:
                wait = _FIRST_WAIT_S * 2 ** (attempt - 1) if failure.retry_after_s is None else failure.retry_after_s
                if time.monotonic() + wait >= deadline:
                    break
                self.sleep(wait)
            try:
                return self._attempt(body, deadline)
            except _Transient as problem:
                failure = problem
        raise RemoteError(str(failure), code=failure.code if failure else None)

    def _attempt(self, body: bytes, deadline: float) -> str:
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise self._timeout()
        with _Watchdog(remaining) as watchdog:
            answer = self._exchange(body, remaining, watchdog)
        if watchdog.expired or (isinstance(answer, str) and time.monotonic() >= deadline):
            raise self._timeout()
        if isinstance(answer, str):
            raise _Transient(f"{self._place} did not answer: {answer}", "unreachable")
        return self._text(answer)

    def _timeout(self) -> RemoteError:
        return RemoteError(f"{self._place} took longer than {self.timeout_s:g} s", code="timeout")

    def _exchange(self, body: bytes, remaining: float, watchdog: "_Watchdog") -> "_Answer | str":
        """The answer, or the name of the connection error; httpx's own errors carry the key in their request."""
        import httpx

        from thinkback.models.endpoint import TRANSIENT, retry_after_seconds

        transport = self.transport or httpx.HTTPTransport(verify=self.base_url.startswith("https:"))
        try:
            # Ignores the environment: a proxy or a certificate store is part of the transport passed in.
            with (
                httpx.Client(transport=transport, timeout=remaining, trust_env=False) as client,
                client.stream(
                    "POST",
                    self._place,
                    content=body,
                    headers=self._headers(),
                    extensions={"trace": watchdog.trace},
                ) as response,
            ):
                # Decompression could make a small answer large; none is requested, and none is read.
                packed = "content-encoding" in response.headers
                raw = b"" if packed else _read(response.iter_bytes(), self.max_answer_bytes)
                retry_after = retry_after_seconds(response.headers.get("retry-after"))
                return _Answer(response.status_code, raw, response.status_code in TRANSIENT, retry_after)
        except httpx.HTTPError as error:
            return type(error).__name__

    @property
    def _place(self) -> str:
        return f"{self.base_url.rstrip('/')}/chat/completions"

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
        return {**headers, "Authorization": f"Bearer {self.api_key}"} if self.api_key else headers

    def _text(self, answer: "_Answer") -> str:
        if not 200 <= answer.status < 300:
            message = f"{self._place} answered {answer.status}: {self._quoted(answer)}"
            if answer.transient:
                raise _Transient(message, "http_status", answer.retry_after_s)
            raise RemoteError(message, code="http_status")
        if len(answer.raw) > self.max_answer_bytes:
            raise RemoteError(
                f"{self._place} answered more than {self.max_answer_bytes} bytes", code="answer_too_large"
            )
        text = _content(answer.raw)
        if text is None:
            message = f"{self._place} returned something that is not a chat completion: {self._quoted(answer)}"
            raise RemoteError(message, code="invalid_answer")
        return text

    def _quoted(self, answer: "_Answer") -> str:
        """The beginning of an answer without the key, which servers may quote when they reject it."""
        body = " ".join(answer.raw[:4096].decode("utf-8", "replace").split())
        return repr((body.replace(self.api_key, "***") if self.api_key else body)[:200])


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    raw: bytes
    transient: bool
    retry_after_s: float | None


class _Watchdog:
    """Closes the connections of a call at its deadline.

    httpx only limits the silence between two bytes, so a server that keeps sending single bytes never exceeds its timeout.
    """

    def __init__(self, seconds: float) -> None:
        self.expired = False
        self._sockets: list[socket.socket] = []
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True

    def __enter__(self) -> "_Watchdog":
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Remember every connection as httpcore opens it."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self._sockets.append(info["return_value"].get_extra_info("socket"))
            if self.expired:
                self._cut()

    def _cut(self) -> None:
        self.expired = True
        for connection in tuple(self._sockets):
            with suppress(OSError):
                socket.socket.shutdown(connection, socket.SHUT_RDWR)


def _check_address(base_url: str) -> None:
    try:
        parts = urlsplit(base_url)
    except ValueError:
        message = "base_url is not an address; write it like http://localhost:11434/v1"
        raise InvalidInput(message, code="not_an_address") from None
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        message = "base_url must hold no password, query or fragment; give a key as api_key"
        raise InvalidInput(message, code="secret_in_address")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        message = f"base_url must begin with http:// or https:// and name a host: {base_url[:80]!r}"
        raise InvalidInput(message, code="not_an_address")


def _read(chunks: Iterable[bytes], most: int) -> bytes:
    """All bytes, or a few more than `most`."""
    raw = bytearray()
    for chunk in chunks:
        raw += chunk
        if len(raw) > most:
            break
    return bytes(raw)


def _content(raw: bytes) -> str | None:
    try:
        text = json.loads(raw)["choices"][0]["message"]["content"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return text if isinstance(text, str) and text.strip() else None
