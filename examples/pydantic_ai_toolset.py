"""A Pydantic-AI agent with the tools of a memory: pip install 'thinkback[pydantic-ai]'. Its test model calls every tool once."""

from pydantic_ai import Agent
from pydantic_ai.models.test import TestModel

import thinkback
from thinkback.integrations.pydantic_ai import memory_toolset

with thinkback.open(":memory:", embedder=None) as memory:
    memory.remember("Oscar is a grey cat", user="ann")
    agent = Agent(TestModel(), toolsets=[memory_toolset(memory, user="ann")])
    print(agent.run_sync("What do you know about Oscar?").output)
    print(memory.count(user="ann"))
