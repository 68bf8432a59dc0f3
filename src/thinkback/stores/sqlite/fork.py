"""A fork waits for threads that open or close a file: SQLite's own locks, held by one of them, would stay locked in the child."""

import os
import threading
import time

_LONGEST_WAIT_S = 1.0  # a thread may wait for a lock on the file that the one who forks holds
_LOOK_AGAIN_S = 0.0005


class _Gate:
    """Counts the threads inside; while one forks, no other enters.

    A plain lock: an interrupt could leave that of a condition taken, which is entered by a function in Python.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1

    def close(self) -> None:
        """Waits until nobody is inside; the lock stays taken until `open`."""
        until = time.monotonic() + _LONGEST_WAIT_S
        self._lock.acquire()
        while self._inside and time.monotonic() < until:
            self._lock.release()
            time.sleep(_LOOK_AGAIN_S)
            self._lock.acquire()

    def open(self) -> None:
        self._lock.release()

    def begin_anew(self) -> None:
        """In a child, where no other thread exists."""
        self._lock = threading.Lock()
        self._inside = 0


gate = _Gate()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=gate.close, after_in_parent=gate.open, after_in_child=gate.begin_anew)
