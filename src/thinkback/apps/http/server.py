"""uvicorn, configured so that a slow client costs a socket and nothing else."""

import asyncio
import socket
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from thinkback.errors import InvalidInput

HEADER_SECONDS = 10.0
KEEP_ALIVE_SECONDS = 5  # less than HEADER_SECONDS, so that uvicorn closes idle connections first
MAX_CONNECTIONS = 4000
SHUTDOWN_SECONDS = 10
_FILES_WANTED = 8192


class TimedProtocol(H11Protocol):
    """HTTP/1.1 that closes a connection when no complete request head arrives in time."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        connection = transport.get_extra_info("socket")
        if connection is not None and connection.family in (socket.AF_INET, socket.AF_INET6):
            # Head and body are two writes; without this the second one waits 40 ms for the first to be acknowledged.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._restart_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        self._restart_timer()
        super().on_response_complete()

    def _restart_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(HEADER_SECONDS, self._close_idle)

    def _close_idle(self) -> None:
        idle = self.cycle is None or self.cycle.response_complete
        if idle and not self.transport.is_closing():
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
        "http": TimedProtocol,
        "ws": "none",
        "lifespan": "on",
        "access_log": False,
        "log_config": None,
        "log_level": log_level,
        "proxy_headers": False,
        "server_header": False,
        "limit_concurrency": MAX_CONNECTIONS,
        "timeout_keep_alive": KEEP_ALIVE_SECONDS,
        "timeout_graceful_shutdown": SHUTDOWN_SECONDS,
    }
    if address.certificate is not None:
        options |= {"ssl_certfile": address.certificate, "ssl_keyfile": address.key}
    return uvicorn.Config(app, host=address.host, port=address.port, **options)


def listen(address: Address) -> socket.socket:
    """A listening socket; requests are not answered yet."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        return socket.create_server((address.host, address.port), family=family, backlog=2048)
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
