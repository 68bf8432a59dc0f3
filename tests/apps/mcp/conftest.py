"""A memory with a toy embedder and a still clock."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import thinkback
from thinkback.memory import Memory
from thinkback.testing import FixedClock, ToyEmbedder


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with thinkback.open(
        tmp_path / "memory.db", embedder=ToyEmbedder(), reranker=None, clock=FixedClock("2026-05-08")
    ) as opened:
        yield opened
