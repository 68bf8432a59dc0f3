"""Spaces: one file each in a folder, opened on first use; the least recently used is closed when too many are open."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from thinkback.apps.http.errors import HttpError
from thinkback.apps.http.tokens import DEFAULT_SPACE, SPACE_NAME, check_space
from thinkback.errors import NotFound
from thinkback.memory import Memory

SUFFIX = ".db"
# The files SQLite keeps beside a database.
_COMPANIONS = ("-wal", "-shm", "-journal")


@dataclass(slots=True, eq=False)
class _Open:
    """An open space and how many requests use it."""

    path: Path
    users: int = 0
    memory: Memory | None = None
    lock: Lock = field(default_factory=Lock)


class Spaces:
    """The memories by space; `default_file` is the file of the space `default`, if it is not in the folder."""

    def __init__(
        self, folder: Path, open: Callable[[Path], Memory], *, default_file: Path | None = None, max_open: int = 64
    ) -> None:
        self._folder = folder
        self._open = open
        self._default_file = default_file
        self._max_open = max_open
        self._spaces: OrderedDict[str, _Open] = OrderedDict()
        self._lock = Lock()

    @contextmanager
    def lease(self, name: str, *, create: bool = False) -> Iterator[Memory]:
        """The memory of a space; it stays open for as long as the context."""
        path = self.path(name)
        if not path.exists() and not create and name != DEFAULT_SPACE:
            raise NotFound(f"there is no space {name!r}; storing a memory in it creates it", code="unknown_space")
        space = self._take(name, path)
        try:
            yield self._memory(space)
        finally:
            self._release(space)

    def path(self, name: str) -> Path:
        """The file of a space."""
        if check_space(name) == DEFAULT_SPACE and self._default_file is not None:
            return self._default_file
        return self._folder / f"{name}{SUFFIX}"

    def names(self) -> list[str]:
        """The names of all spaces."""
        found = {path.stem for path in self._folder.glob(f"*{SUFFIX}") if SPACE_NAME.fullmatch(path.stem)}
        if self._default_file is not None and self._default_file.exists():
            found.add(DEFAULT_SPACE)
        return sorted(found)

    def drop(self, name: str) -> None:
        """Remove a space and its file."""
        path = self.path(name)
        with self._lock:
            if not path.exists():
                raise NotFound(f"there is no space {name!r}", code="unknown_space")
            space = self._spaces.get(name)
            if space is not None and space.users:
                raise HttpError(409, "in_use", f"the space {name!r} is in use; retry", {"Retry-After": "1"})
            self._spaces.pop(name, None)
            if space is not None and space.memory is not None:
                space.memory.close()
            for file in (path, *(path.with_name(path.name + companion) for companion in _COMPANIONS)):
                file.unlink(missing_ok=True)

    @property
    def open_count(self) -> int:
        """How many files are open."""
        return len(self._spaces)

    def close(self) -> None:
        """Close every file."""
        with self._lock:
            spaces, self._spaces = self._spaces, OrderedDict()
        for space in spaces.values():
            if space.memory is not None:
                space.memory.close()

    def _take(self, name: str, path: Path) -> _Open:
        with self._lock:
            space = self._spaces.setdefault(name, _Open(path))
            self._spaces.move_to_end(name)
            space.users += 1
            return space

    def _memory(self, space: _Open) -> Memory:
        with space.lock:
            if space.memory is None:
                space.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                space.memory = self._open(space.path)
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
