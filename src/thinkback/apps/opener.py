"""Opening memories for a server: many files, one set of models."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, Protocol, TypeVar

from thinkback.clock import Clock, system_clock
from thinkback.lifecycle.embed import Embedding
from thinkback.memory import Memory
from thinkback.models.embedders.base import Embedder
from thinkback.models.rerankers.base import Reranker
from thinkback.opening import announcer, chat_of
from thinkback.search.trace import Recall
from thinkback.settings import NONE, Settings, open_options
from thinkback.stores.sqlite import SqliteStore

T = TypeVar("T")


class Watcher(Protocol):
    """Is told of every search."""

    def searched(self, found: Recall) -> None: ...


class WatchedMemory(Memory):
    """A memory whose searches are seen by watchers, whoever asks."""

    watchers: tuple[Watcher, ...] = ()

    def recall(self, text: str, **asked: Any) -> Recall:
        """Searches, and tells the watchers."""
        found = super().recall(text, **asked)
        for watcher in self.watchers:
            watcher.searched(found)
        return found


class Opener:
    """Opens memory files; the models are loaded on first use, once, whatever the number of files."""

    def __init__(self, settings: Settings, *, embedder: Embedder | None = None, clock: Clock = system_clock) -> None:
        self._settings = settings
        self._clock = clock
        self._chat = chat_of(settings)
        self._watchers: tuple[Watcher, ...] = ()
        self._embedder: Callable[[], Embedder] | None = once(self._open_embedder)
        if embedder is not None:
            self._embedder = lambda: embedder
        elif settings.embedder == NONE:
            self._embedder = None
        self._reranker = None if settings.reranker == NONE else locked(cache(self._open_reranker))

    def watch(self, watcher: Watcher) -> None:
        """Tells somebody of every search in memories opened from now on."""
        self._watchers = (*self._watchers, watcher)

    def __call__(self, path: Path, *, read_only: bool = False) -> Memory:
        """The memory in a file, made if absent."""
        store = SqliteStore(path, read_only=read_only)
        memory = WatchedMemory(
            store,
            embedding=Embedding(store, self._embedder),
            reranker=self._reranker,
            recipe=self._settings.recipe,
            chat=self._chat,
            clock=self._clock,
            count_accesses=not read_only,
        )
        memory.watchers = self._watchers
        return memory

    def _open_embedder(self) -> Embedder:
        from thinkback.models.embedders import open_embedder

        return open_embedder(self._settings.embedder, open_options(self._settings, announcer()))

    def _open_reranker(self, name: str) -> Reranker:
        from thinkback.models.rerankers import open_reranker

        return open_reranker(
            self._settings.reranker if name == "default" else name, open_options(self._settings, announcer())
        )


def once(make: Callable[[], T]) -> Callable[[], T]:
    """The same value for every caller; a failed attempt is made again by the next one."""
    cached = cache(make)
    lock = Lock()

    def get() -> T:
        with lock:
            return cached()

    return get


def locked(make: Callable[[str], T]) -> Callable[[str], T]:
    """One caller at a time, so that two requests never load the same model twice."""
    lock = Lock()

    def get(name: str) -> T:
        with lock:
            return make(name)

    return get
