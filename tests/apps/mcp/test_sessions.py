"""A real client session over stdio and over streamable HTTP: remember, recall, link, forget; and 200 hostile memories."""

import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from thinkback.apps.http.app import Limits, Served, build
from thinkback.apps.http.tokens import Tokens
from thinkback.apps.mcp.envelope import visible
from thinkback.apps.mcp.server import PROGRAMS
from thinkback.opening import Opener
from thinkback.settings import Settings
from thinkback.testing import ToyEmbedder

from hostile import HOSTILE  # isort: skip
from live_server import listening  # isort: skip
from envelopes import read  # isort: skip

Opened = Callable[[], Any]


@asynccontextmanager
async def over_stdio(folder: Path, mode: str) -> AsyncIterator[Client]:
    arguments = ["-m", "thinkback", "mcp", "--store", str(folder / "memory.db"), "--embedder", "none"]
    async with Client(StdioServerParameters(command=sys.executable, args=arguments), mode=mode) as client:  # type: ignore[arg-type]
        yield client


@asynccontextmanager
async def over_http(folder: Path, mode: str) -> AsyncIterator[Client]:
    tokens = Tokens(folder / "tokens.toml")
    header = {"Authorization": f"Bearer {tokens.make_first()}"}
    opener = Opener(Settings(embedder="none", reranker="none"), embedder=ToyEmbedder())
    served = Served(
        folder=folder / "spaces", opener=opener, tokens=tokens, limits=Limits(per_second=0, search_seconds=60)
    )
    with listening(build(served).app) as url:
        http = httpx2.AsyncClient(headers=header, timeout=60)
        transport = streamable_http_client(f"{url}/mcp", http_client=http)
        async with http, Client(transport, mode=mode) as client:  # type: ignore[arg-type]
            yield client


TRANSPORTS = [
    pytest.param(transport, mode, id=f"{transport.__name__}-{mode}")
    for transport in (over_stdio, over_http)
    for mode in ("legacy", "auto")
]


def run(transport: Any, folder: Path, mode: str, work: Callable[[Client], Awaitable[None]]) -> None:
    async def session() -> None:
        with anyio.fail_after(120):
            async with transport(folder, mode) as client:
                await work(client)

    anyio.run(session)


@pytest.mark.parametrize(("transport", "mode"), TRANSPORTS)
def test_a_session_remembers_recalls_links_and_forgets(transport: Any, mode: str, tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert names == {"recall", "search_keywords", "remember", "update", "forget", "link", "reflect"}
        ids = []
        for text in ("Caroline adopted a grey cat, Oscar", "Oscar fears the vacuum cleaner"):
            stored = await client.call_tool("remember", {"text": text, "tags": ["pets"]})
            ids.append(stored.meta[PROGRAMS]["id"])
        linked = await client.call_tool("link", {"from_id": ids[0], "to_id": ids[1], "kind": "about"})
        assert linked.meta[PROGRAMS]["link"]["kind"] == "about"
        found = await client.call_tool("recall", {"query": "what is the grey cat called?", "limit": 2})
        assert found.meta[PROGRAMS]["memories"][0]["id"] == ids[0]
        assert "| Caroline adopted a grey cat, Oscar" in found.content[0].text
        brief = await client.get_prompt("brief", {"topic": "the cat"})
        assert "| Caroline adopted a grey cat, Oscar" in brief.messages[0].content.text
        one = await client.read_resource(f"thinkback://memory/{ids[1]}")
        assert "| Oscar fears the vacuum cleaner" in one.contents[0].text
        gone = await client.call_tool("forget", {"ids": ids})
        assert gone.meta[PROGRAMS]["forgotten"] == ids
        empty = await client.call_tool("recall", {"query": "grey cat"})
        assert empty.meta[PROGRAMS]["memories"] == []
        assert empty.content[0].text == "No memories."

    run(transport, tmp_path, mode, work)


def shows(shown: str, text: str) -> bool:
    """Whether a text is shown whole; of a long one a passage."""
    return shown == text or (len(text) > 1000 and bool(shown) and shown in text)


@pytest.mark.slow
@pytest.mark.parametrize(("transport", "mode"), TRANSPORTS)
def test_200_hostile_memories_come_back_marked_and_inert(transport: Any, mode: str, tmp_path: Path) -> None:
    assert len(HOSTILE) == len(set(HOSTILE)) == 200

    async def work(client: Client) -> None:
        sent: dict[str, str] = {}
        for number, text in enumerate(HOSTILE):
            fields = {"source": text[:100].strip() or "x", "thread": f"t{number}"}
            arguments = {"text": f"zebra {text}", "fields": fields}
            stored = await client.call_tool("remember", arguments)
            assert not stored.is_error, (number, stored.content)
            sent[stored.meta[PROGRAMS]["id"]] = f"zebra {text}"
        seen: dict[str, str] = {}
        for number in range(200):
            asked = {"query": "zebra", "limit": 5, "filter": {"threads": [f"t{number}"]}, "max_tokens": 0}
            answer = await client.call_tool("recall", asked)
            for text, heading in read(answer.content[0].text):
                seen[heading.split(" ")[0]] = text
            for memory in answer.meta[PROGRAMS]["memories"]:
                assert shows(memory["text"], visible(sent[memory["id"]]))
                fetched = await client.call_tool("fetch", {"id": memory["id"]})
                assert fetched.structured_content["text"] == visible(sent[memory["id"]])
        assert seen.keys() == {id[-6:] for id in sent}
        assert all(shows(seen[id[-6:]], visible(text)) for id, text in sent.items())
        whole = await client.call_tool("recall", {"query": "zebra", "limit": 50, "max_tokens": 0})
        assert len(read(whole.content[0].text)) == len(whole.meta[PROGRAMS]["memories"]) > 40  # but for duplicates

    run(transport, tmp_path, mode, work)


@pytest.mark.slow
def test_a_server_for_a_repository_searches_the_store_of_the_user_too(tmp_path: Path) -> None:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    environment = {"THINKBACK_STORE": str(tmp_path / "data" / "memory.db"), "THINKBACK_EMBEDDER": "none"}
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "thinkback", "mcp", "--repository"],
        env={**environment, "HOME": str(tmp_path)},
        cwd=tmp_path / "project",
    )

    async def session() -> None:
        with anyio.fail_after(120):
            async with Client(server) as client:
                await client.call_tool("remember", {"text": "this project has its tests in checks"})
                await client.call_tool("remember", {"text": "Ann likes short tests", "fields": {"store": "user"}})
                found = await client.call_tool("search_keywords", {"query": "tests"})
                assert {one["store"] for one in found.meta[PROGRAMS]["memories"]} == {"repository", "user"}

    anyio.run(session)
    assert len(list((tmp_path / "data" / "repositories").glob("project-*.db"))) == 1
    assert (tmp_path / "data" / "memory.db").exists()
