"""Programs look for garbage rarely while they start, and as usual once they serve, without what they have loaded."""

import gc
import socket
from collections.abc import Iterator

import pytest

import thinkback
from thinkback.apps.garbage import collect_as_usual, collect_rarely
from thinkback.apps.http import server
from thinkback.apps.mcp import stdio


@pytest.fixture(autouse=True)
def usual() -> Iterator[tuple[int, int, int]]:
    """The thresholds, which are as they were afterwards."""
    before = gc.get_threshold()
    yield before
    gc.set_threshold(*before)
    gc.unfreeze()


def test_rarely_from_the_start_on_and_as_usual_where_it_serves(usual: tuple[int, int, int]) -> None:
    collect_rarely()
    assert gc.get_threshold() == (100_000, *usual[1:])
    assert gc.isenabled()
    collect_as_usual()
    assert gc.get_threshold() == usual
    assert gc.get_freeze_count() > 10_000


def test_the_http_server_collects_as_usual(usual: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[tuple[int, int, int], bool]] = []
    told = lambda self, sockets: seen.append((gc.get_threshold(), gc.get_freeze_count() > 10_000))  # noqa: E731
    monkeypatch.setattr("uvicorn.Server.run", told)
    collect_rarely()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server.run(server.config(None, server.Address("127.0.0.1", 0)), listener)  # type: ignore[arg-type]
    assert seen == [(usual, True)]


def test_the_mcp_server_collects_as_usual(usual: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[tuple[int, int, int], bool]] = []
    monkeypatch.setattr("anyio.run", lambda work: seen.append((gc.get_threshold(), gc.get_freeze_count() > 10_000)))
    collect_rarely()
    with thinkback.open(":memory:", embedder=None, reranker=None) as memory:
        stdio.run(memory)
    assert seen == [(usual, True)]
