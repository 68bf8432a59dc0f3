"""Recalls on their way into the store: a search only counts them here, a thread of its own writes them.

They are written soon when one of them slides an expiry, when many wait or some have waited long, and with the next write. What
could not be written waits for the next time.
"""

from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Lock

from thinkback.clock import SECOND, Clock
from thinkback.lifecycle.tiers import Access, slid, touch
from thinkback.model import StoredRecord
from thinkback.stores.base import Store

MOST_WAITING = 256  # recalls, before they are written
LONGEST_WAIT = 10 * SECOND  # of a recall, when the next one comes; nor is a slide of less worth a write of its own
MOST_KEPT = 10_000  # memories, while the store cannot be written
_PATIENCE_S = 1.0


class Batch:
    """Recalls that are written together."""

    def __init__(self) -> None:
        self.accesses: dict[str, Access] = {}
        self.total = 0
        self.since: int | None = None  # the moment of the oldest
        self.due: int | None = None  # the first expiry that one of them slides

    def add(self, id: str, access: Access, since: int, due: int | None) -> None:
        """Takes in the recalls of one memory."""
        known = self.accesses.get(id, Access(0, access.last))
        self.accesses[id] = Access(known.count + access.count, max(known.last, access.last))
        self.total += access.count
        self.since = since if self.since is None else min(self.since, since)
        if due is not None:
            self.due = due if self.due is None else min(self.due, due)

    def take_back(self, other: "Batch") -> None:
        """Takes in a batch that could not be written, the latest of it if it is too much."""
        room = max(0, MOST_KEPT - len(self.accesses))
        latest = sorted(other.accesses.items(), key=lambda item: item[1].last, reverse=True)
        for id, access in latest[:room]:
            self.add(id, access, access.last if other.since is None else other.since, other.due)


class Recalls:
    """The recalls of one open memory that are not in its store yet."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._lock = Lock()
        self._batches = [Batch()]  # the last one is being filled, those before it are being written
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="thinkback-recalls")
        self._queued: Future[None] | None = None
        self._closed = False

    def count(self, records: Iterable[StoredRecord]) -> None:
        """Counts these memories as recalled now; a search that outlives the memory it was asked of does not count."""
        now = self._clock()
        gained = 0
        with self._lock:
            if self._closed:
                return
            batch = self._batches[-1]
            for record in records:
                end, due = slid(record, now), record.expires_at
                if end is None or due is None:
                    batch.add(record.id, Access(1, now), now, None)
                else:
                    batch.add(record.id, Access(1, now), now, due)
                    gained = max(gained, end - due)
            waited = 0 if batch.since is None else now - batch.since
            urgent = batch.total >= MOST_WAITING or max(waited, gained) >= LONGEST_WAIT
        if urgent:
            self._write_soon()

    def settle(self, now: int) -> None:
        """Has what would seem expired by now, though it was recalled in time, written before anyone looks.

        Only a writing that fell behind makes anyone wait, and not for long.
        """
        with self._lock:
            late = any(batch.due is not None and batch.due <= now for batch in self._batches)
        if late and (writing := self._write_soon()) is not None:
            wait([writing], _PATIENCE_S)

    def flush(self) -> None:
        """Writes what waits, and waits for what is being written."""
        if not any(batch.accesses for batch in self._batches):
            return
        batch, written = Batch(), False
        try:
            # Taken inside the transaction, so that whoever comes second finds the first one's recalls in the store.
            with self._store.transaction():
                batch = self._take()
                touch(self._store, batch.accesses, self._clock())
            written = True
        finally:
            self._finish(batch, written)

    def close(self) -> None:
        """Writes the last ones; there is no next time."""
        with self._lock:
            self._closed = True
        self._writer.shutdown(wait=True)
        try:
            self.flush()
        finally:
            self._batches = [Batch()]

    def _write_soon(self) -> Future[None] | None:
        with self._lock:
            if self._closed:  # and so about to write them
                return None
            # One that has not begun yet will write these too.
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
