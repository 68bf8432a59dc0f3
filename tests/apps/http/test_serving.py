"""The server as it is started: who may listen where, tokens on the command line, and clients that take their time."""

import json
import os
import re
import shutil
import signal
import socket
import ssl
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx2
import pytest
from typer.testing import CliRunner

from thinkback.apps.cli import main
from thinkback.apps.http import server as serving_module
from thinkback.apps.http.cli import AddressOptions, FileOptions, LimitOptions, prepare, token_app
from thinkback.apps.http.tokens import Tokens
from thinkback.errors import InvalidInput, NotFound
from thinkback.settings import Settings

from codes import raises  # isort: skip
from live_server import listening  # isort: skip
from serving import Starter  # isort: skip


def prepared(folder: Path, listening: AddressOptions, **more: bool) -> object:
    settings = Settings(store=folder / "memory.db", embedder="none", reranker="none")
    return prepare(settings, listening, FileOptions(store=settings.store), LimitOptions(), **more)


def test_on_loopback_the_first_token_is_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prepared(tmp_path, AddressOptions())
    secret = (tmp_path / "token").read_text().strip()
    assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "tokens.toml").stat().st_mode) == 0o600
    printed = capsys.readouterr()
    assert str(tmp_path / "token") in printed.err
    assert secret not in printed.err + printed.out


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "memory.example"])
def test_elsewhere_a_token_comes_first(tmp_path: Path, host: str) -> None:
    with raises(InvalidInput, "no_tokens"):
        prepared(tmp_path, AddressOptions(host=host))
    assert not (tmp_path / "tokens.toml").exists()
    Tokens(tmp_path / "tokens.toml").add("a", ["read"], ["*"])
    prepared(tmp_path, AddressOptions(host=host))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_what_loopback_is(host: str) -> None:
    assert AddressOptions(host=host).is_loopback


def test_a_certificate_needs_its_key(tmp_path: Path) -> None:
    with raises(InvalidInput, "tls_files"):
        prepared(tmp_path, AddressOptions(tls_cert=Path("a.pem")))


def test_a_port_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with raises(InvalidInput, "address_in_use") as error:
            serving_module.listen(serving_module.Address("127.0.0.1", port))
    assert f"port {port}" in error.value.message


def test_only_mcp(tmp_path: Path) -> None:
    """`thinkback mcp --http` serves /mcp and health, and with --read-only nothing that writes."""
    from mcp.types import LATEST_PROTOCOL_VERSION
    from starlette.testclient import TestClient

    assert LATEST_PROTOCOL_VERSION
    Settings(store=tmp_path / "memory.db")
    server = prepared(tmp_path, AddressOptions(), mcp_only=True)
    header = {
        "Authorization": f"Bearer {(tmp_path / 'token').read_text().strip()}",
        "Accept": "application/json, text/event-stream",
    }
    listed = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    with TestClient(server.app, base_url="http://127.0.0.1:7077", headers=header) as client:  # type: ignore[attr-defined]
        assert client.get("/v1/tags").status_code == 404
        assert client.get("/health/ready").status_code == 200
        tools = client.post("/mcp", json=listed, headers={"MCP-Protocol-Version": "2025-06-18"}).json()["result"][
            "tools"
        ]
        assert "remember" in {tool["name"] for tool in tools}
    reading = prepared(tmp_path, AddressOptions(), mcp_only=True, read_only=True)
    with TestClient(reading.app, base_url="http://127.0.0.1:7077", headers=header) as client:  # type: ignore[attr-defined]
        tools = client.post("/mcp", json=listed, headers={"MCP-Protocol-Version": "2025-06-18"}).json()["result"][
            "tools"
        ]
        assert {tool["name"] for tool in tools} == {"recall", "search_keywords"}
        agent = {"MCP-Protocol-Version": "2025-06-18", "User-Agent": "openai-mcp/1.0.0"}
        tools = client.post("/mcp", json=listed, headers=agent).json()["result"]["tools"]
        assert {tool["name"] for tool in tools} == {"recall", "search_keywords", "search", "fetch"}


