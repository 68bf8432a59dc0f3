"""A JSON server on the loopback whose answers a test writes as a function."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Request:
    """What the client sent."""

    path: str
    authorization: str | None
    payload: Any


@dataclass(frozen=True)
class Answer:
    """What the server sends; a `str` body goes out as it is."""

    body: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    hang_up: bool = False


class Api(ThreadingHTTPServer):
    """Answers `answer(request)`, and keeps every request."""

    daemon_threads = True

    def __init__(self, answer: Callable[[Request], Answer]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.requests: list[Request] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: object, client_address: object) -> None:
        return


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Api

    def log_message(self, format: str, *args: object) -> None:
        return

    def do_POST(self) -> None:
        payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        request = Request(self.path, self.headers.get("Authorization"), payload)
        self.server.requests.append(request)
        answer = self.server.answer(request)
        if answer.hang_up:
            self.close_connection = True
            return
        body = (answer.body if isinstance(answer.body, str) else json.dumps(answer.body)).encode()
        self.send_response(answer.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def serving(answer: Callable[[Request], Answer]) -> Iterator[Api]:
    """The server, running until the block ends."""
    server = Api(answer)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
