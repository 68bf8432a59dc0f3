"""Memories and counts for people."""

from thinkback.model import Hit, Record
from thinkback.reflections import members

FIRST_WORDS = 60  # characters


def in_words(record: Record) -> str:
    """The text of a memory; for a theme, whose text is data, its keywords."""
    made_from = members(record)
    if not made_from or not record.essence:
        return record.text
    return f"{record.essence} (a theme of {len(made_from)} memories)"


def hit_in_words(hit: Hit) -> str:
    """What a hit says: of a long memory the passage that fits the query."""
    return in_words(hit.record) if hit.passage is None else hit.passage.text


def first_words(record: Record) -> str:
    """The beginning of a memory, on one line."""
    line = " ".join(in_words(record).split())
    return line if len(line) <= FIRST_WORDS else f"{line[: FIRST_WORDS - 1]}…"


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 memory`, `2 memories`."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def theme_changes(gone: int, rebuilt: int) -> str:
    """What happened to the themes of forgotten memories."""
    changes = {"written anew": rebuilt, "removed": max(0, gone - rebuilt)}
    return ", ".join(f"{number} {what}" for what, number in changes.items() if number)
