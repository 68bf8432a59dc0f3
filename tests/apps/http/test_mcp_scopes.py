"""What a token's scopes let it do at /mcp: a token that may not read reads nothing, whichever way it asks."""

import json
from typing import Any

import pytest

from thinkback.apps.http.tokens import SCOPES
from thinkback.apps.mcp.tools import TOOLS

from serving import Site  # isort: skip

HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
SECRET = "the zebra keeps a secret"
READS: dict[str, tuple[str, dict[str, Any]]] = {
    "memory": ("resources/read", {"uri": "thinkback://memory/one"}),
    "stats": ("resources/read", {"uri": "thinkback://stats"}),
    "brief": ("prompts/get", {"name": "brief", "arguments": {}}),
    "brief-topic": ("prompts/get", {"name": "brief", "arguments": {"topic": "zebra"}}),
}
LISTS = {
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
TOKENS = [
    *(pytest.param([scope], id=f"{scope}-only") for scope in SCOPES if scope != "read"),
    pytest.param([scope for scope in SCOPES if scope != "read"], id="all-but-read"),
]


def ask(site: Site, header: dict[str, str], method: str, params: dict[str, Any]) -> Any:
    call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    answer = site.client.post("/mcp", json=call, headers={**HEADERS, **header})
    assert answer.headers["content-type"] == "application/json", answer.text
    return answer.json()


@pytest.fixture
def filled(site: Site) -> Site:
    assert site.client.post("/v1/memories", json={"text": SECRET, "id": "one"}).status_code == 201
    return site


@pytest.mark.parametrize("what", READS)
@pytest.mark.parametrize("scopes", TOKENS)
def test_without_the_read_scope_nothing_is_read(filled: Site, scopes: list[str], what: str) -> None:
    answer = ask(filled, filled.token("weak", scopes, ["*"]), *READS[what])
    assert "needs the scope read" in answer["error"]["message"]
    assert SECRET not in json.dumps(answer)


@pytest.mark.parametrize("method", LISTS)
@pytest.mark.parametrize("scopes", TOKENS)
def test_without_the_read_scope_nothing_to_read_is_offered(filled: Site, scopes: list[str], method: str) -> None:
    answer = ask(filled, filled.token("weak", scopes, ["*"]), method, {})
    assert answer["result"][LISTS[method]] == []


@pytest.mark.parametrize("scope", SCOPES)
def test_a_token_sees_and_calls_the_tools_of_its_scope_alone(filled: Site, scope: str) -> None:
    header = filled.token("one", [scope], ["*"])
    listed = {tool["name"] for tool in ask(filled, header, "tools/list", {})["result"]["tools"]}
    assert listed == {tool.name for tool in TOOLS.values() if tool.scope == scope and not tool.connector}
    for name in (tool.name for tool in TOOLS.values() if tool.scope != scope):
        answer = ask(filled, header, "tools/call", {"name": name, "arguments": {"query": "zebra", "id": "one"}})
        assert "there is no tool" in answer["error"]["message"]


def test_with_the_read_scope_everything_is_read(filled: Site) -> None:
    header = filled.token("reader", ["read"], ["*"])
    for method, key in LISTS.items():
        assert len(ask(filled, header, method, {})["result"][key]) >= 1
    for what in ("memory", "brief", "brief-topic"):
        assert SECRET in json.dumps(ask(filled, header, *READS[what])["result"])


def test_the_counts_do_not_say_where_files_lie(filled: Site) -> None:
    answer = ask(filled, filled.token("reader", ["read"], ["*"]), *READS["stats"])
    counts = json.loads(answer["result"]["contents"][0]["text"])
    assert counts["memories"] == 1
    assert "path" not in counts
    assert "memory.db" not in json.dumps(answer)


def test_a_space_that_is_not_there_is_explained(filled: Site) -> None:
    header = filled.token("reader", ["read"], ["nobody"])
    for method, params in READS.values():
        assert "there is no space 'nobody'" in ask(filled, header, method, params)["error"]["message"]
