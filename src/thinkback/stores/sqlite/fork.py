"""A fork waits for threads that open or close a file: SQLite's own locks, held by one of them, would stay locked in the child."""

import os
import threading
import time

_LONGEST_WAIT_S = (
    5.0  # a slow disk may keep one inside, and one may wait for a lock on the file that the thread that forks holds
)
_LOOK_AGAIN_S = 0.0005


class _Gate:
    """Counts the threads inside; while one forks, no other enters. A thread may enter more than once.

    Plain locks: an interrupt could leave that of a condition taken, which is entered by a function in Python.
    """

    def __init__(self) -> None:
        self.begin_anew()

    def begin_anew(self) -> None:
        """Also in a child, where no other thread exists."""
        self._door, self._counting = threading.Lock(), threading.Lock()
        self._inside = 0
        self._own = threading.local()

    def __enter__(self) -> None:
        times = getattr(self._own, "times", 0)
        if not times:
            with self._door, self._counting:
                self._inside += 1
        self._own.times = times + 1

    def __exit__(self, *_: object) -> None:
        self._own.times -= 1
        if not self._own.times:
            with self._counting:
                self._inside -= 1

    def close(self) -> None:
        """Lets nobody in, and waits until nobody is inside; the door stays closed until `open`."""
        self._door.acquire()
        until = time.monotonic() + _LONGEST_WAIT_S
        while self._inside and time.monotonic() < until:
            time.sleep(_LOOK_AGAIN_S)

    def open(self) -> None:
        self._door.release()


gate = _Gate()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=gate.close, after_in_parent=gate.open, after_in_child=gate.begin_anew)
