"""OpenAI Agents: a `Session` whose items are memories of one thread.

session = ThinkbackSession(memory, "user-7")
await Runner.run(agent, "hello", session=session)
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from thinkback.integrations import needs
from thinkback.memory import Memory
from thinkback.messages import text_of_content
from thinkback.model import Record

with needs("openai-agents"):
    from agents.memory.session import SessionABC

ITEM = "openai_agents"  # the item itself, in the metadata


class ThinkbackSession(SessionABC):
    """The history of one session; what was said in it is found by recall, calls of tools and their results are only kept."""

    def __init__(self, memory: Memory, session_id: str, *, session_settings: Any = None, **fields: Any) -> None:
        self.memory, self.session_id, self.session_settings = memory, session_id, session_settings
        self._fields = fields  # of every memory: user, agent, tags, …

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """The last `limit` items, oldest first."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        records = await asyncio.to_thread(self._records)
        kept = records if limit is None else records[len(records) - min(limit, len(records)) :]
        return [record.metadata[ITEM] for record in kept]

    async def add_items(self, items: list[Any]) -> None:
        """Append items."""
        await asyncio.to_thread(self.memory.remember_many, [self._draft(item) for item in items])

    async def pop_item(self) -> Any:
        """Remove and return the last item; None if there is none."""
        records = await asyncio.to_thread(self._records)
        if not records:
            return None
        await asyncio.to_thread(self.memory.forget, records[-1].id)
        return records[-1].metadata[ITEM]

    async def clear_session(self) -> None:
        """Forget every item for good."""
        records = await asyncio.to_thread(self._records)
        await asyncio.to_thread(self.memory.forget, *(record.id for record in records))

    def _draft(self, item: Any) -> dict[str, Any]:
        said = text_of_content(item.get("content"))
        role = item.get("role") or item.get("type") or "item"
        return {
            "text": said or f"({item.get('type', role)} {item.get('name', '')})".replace(" )", ")"),
            "speaker": role,
            "tier": "semantic" if said else "working",
            "thread": self.session_id,
            "metadata": {ITEM: dict(item)},
            **self._fields,
        }

    def _records(self) -> Sequence[Record]:
        found = self.memory.list(
            limit=2**31, thread=self.session_id, everything=True, where={f"metadata.{ITEM}": {"exists": True}}
        )
        return sorted(found, key=lambda record: record.position or 0)
