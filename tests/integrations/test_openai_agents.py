"""The session of the OpenAI Agents SDK, run by its own Runner with a model that needs no network."""

import asyncio
from typing import Any

import pytest

pytest.importorskip("agents.memory", exc_type=ImportError)  # a folder of tests has that name too

from agents import Agent, Runner, Usage
from agents.items import ModelResponse
from agents.memory import Session
from agents.models.interface import Model
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

from thinkback.integrations.openai_agents import ThinkbackSession
from thinkback.memory import Memory


class Counting(Model):
    """Says how many items it was given."""

    async def get_response(self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any) -> ModelResponse:
        text = f"heard {len(input)} items"
        part = ResponseOutputText(text=text, type="output_text", annotations=[])
        message = ResponseOutputMessage(id="m", content=[part], role="assistant", status="completed", type="message")
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError


def test_the_runner_keeps_a_conversation(memory: Memory) -> None:
    async def talk() -> list[str]:
        agent = Agent(name="a", model=Counting())
        session = ThinkbackSession(memory, "s1", user="ann")
        assert isinstance(session, Session)
        first = await Runner.run(agent, "My cat is Oscar", session=session)
        second = await Runner.run(agent, "And I live in Bergen", session=session)
        return [first.final_output, second.final_output]

    assert asyncio.run(talk()) == ["heard 1 items", "heard 3 items"]
    assert memory.recall("Bergen", user="ann")[0].record.speaker == "user"
    assert memory.count(thread="s1") == 4


def test_items_limits_popping_and_clearing(memory: Memory) -> None:
    items: list[Any] = [
        {"role": "user", "content": "one"},
        {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c"},
        {"type": "function_call_output", "call_id": "c", "output": "7"},
        {"role": "assistant", "content": [{"type": "output_text", "text": "seven"}]},
    ]

    async def work() -> None:
        session, other = ThinkbackSession(memory, "a"), ThinkbackSession(memory, "b")
        assert await session.pop_item() is None
        await session.add_items(items)
        await other.add_items(items[:1])
        assert await session.get_items() == items
        assert await session.get_items(limit=2) == items[2:]
        assert await session.get_items(limit=99) == items
        assert await session.pop_item() == items[-1]
        assert await session.get_items() == items[:-1]
        await session.clear_session()
        assert (await session.get_items(), await other.get_items()) == ([], items[:1])

    asyncio.run(work())
