"""Limits on how often something may be asked for."""

import math
from collections import OrderedDict
from collections.abc import Callable

from thinkback.apps.http.errors import HttpError

MAX_BUCKETS = 10_000


class RateLimiter:
    """A token bucket for each name: `per_second` requests on average, `burst` at once; a rate of 0 sets no limit."""

    def __init__(self, per_second: float, burst: float, clock: Callable[[], float]) -> None:
        self._per_second = per_second
        self._burst = max(burst, 1.0)
        self.clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = (
            OrderedDict()
        )  # requests left, and when they were counted

    def wait(self, name: str) -> float:
        """Take one request from a bucket; returns 0, or the seconds until there is one."""
        if self._per_second <= 0:
            return 0.0
        now = self.clock()
        left, counted = self._buckets.pop(name, (self._burst, now))
        left = min(self._burst, left + (now - counted) * self._per_second)
        allowed = left >= 1.0
        self._buckets[name] = (left - 1.0 if allowed else left, now)
        if len(self._buckets) > MAX_BUCKETS:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1.0 - left) / self._per_second


def too_many(what: str, seconds: float) -> HttpError:
    """The answer to one request too many, with the time to wait."""
    after = str(max(1, math.ceil(seconds)))
    return HttpError(429, "rate", f"{what}; retry in {after} s", {"Retry-After": after})