def test_tokens_on_the_command_line(tmp_path: Path) -> None:
    runner, file = CliRunner(), ["--tokens", str(tmp_path / "tokens.toml")]
    made = runner.invoke(token_app, ["new", "alice", "--space", "alice", "--scope", "read", "--scope", "write", *file])
    assert made.exit_code == 0, made.output
    grant = Tokens(tmp_path / "tokens.toml").grant(made.stdout.strip())
    assert grant is not None
    assert (grant.name, grant.scopes, grant.spaces) == ("alice", frozenset({"read", "write"}), frozenset({"alice"}))
    listed = runner.invoke(token_app, ["list", "--json", *file])
    assert json.loads(listed.stdout) == {"name": "alice", "scopes": ["read", "write"], "spaces": ["alice"]}
    assert runner.invoke(token_app, ["revoke", "alice", *file]).exit_code == 0
    assert isinstance(runner.invoke(token_app, ["revoke", "alice", *file]).exception, NotFound)


# -- as a process -----------------------------------------------------------------------------------------------------------------


@contextmanager
def serving(folder: Path, *options: str, level: str = "warning") -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """`thinkback serve` on a port of its own, from its first line on: the process, its address and that line."""
    command = [sys.executable, "-m", "thinkback", "serve", "--port", "0", "--embedder", "none"]
    process = subprocess.Popen(
        [*command, "--store", str(folder / "memory.db"), *options],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "THINKBACK_LOG_LEVEL": level},
    )
    try:
        line = until(process, "serving on ")
        yield process, line.split("serving on ")[1].split(";")[0], line
    finally:
        process.kill()
        process.communicate()


def until(process: subprocess.Popen[str], says: str) -> str:
    """The next line with these words."""
    assert process.stderr is not None
    for line in process.stderr:
        if says in line:
            return line
    raise AssertionError(f"it never said {says!r}")


def stopped(process: subprocess.Popen[str]) -> str:
    """What it says after Ctrl-C, until it ends."""
    process.send_signal(signal.SIGINT)
    return process.communicate(timeout=60)[1]


def test_requests_are_logged_when_asked_for(tmp_path: Path) -> None:
    with serving(tmp_path, level="info") as (process, url, _):
        httpx2.get(f"{url}/health/live")
        token = (tmp_path / "token").read_text().strip()
        httpx2.post(
            f"{url}/v1/recall", json={"query": "my secret"}, headers={"Authorization": f"Bearer {token}"}, timeout=60
        )
        live, recall = until(process, "GET live"), until(process, "POST recall")
        assert re.fullmatch(r"\S+ \S+ INFO thinkback.http GET live 200 [\d.]+ ms token=-\n", live)
        assert re.fullmatch(r"\S+ \S+ INFO thinkback.http POST recall 200 [\d.]+ ms token=owner\n", recall)
        assert "Traceback" not in stopped(process)


def test_requests_are_not_logged_otherwise_and_the_port_is_told(tmp_path: Path) -> None:
    with serving(tmp_path) as (process, url, line):
        assert httpx2.get(f"{url}/health/live").status_code == 200
        assert not url.endswith(":0")
        assert f"open {url}/?login=" in line
        rest = stopped(process)
        assert "live" not in rest
        assert "Traceback" not in rest


def test_https_with_a_certificate_of_ones_own(tmp_path: Path, certificate: tuple[Path, Path]) -> None:
    chain, key = certificate
    with serving(tmp_path, "--tls-cert", str(chain), "--tls-key", str(key)) as (_, url, _):
        assert url.startswith("https://")
        assert httpx2.get(f"{url}/health/live", verify=ssl.create_default_context(cafile=chain)).status_code == 200


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 that signs itself, and its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("there is no openssl to make a certificate with")
    folder = tmp_path_factory.mktemp("tls")
    chain, key = folder / "cert.pem", folder / "key.pem"
    options = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(chain)]
    subprocess.run([openssl, "req", *options, *names], check=True, capture_output=True)
    return chain, key


@pytest.mark.parametrize("command", [["serve"], ["mcp", "--http"]], ids=["serve", "mcp"])
@pytest.mark.parametrize("port", ["-1", "65536", "99999"])
def test_a_port_that_is_none_is_wrong_usage(
    command: list[str], port: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*command, "--port", port, "--store", str(tmp_path / "memory.db")])
    assert ended.value.code == 2
    assert "--port" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def refused(folder: Path, capsys: pytest.CaptureFixture[str], cert: Path, key: Path) -> str:
    """What `thinkback serve` says to a certificate it cannot use."""
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--store", str(folder / "memory.db"), "--tls-cert", str(cert), "--tls-key", str(key)])
    said = capsys.readouterr().err
    assert ended.value.code != 0
    assert "serving on" not in said
    assert "Traceback" not in said
    return said


