"""LangChain: a retriever and a chat history over a memory.

retriever = ThinkbackRetriever(memory=memory, limit=5, filters={"tags": ["pets"]}, options={"min_relevance": 0.4})
history = ThinkbackChatHistory(memory, "session-1")
"""

from collections.abc import Mapping, Sequence
from typing import Any

from thinkback.integrations import needs
from thinkback.memory import Memory
from thinkback.model import Hit, Record

with needs("langchain"):
    from langchain_core.chat_history import BaseChatMessageHistory
    from langchain_core.documents import Document
    from langchain_core.messages import BaseMessage, message_to_dict, messages_from_dict
    from langchain_core.retrievers import BaseRetriever

MESSAGE = "langchain"  # the message itself, in the metadata
_SPEAKERS = {"human": "user", "ai": "assistant"}


class ThinkbackRetriever(BaseRetriever):
    """Documents by recall; `filters` and `options` are arguments of `Memory.recall`."""

    memory: Any
    limit: int = 5
    filters: Mapping[str, Any] = {}
    options: Mapping[str, Any] = {}

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        hits = self.memory.recall(query, limit=self.limit, **self.filters, **self.options)
        return [document(hit) for hit in hits]


def document(hit: Hit) -> Document:
    """A hit as a document, of a long memory the passage; score, relevance and the fields of the memory stand in the metadata."""
    fields = {name: value for name, value in hit.record.to_dict().items() if name not in ("id", "text") and value}
    judged = {"score": hit.score, "rank": hit.rank, "relevance": hit.relevance}
    return Document(id=hit.id, page_content=hit.shown, metadata={**fields, **judged})


class ThinkbackChatHistory(BaseChatMessageHistory):
    """The messages of one session as memories of one thread; each is found by recall like any other memory."""

    def __init__(self, memory: Memory, session_id: str, **fields: Any) -> None:
        self.memory, self.session_id = memory, session_id
        self._fields = fields  # of every memory: user, agent, tags, …

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """Every message of the session, in order."""
        return list(messages_from_dict([record.metadata[MESSAGE] for record in self._records()]))

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Store messages behind those that are there; one without text is kept too."""
        self.memory.remember_many(
            {
                "text": str(message.text).strip() or f"({message.type})",
                "speaker": getattr(message, "name", None) or _SPEAKERS.get(message.type, message.type),
                "thread": self.session_id,
                "metadata": {MESSAGE: message_to_dict(message)},
                **self._fields,
            }
            for message in messages
        )

    def clear(self) -> None:
        """Forget the messages of the session for good."""
        self.memory.forget(*(record.id for record in self._records()))

    def _records(self) -> Sequence[Record]:
        found = self.memory.list(
            limit=2**31, thread=self.session_id, everything=True, where={f"metadata.{MESSAGE}": {"exists": True}}
        )
        return sorted(found, key=lambda record: record.position or 0)
