"""Recollect gives an AI agent a memory it can search, and explains every score."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recollect.aio import AsyncMemory
    from recollect.embedders.base import Embedder
    from recollect.errors import InvalidInput, NotFound, RecollectError
    from recollect.memory import Memory, RecollectWarning
    from recollect.model import Edge, Hit, Record
    from recollect.opening import open
    from recollect.recipes import Recipe
    from recollect.trace import Recall

__version__ = "0.1.0"

# Loaded on first use: `import recollect` must cost next to nothing.
_HOMES = {
    "AsyncMemory": "recollect.aio",
    "Edge": "recollect.model",
    "Embedder": "recollect.embedders.base",
    "Hit": "recollect.model",
    "InvalidInput": "recollect.errors",
    "Memory": "recollect.memory",
    "NotFound": "recollect.errors",
    "Recall": "recollect.trace",
    "Recipe": "recollect.recipes",
    "RecollectError": "recollect.errors",
    "RecollectWarning": "recollect.memory",
    "Record": "recollect.model",
    "open": "recollect.opening",
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
    "RecollectError",
    "RecollectWarning",
    "Record",
    "open",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'recollect' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
