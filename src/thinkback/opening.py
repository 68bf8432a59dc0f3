"""Opening a memory: from a path and a few choices to the parts that work together."""

import logging
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from thinkback.clock import Clock, system_clock
from thinkback.lifecycle.embed import Embedding
from thinkback.memory import Memory
from thinkback.models.chat import Chat
from thinkback.models.embedders.base import Embedder
from thinkback.models.rerankers.base import Reranker
from thinkback.search.recipes.model import Recipe
from thinkback.settings import NONE, Settings, load, open_options
from thinkback.stores.sqlite import SqliteStore

if TYPE_CHECKING:
    from thinkback.models.weights.options import OpenOptions

T = TypeVar("T")
Options = Callable[[], "OpenOptions"]
log = logging.getLogger("thinkback")


def open(
    path: str | Path | None = None,
    *,
    embedder: str | Embedder | None = "default",
    reranker: str | Reranker | None = "default",
    recipe: str | Path | Recipe | None = None,
    models: "OpenOptions | None" = None,
    chat: Chat | None = None,
    clock: Clock = system_clock,
    read_only: bool = False,
    strict: bool = False,
) -> Memory:
    """Opens a memory file, made if absent: `thinkback.open("memory.db")`.

    `embedder` is a model's name, an object of your own, or None for keywords alone; nothing is loaded before its first use.
    What is left at its default is taken from the settings. `models` says where weights come from and how they run.
    `chat` is a language model for what a query leaves open (tags, loose times); none is needed. `strict` raises where a
    search would warn and go on.
    """
    settings = load()

    def options() -> "OpenOptions":
        return models or open_options(settings, announcer())

    store = SqliteStore(_usual_path(settings) if path is None else path, read_only=read_only)
    return Memory(
        store,
        embedding=Embedding(store, _embedder_opener(_chosen(embedder, settings.embedder), options)),
        reranker=_reranker_opener(_chosen(reranker, settings.reranker), options),
        recipe=settings.recipe if recipe is None else recipe,
        chat=chat or chat_of(settings),
        clock=clock,
        strict=strict,
        count_accesses=not read_only,
    )


def chat_of(settings: Settings) -> Chat | None:
    """The language model of the settings, for the optional fallbacks; most people have none and need none."""
    llm = settings.llm
    if not llm.base_url or not llm.model:
        return None
    from thinkback.models.chat import OpenAiChat

    return OpenAiChat(llm.base_url, llm.model, llm.key or None)


def _usual_path(settings: Settings) -> Path:
    path = settings.store_path
    if settings.store is None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def _chosen(given: str | T | None, setting: str) -> str | T | None:
    """What the call names, else what the settings name."""
    name = setting if isinstance(given, str) and given == "default" else given
    return None if isinstance(name, str) and name == NONE else name


def _embedder_opener(embedder: str | Embedder | None, options: Options) -> Callable[[], Embedder] | None:
    if embedder is None:
        return None
    if not isinstance(embedder, str):
        return lambda: embedder

    def open_by_name() -> Embedder:
        from thinkback.models.embedders import open_embedder

        return open_embedder(embedder, options())

    return open_by_name


def _reranker_opener(reranker: str | Reranker | None, options: Options) -> Callable[[str], Reranker] | None:
    """A recipe asks for its model by name; `default` there means the one chosen here."""
    if reranker is None:
        return None

    @cache
    def open_by_name(name: str) -> Reranker:
        if name == "default" and not isinstance(reranker, str):
            return reranker
        from thinkback.models.rerankers import open_reranker

        return open_reranker(str(reranker) if name == "default" else name, options())

    return open_by_name


def announcer() -> Callable[[int, int, str], None]:
    """Says once per file set that weights are being fetched, so that the first recall does not seem to hang."""
    announced: set[str] = set()

    def announce(done: int, total: int, label: str) -> None:
        if label not in announced:
            announced.add(label)
            log.warning("fetching %s (%.0f MB), once; it is used offline ever after", label, total / 1e6)

    return announce
