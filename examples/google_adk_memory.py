"""The memory service of Google ADK over a memory: pip install 'thinkback[google-adk]'."""

import asyncio

from google.adk.events import Event
from google.adk.sessions import InMemorySessionService
from google.genai import types

import thinkback
from thinkback.integrations.google_adk import ThinkbackMemoryService


async def main() -> None:
    with thinkback.open(":memory:", embedder=None) as memory:
        sessions, service = InMemorySessionService(), ThinkbackMemoryService(memory)
        session = await sessions.create_session(app_name="app", user_id="ann")
        said = types.Content(role="user", parts=[types.Part(text="My cat is called Oscar")])
        await sessions.append_event(session, Event(author="user", content=said))
        await service.add_session_to_memory(session)
        found = await service.search_memory(app_name="app", user_id="ann", query="what is the cat called?")
        print(found.memories[0].content.parts[0].text)


asyncio.run(main())
