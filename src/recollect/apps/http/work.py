"""Blocking work in a bounded number of threads, with a deadline and a bounded queue."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from recollect.apps.http.refusals import Refused

T = TypeVar("T")


class Workers:
    """`threads` at work, at most `most_waiting` requests in line; more are told to come back."""

    def __init__(self, threads: int, most_waiting: int) -> None:
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="recollect-http")
        self._most = threads + most_waiting
        self._taken = 0

    async def run(self, work: Callable[[], T], seconds: float | None = None) -> T:
        """The result of work done in a thread; past the deadline its result is thrown away, or it is never begun."""
        if self._taken >= self._most:
            raise Refused(503, "busy", "too many requests are waiting; try again in a moment", {"Retry-After": "1"})
        self._taken += 1
        loop = asyncio.get_running_loop()
        future = self._pool.submit(work)
        future.add_done_callback(lambda _: None if loop.is_closed() else loop.call_soon_threadsafe(self._done))
        waited = asyncio.wrap_future(future)
        done, _ = await asyncio.wait({waited}, timeout=seconds)
        if done:
            return waited.result()
        waited.cancel()
        raise Refused(504, "deadline", f"no answer within {seconds:g} seconds; ask for less or try again")

    def close(self) -> None:
        """Lets running work finish."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    @property
    def taken(self) -> int:
        """How many requests are at work or in line."""
        return self._taken

    def _done(self) -> None:
        self._taken -= 1
