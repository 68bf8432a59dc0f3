"""Memories, and what became of them, as people read it."""

from collections.abc import Mapping, Sequence

from recollect.model import Record
from recollect.pipeline import members

MOST_NAMED = 3


def in_words(record: Record) -> str:
    """Its text; a theme by what it is about, where its text is data."""
    made_from = members(record)
    if not made_from or not record.essence:
        return record.text
    return f"{record.essence} (a theme of {len(made_from)} memories)"


def why_left(reasons: Mapping[str, str]) -> str:
    """Why memories were left alone: `was forgotten (m0, m1, m2 and 4 more); was changed since: tier (m9)`."""
    ids: dict[str, list[str]] = {}
    for id, reason in reasons.items():
        ids.setdefault(reason, []).append(id)
    return "; ".join(f"{reason} ({some(its)})" for reason, its in ids.items())


def some(names: Sequence[str], most: int = MOST_NAMED) -> str:
    """The first few, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
