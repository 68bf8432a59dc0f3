"""Whatever a model puts into a call, it gets an answer or an explanation; the server does not fail."""

import json
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from mcp import Client

import thinkback
from thinkback.apps.mcp.server import build, input_schema
from thinkback.apps.mcp.stdio import OneMemory
from thinkback.apps.mcp.tools import TOOLS
from thinkback.memory import Memory
from thinkback.testing import FixedClock, ToyEmbedder

from schema_values import ANYTHING, values  # isort: skip


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Memory, list[str]]]:
    path = tmp_path_factory.mktemp("arguments") / "memory.db"
    with thinkback.open(path, embedder=ToyEmbedder(), reranker=None, clock=FixedClock("2026-05-08")) as memory:
        yield memory, [record.id for record in memory.remember_many([f"Oscar the cat, day {n}" for n in range(20)])]


@st.composite
def calls(draw: st.DrawFn, ids: list[str]) -> tuple[str, dict[str, Any]]:
    tool = draw(st.sampled_from(sorted(TOOLS)))
    arguments = draw(values(input_schema(TOOLS[tool])))
    for name in ("id", "from_id", "to_id"):
        if name in arguments and draw(st.booleans()):
            arguments[name] = draw(st.sampled_from(ids))
    if arguments and draw(st.integers(0, 4)) == 0:
        arguments[draw(st.sampled_from(sorted(arguments)))] = draw(ANYTHING)
    # The client refuses to send half a character; what a server does with one is tried over HTTP.
    return tool, json.loads(json.dumps(arguments, ensure_ascii=False).encode("utf-8", "replace"), parse_constant=str)


@pytest.mark.slow
def test_no_call_makes_the_server_fail(known: tuple[Memory, list[str]]) -> None:
    memory, ids = known
    answered = {True: 0, False: 0}

    @settings(
        max_examples=1000,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(calls(ids))
    def send(call: tuple[str, dict[str, Any]]) -> None:
        async def session() -> Any:
            async with Client(build(OneMemory(memory))) as client:
                return await client.call_tool(*call)

        answer = anyio.run(session)
        answered[bool(answer.is_error)] += 1
        assert answer.content[0].text

    send()
    assert min(answered.values()) > 100
