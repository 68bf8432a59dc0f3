"""The memory service of Google ADK, with its own sessions and events."""

import asyncio

import pytest

pytest.importorskip("google.adk")

from google.adk.events import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions import InMemorySessionService
from google.genai import types

from thinkback.integrations.google_adk import ThinkbackMemoryService
from thinkback.memory import Memory


def content(text: str, role: str = "user") -> types.Content:
    return types.Content(role=role, parts=[types.Part(text=text)])


def test_sessions_are_stored_once_and_searched_by_user(memory: Memory) -> None:
    async def work() -> None:
        sessions, service = InMemorySessionService(), ThinkbackMemoryService(memory)
        session = await sessions.create_session(app_name="app", user_id="ann", session_id="s1")
        await sessions.append_event(session, Event(author="user", content=content("My cat is called Oscar")))
        await sessions.append_event(session, Event(author="helper", content=content("A fine name", "model")))
        await sessions.append_event(session, Event(author="helper", content=types.Content(role="model", parts=[])))
        await service.add_session_to_memory(session)
        await service.add_session_to_memory(session)
        assert memory.count(user="ann", agent="app", thread="s1") == 2
        await sessions.append_event(session, Event(author="user", content=content("Oscar is grey")))
        await service.add_session_to_memory(session)
        assert memory.count(thread="s1") == 3
        found = await service.search_memory(app_name="app", user_id="ann", query="what is the cat called?")
        assert found.memories[0].content.parts[0].text == "My cat is called Oscar"
        assert found.memories[0].author == "user"
        assert (await service.search_memory(app_name="app", user_id="bob", query="cat")).memories == []
        strict = ThinkbackMemoryService(memory, min_relevance=0.4)
        assert (await strict.search_memory(app_name="app", user_id="ann", query="asdfgh qwerty")).memories == []
        await service.delete_memory(app_name="app", user_id="bob", memory_id=found.memories[0].id)
        assert memory.count(thread="s1") == 3
        await service.delete_memory(app_name="app", user_id="ann", memory_id=found.memories[0].id)
        assert memory.count(thread="s1") == 2

    asyncio.run(work())


def test_entries_and_events_can_be_added_directly(memory: Memory) -> None:
    async def work() -> None:
        service = ThinkbackMemoryService(memory)
        entry = MemoryEntry(content=content("Rex is a dog"), author="user", timestamp="2026-05-08T12:00:00")
        await service.add_memory(app_name="app", user_id="ann", memories=[entry])
        events = [Event(author="user", content=content("Bergen is rainy"))]
        await service.add_events_to_memory(app_name="app", user_id="ann", events=events, session_id="s")
        found = await service.search_memory(app_name="app", user_id="ann", query="dog")
        assert found.memories[0].timestamp.startswith("2026-05-08T12:00")
        assert memory.count(user="ann") == 2

    asyncio.run(work())
