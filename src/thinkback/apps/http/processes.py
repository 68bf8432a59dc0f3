"""Several worker processes behind one address: each is started again when it ends, and all stop together."""

import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess

from thinkback.apps.http.server import SHUTDOWN_SECONDS, Address, listen
from thinkback.errors import ThinkbackError

log = logging.getLogger("thinkback.http")

MOST_RESTARTS, WITHIN_SECONDS = 5, 60.0
_PAUSE_SECONDS = 0.5  # before a worker is started again, times the recent restarts
_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def listen_all(address: Address, count: int) -> list[socket.socket]:
    """A listening socket for each worker, so that the system spreads connections over them; elsewhere than on Linux one for all.

    This process keeps them open: connections that wait for a worker that ended wait for its successor.
    """
    first = listen(address)
    if sys.platform != "linux":
        return [first] * count
    bound = Address(address.host, first.getsockname()[1])
    first.close()
    return [listen(bound, shared=True) for _ in range(count)]


class Processes:
    """Worker processes; `target` is called in each with its listener and `given`, and must be importable."""

    def __init__(self, listeners: list[socket.socket], target: Callable[..., None], *given: object) -> None:
        self._listeners = listeners
        self._target = target
        self._given = given
        self._running: dict[int, SpawnProcess] = {}
        self._restarts: deque[float] = deque()

    def run(self, ended: Callable[[int], None] = lambda pid: None) -> int | None:
        """Serve until a signal to stop, which is returned; `ended` hears of every process that ended before."""
        with _signals() as (woken, caught):
            try:
                for number in range(len(self._listeners)):
                    self._start(number)
                while not caught:
                    wait([woken, *(process.sentinel for process in self._running.values())])
                    for number, process in list(self._running.items()):
                        if not process.is_alive() and not caught:
                            ended(process.pid or 0)
                            self._replace(number, process)
            finally:
                self._stop()
        return caught[0] if caught else None

    def _start(self, number: int) -> None:
        context = multiprocessing.get_context("spawn")
        process = context.Process(
            target=_work, args=(self._target, self._listeners[number], *self._given), name=f"worker-{number + 1}"
        )
        process.start()
        self._running[number] = process

    def _replace(self, number: int, process: SpawnProcess) -> None:
        """Start a worker again that ended, unless it happens too often."""
        now = time.monotonic()
        while self._restarts and self._restarts[0] < now - WITHIN_SECONDS:
            self._restarts.popleft()
        del self._running[number]
        if len(self._restarts) == MOST_RESTARTS:
            raise ThinkbackError(
                f"workers ended {MOST_RESTARTS + 1} times within {WITHIN_SECONDS:g} seconds, last with {_how(process)}; "
                "the log says why",
                code="workers_end",
            )
        time.sleep(_PAUSE_SECONDS * len(self._restarts))
        self._restarts.append(now)
        self._start(number)
        log.warning(
            "worker %d (process %s) ended with %s; started again as process %s",
            number + 1,
            process.pid,
            _how(process),
            self._running[number].pid,
        )

    def _stop(self) -> None:
        """Stop all workers, each after the requests it works on."""
        for process in self._running.values():
            process.terminate()
        until = time.monotonic() + SHUTDOWN_SECONDS + 5
        for number, process in self._running.items():
            process.join(max(0.0, until - time.monotonic()))
            if process.is_alive():
                log.error("worker %d (process %s) did not stop in time and was killed", number + 1, process.pid)
                process.kill()
                process.join()


def _how(process: SpawnProcess) -> str:
    code = process.exitcode or 0
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def _work(target: Callable[..., None], listener: socket.socket, *given: object) -> None:
    """In a worker: serve, and stop when the process that started it is gone."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=follow, name="thinkback-follow", daemon=True).start()
    try:
        target(listener, *given)
    except ThinkbackError as error:
        log.error("a worker cannot serve: %s", error)
        sys.exit(1)
    except KeyboardInterrupt:  # uvicorn has stopped in order and raises the signal again
        sys.exit(0)


@contextmanager
def _signals() -> Iterator[tuple[socket.socket, list[int]]]:
    """A socket that wakes a wait when a signal to stop comes, and the signals that came."""
    caught: list[int] = []
    with ExitStack() as stack:
        woken, wake = socket.socketpair()
        stack.callback(woken.close)
        stack.callback(wake.close)

        def note(number: int, _: object) -> None:
            caught.append(number)
            wake.send(b".")

        for number in _STOP_SIGNALS:
            stack.callback(signal.signal, number, signal.signal(number, note))
        yield woken, caught
