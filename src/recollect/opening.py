"""Opening a memory: from a path and a few choices to the parts that work together."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

from recollect.clock import Clock, system_clock
from recollect.embedders.base import Embedder
from recollect.embedding import Embedding
from recollect.memory import Memory
from recollect.recipes import Recipe
from recollect.rerankers.base import Reranker
from recollect.settings import default_store, fetch_options
from recollect.stores.sqlite import SqliteStore


def open(
    path: str | Path | None = None,
    *,
    embedder: str | Embedder | None = "default",
    reranker: str | Reranker | None = "default",
    recipe: str | Path | Recipe = "default",
    clock: Clock = system_clock,
    read_only: bool = False,
    strict: bool = False,
) -> Memory:
    """Opens a memory file, made if absent: `recollect.open("memory.db")`.

    `embedder` is a model's name, an object of your own, or None for keywords alone; nothing is loaded before its first use.
    """
    store = SqliteStore(default_store() if path is None else path, read_only=read_only)
    return Memory(
        store,
        embedding=Embedding(store, _embedder_opener(embedder)),
        reranker=_reranker_opener(reranker),
        recipe=recipe,
        clock=clock,
        strict=strict,
        count_accesses=not read_only,
    )


def _embedder_opener(embedder: str | Embedder | None) -> Callable[[], Embedder] | None:
    if embedder is None:
        return None
    if not isinstance(embedder, str):
        return lambda: embedder

    def open_by_name() -> Embedder:
        from recollect.embedders import open_embedder

        return open_embedder(embedder, fetch_options())

    return open_by_name


def _reranker_opener(reranker: str | Reranker | None) -> Callable[[str], Reranker] | None:
    """A recipe asks for its model by name; `default` there means the one chosen here."""
    if reranker is None:
        return None

    @cache
    def open_by_name(name: str) -> Reranker:
        if name == "default" and not isinstance(reranker, str):
            return reranker
        from recollect.rerankers import open_reranker

        return open_reranker(str(reranker) if name == "default" else name, fetch_options())

    return open_by_name
