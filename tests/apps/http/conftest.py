"""A server in the same process: toy embedder, still clocks, a token for everything."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from thinkback.apps.http.app import Limits, Served, build
from thinkback.apps.http.tokens import Tokens
from thinkback.models.embedders import Embedder
from thinkback.opening import Opener
from thinkback.settings import Settings
from thinkback.testing import FixedClock, ToyEmbedder

from serving import BASE, UNHURRIED, Seconds, Site, Starter  # isort: skip


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Starter]:
    """Starts servers; `limits` may be others than the usual ones, and without `enter` somebody else runs the app."""
    running: list[TestClient] = []

    def begin(
        limits: Limits = UNHURRIED, *, enter: bool = True, embedder: Embedder | None = None, **more: object
    ) -> Site:
        clock, seconds = FixedClock("2026-05-08"), Seconds()
        tokens = Tokens(tmp_path / "tokens.toml")
        secret = tokens.make_first()
        opener = Opener(Settings(embedder="none", reranker="none"), embedder=embedder or ToyEmbedder(), clock=clock)
        served = Served(
            folder=tmp_path / "spaces",
            opener=opener,
            tokens=tokens,
            default_file=tmp_path / "memory.db",
            limits=limits,
            clock=clock,
            seconds=seconds,
            **more,  # type: ignore[arg-type]
        )
        server = build(served)
        client = TestClient(
            server.app, base_url=BASE, headers={"Authorization": f"Bearer {secret}"}, follow_redirects=False
        )
        if enter:
            client.__enter__()
            running.append(client)
        return Site(server, client, tokens, clock, seconds)

    yield begin
    for client in running:
        client.__exit__(None, None, None)


@pytest.fixture
def site(start: Starter) -> Site:
    return start()


@pytest.fixture
def client(site: Site) -> TestClient:
    return site.client
