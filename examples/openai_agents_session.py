"""A session of the OpenAI Agents SDK kept in a memory: pip install 'thinkback[openai-agents]'.

With a key, `await Runner.run(agent, "…", session=session)` uses it as it is; this runs without one.
"""

import asyncio

import thinkback
from thinkback.integrations.openai_agents import ThinkbackSession


async def main() -> None:
    with thinkback.open(":memory:", embedder=None) as memory:
        session = ThinkbackSession(memory, "session-1", user="ann")
        await session.add_items([{"role": "user", "content": "My cat is called Oscar"}])
        await session.add_items([{"role": "assistant", "content": "What a fine name!"}])
        print(await session.get_items(limit=1))
        print(memory.recall("cat", user="ann")[0].text)


asyncio.run(main())
