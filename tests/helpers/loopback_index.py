"""A package index and hub on the loopback, serving what a test puts into it, and misbehaving on request."""

import hashlib
import io
import json
import re
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PACKAGE, VERSION, FOLDER = "tiny-weights", "1.0", "tiny_weights/data"
FILENAME = "tiny_weights-1.0-py3-none-any.whl"
WEIGHTS = bytes(range(256)) * 40_000  # 10 MB: several range requests
TOKENIZER = b'{"tokenizer": "tiny"}'
FILES = {"model.onnx": WEIGHTS, "tokenizer.json": TOKENIZER}


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def wheel(files: Mapping[str, bytes] = FILES, compression: int = zipfile.ZIP_STORED) -> bytes:
    """A wheel with some ballast before and behind the files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        archive.writestr("tiny_weights/ballast.bin", b"\1" * 9_000_000)
        for name, data in files.items():
            archive.writestr(f"{FOLDER}/{name}", data)
        archive.writestr("tiny_weights/more.bin", b"\2" * 9_000_000)
    return out.getvalue()


@dataclass
class Behaviour:
    """What the server serves and how it fails."""

    wheel: bytes
    form: str = "json"  # the index page: json, html, or nonsense
    ranges: str = "yes"  # yes, no (ignored), broken (promised, then the wrong bytes' range)
    cut_after: int | None = None  # drop the connection after that many bytes of a body
    failures: list[int] = field(default_factory=list)  # statuses to answer before anything else
    hub: dict[str, bytes] = field(default_factory=dict)
    hub_etags: dict[str, str] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    sent: int = 0


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "LoopbackIndex"

    def log_message(self, format: str, *args: object) -> None:
        return

    def do_GET(self) -> None:
        behaviour = self.server.behaviour
        behaviour.requests.append((self.path, self.headers.get("Range", "")))
        if behaviour.failures:
            return self._answer(behaviour.failures.pop(0), b"failing on purpose")
        if self.path == f"/simple/{PACKAGE}/":
            return self._page(behaviour.form)
        if self.path == f"/files/{FILENAME}":
            return self._file(behaviour)
        if self.path.startswith("/hub/"):
            return self._hub(behaviour, self.path.rpartition("/")[2])
        return self._answer(404, b"nothing here")

    def _page(self, form: str) -> None:
        if form == "json":
            rows = [{"filename": FILENAME, "url": f"../../files/{FILENAME}", "hashes": {}}]
            page = json.dumps({"meta": {"api-version": "1.0"}, "name": PACKAGE, "files": rows})
            return self._answer(200, page.encode(), "application/vnd.pypi.simple.v1+json")
        if form == "nonsense":
            return self._answer(200, b'{"files": 7}', "application/json")
        links = "".join(
            f'<a href="../../files/{name}#sha256=00">{name}</a>\n'
            for name in ("tiny_weights-0.9-py3-none-any.whl", "tiny_weights-1.0.tar.gz", FILENAME)
        )
        return self._answer(200, f"<!DOCTYPE html><body>{links}</body>".encode(), "text/html")

    def _file(self, behaviour: Behaviour) -> None:
        data, asked = behaviour.wheel, re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if not asked or behaviour.ranges == "no":
            return self._answer(200, data, cut=behaviour.cut_after)
        first, last = int(asked[1]), int(asked[2])
        if behaviour.ranges == "broken" and last > 0:
            return self._answer(200, data)
        span = f"bytes {first}-{last}/{len(data)}"
        return self._answer(206, data[first : last + 1], headers={"Content-Range": span})

    def _hub(self, behaviour: Behaviour, name: str) -> None:
        if name not in behaviour.hub:
            return self._answer(404, b"no such file")
        if self.path.startswith("/hub/blob/"):
            return self._answer(200, behaviour.hub[name])
        etag = behaviour.hub_etags.get(name)
        headers = {"Location": f"/hub/blob/{name}", **({"X-Linked-Etag": f'"{etag}"'} if etag else {})}
        return self._answer(302, b"", headers=headers)

    def _answer(
        self,
        status: int,
        body: bytes,
        kind: str = "application/octet-stream",
        headers: Mapping[str, str] | None = None,
        cut: int | None = None,
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        try:
            self.wfile.write(body if cut is None else body[:cut])
        except OSError:  # the client had seen enough
            self.close_connection = True
        self.server.behaviour.sent += len(body)
        if cut is not None:
            self.close_connection = True


class LoopbackIndex(ThreadingHTTPServer):
    """The server; `url` is the index, `hub_url` the hub."""

    daemon_threads = True

    def __init__(self, behaviour: Behaviour) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.behaviour = behaviour

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/simple/"

    @property
    def hub_url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/hub"

    def handle_error(self, request: object, client_address: object) -> None:
        return  # a client that hangs up early is part of the tests


@contextmanager
def serving(behaviour: Behaviour) -> Iterator[LoopbackIndex]:
    """The server, running until the block ends."""
    server = LoopbackIndex(behaviour)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
