"""Memories, and what became of them, as people read it."""

from collections.abc import Sequence

from thinkback.model import Record
from thinkback.reflections import members

MOST_NAMED = 3
HEAD_LENGTH = 60


def in_words(record: Record) -> str:
    """Its text; a theme by what it is about, where its text is data."""
    made_from = members(record)
    if not made_from or not record.essence:
        return record.text
    return f"{record.essence} (a theme of {len(made_from)} memories)"


def head(record: Record) -> str:
    """How it begins, on one line."""
    line = " ".join(in_words(record).split())
    return line if len(line) <= HEAD_LENGTH else f"{line[: HEAD_LENGTH - 1]}…"


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 memory`, `2 memories`."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def themes_told(gone: int, rebuilt: int) -> str:
    """What became of the themes that forgotten memories were part of."""
    told = {"written anew": rebuilt, "removed": max(0, gone - rebuilt)}
    return ", ".join(f"{number} {what}" for what, number in told.items() if number)


def some(names: Sequence[str], most: int = MOST_NAMED) -> str:
    """The first few, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
