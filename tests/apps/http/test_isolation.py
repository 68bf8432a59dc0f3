"""50 spaces in one server: through no route and no tool can a token read, count or delete anything of another's."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from thinkback.apps.http.app import Limits, Served, build
from thinkback.apps.http.routes import ROUTES
from thinkback.apps.http.tokens import SCOPES, Tokens
from thinkback.apps.mcp.tools import TOOLS
from thinkback.opening import Opener
from thinkback.settings import Settings
from thinkback.testing import FixedClock, ToyEmbedder

pytestmark = pytest.mark.slow

SPACES = [f"tenant-{number:02}" for number in range(50)]
HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}


@dataclass(frozen=True)
class Tenant:
    """A space, its token's header, and what it holds."""

    space: str
    header: dict[str, str]
    ids: tuple[str, ...]
    secret: str


@dataclass(frozen=True)
class Town:
    """A server and all who live in it; no more than 8 files are open at a time."""

    client: TestClient
    tenants: tuple[Tenant, ...]
    folder: Path

    def pairs(self) -> Iterator[tuple[Tenant, Tenant]]:
        """Everybody with somebody else."""
        yield from zip(self.tenants, (*self.tenants[1:], self.tenants[0]), strict=True)


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    folder = tmp_path_factory.mktemp("town")
    tokens, clock = Tokens(folder / "tokens.toml"), FixedClock("2026-05-08")
    tokens.make_first()
    opener = Opener(Settings(embedder="none", reranker="none"), embedder=ToyEmbedder(), clock=clock)
    limits = Limits(per_second=0, open_spaces=8, search_seconds=60)
    served = Served(folder=folder / "spaces", opener=opener, tokens=tokens, limits=limits, clock=clock)
    with TestClient(build(served).app, base_url="http://127.0.0.1:7077") as client:
        yield Town(client, tuple(settle(client, tokens, space) for space in SPACES), folder / "spaces")


def settle(client: TestClient, tokens: Tokens, space: str) -> Tenant:
    """Everybody's memories have the same words, ids and tags, but for a secret of their own."""
    header = {"Authorization": f"Bearer {tokens.add(space, SCOPES, [space])}"}
    secret = f"secret-of-{space}"
    texts = [
        {"text": f"the zebra keeps {secret}", "id": f"{space}-{n}", "thread": "t", "tags": ["zebra", secret]}
        for n in range(3)
    ]
    stored = client.post("/v1/memories/batch", json={"memories": texts}, headers=header)
    assert stored.status_code == 201
    ids = tuple(memory["id"] for memory in stored.json()["memories"])
    client.post("/v1/links", json={"from_id": ids[0], "to_id": ids[1]}, headers=header)
    client.post("/v1/judgements", json={"query": "zebra", "id": ids[0]}, headers=header)
    return Tenant(space, header, ids, secret)


def bodies(other: Tenant) -> dict[str, dict[str, Any]]:
    """For every route with a body, one that goes for somebody else's memories."""
    theirs = other.ids[0]
    return {
        "recall": {"query": "zebra", "trace": True, "limit": 1000},
        "why_not": {"query": "zebra", "id": theirs},
        "search_keywords": {"query": "zebra", "trace": True, "limit": 1000},
        "remember": {"text": "mine alone"},
        "remember_many": {"memories": [{"text": "mine alone"}]},
        "update": {"essence": "taken over"},
        "link": {"from_id": theirs, "to_id": other.ids[1]},
        "judge": {"query": "zebra", "id": theirs},
        "forget": {"ids": list(other.ids)},
        "forget_verified": {"ids": list(other.ids)},
        "redact": {"ids": list(other.ids)},
        "archive": {"ids": list(other.ids)},
        "restore": {"ids": list(other.ids)},
        "contest": {"new_id": theirs, "old_id": other.ids[1]},
        "search_reflections": {"query": "zebra", "trace": True},
    }


def queries(other: Tenant) -> dict[str, dict[str, Any]]:
    return {
        "thread": {"thread": "t"},
        "unlink": {"from_id": other.ids[0], "to_id": other.ids[1]},
    }


