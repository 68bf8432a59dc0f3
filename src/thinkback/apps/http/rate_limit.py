"""How often a token may ask: a bucket that refills."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

MOST_BUCKETS = 10_000


@dataclass(slots=True)
class Bucket:
    """What is left, and since when."""

    left: float
    at: float


class Rates:
    """`per_second` requests on average, `burst` at once; a rate of 0 sets no limit. `clock` counts seconds."""

    def __init__(self, per_second: float, burst: float, clock: Callable[[], float]) -> None:
        self._per_second = per_second
        self._burst = max(burst, 1.0)
        self._clock = clock
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def wait(self, who: str) -> float:
        """Takes one request from somebody's bucket; returns 0, or the seconds until there is one."""
        if self._per_second <= 0:
            return 0.0
        now = self._clock()
        bucket = self._bucket(who, now)
        bucket.left = min(self._burst, bucket.left + (now - bucket.at) * self._per_second)
        bucket.at = now
        if bucket.left < 1.0:
            return (1.0 - bucket.left) / self._per_second
        bucket.left -= 1.0
        return 0.0

    def _bucket(self, who: str, now: float) -> Bucket:
        bucket = self._buckets.setdefault(who, Bucket(self._burst, now))
        self._buckets.move_to_end(who)
        if len(self._buckets) > MOST_BUCKETS:
            self._buckets.popitem(last=False)
        return bucket
