"""A server that listens on a loopback port of its own, in a thread."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from thinkback.apps.http.server import Address, config


@contextmanager
def listening(app: ASGIApp) -> Iterator[str]:
    """The address of a running server; it is down again at the end."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        server = uvicorn.Server(config(app, Address("127.0.0.1", port)))
        started = threading.Event()
        startup = server.startup

        async def announced(sockets: list[socket.socket] | None = None) -> None:
            await startup(sockets)
            started.set()

        server.startup = announced  # type: ignore[method-assign]
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        assert started.wait(30)
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            server.should_exit = True
            thread.join(30)
            assert not thread.is_alive()
