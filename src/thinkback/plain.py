"""Values as JSON carries them: dataclasses as objects, times in ISO 8601."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any

from thinkback.clock import iso


def plain(value: Any) -> Any:
    """A value of dataclasses, mappings, sequences and datetimes as plain JSON."""
    if isinstance(value, datetime):
        return iso(value)
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, tuple | list) else value


def brief(text: str, most: int = 60) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
