"""The environment of a search, and the notes it collects."""

import time
from collections.abc import Callable
from concurrent.futures import Executor
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING

from thinkback.errors import Notice, ThinkbackError
from thinkback.model import Timing, Vector
from thinkback.search.query.tags import Vocabulary
from thinkback.search.query.time import AnchorExtractor
from thinkback.stores.base import Store
from thinkback.values import dataclass

if TYPE_CHECKING:
    from thinkback.models.chat import Chat
    from thinkback.models.rerankers.base import Reranker


@dataclass(frozen=True, slots=True)
class Engine:
    """The store, the thread pool and the models of a search; `strict` raises where it would otherwise warn and go on."""

    store: Store
    pool: Executor
    vocabulary: Callable[[Store], Vocabulary]
    embed: Callable[[str, Store], Vector] | None = None
    fingerprint: Callable[[], str | None] = lambda: None
    reranker: "Callable[[str], Reranker] | None" = None
    chat: "Chat | None" = None
    extractor: AnchorExtractor | None = None
    zone: tzinfo = UTC
    strict: bool = False

    @property
    def embedder(self) -> str | None:
        """The fingerprint of the embedder; known once it is open, which the legs of the first search see to."""
        return self.fingerprint()


class Notes:
    """Warnings and timings of one search, in order."""

    def __init__(self, strict: bool) -> None:
        self.strict = strict
        self.warnings: list[Notice] = []
        self.timings: list[Timing] = []
        self._since = time.perf_counter_ns()

    def warn(self, what: str, error: ThinkbackError) -> None:
        """Record that an optional part failed; raise the error if the search is strict."""
        if self.strict:
            raise error
        self.warnings.append(error.notice(what))

    def note(self, warning: Notice) -> None:
        """Record a warning about the question itself, which is no failure and does not end a strict search."""
        self.warnings.append(warning)

    def lap(self, step: str) -> None:
        """Record the time since the last step ended."""
        now = time.perf_counter_ns()
        self.timings.append(Timing(step, (now - self._since) // 1000))
        self._since = now
