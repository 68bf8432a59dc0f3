"""AsyncMemory: the same methods, each in a thread; SQLite and the models release the interpreter while they work."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from thinkback.memory import Memory
from thinkback.search.trace import Hits, Recall, WhyNot
from thinkback.values import dataclass

P = ParamSpec("P")
T = TypeVar("T")


def _in_thread(
    verb: Callable[Concatenate[Memory, P], T],
) -> Callable[Concatenate["AsyncMemory", P], Coroutine[Any, Any, T]]:
    async def call(self: "AsyncMemory", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.to_thread(verb, self.memory, *args, **kwargs)

    call.__doc__ = verb.__doc__
    return call


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class AsyncRecall(Hits):
    """The answer to a recall; `await recall.why_not(id)` reads the store in a thread."""

    recall: Recall

    async def why_not(self, id: str) -> WhyNot:
        """Why a memory is absent, or at which rank it is present."""
        return await asyncio.to_thread(self.recall.why_not, id)


def _recall_in_thread(
    verb: Callable[Concatenate[Memory, P], Recall],
) -> Callable[Concatenate["AsyncMemory", P], Coroutine[Any, Any, AsyncRecall]]:
    async def call(self: "AsyncMemory", /, *args: P.args, **kwargs: P.kwargs) -> AsyncRecall:
        found = await asyncio.to_thread(verb, self.memory, *args, **kwargs)
        return AsyncRecall(found.hits, found.trace, found.warnings, recall=found)

    call.__doc__ = verb.__doc__
    return call


def _recalls_in_thread(
    verb: Callable[Concatenate[Memory, P], Sequence[Recall]],
) -> Callable[Concatenate["AsyncMemory", P], Coroutine[Any, Any, Sequence[AsyncRecall]]]:
    async def call(self: "AsyncMemory", /, *args: P.args, **kwargs: P.kwargs) -> Sequence[AsyncRecall]:
        found = await asyncio.to_thread(verb, self.memory, *args, **kwargs)
        return [AsyncRecall(one.hits, one.trace, one.warnings, recall=one) for one in found]

    call.__doc__ = verb.__doc__
    return call


class AsyncMemory:
    """`async with AsyncMemory(thinkback.open("memory.db")) as memory: await memory.recall("…")`."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    remember = _in_thread(Memory.remember)
    remember_many = _in_thread(Memory.remember_many)
    add = remember
    upsert = _in_thread(Memory.upsert)
    update = _in_thread(Memory.update)
    forget = _in_thread(Memory.forget)
    link = _in_thread(Memory.link)
    unlink = _in_thread(Memory.unlink)
    recall = _recall_in_thread(Memory.recall)
    search = recall
    recall_many = _recalls_in_thread(Memory.recall_many)
    gather = _in_thread(Memory.gather)
    search_keywords = _recall_in_thread(Memory.search_keywords)
    get = _in_thread(Memory.get)
    get_many = _in_thread(Memory.get_many)
    whole_ids = _in_thread(Memory.whole_ids)
    list = _in_thread(Memory.list)
    count = _in_thread(Memory.count)
    history = _in_thread(Memory.history)
    neighbours = _in_thread(Memory.neighbours)
    links = _in_thread(Memory.links)
    tags = _in_thread(Memory.tags)
    state = _in_thread(Memory.state)
    stats = _in_thread(Memory.stats)
    judge = _in_thread(Memory.judge)
    judgements = _in_thread(Memory.judgements)
    unjudge = _in_thread(Memory.unjudge)
    journal = _in_thread(Memory.journal)
    import_values = _in_thread(Memory.import_values)
    embed_missing = _in_thread(Memory.embed_missing)
    reembed = _in_thread(Memory.reembed)
    reindex = _in_thread(Memory.reindex)
    forget_verified = _in_thread(Memory.forget_verified)
    tombstones = _in_thread(Memory.tombstones)
    revoke_tombstones = _in_thread(Memory.revoke_tombstones)
    buried = _in_thread(Memory.buried)
    unburied = _in_thread(Memory.unburied)
    contest = _in_thread(Memory.contest)
    search_reflections_only = _recall_in_thread(Memory.search_reflections_only)
    reflect = _in_thread(Memory.reflect)
    tidy = _in_thread(Memory.tidy)
    undo = _in_thread(Memory.undo)
    archive = _in_thread(Memory.archive)
    restore = _in_thread(Memory.restore)
    audit = _in_thread(Memory.audit)
    redact = _in_thread(Memory.redact)
    check = _in_thread(Memory.check)
    repair = _in_thread(Memory.repair)
    backup = _in_thread(Memory.backup)
    flush = _in_thread(Memory.flush)
    close = _in_thread(Memory.close)