def attempts(town: Town, me: Tenant, other: Tenant, space: str | None) -> Iterator[tuple[str, int, str]]:
    """Every route once with my token, naming the other's memories, and the other's space or none."""
    for route in ROUTES:
        if route.name in ("drop_space", "login_code", "logout"):
            continue
        path = route.path.replace("{id}", quote(other.ids[0], safe="")).replace("{file}", "page.js")
        query = {**queries(other).get(route.name, {}), **({"space": space} if space else {})}
        body: Any = None
        headers = dict(me.header)
        if route.has_json_body:
            body = json.dumps(bodies(other).get(route.name, {})).encode()
            headers["content-type"] = "application/json"
        elif route.body:
            body, headers["content-type"] = b'{"text": "imported"}\n', route.body
        answer = town.client.request(route.method, path, params=query, content=body, headers=headers)
        yield route.name, answer.status_code, answer.text


def count(town: Town, tenant: Tenant) -> int:
    return int(town.client.get("/v1/count", params={"tags": "zebra"}, headers=tenant.header).json()["count"])


def test_another_space_is_refused_on_every_route(town: Town) -> None:
    for me, other in town.pairs():
        for name, status, text in attempts(town, me, other, other.space):
            assert (status == 403) or name == "live", (name, status)
            assert other.secret not in text
            assert name == "live" or json.loads(text)["error"]["code"] == "space"


def test_a_space_that_does_not_exist_is_refused_alike(town: Town) -> None:
    """So that nobody can find out which spaces there are."""
    me = town.tenants[0]
    for space in ("tenant-01", "nobody"):
        answer = town.client.get("/v1/count", params={"space": space}, headers=me.header)
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "space")


def test_in_my_own_space_nothing_of_anothers_is_found(town: Town) -> None:
    for me, other in town.pairs():
        for name, status, text in attempts(town, me, other, None):
            assert status < 500, (name, text)
            assert other.secret not in text, name
            if name in ("get_memory", "history", "neighbours", "graph", "update", "link", "judge", "forget_memory"):
                assert status == 404, name
            if name == "metrics":
                assert status == 403
            if name == "forget":
                assert not any(json.loads(text).values())
    assert [count(town, tenant) for tenant in town.tenants] == [3] * 50


def test_the_list_of_spaces_is_my_own(town: Town) -> None:
    for tenant in town.tenants:
        assert town.client.get("/v1/spaces", headers=tenant.header).json() == {"spaces": [tenant.space]}


def test_nobody_drops_anothers_space(town: Town) -> None:
    for me, other in town.pairs():
        answer = town.client.delete(f"/v1/spaces/{other.space}", headers=me.header)
        assert answer.status_code == 403
        assert (town.folder / f"{other.space}.db").exists()


def tool(town: Town, me: Tenant, name: str, arguments: dict[str, Any], space: str | None) -> tuple[int, str]:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    answer = town.client.post(
        "/mcp", json=call, params={"space": space} if space else {}, headers={**me.header, **HEADERS}
    )
    return answer.status_code, answer.text


def tool_arguments(other: Tenant) -> dict[str, dict[str, Any]]:
    return {
        "recall": {"query": "zebra", "limit": 50},
        "search_keywords": {"query": "zebra", "limit": 50},
        "search": {"query": "zebra"},
        "remember": {"text": "mine alone"},
        "update": {"id": other.ids[0], "text": "taken over"},
        "forget": {"ids": list(other.ids)},
        "link": {"from_id": other.ids[0], "to_id": other.ids[1]},
        "fetch": {"id": other.ids[0]},
        "reflect": {"dry_run": True},
    }


def test_no_tool_reaches_another_space(town: Town) -> None:
    assert set(tool_arguments(town.tenants[0])) == set(TOOLS)
    for me, other in town.pairs():
        for name, arguments in tool_arguments(other).items():
            status, text = tool(town, me, name, arguments, other.space)
            assert (status, json.loads(text)["error"]["code"]) == (403, "space"), name
            status, text = tool(town, me, name, arguments, None)
            assert status == 200, (name, text)
            assert other.secret not in text, name
            if name in ("recall", "search", "search_keywords"):
                assert me.secret in text, name
    assert [count(town, tenant) for tenant in town.tenants] == [3] * 50


def test_no_resource_or_prompt_reaches_another_space(town: Town) -> None:
    for me, other in town.pairs():
        asked = (
            ("resources/read", {"uri": f"thinkback://memory/{other.ids[0]}"}),
            ("resources/read", {"uri": "thinkback://stats"}),
            ("prompts/get", {"name": "brief", "arguments": {"topic": "zebra"}}),
        )
        for method, params in asked:
            call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            answer = town.client.post("/mcp", json=call, headers={**me.header, **HEADERS})
            assert other.secret not in answer.text
            refused = town.client.post(f"/mcp?space={other.space}", json=call, headers={**me.header, **HEADERS})
            assert refused.status_code == 403
