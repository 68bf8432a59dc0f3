"""Clients that begin requests and never end them: everyone else is served, and the log stays clean."""

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

import httpx2
import pytest

from thinkback.apps.http import server as serving_module
from thinkback.apps.http.server import TimedProtocol, Waiting

from live_server import listening  # isort: skip
from serving import BASE, Site, Starter  # isort: skip

ATTACK = """
import resource, socket, sys
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
port, count, sent = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].encode()
held = []
for _ in range(count):
    one = socket.create_connection(("127.0.0.1", port), timeout=30)
    try:
        one.sendall(sent)
    except OSError:  # closed already: it was the oldest
        pass
    held.append(one)
print("held", flush=True)
sys.stdin.read()
"""
HEAD = "POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{more}Content-Type: {kind}\r\nContent-Length: 100\r\n\r\n{{"


def begun(path: str, token: str = "", kind: str = "application/json") -> str:
    more = f"Authorization: {token}\r\n" if token else "Origin: http://127.0.0.1\r\n"
    return HEAD.format(path=path, more=more, kind=kind)


KINDS: dict[str, Callable[[str], str]] = {
    "silent": lambda _: "",
    "half a head": lambda _: "POST /v1/recall HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Le",
    "login": lambda _: begun("/login"),
    "recall without a token": lambda _: begun("/v1/recall"),
    "recall": lambda token: begun("/v1/recall", token),
    "mcp": lambda token: begun("/mcp", token),
    "import": lambda token: begun("/v1/import", token, "application/jsonl"),
    "idle after an answer": lambda _: "GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
}


@contextmanager
def attacked(url: str, count: int, sent: str) -> Iterator[None]:
    """Another process that holds that many connections, each with the same beginning."""
    command = [sys.executable, "-c", ATTACK, url.rpartition(":")[2], str(count), sent]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as attacker:
        assert attacker.stdout is not None
        assert attacker.stdout.readline() == b"held\n"
        yield


def slowest_answer(url: str, site: Site) -> float:
    """In processor time of client and server, so that a busy machine does not matter."""
    slowest = 0.0
    with httpx2.Client(
        base_url=url, headers={"Authorization": site.client.headers["authorization"]}, timeout=60
    ) as client:
        assert client.get("/health/live").status_code == 200  # every connection of the attack is accepted by now
        for _ in range(5):
            for ask in (
                lambda: client.get("/health/live", headers={"Authorization": ""}),
                lambda: client.post("/v1/recall", json={"query": "grey cat"}),
            ):
                began = time.process_time()
                assert ask().status_code == 200
                slowest = max(slowest, time.process_time() - began)
    return slowest


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_5000_half_open_requests_leave_room(start: Starter, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    site = start(enter=False)
    with listening(site.server.app) as url:
        with httpx2.Client(base_url=url, headers=dict(site.client.headers)) as client:
            assert client.post("/v1/memories", json={"text": "a grey cat"}).status_code == 201
        with attacked(url, 5000, KINDS[kind](site.client.headers["authorization"])):
            assert slowest_answer(url, site) < 1.0  # a promise of docs/reliability.md
    assert not [record for record in caplog.records if record.exc_info]


def test_a_few_waiting_connections_are_kept_and_the_oldest_goes_first(
    start: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving_module, "MAX_WAITING_PER_ADDRESS", 3)
    with listening(start(enter=False).server.app) as url, ExitStack() as stack:
        host, port = url.removeprefix("http://").split(":")
        first, *others = (
            stack.enter_context(socket.create_connection((host, int(port)), timeout=30)) for _ in range(4)
        )
        with suppress(ConnectionResetError):
            assert first.recv(1) == b""
        for other in others:
            other.sendall(b"GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert other.recv(4096).startswith(b"HTTP/1.1 200 ")


class Transport:
    def __init__(self) -> None:
        self.aborted = False

    def abort(self) -> None:
        self.aborted = True


class Client:
    """As much of a connection as the count of waiting ones asks for."""

    def __init__(self, address: str, has_grant: bool = False) -> None:
        self.address, self.has_grant, self.transport = address, has_grant, Transport()


def closed(waiting: Waiting, clients: list[Client]) -> list[int]:
    for client in clients:
        connection: TimedProtocol = client  # type: ignore[assignment]
        waiting.add(connection)
    return [place for place, client in enumerate(clients) if client.transport.aborted]


def test_one_address_closes_its_own_and_those_with_a_token_last() -> None:
    clients = [Client("a", has_grant=True), Client("a"), Client("b"), Client("a"), Client("a", has_grant=True)]
    assert closed(Waiting(overall=10, per_address=3), clients) == [1]
    granted = [*(Client("a", has_grant=True) for _ in range(3)), Client("a")]  # the newcomer is not the one to go
    assert closed(Waiting(overall=10, per_address=3), granted) == [0]


def test_with_too_many_overall_the_address_with_the_most_loses_one() -> None:
    clients = [Client("b"), Client("a"), Client("a"), Client("c"), Client("d")]
    assert closed(Waiting(overall=4, per_address=3), clients) == [1]


@pytest.mark.parametrize("path", ["/login", "/mcp"])
def test_every_body_has_a_deadline(start: Starter, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.setattr("thinkback.apps.http.body.JSON_SECONDS", 0.05)
    monkeypatch.setattr("thinkback.apps.http.login.FORM_SECONDS", 0.05)
    site = start(enter=False)
    token = "" if path == "/login" else str(site.client.headers["authorization"])
    with listening(site.server.app) as url:
        host, port = url.removeprefix("http://").split(":")
        sent = begun(path, token).replace("Host: 127.0.0.1", f"Host: {host}")
        with socket.create_connection((host, int(port)), timeout=30) as connection:
            connection.sendall(sent.encode())
            assert connection.recv(4096).startswith(b"HTTP/1.1 408 ")


def test_an_aborted_login_leaves_no_traceback(start: Starter, caplog: pytest.LogCaptureFixture) -> None:
    with listening(start(enter=False).server.app) as url:
        host, port = url.removeprefix("http://").split(":")
        for _ in range(20):
            with socket.create_connection((host, int(port)), timeout=30) as connection:
                connection.sendall(begun("/login").encode())
        with httpx2.Client(base_url=url) as client:
            assert client.get("/health/live").status_code == 200
    assert not caplog.records


def test_attempts_to_log_in_are_limited_per_address(site: Site) -> None:
    secret = site.client.headers["authorization"].removeprefix("Bearer ")
    form = {"Authorization": "", "Origin": BASE}
    statuses = [site.client.post("/login", data={"token": "x"}, headers=form).status_code for _ in range(25)]
    assert statuses == [401] * 20 + [429] * 5
    refused = site.client.post("/login", data={"token": secret}, headers=form)
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "2")
    site.seconds.now += 2
    assert site.client.post("/login", data={"token": secret}, headers=form).status_code == 303
    assert site.client.get("/v1/count").status_code == 200  # a token in a header is not an attempt to log in
