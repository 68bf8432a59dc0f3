"""Access counts on their way to the store: a search only adds to this log, a background thread writes it.

The log is written soon after a recall that extends an expiry, when it grows long or old, and together with the next write. If a
write fails, its entries stay in the log for the next attempt.
"""

from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Lock

from thinkback.clock import SECOND, Clock
from thinkback.lifecycle.tiers import extended_expiry, touch
from thinkback.model import Access, StoredRecord
from thinkback.stores.base import Store

MAX_PENDING = 4096  # recalled memories before the log is written: one that is recalled often is written once
MAX_AGE = (
    10 * SECOND
)  # of the oldest recall before the log is written; an expiry extended by less does not force a write
MAX_KEPT = 10_000  # memories kept while the store cannot be written
_WAIT_S = 1.0


class Batch:
    """Recalls that are written together."""

    def __init__(self) -> None:
        self.accesses: dict[str, Access] = {}
        self.total = 0
        self.since: int | None = None  # time of the oldest recall
        self.due: int | None = None  # the earliest expiry that one of them extends
        self.sliding: set[str] = set()  # those whose expiry follows their recalls

    def add(self, id: str, access: Access, since: int, due: int | None, slides: bool = True) -> None:
        """Add recalls of one memory."""
        known = self.accesses.get(id)
        self.accesses[id] = (
            access if known is None else Access(known.count + access.count, max(known.last, access.last))
        )
        self.total += access.count
        if slides:
            self.sliding.add(id)
        self.since = since if self.since is None else min(self.since, since)
        if due is not None:
            self.due = due if self.due is None else min(self.due, due)

    def take_back(self, failed: "Batch") -> None:
        """Add a batch that could not be written; if it is too large, only its latest recalls."""
        room = max(0, MAX_KEPT - len(self.accesses))
        latest = sorted(failed.accesses.items(), key=lambda item: item[1].last, reverse=True)
        for id, access in latest[:room]:
            since = access.last if failed.since is None else failed.since
            self.add(id, access, since, failed.due, id in failed.sliding)


class AccessLog:
    """The recalls of one open memory that are not in its store yet."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._lock = Lock()
        self._batches = [Batch()]  # the last one is being filled, the others are being written
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="thinkback-access-log")
        self._queued: Future[None] | None = None
        self._closed = False

    def count(self, records: Iterable[StoredRecord]) -> None:
        """Count these memories as recalled now; does nothing after `close`."""
        now = self._clock()
        gained = 0
        with self._lock:
            if self._closed:
                return
            batch, access = self._batches[-1], Access(1, now)
            for record in records:
                end = extended_expiry(record, now) if record.slides else None
                due = None if end is None else record.expires_at
                batch.add(record.id, access, now, due, record.slides)
                if end is not None and due is not None:
                    gained = max(gained, end - due)
            waited = 0 if batch.since is None else now - batch.since
            urgent = batch.total >= MAX_PENDING or max(waited, gained) >= MAX_AGE
        if urgent:
            self._write_soon()

    def settle(self, now: int) -> None:
        """Before a read: write pending recalls of memories that would otherwise look expired by now.

        Waits at most a second, and only when the background write is late.
        """
        with self._lock:
            late = any(batch.due is not None and batch.due <= now for batch in self._batches)
        if late and (writing := self._write_soon()) is not None:
            wait([writing], _WAIT_S)

    def flush(self) -> None:
        """Write the log, after any write in progress."""
        if not any(batch.accesses for batch in self._batches):
            return
        batch, written = Batch(), False
        try:
            # The batch is taken inside the transaction: a second caller finds the first one's recalls in the store.
            with self._store.transaction():
                batch = self._take()
                touch(self._store, batch.accesses, self._clock(), batch.sliding)
            written = True
        finally:
            self._finish(batch, written)

    def close(self) -> None:
        """Write the log a last time; counts that cannot be written are lost."""
        with self._lock:
            self._closed = True
        self._writer.shutdown(wait=True)
        try:
            self.flush()
        finally:
            self._batches = [Batch()]

    def _write_soon(self) -> Future[None] | None:
        with self._lock:
            if self._closed:  # `close` writes the log itself
                return None
            # A write that has not started yet will include these recalls too.
            if self._queued is None or self._queued.running() or self._queued.done():
                self._queued = self._writer.submit(self.flush)
            return self._queued

    def _take(self) -> Batch:
        with self._lock:
            self._batches.append(Batch())
            return self._batches[-2]

    def _finish(self, batch: Batch, written: bool) -> None:
        with self._lock:
            self._batches = [other for other in self._batches if other is not batch]
            if not written:
                self._batches[-1].take_back(batch)
