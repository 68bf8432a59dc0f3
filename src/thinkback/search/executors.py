"""The thread pool of a search, and its replacement inside a transaction."""

from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

from thinkback.errors import StoreError

P = ParamSpec("P")
T = TypeVar("T")


class Threads(ThreadPoolExecutor):
    """A thread pool that raises StoreError if another thread closed the memory during a search."""

    def submit(self, task: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        try:
            return super().submit(task, *args, **kwargs)
        except RuntimeError as error:
            raise StoreError("the memory was closed during the search", code="store_closed") from error


class Inline(Executor):
    """Runs tasks at once in the caller's thread: inside a transaction no other thread sees what was written."""

    def submit(self, task: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        try:
            done.set_result(task(*args, **kwargs))
        except Exception as error:  # noqa: BLE001  (the caller gets it with the result, as from any pool)
            done.set_exception(error)
        return done
