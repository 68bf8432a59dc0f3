"""Spaces: one file each in a folder, opened on first use, the least used closed when there are too many."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from thinkback.apps.http.errors import Refused
from thinkback.apps.http.tokens import DEFAULT_SPACE, SPACE_NAME, check_space
from thinkback.errors import NotFound
from thinkback.memory import Memory

SUFFIX = ".db"
# What SQLite keeps beside a database.
_COMPANIONS = ("-wal", "-shm", "-journal")


@dataclass(slots=True, eq=False)
class _Open:
    """A space somebody may be using."""

    path: Path
    users: int = 0
    memory: Memory | None = None
    lock: Lock = field(default_factory=Lock)


class Spaces:
    """Leases memories by the name of their space; `default_file` is where the space `default` lives, if not in the folder."""

    def __init__(
        self, folder: Path, open: Callable[[Path], Memory], *, default_file: Path | None = None, keep: int = 64
    ) -> None:
        self._folder = folder
        self._open = open
        self._default_file = default_file
        self._keep = keep
        self._spaces: OrderedDict[str, _Open] = OrderedDict()
        self._lock = Lock()

    @contextmanager
    def lease(self, name: str, *, create: bool = False) -> Iterator[Memory]:
        """A space's memory, safe from being closed until it is given back."""
        path = self.path(name)
        if not path.exists() and not create and name != DEFAULT_SPACE:
            raise NotFound(f"there is no space {name!r}; the first memory written to it makes it")
        space = self._take(name, path)
        try:
            yield self._memory(space)
        finally:
            self._give_back(space)

    def path(self, name: str) -> Path:
        """The file of a space."""
        if check_space(name) == DEFAULT_SPACE and self._default_file is not None:
            return self._default_file
        return self._folder / f"{name}{SUFFIX}"

    def names(self) -> list[str]:
        """Every space there is."""
        found = {path.stem for path in self._folder.glob(f"*{SUFFIX}") if SPACE_NAME.fullmatch(path.stem)}
        if self._default_file is not None and self._default_file.exists():
            found.add(DEFAULT_SPACE)
        return sorted(found)

    def drop(self, name: str) -> None:
        """Forgets a space and everything in it: its file is removed."""
        path = self.path(name)
        with self._lock:
            if not path.exists():
                raise NotFound(f"there is no space {name!r}")
            space = self._spaces.get(name)
            if space is not None and space.users:
                raise Refused(409, "in_use", f"the space {name!r} is in use; try again", {"Retry-After": "1"})
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
        """Closes every file."""
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

    def _give_back(self, space: _Open) -> None:
        with self._lock:
            space.users -= 1
            too_many = max(0, len(self._spaces) - self._keep)
            idle = [name for name, other in self._spaces.items() if not other.users] if too_many else []
            surplus = [self._spaces.pop(name) for name in idle[:too_many]]
        for other in surplus:
            if other.memory is not None:
                other.memory.close()
