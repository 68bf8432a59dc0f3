"""Memories with a clock that is told to move, and an embedder that needs no model."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import thinkback
from thinkback.memory import Memory
from thinkback.model import StoredRecord
from thinkback.testing import FixedClock, ToyEmbedder

START = "2026-05-08T12:00:00Z"


@contextmanager
def living(path: Any = ":memory:", **options: Any) -> Iterator[tuple[Memory, FixedClock]]:
    """A memory and its clock."""
    clock = FixedClock(START)
    options = {"embedder": ToyEmbedder(), "reranker": None, "clock": clock, **options}
    with thinkback.open(path, **options) as memory:
        yield memory, clock


def stored(memory: Memory, id: str) -> StoredRecord:
    """A memory as the store keeps it: times in microseconds, like those of the clock."""
    return memory.store.get([id])[id]
