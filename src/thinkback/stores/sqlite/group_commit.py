"""Group commit: short writes of several threads share one transaction, and so one wait for the disk.

A write that ends while other threads wait to write leaves its transaction open. The next one runs in it, inside a savepoint, so
that it can fail alone, and whoever is last commits. Each write returns once the commit that holds it is done; if that fails, they
all fail. A write that does not join, such as a transaction of several steps, commits what is open before it begins.
"""

import threading
from collections.abc import Callable
from copy import copy

from thinkback.errors import StoreError

MOST = 64  # writes in one commit: the first waits for the last
PAUSE_S = 0.05  # until a write looks itself whether its commit is due; only after an interrupt is that so


class Group:
    """Writes in one transaction; changed only by the thread that holds the connection's lock."""

    __slots__ = ("committing", "done", "error", "part", "size", "tasks")

    def __init__(self) -> None:
        self.size = 0  # writes that are done
        self.part: int | None = None  # the savepoint of the one that runs
        self.tasks: list[Callable[[], None]] = []  # run after the commit
        self.committing = False
        self.error: Exception | None = None
        self.done = threading.Event()

    def add(self, tasks: list[Callable[[], None]]) -> None:
        """The write that runs is done; move its tasks here."""
        self.tasks += tasks
        tasks.clear()
        self.part = None
        self.size += 1

    def end(self, error: Exception | None = None) -> None:
        """Let its writes return, or fail."""
        self.error = error
        self.done.set()

    def check(self) -> None:
        """Raise the error that its commit ended with; a new one, because several threads do."""
        if self.error is not None:
            raise copy(self.error) from self.error


def lost(path: str) -> StoreError:
    """The error of a write whose transaction was rolled back after another one in it failed."""
    return StoreError(
        f"{path} was not changed: a write of another thread in the same transaction failed", code="rolled_back"
    )


class Queue:
    """The threads that wait to join a transaction."""

    def __init__(self) -> None:
        self._tickets: set[object] = set()

    def __bool__(self) -> bool:
        return bool(self._tickets)

    def enter(self, ticket: object) -> None:
        self._tickets.add(ticket)

    def leave(self, ticket: object) -> None:
        self._tickets.discard(ticket)

    def clear(self) -> None:
        """Forget tickets that an interrupted thread left; one that waits only loses the chance to be waited for."""
        self._tickets.clear()
