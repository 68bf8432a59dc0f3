"""A pool without threads."""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any


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
