"""Capture: new turns of a session become memories, once each, with their secrets redacted; and the record of what was done."""

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from thinkback.apps.agents.transcripts import Turn, memory_id
from thinkback.errors import gathered_warnings
from thinkback.memory import Memory
from thinkback.values import dataclass

SOURCE = "capture:"
MOST_RECORDED = 200


@dataclass(frozen=True, slots=True)
class Captured:
    """How many turns were stored, how many of them without their secrets, and what was left out, by reason."""

    stored: int = 0
    redacted: int = 0
    left_out: Mapping[str, int] | None = None


def capture(memory: Memory, client: str, session: str, turns: Iterable[Turn], left_out: Counter[str]) -> Captured:
    """Store the turns that are not stored yet; `memory` redacts secrets."""
    fresh = {memory_id(client, session, turn.id): turn for turn in turns}
    known = memory.get_many(fresh)
    left_out["captured before"] += len(known)
    gone = dict(zip(fresh, memory.buried([(id, turn.text) for id, turn in fresh.items()]), strict=True))
    left_out["forgotten"] += sum(gone.values())
    items = [_item(id, turn, client, session) for id, turn in fresh.items() if id not in known and not gone[id]]
    with gathered_warnings():
        records = memory.remember_many(items)
    redacted = sum(record.text != item["text"] for record, item in zip(records, items, strict=True))
    return Captured(len(records), redacted, {why: n for why, n in sorted(left_out.items()) if n})


def _item(id: str, turn: Turn, client: str, session: str) -> dict[str, Any]:
    said = {"id": id, "text": turn.text, "speaker": turn.speaker, "thread": session, "source": SOURCE + client}
    return {**said, "created_at": turn.at} if _is_time(turn.at) else said


def _is_time(text: str | None) -> bool:
    try:
        return text is not None and datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


class State:
    """What hooks remember beside a store: how far each transcript and which files were read, and what was captured, in numbers."""

    def __init__(self, store: Path) -> None:
        self.path = store.with_suffix(".agent.json")
        try:
            self._data: dict[str, Any] = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            self._data = {}

    def offset(self, transcript: Path) -> int:
        """The byte up to which a transcript was read."""
        return int(self._data.get("transcripts", {}).get(str(transcript), 0))

    def file(self, name: str) -> str | None:
        """The hash of a memory file when it was last read."""
        known: str | None = self._data.get("files", {}).get(name)
        return known

    def read_up_to(self, transcript: Path, end: int) -> None:
        """Note how far a transcript was read."""
        self._data.setdefault("transcripts", {})[str(transcript)] = end

    def read_file(self, name: str, hash: str | None) -> None:
        """Note which version of a memory file was read; None if it is gone."""
        files = self._data.setdefault("files", {})
        files.pop(name, None)
        if hash is not None:
            files[name] = hash

    @property
    def files(self) -> list[str]:
        """The memory files that were read."""
        return list(self._data.get("files", {}))

    @property
    def captures(self) -> list[dict[str, Any]]:
        """The latest captures, oldest first."""
        return list(self._data.get("captures", []))

    def record(self, client: str, session: str, done: Captured) -> None:
        """Add a capture to the record."""
        entry = {
            "at": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
            "client": client,
            "session": session,
            "stored": done.stored,
            "redacted": done.redacted,
            "left_out": dict(done.left_out or {}),
        }
        self._data["captures"] = [*self.captures, entry][-MOST_RECORDED:]

    def save(self) -> None:
        """Write the file, whole or not at all."""
        beside = self.path.with_suffix(".new")
        beside.write_text(json.dumps(self._data, indent=1), encoding="utf-8")
        os.chmod(beside, 0o600)
        os.replace(beside, self.path)
