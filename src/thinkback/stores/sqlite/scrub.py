"""Clear forgotten text from the database file and its log.

SQLite overwrites what it deletes, but moving rows between pages leaves copies in the unused parts of pages, and the log holds
older pages. Only a VACUUM and an emptied log remove them all. `forget` records in its own transaction that a scrub is pending. It
runs at once if the file is small, otherwise when the store is closed, repaired or scrubbed.
"""

import threading
import time
from collections.abc import Callable
from typing import Self

import apsw

from thinkback.errors import StoreError
from thinkback.stores.base import PENDING_SCRUB, Problem
from thinkback.stores.sqlite import journal
from thinkback.stores.sqlite.connection import Connections
from thinkback.values import dataclass

IMMEDIATE_UP_TO = 4 << 20  # bytes; a VACUUM of so much takes about 20 ms
_KEY = "scrub.owed"  # as existing files spell it
_FILE, _LOG = "file", "log"
_RETRY_S = 1.0  # after a scrub that a reader prevented


@dataclass(frozen=True, slots=True)
class PendingScrub:
    """The next step, `file` (VACUUM) or `log`; `since` is the change count of the last forgetting."""

    step: str
    since: str

    @classmethod
    def read(cls, connection: apsw.Connection) -> Self | None:
        value = journal.setting(connection, _KEY)
        return None if value is None else cls(*value.split(":", 1))

    def __str__(self) -> str:
        return f"{self.step}:{self.since}"


def request(connection: apsw.Connection, change: int) -> None:
    """Record that a scrub is pending, inside the transaction that forgets."""
    journal.set_setting(connection, _KEY, str(PendingScrub(_FILE, str(change))))


def problems(connection: apsw.Connection) -> list[Problem]:
    """A pending scrub, as a health check reports it."""
    pending = PendingScrub.read(connection)
    if pending is None:
        return []
    where = {_FILE: "unused parts of the file", _LOG: "the log"}[pending.step]
    return [Problem(PENDING_SCRUB, f"text of forgotten memories may remain in {where}")]


class Scrubber:
    """Runs pending scrubs, one thread at a time."""

    def __init__(self, connections: Connections, purge: Callable[[apsw.Connection], bool]) -> None:
        self._connections = connections
        self._purge = purge  # of the derived index; False if it is not possible now
        self._purged: str | None = None  # the forgetting that the index was last purged of
        self._lock = threading.Lock()
        self._retry_at = 0.0

    def run(self) -> bool:
        """Scrub and empty the log; False if a transaction or another process prevents it."""
        if self._connections.in_transaction:
            return False
        with self._lock:
            return self._run(self._pending())

    def after_write(self) -> None:
        """Scrub unless the file is large or an attempt failed a moment ago."""
        if not self._connections.in_memory and time.monotonic() >= self._retry_at:
            self._run_if(lambda pending: pending.step == _LOG or self._connections.size() <= IMMEDIATE_UP_TO)

    def before_close(self) -> None:
        """Run any pending scrub, if nothing prevents it."""
        if self._connections.usable and not self._connections.in_memory and not self._connections.read_only:
            self._run_if(lambda pending: True)

    def _run_if(self, wanted: Callable[[PendingScrub], bool]) -> None:
        if self._connections.in_transaction or self._lock.locked():
            return
        with self._lock:  # an interrupt between `acquire` and `try` would leave it locked for ever
            try:
                pending = self._pending()
                if pending is not None and not (self._run(pending) if wanted(pending) else self._purged_of(pending)):
                    self._retry_at = time.monotonic() + _RETRY_S
            except (StoreError, OSError):  # the caller's write is committed, and the scrub stays pending
                self._retry_at = time.monotonic() + _RETRY_S

    def _pending(self) -> PendingScrub | None:
        with self._connections.read() as connection:
            return PendingScrub.read(connection)

    def _purged_of(self, pending: PendingScrub) -> bool:
        """Take forgotten memories out of the derived index, which costs the same however large the store is."""
        if self._purged != pending.since:
            with self._connections.read() as connection:
                if self._purge(connection):
                    self._purged = pending.since
        return self._purged == pending.since

    def _run(self, pending: PendingScrub | None) -> bool:
        if pending is not None and not self._purged_of(pending):
            return False
        # First, because a VACUUM while somebody reads an older state only makes the log as long as the file.
        if not self._connections.checkpoint():
            return False
        if pending is None:
            return True
        if pending.step == _FILE:
            if not self._connections.rebuild():
                return False
            pending = self._advance(pending, PendingScrub(_LOG, pending.since))
            if not self._connections.checkpoint():
                return False
        self._advance(pending, None)
        return True

    def _advance(self, old: PendingScrub, new: PendingScrub | None) -> PendingScrub:
        """Record that a step is done, unless something was forgotten meanwhile."""
        with self._connections.write() as connection:
            if PendingScrub.read(connection) == old:
                journal.set_setting(connection, _KEY, None if new is None else str(new))
        return new or old
