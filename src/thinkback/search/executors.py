"""The threads of a search, and what takes their place inside a transaction."""

from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

from thinkback.errors import StoreError

P = ParamSpec("P")
T = TypeVar("T")


class Threads(ThreadPoolExecutor):
    """A search that is under way while another thread closes the memory is told so."""

    def submit(self, task: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """The task under way."""
        try:
            return super().submit(task, *args, **kwargs)
        except RuntimeError as error:
            raise StoreError("the memory was closed meanwhile; open it again") from error


class Inline(Executor):
    """Does at once, in the caller's thread, what it is given; inside a transaction no other thread sees what was written."""

    def submit(self, task: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """What the task came to."""
        done: Future[Any] = Future()
        try:
            done.set_result(task(*args, **kwargs))
        except Exception as error:  # noqa: BLE001  (the caller gets it with the result, as from any pool)
            done.set_exception(error)
        return done
