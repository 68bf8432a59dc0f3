"""Open spaces: each is opened on first use, and the least recently used is closed when too many are open."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import field
from threading import Lock
from typing import Any, Protocol, runtime_checkable

from thinkback.apps.http.errors import HttpError
from thinkback.apps.http.responses import PoolShape
from thinkback.errors import NotFound
from thinkback.memory import Memory
from thinkback.stores.base import DEFAULT_SPACE, Store, check_space, unknown_space
from thinkback.stores.base import Spaces as Place
from thinkback.values import dataclass


@runtime_checkable
class Pooled(Protocol):
    """A place that reaches its spaces through a pool of connections."""

    def facts(self) -> Mapping[str, Any]: ...


def pool_of(place: object) -> PoolShape | None:
    """How the connections of a place are used; None for one without."""
    if not isinstance(place, Pooled):
        return None
    facts = place.facts()
    return PoolShape(
        size=facts["pool_size"],
        max=facts["pool_max"],
        available=facts["pool_available"],
        waiting=facts["pool_waiting"],
    )


@dataclass(slots=True, eq=False)
class _Open:
    """An open space and how many requests use it."""

    name: str
    dropped: int  # how often a space of this name was dropped before
    users: int = 0
    memory: Memory | None = None
    lock: Lock = field(default_factory=Lock)


class Use(Protocol):
    """Knows which spaces other worker processes use."""

    def use(self, name: str) -> AbstractContextManager[int]: ...
    def drop(self, name: str) -> AbstractContextManager[bool]: ...


class UseHere:
    """For a server of one process, which counts the users of each space itself."""

    def use(self, name: str) -> AbstractContextManager[int]:
        """Nobody else drops a space."""
        return nullcontext(0)

    def drop(self, name: str) -> AbstractContextManager[bool]:
        """Nobody else uses a space."""
        return nullcontext(True)


class Spaces:
    """The memories by space; `place` is where they are kept, `open` makes a memory of a store."""

    def __init__(
        self, place: Place, open: Callable[[Store], Memory], *, max_open: int = 64, shared: Use | None = None
    ) -> None:
        self.place = place
        self._shared = shared or UseHere()
        self._open = open
        self._max_open = max_open
        self._spaces: OrderedDict[str, _Open] = OrderedDict()
        self._lock = Lock()

    @contextmanager
    def lease(self, name: str, *, create: bool = False) -> Iterator[Memory]:
        """The memory of a space; it stays open for as long as the context."""
        with self._shared.use(check_space(name)) as dropped:
            self._close_dropped(name, dropped)
            known = name in self._spaces or create or name == DEFAULT_SPACE
            if not known and not self.place.exists(name):
                raise NotFound(f"there is no space {name!r}; storing a memory in it creates it", code="unknown_space")
            space = self._take(name, dropped)
            try:
                yield self._memory(space)
            finally:
                self._release(space)

    def names(self) -> list[str]:
        """The names of all spaces."""
        return self.place.names()

    def drop(self, name: str) -> None:
        """Remove a space and everything in it."""
        with self._lock, self._shared.drop(check_space(name)) as unused:
            if not self.place.exists(name):
                raise unknown_space(name)
            space = self._spaces.get(name)
            if not unused or (space is not None and space.users):
                raise HttpError(409, "in_use", f"the space {name!r} is in use; retry", {"Retry-After": "1"})
            self._spaces.pop(name, None)
            if space is not None and space.memory is not None:
                space.memory.close()
            self.place.drop(name)

    @property
    def open_count(self) -> int:
        """How many spaces are open."""
        return len(self._spaces)

    def close(self) -> None:
        """Close every space, and the place they are kept in."""
        with self._lock:
            spaces, self._spaces = self._spaces, OrderedDict()
        for space in spaces.values():
            if space.memory is not None:
                space.memory.close()
        self.place.close()

    def _close_dropped(self, name: str, dropped: int) -> None:
        """Close a space that another worker dropped since it was opened here; nobody can be using it."""
        with self._lock:
            space = self._spaces.get(name)
            if space is None or space.dropped == dropped:
                return
            del self._spaces[name]
        if space.memory is not None:
            space.memory.close()

    def _take(self, name: str, dropped: int) -> _Open:
        with self._lock:
            space = self._spaces.setdefault(name, _Open(name, dropped))
            self._spaces.move_to_end(name)
            space.users += 1
            return space

    def _memory(self, space: _Open) -> Memory:
        with space.lock:
            if space.memory is None:
                space.memory = self._open(self.place.open(space.name))
            return space.memory

    def _release(self, space: _Open) -> None:
        with self._lock:
            space.users -= 1
            too_many = max(0, len(self._spaces) - self._max_open)
            unused = [name for name, other in self._spaces.items() if not other.users] if too_many else []
            idle = [self._spaces.pop(name) for name in unused[:too_many]]
        for other in idle:
            if other.memory is not None:
                other.memory.close()
