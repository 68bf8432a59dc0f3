"""Opening a memory: from a path and a few choices to the parts that work together."""

import logging
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.clock import Clock, system_clock
from recollect.embedders.base import Embedder
from recollect.embedding import Embedding
from recollect.memory import Memory
from recollect.recipes import Recipe
from recollect.rerankers.base import Reranker
from recollect.settings import default_store, fetch_options
from recollect.stores.sqlite import SqliteStore

if TYPE_CHECKING:
    from recollect.models.options import OpenOptions

log = logging.getLogger("recollect")


def open(
    path: str | Path | None = None,
    *,
    embedder: str | Embedder | None = "default",
    reranker: str | Reranker | None = "default",
    recipe: str | Path | Recipe = "default",
    models: "OpenOptions | None" = None,
    clock: Clock = system_clock,
    read_only: bool = False,
    strict: bool = False,
) -> Memory:
    """Opens a memory file, made if absent: `recollect.open("memory.db")`.

    `embedder` is a model's name, an object of your own, or None for keywords alone; nothing is loaded before its first use.
    `models` says where weights come from and how they run. `strict` raises where a search would warn and go on.
    """
    store = SqliteStore(default_store() if path is None else path, read_only=read_only)
    return Memory(
        store,
        embedding=Embedding(store, _embedder_opener(embedder, models)),
        reranker=_reranker_opener(reranker, models),
        recipe=recipe,
        clock=clock,
        strict=strict,
        count_accesses=not read_only,
    )


def _embedder_opener(embedder: str | Embedder | None, models: "OpenOptions | None") -> Callable[[], Embedder] | None:
    if embedder is None:
        return None
    if not isinstance(embedder, str):
        return lambda: embedder

    def open_by_name() -> Embedder:
        from recollect.embedders import open_embedder

        return open_embedder(embedder, models or _usual_options())

    return open_by_name


def _reranker_opener(
    reranker: str | Reranker | None, models: "OpenOptions | None"
) -> Callable[[str], Reranker] | None:
    """A recipe asks for its model by name; `default` there means the one chosen here."""
    if reranker is None:
        return None

    @cache
    def open_by_name(name: str) -> Reranker:
        if name == "default" and not isinstance(reranker, str):
            return reranker
        from recollect.rerankers import open_reranker

        return open_reranker(str(reranker) if name == "default" else name, models or _usual_options())

    return open_by_name


def _usual_options() -> "OpenOptions":
    from recollect.models.options import OpenOptions

    return OpenOptions(fetch=fetch_options(), progress=_announcer())


def _announcer() -> Callable[[int, int, str], None]:
    """Says once per file set that weights are being fetched, so that the first recall does not seem to hang."""
    announced: set[str] = set()

    def announce(done: int, total: int, label: str) -> None:
        if label not in announced:
            announced.add(label)
            log.warning("fetching %s (%.0f MB), once; it is used offline ever after", label, total / 1e6)

    return announce
