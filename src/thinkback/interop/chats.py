"""Exports of chats: ChatGPT's and Claude's conversations.json, and plain lists of messages."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from thinkback.inputs import canonical_json
from thinkback.interop.drafts import draft, moment
from thinkback.lifecycle.transfer import Value
from thinkback.messages import drafts_of, text_of_content

_SAID = ("user", "assistant")


def chatgpt(conversation: Mapping[str, Any]) -> Iterator[Value]:
    """What was said on the current branch of a conversation; instructions, tools and thoughts are left out."""
    thread = f"chatgpt-{conversation.get('conversation_id') or conversation.get('id')}"
    nodes = conversation["mapping"]
    branch = []
    at = conversation.get("current_node")
    while at is not None and at in nodes:
        branch.append(nodes[at].get("message"))
        at = nodes[at].get("parent")
    said = [message for message in reversed(branch) if message and message["author"]["role"] in _SAID]
    for position, message in enumerate(said):
        content = message.get("content") or {}
        text = text_of_content(content.get("parts")) if content.get("content_type") in _TEXTS else ""
        if text and not (message.get("metadata") or {}).get("is_visually_hidden_from_conversation"):
            yield draft(
                f"chatgpt-{message['id']}",
                text,
                thread=thread,
                position=position,
                speaker=message["author"].get("name") or message["author"]["role"],
                created_at=moment(message.get("create_time") or conversation.get("create_time")),
                source="chatgpt",
                metadata={"title": conversation.get("title")},
            )


_TEXTS = ("text", "multimodal_text")


def claude(conversation: Mapping[str, Any]) -> Iterator[Value]:
    """What was said in a conversation of Claude's export."""
    for position, message in enumerate(conversation["chat_messages"]):
        parts = [part for part in message.get("content") or () if part.get("type", "text") == "text"]
        text = text_of_content(parts) or text_of_content(message.get("text"))
        if text:
            yield draft(
                f"claude-{message['uuid']}",
                text,
                thread=f"claude-{conversation['uuid']}",
                position=position,
                speaker="user" if message.get("sender") == "human" else "assistant",
                created_at=moment(message.get("created_at") or conversation.get("created_at")),
                source="claude",
                metadata={"title": conversation.get("name")},
            )


def chat(value: Any, number: int) -> Iterator[Value]:
    """A list of messages, or an object with one under `messages`; ids and the thread come from the contents."""
    messages = value.get("messages") if isinstance(value, Mapping) else value
    given = value if isinstance(value, Mapping) else {}
    name = given.get("thread") or given.get("id") or given.get("conversation_id")
    for position, one in enumerate(drafts_of(messages, {"thread": None if name is None else str(name)})):
        made = hashlib.sha256(canonical_json([one["thread"], position, one["text"]]).encode()).hexdigest()[:20]
        when = one.get("created_at")
        yield draft(
            str(one.get("id") or f"chat-{made}"),
            one["text"],
            thread=one["thread"],
            position=position,
            speaker=one.get("speaker"),
            created_at=None if when is None else moment(when),
            source="chat",
            metadata=one.get("metadata") or {},
        )
