"""LlamaIndex: a memory block and a retriever.

block = ThinkbackMemoryBlock(name="long_term", memory=memory)
chat_memory = Memory.from_defaults(session_id="s", memory_blocks=[block])
retriever = ThinkbackRetriever(memory, limit=5)
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from thinkback import memory as engine
from thinkback.integrations import needs
from thinkback.model import Hit

with needs("llama-index"):
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.bridge.pydantic import Field
    from llama_index.core.memory import BaseMemoryBlock
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

SESSION = "session_id"  # what LlamaIndex puts into the messages that leave the short-term memory


class ThinkbackMemoryBlock(BaseMemoryBlock[str]):
    """Long-term memory of a chat: messages that leave the short-term memory are stored, the last ones are what is asked."""

    memory: Any = Field(exclude=True)
    limit: int = 5
    asked: int = 3  # messages whose text is the query
    min_relevance: float | None = None  # leave out hits that answer with a lower probability
    scope: Mapping[str, Any] = Field(default_factory=dict)  # user, agent, …: stored with every message, and a filter

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        query = "\n".join(str(message.content) for message in (messages or [])[-self.asked :] if message.content)
        if not query:
            return ""
        found = {"limit": self.limit, "min_relevance": self.min_relevance, **self.scope}
        hits = await asyncio.to_thread(lambda: self.memory.recall(query, **found))
        return "\n".join(f"- {hit.shown}" for hit in hits)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        by_session: dict[str | None, list[dict[str, Any]]] = {}
        for message in messages:
            session = message.additional_kwargs.get(SESSION)
            by_session.setdefault(session, []).append({"role": message.role.value, "content": message.content or ""})
        for session, said in by_session.items():
            thread = {} if session is None else {"thread": session}
            await asyncio.to_thread(self._remember, said, {**self.scope, **thread})

    def _remember(self, said: list[dict[str, Any]], fields: Mapping[str, Any]) -> None:
        self.memory.remember(messages=said, **fields)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Leave out the last hits, about as many tokens as asked (four characters are one)."""
        kept = content[: max(len(content) - 4 * tokens_to_truncate, 0)].rpartition("\n")[0]
        return kept or None


class ThinkbackRetriever(BaseRetriever):
    """Nodes by recall; `filters` are those of `Memory.recall`, `min_relevance` among them."""

    def __init__(self, memory: engine.Memory, limit: int = 5, **filters: Any) -> None:
        self._memory, self._limit, self._filters = memory, limit, filters
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        hits = self._memory.recall(query_bundle.query_str, limit=self._limit, **self._filters)
        return [node(hit) for hit in hits]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


def node(hit: Hit) -> NodeWithScore:
    """A hit as a node, of a long memory the passage; relevance and the fields of the memory stand in its metadata."""
    fields = {name: value for name, value in hit.record.to_dict().items() if name not in ("id", "text") and value}
    metadata = {**fields, "relevance": hit.relevance}
    return NodeWithScore(node=TextNode(id_=hit.id, text=hit.shown, metadata=metadata), score=hit.score)
