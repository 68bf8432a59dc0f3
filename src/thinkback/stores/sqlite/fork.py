"""A fork waits for threads that open or close a file: SQLite's own locks, held by one of them, would stay locked in the child."""

import os
import threading
import time

_LONGEST_WAIT_S = 1.0  # a thread may wait for a lock on the file that the one who forks holds


class _Gate:
    """Counts the threads inside; while one forks, no other enters."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._inside = 0

    def __enter__(self) -> None:
        with self._condition:
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._condition:
            self._inside -= 1
            self._condition.notify_all()

    def close(self) -> None:
        """Waits until nobody is inside; the lock stays taken until `open`."""
        self._condition.acquire()
        until = time.monotonic() + _LONGEST_WAIT_S
        while self._inside and (left := until - time.monotonic()) > 0:
            self._condition.wait(left)

    def open(self) -> None:
        self._condition.release()

    def begin_anew(self) -> None:
        """In a child, where no other thread exists."""
        self._condition = threading.Condition()
        self._inside = 0


gate = _Gate()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=gate.close, after_in_parent=gate.open, after_in_child=gate.begin_anew)
