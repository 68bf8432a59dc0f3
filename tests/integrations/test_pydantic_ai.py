"""The toolset of Pydantic-AI, called by an agent whose model is a function."""

import pytest

pytest.importorskip("pydantic_ai")

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from thinkback.integrations.pydantic_ai import memory_toolset
from thinkback.memory import Memory


def test_an_agent_remembers_recalls_and_forgets(memory: Memory) -> None:
    memory.remember("Oscar is a black cat", id="bobs", user="bob")
    steps = [
        ToolCallPart("remember", {"text": "Oscar is a grey cat", "tags": ["pets"]}),
        ToolCallPart("recall", {"query": "which cat?"}),
        ToolCallPart("forget", {"id": "bobs"}),
    ]
    returned: list[object] = []

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        assert {tool.name for tool in info.function_tools} == {"recall", "remember", "forget"}
        returned.extend(part.content for part in messages[-1].parts if isinstance(part, ToolReturnPart))
        return ModelResponse(parts=[steps.pop(0) if steps else TextPart("done")])

    agent = Agent(FunctionModel(model), toolsets=[memory_toolset(memory, user="ann")])
    assert agent.run_sync("hello").output == "done"
    id, found, gone = returned
    assert [one["text"] for one in found] == ["Oscar is a grey cat"]
    assert 0 <= found[0]["relevance"] <= 1
    assert (found[0]["id"], gone) == (id, False)
    assert (memory.get(str(id)).user, memory.get(str(id)).tags) == ("ann", ("pets",))
    assert memory.get("bobs").text == "Oscar is a black cat"
