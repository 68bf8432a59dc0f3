"""The base of what lifecycle operations return: `to_dict()` for JSON, and a repr of one line."""

from collections.abc import Sized
from dataclasses import fields
from datetime import datetime
from typing import Any

from thinkback.clock import iso
from thinkback.plain import plain


class Result:
    """For frozen dataclasses with `repr=False`."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON carries them; times in ISO 8601."""
        return dict(plain(self))

    def __repr__(self) -> str:
        """What differs from its default, with the size of each collection that is not empty."""
        rows = [(field.name, getattr(self, field.name), field.default) for field in fields(self)]  # type: ignore[arg-type]
        shown = (
            f"{name}={_brief(value)}" for name, value, usual in rows if value or (value is False and value != usual)
        )
        return f"{type(self).__name__}({', '.join(shown)})"


def _brief(value: Any) -> str:
    if isinstance(value, datetime):
        return iso(value)
    return str(len(value)) if isinstance(value, Sized) and not isinstance(value, str) else repr(value)
