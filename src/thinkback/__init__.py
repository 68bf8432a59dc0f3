"""Thinkback gives an AI agent a memory it can search, and explains every score."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thinkback.aio import AsyncMemory
    from thinkback.errors import InvalidInput, NotFound, ThinkbackError, ThinkbackWarning
    from thinkback.memory import Memory
    from thinkback.model import Edge, Hit, Record
    from thinkback.models.embedders.base import Embedder
    from thinkback.opening import open
    from thinkback.search.recipes.model import Recipe
    from thinkback.search.trace import Recall

__version__ = "0.2.0"

# Loaded on first use: `import thinkback` must cost next to nothing.
_HOMES = {
    "AsyncMemory": "thinkback.aio",
    "Edge": "thinkback.model",
    "Embedder": "thinkback.models.embedders.base",
    "Hit": "thinkback.model",
    "InvalidInput": "thinkback.errors",
    "Memory": "thinkback.memory",
    "NotFound": "thinkback.errors",
    "Recall": "thinkback.search.trace",
    "Recipe": "thinkback.search.recipes.model",
    "ThinkbackError": "thinkback.errors",
    "ThinkbackWarning": "thinkback.errors",
    "Record": "thinkback.model",
    "open": "thinkback.opening",
}

__all__ = [
    "AsyncMemory",
    "Edge",
    "Embedder",
    "Hit",
    "InvalidInput",
    "Memory",
    "NotFound",
    "Recall",
    "Recipe",
    "Record",
    "ThinkbackError",
    "ThinkbackWarning",
    "open",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'thinkback' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