def test_a_certificate_that_is_not_there_is_told_before_anything_is_announced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], certificate: tuple[Path, Path]
) -> None:
    assert "cannot read nofile: No such file" in refused(tmp_path, capsys, Path("nofile"), certificate[1])
    assert "cannot read nokey: No such file" in refused(tmp_path, capsys, certificate[0], Path("nokey"))
    assert "cannot read" in refused(tmp_path, capsys, tmp_path, certificate[1])


def test_a_certificate_that_is_none_is_told_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], certificate: tuple[Path, Path]
) -> None:
    text = tmp_path / "text.pem"
    text.write_text("nothing")
    for cert, key in ((text, certificate[1]), (certificate[0], text), (certificate[1], certificate[0])):
        assert f"{cert} and {key} are not a certificate and its key" in refused(tmp_path, capsys, cert, key)


# -- clients that take their time -------------------------------------------------------------------------------------------------


def connect(url: str) -> socket.socket:
    host, port = url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=30)


def test_500_slow_connections_leave_health_fast(start: Starter) -> None:
    """Half say nothing, half began a request and never end it; the others are served."""
    site = start(enter=False)
    with listening(site.server.app) as url, ExitStack() as stack:
        for number in range(500):
            connection = stack.enter_context(connect(url))
            if number % 2:
                connection.sendall(b"POST /v1/memories HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Le")
        with httpx2.Client(base_url=url) as client:
            slowest = 0.0
            for _ in range(20):
                began = time.perf_counter()
                assert client.get("/health/live").status_code == 200
                slowest = max(slowest, time.perf_counter() - began)
    assert slowest < 1.0  # the one wall-clock promise this server makes


def test_a_connection_that_sends_no_request_is_closed(start: Starter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving_module, "HEADER_SECONDS", 0.05)
    with listening(start(enter=False).server.app) as url:
        for opening in (b"", b"GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "):
            with connect(url) as connection:
                connection.sendall(opening)
                with suppress(ConnectionResetError):
                    assert connection.recv(1) == b""


def test_a_body_that_does_not_come_is_not_waited_for(start: Starter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("thinkback.apps.http.body.JSON_SECONDS", 0.05)
    site = start(enter=False)
    token = site.client.headers["authorization"]
    with listening(site.server.app) as url, connect(url) as connection:
        head = (
            f"POST /v1/memories HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: {token}\r\nContent-Length: 100\r\n\r\n{{"
        )
        connection.sendall(head.encode())
        assert connection.recv(4096).startswith(b"HTTP/1.1 408 ")


def test_keep_alive_and_pipelining_still_work(start: Starter, monkeypatch: pytest.MonkeyPatch) -> None:
    request = b"GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with listening(start(enter=False).server.app) as url, connect(url) as connection:
        connection.sendall(request * 3)
        received = b""
        while received.count(b'{"status":"live"}') < 3:
            received += connection.recv(4096)
        connection.sendall(request)
        assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")


def test_many_at_once_are_all_answered(start: Starter) -> None:
    site = start(enter=False)
    header = {"Authorization": site.client.headers["authorization"]}
    answers: list[int] = []
    with listening(site.server.app) as url:

        def work(number: int) -> None:
            with httpx2.Client(base_url=url, headers=header, timeout=60) as client:
                for turn in range(5):
                    answers.append(client.post("/v1/memories", json={"text": f"memory {number} {turn}"}).status_code)
                    answers.append(client.post("/v1/recall", json={"query": f"memory {number}"}).status_code)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with httpx2.Client(base_url=url, headers=header) as client:
            assert client.get("/v1/count").json() == {"count": 40}
    assert sorted(answers) == [200] * 40 + [201] * 40


def test_the_files_are_closed_at_the_end(start: Starter, tmp_path: Path) -> None:
    site = start(enter=False)
    with listening(site.server.app) as url, httpx2.Client(base_url=url, headers=dict(site.client.headers)) as client:
        assert client.post("/v1/memories?space=a", json={"text": "x"}).status_code == 201
    left = sorted(path.name for path in (tmp_path / "spaces").iterdir())
    assert left == ["a.db"]  # no log, no shared memory: closed cleanly
    assert os.path.getsize(tmp_path / "spaces" / "a.db") > 0
