"""One client may use at most half of the workers and of the queue."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event, Semaphore
from typing import Any

import httpx2
import pytest

from thinkback.apps.http.app import Limits
from thinkback.apps.http.errors import HttpError
from thinkback.apps.http.tokens import Grant
from thinkback.apps.http.workers import Workers, clients_of
from thinkback.apps.validation import TEXT_LIMIT
from thinkback.testing import ToyEmbedder

from live_server import listening  # isort: skip
from serving import Site, Starter  # isort: skip

PATIENCE = 30  # seconds after which a test that would hang fails instead


class Gate:
    """Work that says when it begins and goes on when it is let."""

    def __init__(self) -> None:
        self.begun = Semaphore(0)
        self.opened = Event()
        self._entered: list[None] = []

    @property
    def count(self) -> int:
        return len(self._entered)

    def __call__(self) -> str:
        self._entered.append(None)
        self.begun.release()
        assert self.opened.wait(PATIENCE)
        return "done"

    def wait_for(self, number: int) -> None:
        for _ in range(number):
            assert self.begun.acquire(timeout=PATIENCE)


@contextmanager
def closing(workers: Workers, gate: Gate) -> Iterator[None]:
    try:
        yield
    finally:
        gate.opened.set()
        workers.close()


@contextmanager
def fails(code: str) -> Iterator[pytest.ExceptionInfo[HttpError]]:
    with pytest.raises(HttpError) as error:
        yield error
    assert error.value.code == code


def run(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(asyncio.wait_for(main(), PATIENCE))


async def begin(workers: Workers, work: Callable[[], Any], number: int, *who: str) -> list["asyncio.Task[Any]"]:
    """So many jobs, all of them in line or at work."""
    before = workers.pending
    tasks = [asyncio.create_task(workers.run(work, clients=who)) for _ in range(number)]
    while workers.pending < before + number:
        await asyncio.sleep(0)
    return tasks


def test_one_caller_gets_half_of_the_threads() -> None:
    workers, gate = Workers(4, 100), Gate()

    async def main() -> None:
        heavy = await begin(workers, gate, 10, "a")
        gate.wait_for(2)
        assert [await workers.run(lambda: "served", clients=("b",)) for _ in range(5)] == ["served"] * 5
        assert gate.count == 2
        gate.opened.set()
        assert await asyncio.gather(*heavy) == ["done"] * 10
        assert workers.pending == 0

    with closing(workers, gate):
        run(main)


def test_tokens_of_one_space_share_a_half_and_so_do_spaces_of_one_token() -> None:
    for callers in ([("token a", "space s"), ("token b", "space s")], [("token a", "space s"), ("token a", "space t")]):
        workers, gate = Workers(4, 100), Gate()

        async def main(workers: Workers, gate: Gate, callers: Sequence[tuple[str, ...]]) -> None:
            heavy = [task for who in callers for task in await begin(workers, gate, 3, *who)]
            gate.wait_for(2)
            assert await workers.run(lambda: "served", clients=("token c", "space u")) == "served"
            assert gate.count == 2
            gate.opened.set()
            await asyncio.gather(*heavy)

        with closing(workers, gate):
            run(lambda workers=workers, gate=gate, callers=callers: main(workers, gate, callers))  # type: ignore[misc]


def test_who_a_request_is_from() -> None:
    grant = Grant("alice", frozenset({"read"}), frozenset({"*"}))
    assert clients_of(grant, "notes") == ("token alice", "space notes")
    assert clients_of(grant, None) == ("token alice",)


def test_one_caller_gets_half_of_the_line() -> None:
    """2 threads and 8 in line are 10 places: 5 for one caller."""
    workers, gate = Workers(2, 8), Gate()

    async def main() -> None:
        await begin(workers, gate, 5, "a")
        with fails("client_busy") as refused:
            await workers.run(gate, clients=("a",))
        assert (refused.value.status, refused.value.headers) == (503, {"Retry-After": "1"})
        await begin(workers, gate, 5, "b")
        with fails("busy"):
            await workers.run(gate, clients=("c",))
        gate.opened.set()

    with closing(workers, gate):
        run(main)


def test_one_thread_serves_all_in_turn() -> None:
    workers, order = Workers(1, 10), list[int]()

    async def main() -> None:
        await asyncio.gather(*(workers.run(lambda n=n: order.append(n), clients=("a",)) for n in range(5)))  # type: ignore[misc]

    run(main)
    workers.close()
    assert order == [0, 1, 2, 3, 4]


def test_past_its_deadline_a_request_leaves_the_line() -> None:
    workers, gate = Workers(1, 10), Gate()

    async def main() -> None:
        first = (await begin(workers, gate, 1, "a"))[0]
        gate.wait_for(1)
        with fails("deadline"):
            await workers.run(gate, 0.01, clients=("b",))
        assert workers.pending == 1
        gate.opened.set()
        assert await first == "done"
        assert gate.count == 1

    with closing(workers, gate):
        run(main)


def test_an_error_comes_out_and_the_thread_goes_on() -> None:
    workers = Workers(1, 10)

    def fail() -> None:
        raise LookupError("no such thing")

    async def main() -> None:
        with pytest.raises(LookupError, match="no such thing"):
            await workers.run(fail, clients=("a",))
        assert await workers.run(lambda: 7, clients=("a",)) == 7
        assert workers.pending == 0

    run(main)
    workers.close()


def test_what_is_in_line_when_the_server_stops_is_told_so() -> None:
    workers, gate = Workers(1, 10), Gate()

    async def main() -> None:
        running, waiting = await begin(workers, gate, 2, "a")
        gate.wait_for(1)
        closing = asyncio.get_running_loop().run_in_executor(None, workers.close)
        with fails("stopping"):
            await waiting
        with fails("stopping"):
            await workers.run(gate, clients=("b",))
        gate.opened.set()
        assert await running == "done"
        await closing

    run(main)
    assert gate.count == 1


# -- through the server ------------------------------------------------------------------------------------------------------------


class SlowEmbedder(ToyEmbedder):
    """Takes as long as the gate is shut, over every text that says `slow`."""

    def __init__(self, gate: Gate) -> None:
        super().__init__()
        self._gate = gate

    def embed_passages(self, texts: Sequence[str]) -> Any:
        if any(text.startswith("slow") for text in texts):
            self._gate()
        return super().embed_passages(texts)


@contextmanager
def besieged(start: Starter, gate: Gate, tenants: int) -> Iterator[Site]:
    """A server of four threads, and so many tenants each of whom sends four slow writes at once."""
    site = start(Limits(per_second=0, threads=4, search_seconds=PATIENCE), embedder=SlowEmbedder(gate))
    headers = [site.token(f"tenant-{n}", ["read", "write"], [f"tenant-{n}"]) for n in range(tenants)]

    def write(number: int) -> int:
        return site.client.post(
            "/v1/memories", json={"text": f"slow {number}"}, headers=headers[number % tenants]
        ).status_code

    with ThreadPoolExecutor(4 * tenants) as clients:
        sent = [clients.submit(write, number) for number in range(4 * tenants)]
        try:
            gate.wait_for(2 * tenants)  # half of four threads each
            yield site
        finally:
            gate.opened.set()
        assert [answer.result(PATIENCE) for answer in sent] == [201] * 4 * tenants


def test_a_tenant_with_slow_writes_does_not_stop_the_others(start: Starter) -> None:
    gate = Gate()
    with besieged(start, gate, 1) as site:
        other = site.token("other", ["read", "write"], ["other"])
        stored = site.client.post("/v1/memories", json={"text": "quick"}, headers=other)
        assert stored.status_code == 201
        found = site.client.post("/v1/recall", json={"query": "quick"}, headers=other).json()
        assert [hit["memory"]["text"] for hit in found["hits"]] == ["quick"]
        assert gate.count == 2


def test_a_server_whose_threads_are_all_busy_says_that_it_is_ready(start: Starter) -> None:
    gate = Gate()
    with besieged(start, gate, 2) as site:
        assert gate.count == 4
        assert site.client.get("/health/ready").json() == {"status": "ready"}
        assert site.client.get("/health/live").status_code == 200


def test_requests_at_work_when_the_server_stops_are_told_so(
    start: Starter, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """And nothing is logged as a failure."""
    monkeypatch.setattr("thinkback.apps.http.server.SHUTDOWN_SECONDS", 0.01)
    gate = Gate()
    site = start(Limits(per_second=0, threads=4), embedder=SlowEmbedder(gate), enter=False)
    header = {"Authorization": site.client.headers["authorization"]}
    tool = {"name": "remember", "arguments": {"text": "slow too"}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": tool}
    headers = {**header, "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
    with ThreadPoolExecutor(2) as clients:
        with listening(site.server.app) as url:
            sent = [
                clients.submit(httpx2.post, f"{url}/v1/memories", json={"text": "slow"}, headers=header, timeout=60),
                clients.submit(httpx2.post, f"{url}/mcp", json=call, headers=headers, timeout=60),
            ]
            gate.wait_for(2)
            threading.Thread(target=lambda: ([one.exception(PATIENCE) for one in sent], gate.opened.set())).start()
        answers = [one.result(PATIENCE) for one in sent]
    assert [answer.status_code for answer in answers] == [503, 503]
    assert answers[0].json()["error"]["code"] == "stopping"
    assert "Traceback" not in caplog.text
    assert "Exception in ASGI" not in caplog.text


def test_a_text_has_a_greatest_length(site: Site) -> None:
    longest = "word " * (TEXT_LIMIT // 5)
    stored = site.client.post("/v1/memories", json={"text": longest})
    assert stored.status_code == 201
    for answer in (
        site.client.post("/v1/memories", json={"text": longest + "x"}),
        site.client.post("/v1/memories/batch", json={"memories": [{"text": longest + "x"}]}),
        site.client.post("/v1/memories", json={"text": "x", "essence": longest + "x"}),
        site.client.patch(f"/v1/memories/{stored.json()['id']}", json={"text": longest + "x"}),
    ):
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid_input")
        assert "at most 200000 characters" in answer.json()["error"]["message"]
