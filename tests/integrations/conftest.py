"""A memory for the adapters: no model is needed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import thinkback
from thinkback.memory import Memory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with thinkback.open(tmp_path / "memory.db", embedder=None, reranker=None) as memory:
        memory.remember("something that is none of the framework's", id="other")
        yield memory
