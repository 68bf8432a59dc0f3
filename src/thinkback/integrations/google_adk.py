"""Google ADK: a `BaseMemoryService` over a memory.

runner = Runner(agent=agent, app_name="app", session_service=sessions, memory_service=ThinkbackMemoryService(memory))
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from thinkback.clock import iso
from thinkback.integrations import needs
from thinkback.memory import Memory
from thinkback.messages import moment_of
from thinkback.model import Hit

with needs("google-adk"):
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.genai import types


class ThinkbackMemoryService(BaseMemoryService):
    """Events as memories: the app is the `agent`, the session the `thread`; a session added again adds only what is new."""

    def __init__(self, memory: Memory, limit: int = 10, min_relevance: float | None = None) -> None:
        self.memory, self.limit, self.min_relevance = memory, limit, min_relevance

    async def add_session_to_memory(self, session: Any) -> None:
        """Store the events of a session that have text."""
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events, session_id=session.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Any],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store events that have text and are not known yet."""
        messages = [
            {
                "id": f"adk-{app_name}-{user_id}-{event.id}" if event.id else None,
                "name": event.author,
                "content": _text(event.content),
                "timestamp": moment_of(event.timestamp),
                "metadata": {**dict(custom_metadata or {}), "event": event.id},
            }
            for event in events
            if event.content is not None and _text(event.content)
        ]
        await self._remember(messages, app_name, user_id, session_id)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[Any],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store entries as they are, without those that a tombstone keeps out."""
        given = [
            {
                "text": _text(entry.content),
                "id": entry.id,
                "speaker": entry.author,
                "created_at": entry.timestamp,
                "metadata": {**dict(custom_metadata or {}), **entry.custom_metadata},
                "agent": app_name,
                "user": user_id,
            }
            for entry in memories
        ]
        await asyncio.to_thread(lambda: self.memory.remember_many(self.memory.unburied(given)))

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """The memories of one user of one app that answer a query, best first."""
        hits = await asyncio.to_thread(
            lambda: self.memory.recall(
                query, limit=self.limit, min_relevance=self.min_relevance, agent=app_name, user=user_id
            )
        )
        return SearchMemoryResponse(memories=[_entry(hit) for hit in hits])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Forget one memory of a user for good, or all of them if none is named."""
        mine: dict[str, Any] = {"agent": app_name, "user": user_id}
        where = mine if memory_id is None else {**mine, "id": memory_id}
        await asyncio.to_thread(lambda: self.memory.forget(where=where))

    async def _remember(self, messages: Iterable[Any], app: str, user: str, session: str | None) -> None:
        given = list(messages)
        if given:
            await asyncio.to_thread(lambda: self.memory.remember(messages=given, agent=app, user=user, thread=session))


def _entry(hit: Hit) -> MemoryEntry:
    record = hit.record
    role = "user" if record.speaker == "user" else "model"
    return MemoryEntry(
        id=record.id,
        content=types.Content(role=role, parts=[types.Part(text=hit.shown)]),
        author=record.speaker,
        timestamp=iso(record.created_at),
        custom_metadata={**record.metadata, "score": hit.score, "relevance": hit.relevance},
    )


def _text(content: Any) -> str:
    return "\n".join(part.text.strip() for part in (content.parts or ()) if part.text and part.text.strip())
