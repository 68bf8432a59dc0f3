"""A memory as people read it."""

from recollect.model import Record
from recollect.pipeline import members


def in_words(record: Record) -> str:
    """Its text; a theme by what it is about, where its text is data."""
    made_from = members(record)
    if not made_from or not record.essence:
        return record.text
    return f"{record.essence} (a theme of {len(made_from)} memories)"
