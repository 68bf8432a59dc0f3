"""The gate over MCP: what is relevant enough, and whether there is an answer at all."""

from typing import Any

import anyio
import pytest
from mcp import Client

from thinkback.apps.mcp.server import PROGRAMS, build
from thinkback.apps.mcp.stdio import ALL_SCOPES, OneMemory
from thinkback.memory import Memory


@pytest.fixture
def filled(memory: Memory) -> Memory:
    memory.remember_many(["Caroline adopted a grey cat, Oscar", "The rent is 940 a month", "Melanie feeds the dog"])
    return memory


def recall(memory: Memory, query: str, **change: Any) -> Any:
    async def run() -> Any:
        async with Client(build(OneMemory(memory, ALL_SCOPES))) as client:
            return await client.call_tool("recall", {"query": query, **({"change": change} if change else {})})

    return anyio.run(run)


def test_an_answer_passes_the_gate(filled: Memory) -> None:
    answer = recall(filled, "Which grey cat did Caroline adopt?", min_relevance=0.4)
    assert answer.meta[PROGRAMS]["answered"] is True
    assert [one["text"] for one in answer.meta[PROGRAMS]["memories"]] == ["Caroline adopted a grey cat, Oscar"]


@pytest.mark.parametrize("question", ["zebra qwerty cat", "asdfgh qwerty"])
def test_without_an_answer_the_model_is_told_that_something_was_left_out(filled: Memory, question: str) -> None:
    every, gated = recall(filled, question), recall(filled, question, min_relevance=0.4)
    assert every.meta[PROGRAMS]["answered"] is gated.meta[PROGRAMS]["answered"] is False
    assert (len(every.meta[PROGRAMS]["memories"]), gated.meta[PROGRAMS]["memories"]) == (3, [])
    assert gated.content[0].text == "No memories.\n3 found are less relevant than min_relevance."
    assert "likely holds no answer" in every.content[0].text


@pytest.mark.parametrize("bad", [-1, 2, "abc", [0.4], "nan", "inf", "0.4", "1", True, False])
def test_what_is_no_probability_is_refused(filled: Memory, bad: Any) -> None:
    answer = recall(filled, "cat", min_relevance=bad)
    assert answer.is_error
    assert "min_relevance" in answer.content[0].text


def test_null_is_no_gate(filled: Memory) -> None:
    assert len(recall(filled, "cat", min_relevance=None).meta[PROGRAMS]["memories"]) == 3
