"""Blocking work in a bounded number of threads, shared fairly, with a deadline and a bounded line."""

import asyncio
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, TypeVar

from thinkback.apps.http.errors import Refused
from thinkback.apps.http.tokens import Grant

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    """Work to do, and who it is for."""

    work: Callable[[], Any]
    whose: tuple[str, ...]
    future: "Future[Any]" = field(default_factory=Future)


class Workers:
    """`threads` at work, at most `most_waiting` requests in line; more are told to come back.

    Nobody gets more than half of the threads, nor more than half of the line: who asks for a great deal waits for himself,
    and the others are served.
    """

    def __init__(self, threads: int, most_waiting: int) -> None:
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="thinkback-http")
        self._threads = threads
        self._most = threads + most_waiting
        self._lock = Lock()
        self._closed = False
        self._line: list[_Job] = []
        self._at_work = 0
        self._working: Counter[str] = Counter()
        self._taking: Counter[str] = Counter()  # at work or in line

    async def run(self, work: Callable[[], T], seconds: float | None = None, whose: tuple[str, ...] = ()) -> T:
        """The result of work done in a thread; past the deadline its result is thrown away, or it is never begun."""
        job = _Job(work, whose)
        self._enter(job)
        waited = asyncio.wrap_future(job.future)
        try:
            done, _ = await asyncio.wait({waited}, timeout=seconds)
        finally:
            waited.cancel()
            self._leave(job)
        if not done:
            raise Refused(504, "deadline", f"no answer within {seconds:g} seconds; ask for less or try again")
        if waited.cancelled():
            raise stopping()
        result: T = waited.result()
        return result

    def close(self) -> None:
        """Lets running work finish; what is in line is never begun."""
        with self._lock:
            self._closed = True
            line = list(self._line)
        for job in line:
            self._leave(job)
        self._pool.shutdown(wait=True)

    @property
    def taken(self) -> int:
        """How many requests are at work or in line."""
        return self._at_work + len(self._line)

    def _enter(self, job: _Job) -> None:
        with self._lock:
            if self._closed:
                raise stopping()
            if self.taken >= self._most:
                raise _busy("too many requests are waiting; try again in a moment")
            if any(self._taking[name] >= _half(self._most) for name in job.whose):
                raise _busy("too many of your requests are waiting; try again in a moment")
            self._taking.update(job.whose)
            self._line.append(job)
            self._begin()

    def _leave(self, job: _Job) -> None:
        """Takes a job out of the line if it has not begun; one that has is left to its thread."""
        with self._lock:
            if job in self._line:
                self._line.remove(job)
                _subtract(self._taking, job.whose)
        job.future.cancel()

    def _begin(self) -> None:
        """Begins whatever may begin, in the order of the line; the lock is held."""
        for job in list(self._line):
            if self._at_work == self._threads:
                return
            if all(self._working[name] < _half(self._threads) for name in job.whose):
                self._line.remove(job)
                self._at_work += 1
                self._working.update(job.whose)
                self._pool.submit(self._do, job)

    def _do(self, job: _Job) -> None:
        if not job.future.set_running_or_notify_cancel():
            self._end(job)
            return
        try:
            result = job.work()
        except BaseException as error:  # noqa: BLE001 - it is raised again where the result is awaited
            self._end(job)
            job.future.set_exception(error)
        else:
            self._end(job)
            job.future.set_result(result)

    def _end(self, job: _Job) -> None:
        """Before the result is told, so that whoever hears it finds the place free."""
        with self._lock:
            self._at_work -= 1
            _subtract(self._working, job.whose)
            _subtract(self._taking, job.whose)
            if not self._closed:
                self._begin()


def whose(grant: Grant, space: str | None) -> tuple[str, ...]:
    """A token and a space: neither many tokens of one space nor one token of many spaces gets more than its half."""
    return (f"token {grant.name}",) if space is None else (f"token {grant.name}", f"space {space}")


def stopping() -> Refused:
    """What is answered when the server goes down before the work is done."""
    return Refused(503, "stopping", "the server is stopping", {"Retry-After": "5"})


def _busy(message: str) -> Refused:
    return Refused(503, "busy", message, {"Retry-After": "1"})


def _half(number: int) -> int:
    return max(1, number // 2)


def _subtract(counts: Counter[str], names: tuple[str, ...]) -> None:
    """One less of each name; who is left with nothing is not remembered."""
    counts.subtract(names)
    for name in names:
        if not counts[name]:
            del counts[name]
