"""Small memories whose every score can be worked out by hand."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import thinkback
from thinkback.memory import Memory
from thinkback.model import Vector
from thinkback.testing import FixedClock, ToyEmbedder

START = "2026-05-08T12:00:00Z"


def direction(cosine: float) -> Vector:
    """A vector with this cosine to the query vector (1, 0)."""
    return np.array([cosine, np.sqrt(1 - cosine**2)], dtype=np.float32)


QUERY_VECTOR = direction(1.0)


@contextmanager
def memory(path: Any = ":memory:", **options: Any) -> Iterator[Memory]:
    options = {"embedder": None, "reranker": None, "clock": FixedClock(START), **options}
    with thinkback.open(path, **options) as opened:
        yield opened


def toy_memory(path: Any = ":memory:", **options: Any) -> Any:
    return memory(path, embedder=ToyEmbedder(), **options)
