"""Messages of a conversation as drafts of memories: the forms that chat APIs and their transcripts share.

A message has a `role` and a `content`, a text or a list of parts of which those with a `text` count. Its speaker is its `name`,
else its role. System messages, which instruct the model, and messages without text, such as calls of tools, are left out.
"""

import hashlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from thinkback.errors import InvalidInput
from thinkback.inputs import canonical_json

_INSTRUCTIONS = ("system", "developer")
_TIMES = ("created_at", "timestamp", "time", "date", "create_time")
_EACH_ITS_OWN = ("id", "text", "position", "essence", "vector", "speaker")
_MILLISECONDS = 10**11  # seconds since the epoch reach this number in the year 5138


def drafts_of(messages: Any, fields: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A mapping for `remember_many` of each message with text; `fields` go to all of them.

    Without a `thread` the conversation gets one of its own, named after its contents.
    """
    if isinstance(messages, str | Mapping) or not isinstance(messages, Iterable):
        raise _wrong(f'messages are a list of {{"role": …, "content": …}}; got {messages!r:.80}')
    for name in _EACH_ITS_OWN:
        if fields.get(name) is not None:
            raise _wrong(f"{name} belongs to one message; write it in the message")
    read = [(message, text_of(message)) for message in messages]
    made = [_draft(message, text) for message, text in read if text and message.get("role") not in _INSTRUCTIONS]
    thread = fields.get("thread") or _thread(made)
    return [{**fields, "thread": thread, **one} for one in made]


def text_of(message: Any) -> str:
    """The text of a message, or of its parts."""
    if not isinstance(message, Mapping) or not ("content" in message or "text" in message):
        raise _wrong(f'a message is {{"role": …, "content": …}}; got {message!r:.80}')
    return text_of_content(message.get("content", message.get("text")))


def text_of_content(content: Any) -> str:
    """A text, or the texts of a list of parts, as chat APIs write it."""
    if content is None or isinstance(content, str):
        return (content or "").strip()
    parts = content if isinstance(content, list | tuple) else [content]
    texts = [part if isinstance(part, str) else part.get("text") for part in parts if isinstance(part, str | Mapping)]
    return "\n\n".join(text.strip() for text in texts if isinstance(text, str) and text.strip())


def moment_of(given: Any) -> Any:
    """A time as transcripts write it: ISO 8601, or seconds or milliseconds since the epoch."""
    if isinstance(given, bool) or not isinstance(given, int | float):
        return given
    return datetime.fromtimestamp(given / 1000 if abs(given) >= _MILLISECONDS else given, UTC)


def _draft(message: Mapping[str, Any], text: str) -> dict[str, Any]:
    when = next((message[name] for name in _TIMES if message.get(name) is not None), None)
    draft = {"text": text, "speaker": message.get("name") or message.get("role"), "id": message.get("id")}
    draft |= {"created_at": None if when is None else moment_of(when), "metadata": message.get("metadata")}
    return {name: value for name, value in draft.items() if value is not None}


def _thread(made: Iterable[Mapping[str, Any]]) -> str:
    said = [[one.get("speaker"), one["text"]] for one in made]
    return f"chat-{hashlib.sha256(canonical_json(said).encode()).hexdigest()[:16]}"


def _wrong(message: str) -> InvalidInput:
    return InvalidInput(message, code="not_a_message")
