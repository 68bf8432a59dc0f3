"""A memory for the adapters: no model is needed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import thinkback
from thinkback.memory import Memory

# A memory of many passages: only the one about the harbour answers.
LONG = "\n\n".join(
    f"Chapter {n}. " + ("The harbour of Bergen closes at dusk. " if n == 7 else f"Nothing of note on day {n}. ") * 20
    for n in range(30)
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with thinkback.open(tmp_path / "memory.db", embedder=None, reranker=None) as memory:
        memory.remember("something that is none of the framework's", id="other")
        yield memory


@pytest.fixture
def long_text() -> str:
    return LONG
