"""Blocking work in a bounded number of threads, with a bounded queue, deadlines, and fair shares."""

import asyncio
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import field
from threading import Lock
from typing import Any, TypeVar

from thinkback.apps.http.errors import HttpError
from thinkback.apps.http.tokens import Grant
from thinkback.values import dataclass

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    """Work to do, and the clients it counts for."""

    work: Callable[[], Any]
    clients: tuple[str, ...]
    future: "Future[Any]" = field(default_factory=Future)


class Workers:
    """`threads` threads and a queue of at most `max_queued` requests; further ones are answered with 503.

    One client may use at most half of the threads and of the queue, so that a busy client delays only itself.
    """

    def __init__(self, threads: int, max_queued: int) -> None:
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="thinkback-http")
        self._threads = threads
        self._max_pending = threads + max_queued
        self._lock = Lock()
        self._closed = False
        self._queue: list[_Job] = []
        self._running = 0
        self._running_by: Counter[str] = Counter()
        self._pending_by: Counter[str] = Counter()

    async def run(self, work: Callable[[], T], seconds: float | None = None, clients: tuple[str, ...] = ()) -> T:
        """Run work in a thread; past the deadline its result is discarded, or it is never started."""
        job = _Job(work, clients)
        self._enter(job)
        waited = asyncio.wrap_future(job.future)
        try:
            done, _ = await asyncio.wait({waited}, timeout=seconds)
        finally:
            waited.cancel()
            self._leave(job)
        if not done:
            raise HttpError(504, "deadline", f"no answer within {seconds:g} seconds; narrow the search or retry")
        if waited.cancelled():
            raise stopping()
        result: T = waited.result()
        return result

    def close(self) -> None:
        """Let running work finish and drop the queue."""
        with self._lock:
            self._closed = True
            queued = list(self._queue)
        for job in queued:
            self._leave(job)
        self._pool.shutdown(wait=True)

    @property
    def pending(self) -> int:
        """How many requests run or wait."""
        return self._running + len(self._queue)

    def _enter(self, job: _Job) -> None:
        with self._lock:
            if self._closed:
                raise stopping()
            if self.pending >= self._max_pending:
                raise _busy("busy", "too many requests are waiting; retry in a moment")
            if any(self._pending_by[name] >= _half(self._max_pending) for name in job.clients):
                raise _busy("client_busy", "too many of your requests are waiting; retry in a moment")
            self._pending_by.update(job.clients)
            self._queue.append(job)
            self._start()

    def _leave(self, job: _Job) -> None:
        """Take a job out of the queue; one that runs is left to its thread."""
        with self._lock:
            if job in self._queue:
                self._queue.remove(job)
                _subtract(self._pending_by, job.clients)
        job.future.cancel()

    def _start(self) -> None:
        """Start the jobs that may start, in the order of the queue; the lock is held."""
        for job in list(self._queue):
            if self._running == self._threads:
                return
            if all(self._running_by[name] < _half(self._threads) for name in job.clients):
                self._queue.remove(job)
                self._running += 1
                self._running_by.update(job.clients)
                self._pool.submit(self._work, job)

    def _work(self, job: _Job) -> None:
        if not job.future.set_running_or_notify_cancel():
            self._finish(job)
            return
        try:
            result = job.work()
        except BaseException as error:  # noqa: BLE001 - raised again where the result is awaited
            self._finish(job)
            job.future.set_exception(error)
        else:
            self._finish(job)
            job.future.set_result(result)

    def _finish(self, job: _Job) -> None:
        """Free the place; called before the result is set, so that the place is free once the caller has it."""
        with self._lock:
            self._running -= 1
            _subtract(self._running_by, job.clients)
            _subtract(self._pending_by, job.clients)
            if not self._closed:
                self._start()


def clients_of(grant: Grant, space: str | None) -> tuple[str, ...]:
    """A token and its space each count as a client: neither may use more than half."""
    return (f"token {grant.name}",) if space is None else (f"token {grant.name}", f"space {space}")


def stopping() -> HttpError:
    """The answer when the server stops before the work is done."""
    return HttpError(503, "stopping", "the server is stopping", {"Retry-After": "5"})


def _busy(code: str, message: str) -> HttpError:
    return HttpError(503, code, message, {"Retry-After": "1"})


def _half(number: int) -> int:
    return max(1, number // 2)


def _subtract(counts: Counter[str], names: tuple[str, ...]) -> None:
    """Subtract one from each name; names with nothing left are removed."""
    counts.subtract(names)
    for name in names:
        if not counts[name]:
            del counts[name]
