"""uvicorn, configured so that a slow client costs a socket and nothing else."""

import asyncio
import socket
import ssl
from collections import defaultdict
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from thinkback.apps.garbage import collect_as_usual
from thinkback.errors import InvalidInput
from thinkback.values import dataclass

HEADER_SECONDS = 10.0
KEEP_ALIVE_SECONDS = 5  # less than HEADER_SECONDS, so that uvicorn closes idle connections first
MAX_CONNECTIONS = 4000
# Connections that wait for their client: nothing sent yet, an unfinished head or body, or idle after an answer.
MAX_WAITING = 2000
MAX_WAITING_PER_ADDRESS = 1000
BACKLOG = 256  # connections not yet accepted; a newcomer waits behind all of them
SHUTDOWN_SECONDS = 10
_FILES_WANTED = 8192


class Waiting:
    """The connections that wait for their client, by address; with one too many the oldest is closed.

    A client that sends a whole request waits for nobody, so it is served however many others wait. Connections whose request came
    with a token are closed last, and with too many overall it is the address with the most that loses one.
    """

    def __init__(self, overall: int, per_address: int) -> None:
        self._overall = overall
        self._per_address = per_address
        self._count = 0
        self._by_address: defaultdict[str, dict[TimedProtocol, None]] = defaultdict(dict)  # oldest first

    def add(self, connection: "TimedProtocol") -> None:
        """Count a connection in, and close another if it is one too many."""
        others = self._by_address[connection.address]
        if connection in others:
            return
        others[connection] = None
        self._count += 1
        if len(others) > self._per_address:
            self._close_one(others)
        elif self._count > self._overall:
            self._close_one(max(self._by_address.values(), key=len))

    def remove(self, connection: "TimedProtocol") -> None:
        """Count a connection out: its request is complete, or it is closed."""
        others = self._by_address[connection.address]
        if connection in others:
            del others[connection]
            self._count -= 1
        if not others:
            del self._by_address[connection.address]

    def _close_one(self, connections: "dict[TimedProtocol, None]") -> None:
        older = list(islice(connections, (len(connections) + 1) // 2))  # newcomers have not shown their token yet
        oldest = next((one for one in older if not one.has_grant), older[0])
        self.remove(oldest)
        oldest.transport.abort()


class TimedProtocol(H11Protocol):
    """HTTP/1.1 that closes a connection when no complete request head arrives in time, or when too many wait."""

    _timer: asyncio.TimerHandle | None = None

    def __init__(self, *args: Any, waiting: Waiting, **options: Any) -> None:
        super().__init__(*args, **options)
        self._waiting = waiting
        self.address = ""

    @property
    def has_grant(self) -> bool:
        """Whether the last request came with a token."""
        return self.scope is not None and self.scope["state"].get("grant") is not None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        connection = transport.get_extra_info("socket")
        if connection is not None and connection.family in (socket.AF_INET, socket.AF_INET6):
            # Head and body are two writes; without this the second one waits 40 ms for the first to be acknowledged.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._restart_timer()
        self._waiting.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._waiting.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._count()

    def on_response_complete(self) -> None:
        self._restart_timer()
        super().on_response_complete()
        self._count()

    def _count(self) -> None:
        """Keep the count of waiting connections: this one waits until its request is here, and after its response."""
        if self.transport.is_closing():
            return
        if self._idle() or self.cycle.more_body:
            self._waiting.add(self)
        else:
            self._waiting.remove(self)

    def _restart_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(HEADER_SECONDS, self._close_idle)

    def _idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _close_idle(self) -> None:
        if self._idle() and not self.transport.is_closing():
            self.transport.close()


@dataclass(frozen=True, slots=True)
class Address:
    """The address to listen on, and the certificate."""

    host: str
    port: int
    certificate: Path | None = None
    key: Path | None = None


def config(app: ASGIApp, address: Address, log_level: str = "warning") -> uvicorn.Config:
    """uvicorn's settings: no access log (URLs may contain codes), no forwarded headers, no WebSockets."""
    options: dict[str, Any] = {
        "http": partial(TimedProtocol, waiting=Waiting(MAX_WAITING, MAX_WAITING_PER_ADDRESS)),
        "ws": "none",
        "lifespan": "on",
        "access_log": False,
        "log_config": None,
        "log_level": log_level,
        "proxy_headers": False,
        "server_header": False,
        "backlog": BACKLOG,
        "limit_concurrency": MAX_CONNECTIONS,
        "timeout_keep_alive": KEEP_ALIVE_SECONDS,
        "timeout_graceful_shutdown": SHUTDOWN_SECONDS,
    }
    if address.certificate is not None:
        options |= {"ssl_certfile": address.certificate, "ssl_keyfile": address.key}
    return uvicorn.Config(app, host=address.host, port=address.port, **options)


def listen(address: Address, shared: bool = False) -> socket.socket:
    """A listening socket; requests are not answered yet. A shared address may have several sockets."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        return socket.create_server((address.host, address.port), family=family, backlog=BACKLOG, reuse_port=shared)
    except OSError as error:
        raise InvalidInput(
            f"cannot listen on {address.host} port {address.port}: {error.strerror or error}; choose another with --port",
            code="address_in_use",
        ) from None


def loaded(app: ASGIApp, address: Address, log_level: str = "warning") -> uvicorn.Config:
    """The settings with the certificate loaded, so that a bad one is reported before the server reports that it is up."""
    settings = config(app, address, log_level)
    for path in filter(None, (address.certificate, address.key)):
        try:
            path.open("rb").close()
        except OSError as error:
            raise InvalidInput(
                f"cannot read {path}: {error.strerror or error}; --tls-cert and --tls-key take PEM files",
                code="tls_files",
            ) from None
    try:
        settings.load()
    except ssl.SSLError as error:
        raise InvalidInput(
            f"{address.certificate} and {address.key} are not a certificate and its key in PEM format: {error}",
            code="tls_files",
        ) from None
    return settings


def run(settings: uvicorn.Config, listener: socket.socket) -> None:
    """Serve until interrupted."""
    raise_file_limit()
    collect_as_usual()
    uvicorn.Server(settings).run(sockets=[listener])


def raise_file_limit() -> None:
    """Raise the limit on open files: a connection is a file, and 1,024 are few."""
    try:
        import resource
    except ImportError:  # Windows
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES_WANTED if hard == resource.RLIM_INFINITY else min(_FILES_WANTED, hard)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
