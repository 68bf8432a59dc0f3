"""Several worker processes behind one address: what they share, how they stop, and what happens when one dies."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest

from thinkback.apps.http import processes
from thinkback.apps.http.login import Issued, IssuedHere, IssuedTable
from thinkback.apps.http.server import Address
from thinkback.apps.http.shared import IssuedFiles, Shared
from thinkback.errors import InvalidInput, ThinkbackError

from codes import raises  # isort: skip
from postgres_server import LocalServer  # isort: skip
from serving import Starter, UNHURRIED, Seconds  # isort: skip

pytestmark = pytest.mark.skipif(os.name != "posix", reason="several workers need POSIX locks")


# -- what they share -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["memory", "files"])
def test_a_table_of_logins(kind: str, tmp_path: Path) -> None:
    table: IssuedTable = IssuedHere() if kind == "memory" else IssuedFiles(tmp_path)
    table.put("a", Issued("token", 5_000_000))
    assert table.get("a") == Issued("token", 5_000_000)
    table.extend("a", 9_000_000)
    assert table.take("a") == Issued("token", 9_000_000)
    assert (table.take("a"), table.get("a")) == (None, None)


def test_of_too_many_logins_the_oldest_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("thinkback.apps.http.shared.MAX_SESSIONS", 2)
    table = IssuedFiles(tmp_path)
    for number in range(4):
        table.put(str(number), Issued("token", number * 1_000_000))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2", "3"]


def test_a_login_that_ended_elsewhere_is_not_revived(tmp_path: Path) -> None:
    here, there = IssuedFiles(tmp_path), IssuedFiles(tmp_path)
    here.put("a", Issued("token", 5_000_000))
    there.take("a")
    here.extend("a", 9_000_000)
    assert here.get("a") is None


def test_workers_count_requests_together(tmp_path: Path) -> None:
    clock = Seconds()
    one, two = (Shared(tmp_path).rates(2.0, 4.0, clock) for _ in range(2))
    assert [limiter.wait("token") for limiter in (one, two, one, two)] == [0.0, 0.0, 0.0, 0.0]
    assert (one.wait("token"), two.wait("token")) == (0.5, 0.5)  # the bucket holds 4 and refills at 2 a second
    assert one.wait("another") == 0.0
    clock.now += 0.5
    assert (two.wait("token"), one.wait("token")) == (0.0, 0.5)


def test_a_space_that_another_worker_drops_is_opened_anew(start: Starter, tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    one = start(UNHURRIED, shared=Shared(folder))
    (tmp_path / "tokens.toml").unlink()
    two = start(UNHURRIED, shared=Shared(folder))
    one.client.headers["Authorization"] = two.client.headers["Authorization"]
    assert one.client.post("/v1/memories?space=a", json={"text": "cat"}).status_code == 201
    assert two.client.get("/v1/count?space=a").json() == {"count": 1}
    with two.server.spaces.lease("a"):
        assert one.client.delete("/v1/spaces/a").status_code == 409
    assert one.client.delete("/v1/spaces/a").status_code == 200
    assert two.client.get("/v1/count?space=a").status_code == 404
    assert two.client.post("/v1/memories?space=a", json={"text": "dog"}).status_code == 201
    assert one.client.get("/v1/count?space=a").json() == {"count": 1}


# -- as processes ----------------------------------------------------------------------------------------------------------------


@contextmanager
def serving(folder: Path, *options: str, store: str = "") -> Iterator[tuple["subprocess.Popen[str]", str, str]]:
    """`thinkback serve --workers 2`, once it serves: the process, its address and its token."""
    store = store or str(folder / "memory.db")
    tokens = str(folder / "tokens.toml")
    arguments = ["--port", "0", "--workers", "2", "--embedder", "none", "--store", store, "--tokens", tokens, *options]
    process = subprocess.Popen(
        [sys.executable, "-m", "thinkback", "serve", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    try:
        line = until(process, "serving on ")
        yield process, line.split("serving on ")[1].split(" by 2 workers")[0], (folder / "token").read_text().strip()
    finally:
        process.kill()
        process.communicate()


def until(process: "subprocess.Popen[str]", says: str) -> str:
    assert process.stderr is not None
    for line in process.stderr:
        if says in line:
            return line
    raise AssertionError(f"it never said {says!r}")


def ask(url: str, token: str, method: str, path: str, body: object = None, **headers: str) -> tuple[int, str]:
    """One request on a connection of its own, which may reach any worker: the status and the answer."""
    connection = HTTPConnection(url.removeprefix("http://"), timeout=60)
    given = {"Authorization": f"Bearer {token}"} if token else {}
    content = None if body is None else json.dumps(body)
    connection.request(method, path, content, {**given, "Content-Type": "application/json", **headers})
    with closing(connection), connection.getresponse() as answer:
        return answer.status, answer.getheader("Set-Cookie") or answer.read().decode()


def workers_of(process: "subprocess.Popen[str]") -> list[int]:
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [int(pid) for pid in children if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def works(url: str, token: str) -> None:
    """Writes and reads over many connections agree, and both workers count."""
    with ThreadPoolExecutor(4) as pool:
        answers = pool.map(lambda n: ask(url, token, "POST", "/v1/memories", {"text": f"cat {n}"}), range(16))
        assert {status for status, _ in answers} == {201}
        assert set(pool.map(lambda _: ask(url, token, "GET", "/v1/count"), range(16))) == {(200, '{"count":16}')}
        found = list(pool.map(lambda n: ask(url, token, "POST", "/v1/recall", {"query": f"cat {n}"})[1], range(16)))
    assert [json.loads(answer)["hits"][0]["memory"]["text"] for answer in found] == [f"cat {n}" for n in range(16)]
    counted(url, token)


def counted(url: str, token: str) -> None:
    _, metrics = ask(url, token, "GET", "/metrics")
    assert 'thinkback_requests_total{method="POST",route="remember",status="201"} 16.0' in metrics
    assert "thinkback_workers 2.0" in metrics


@pytest.mark.slow
def test_two_workers_serve_one_store_and_one_that_dies_is_started_again(tmp_path: Path) -> None:
    with serving(tmp_path) as (process, url, token):
        works(url, token)
        logs_in_everywhere(url, token)
        before = workers_of(process)
        os.kill(before[0], signal.SIGKILL)
        line = until(process, "started again")
        assert re.search(
            rf"worker [12] \(process {before[0]}\) ended with signal 9; started again as process \d+", line
        )
        assert {ask(url, token, "GET", "/v1/count") for _ in range(16)} == {(200, '{"count":16}')}
        counted(url, token)  # counts of the dead worker stay, its gauges go
        after = workers_of(process)
        assert (len(after), before[1] in after) == (2, True)
        process.send_signal(signal.SIGINT)
        assert "Traceback" not in process.communicate(timeout=60)[1]
    assert [pid for pid in after if Path(f"/proc/{pid}").exists()] == []
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == [".tokens.toml.lock", "memory.db", "token", "tokens.toml"]


def logs_in_everywhere(url: str, token: str) -> None:
    """A code works once, and its session with every worker."""
    code = json.loads(ask(url, token, "POST", "/v1/login-code")[1])["code"]
    cookie = ask(url, "", "GET", f"/?login={code}")[1].split(";")[0]
    for _ in range(8):
        assert ask(url, "", "GET", "/v1/count", Cookie=cookie)[0] == 200
        assert ask(url, "", "GET", f"/?login={code}")[0] == 401


@pytest.mark.slow
def test_workers_follow_a_killed_server(tmp_path: Path) -> None:
    with serving(tmp_path) as (process, url, token):
        assert ask(url, token, "GET", "/v1/count")[0] == 200
        process.kill()
        process.communicate(timeout=60)  # ends when no process holds the pipe any more


@pytest.mark.slow
@pytest.mark.postgres
def test_two_workers_over_a_database(tmp_path: Path) -> None:
    server = LocalServer()
    try:
        with serving(tmp_path, store=server.database()) as (process, url, token):
            works(url, token)
            process.send_signal(signal.SIGTERM)
            assert "Traceback" not in process.communicate(timeout=60)[1]
    finally:
        server.stop()


def fail(listener: object) -> None:
    """A worker that cannot serve."""
    raise InvalidInput("no")


@pytest.mark.slow
def test_workers_that_only_die_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "MOST_RESTARTS", 1)
    monkeypatch.setattr(processes, "_PAUSE_SECONDS", 0.0)
    ended: list[int] = []
    listeners = processes.listen_all(Address("127.0.0.1", 0), 2)
    with raises(ThinkbackError, "workers_end"):
        processes.Processes(listeners, fail).run(ended.append)
    assert len(ended) == 2
    for listener in listeners:
        listener.close()


def test_the_address_is_taken_once(tmp_path: Path) -> None:
    listeners = processes.listen_all(Address("127.0.0.1", 0), 2)
    port = listeners[0].getsockname()[1]
    assert {listener.getsockname()[1] for listener in listeners} == {port}
    with raises(InvalidInput, "address_in_use"):
        processes.listen_all(Address("127.0.0.1", port), 2)
    for listener in listeners:
        listener.close()
