"""A server over a database: spaces without files, tokens that several servers share, a pool in the metrics."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from httpx import Response
from starlette.testclient import TestClient

from thinkback.apps.http.app import Served, build
from thinkback.apps.http.tokens import EVERY_SPACE, SCOPES, DatabaseTokens
from thinkback.errors import InvalidInput
from thinkback.opening import Opener
from thinkback.settings import Settings
from thinkback.stores.postgres import PostgresSpaces

from postgres_server import LocalServer  # isort: skip

pytestmark = pytest.mark.postgres


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    server = LocalServer()
    yield server.database()
    server.stop()


def _client(url: str, folder: Path) -> tuple[TestClient, DatabaseTokens]:
    tokens = DatabaseTokens(PostgresSpaces(url, pool_size=2), folder / "tokens.toml")
    opener = Opener(Settings(embedder="none", reranker="none"))
    served = Served(folder=folder / "spaces", opener=opener, tokens=tokens, database=url, host_names=("testserver",))
    return TestClient(build(served).app), tokens


def test_two_servers_share_spaces_and_tokens(url: str, tmp_path: Path) -> None:
    (one, tokens), (two, others) = _client(url, tmp_path), _client(url, tmp_path)
    secret = tokens.add("laptop", SCOPES, [EVERY_SPACE])
    assert (others.exists(), [grant.name for grant in others.all()]) == (True, ["laptop"])
    with pytest.raises(InvalidInput):
        tokens.add("laptop", SCOPES, [EVERY_SPACE])
    headers = {"Authorization": f"Bearer {secret}"}
    with one, two:
        kept = one.post("/v1/memories?space=alice", json={"text": "a grey cat"}, headers=headers)
        assert kept.status_code < 300, kept.text
        found = two.post("/v1/recall?space=alice", json={"query": "cat"}, headers=headers)
        assert "a grey cat" in found.text
        told = two.get("/metrics", headers=headers).text
        assert 'thinkback_pool_connections{state="max"} 8.0' in told
        assert "thinkback_copies_bytes 0.0" in told
        ready = two.get("/health/ready?space=alice", headers=headers).json()
        assert (ready["status"], ready["pool"]["max"], ready["pool"]["waiting"]) == ("ready", 8, 0)
        assert 1 <= ready["pool"]["available"] <= ready["pool"]["size"]
        assert not (tmp_path / "spaces").exists()
    tokens.revoke("laptop")
    assert tokens.grant(secret) is None


def test_a_database_that_is_away_is_told_and_comes_back(tmp_path: Path) -> None:
    """Requests fail with 503 and say why, the process lives, and the next request after a restart is answered."""
    database = LocalServer()
    try:
        client, tokens = _client(database.database(), tmp_path)
        headers = {"Authorization": f"Bearer {tokens.add('laptop', SCOPES, [EVERY_SPACE])}"}

        def recalled() -> Response:
            return client.post("/v1/recall?space=alice", json={"query": "cat"}, headers=headers)

        with client:
            client.post("/v1/memories?space=alice", json={"text": "a grey cat"}, headers=headers)
            assert recalled().status_code == 200
            database.kill()
            away = recalled()
            assert (away.status_code, away.json()["error"]["code"]) == (503, "cannot_connect")
            assert client.get("/health/live").status_code == 200
            ready = client.get("/health/ready?space=alice", headers=headers)
            assert ready.status_code == 503
            database.restart()
            until = time.monotonic() + 120
            while recalled().status_code != 200:  # the pool tries again after a while
                assert time.monotonic() < until
            assert "a grey cat" in recalled().text
            assert client.get("/health/ready?space=alice", headers=headers).json()["status"] == "ready"
    finally:
        database.stop()
