"""The events of coding agents, and the answers each of them understands.

Claude Code and Codex send `hook_event_name`, `session_id`, `transcript_path` and `cwd`, and take context as
`hookSpecificOutput.additionalContext`. Cursor sends `conversation_id` and `workspace_roots`, and takes `additional_context`.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from thinkback.values import dataclass

Step = Literal["start", "prompt", "said", "capture", "end"]
CLAUDE_CODE, CODEX, CURSOR = "claude-code", "codex", "cursor"

_STEPS: Mapping[str, Step] = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "PreCompact": "capture",
    "Stop": "capture",
    "SessionEnd": "end",
    "sessionStart": "start",
    "beforeSubmitPrompt": "prompt",
    "afterAgentResponse": "said",
    "preCompact": "capture",
    "stop": "capture",
    "sessionEnd": "end",
}
# The events that each agent has, as they stand in its configuration.
EVENTS: Mapping[str, tuple[str, ...]] = {
    CLAUDE_CODE: ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd"),
    CODEX: ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd"),
    CURSOR: ("sessionStart", "beforeSubmitPrompt", "afterAgentResponse", "preCompact", "stop", "sessionEnd"),
}


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a session."""

    client: str
    name: str
    step: Step
    session: str
    folder: Path
    transcript: Path | None = None
    prompt: str = ""
    said: str = ""
    turn: str = ""
    compacted: bool = False


def event_of(client: str, data: Mapping[str, Any], cwd: str) -> Event | None:
    """The event, or None for one that is not ours."""
    name = _text(data, "hook_event_name")
    step = _STEPS.get(name)
    if step is None or client not in EVENTS:
        return None
    roots = data.get("workspace_roots")
    root = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
    transcript = _text(data, "transcript_path")
    return Event(
        client=client,
        name=name,
        step=step,
        session=_text(data, "session_id") or _text(data, "conversation_id") or "unknown",
        folder=Path(_text(data, "cwd") or root or cwd),
        transcript=Path(transcript).expanduser() if transcript else None,
        prompt=_text(data, "prompt"),
        said=_text(data, "text"),
        turn=_text(data, "generation_id") or _text(data, "turn_id"),
        compacted=data.get("source") == "compact" or (step == "capture" and "ompact" in name),
    )


def reply(event: Event, context: str) -> str:
    """What the agent reads from its hook; nothing if there is nothing to add."""
    if not context:
        return ""
    if event.client == CURSOR:
        allowed = {"continue": True} if event.step == "prompt" else {}
        return json.dumps({**allowed, "additional_context": context}, ensure_ascii=False)
    specific = {"hookEventName": event.name, "additionalContext": context}
    return json.dumps({"hookSpecificOutput": specific}, ensure_ascii=False)


def _text(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name)
    return value if isinstance(value, str) else ""
