"""What forgetting still owes, and its payment.

SQLite overwrites what it deletes, but where it moves rows from page to page it leaves copies in the pages' unused parts, and
older pages stand in the log. Only a file written anew holds nothing but what is in the store. So `forget` writes a debt in its
own transaction, and whoever can pays it: at once where that takes a moment, else when the store is closed, repaired or scrubbed.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import apsw

from thinkback.errors import StoreError
from thinkback.stores.base import OWED, Problem
from thinkback.stores.sqlite import journal
from thinkback.stores.sqlite.connection import Connections

REBUILT_AT_ONCE = 64 << 20  # bytes; writing so much anew takes about a third of a second
_KEY = "scrub.owed"
_FILE, _LOG = "file", "log"
_RETRY_S = 1.0  # before another writer tries again what a reader was in the way of


@dataclass(frozen=True, slots=True)
class Debt:
    """What is owed: first the file written anew, then the log emptied; `since` is the change that last forgot something."""

    what: str
    since: str

    @classmethod
    def read(cls, connection: apsw.Connection) -> Self | None:
        value = journal.setting(connection, _KEY)
        return None if value is None else cls(*value.split(":", 1))

    def __str__(self) -> str:
        return f"{self.what}:{self.since}"


def owe(connection: apsw.Connection, change: int) -> None:
    """Writes the debt, inside the transaction that forgets."""
    journal.set_setting(connection, _KEY, str(Debt(_FILE, str(change))))


def problems(connection: apsw.Connection) -> list[Problem]:
    """The debt, as a health check tells it."""
    debt = Debt.read(connection)
    where = {_FILE: "unused parts of the file", _LOG: "the log"}
    return [] if debt is None else [Problem(OWED, f"text of forgotten memories may still stand in {where[debt.what]}")]


class Scrubbing:
    """Pays what is owed, one thread at a time."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._turn = threading.Lock()
        self._retry_at = 0.0

    def pay(self) -> bool:
        """Pays all of it and empties the log; False when a transaction or another process is in the way."""
        if self._connections.in_transaction:
            return False
        with self._turn:
            return self._pay(self._debt())

    def pay_what_is_cheap(self) -> None:
        """After a write: pays unless the file is large or it was in vain a moment ago; the debt stays for later."""
        if not self._connections.in_memory and time.monotonic() >= self._retry_at:
            self._pay_if(lambda debt: debt.what == _LOG or self._connections.size() <= REBUILT_AT_ONCE)

    def settle(self) -> None:
        """Before closing: pays whatever is owed, if nobody is in the way."""
        if self._connections.usable and not self._connections.in_memory and not self._connections.read_only:
            self._pay_if(lambda debt: True)

    def _pay_if(self, wanted: Callable[[Debt], bool]) -> None:
        if self._connections.in_transaction or not self._turn.acquire(blocking=False):
            return
        try:
            debt = self._debt()
            if debt is not None and wanted(debt) and not self._pay(debt):
                self._retry_at = time.monotonic() + _RETRY_S
        except StoreError:  # what the caller wrote is written; the debt is noted, and somebody will pay it
            self._retry_at = time.monotonic() + _RETRY_S
        finally:
            self._turn.release()

    def _debt(self) -> Debt | None:
        with self._connections.read() as connection:
            return Debt.read(connection)

    def _pay(self, debt: Debt | None) -> bool:
        # Asked first: while somebody reads an older state, a new file would only make the log as long as itself.
        if not self._connections.checkpoint():
            return False
        if debt is None:
            return True
        if debt.what == _FILE:
            if not self._connections.rebuild():
                return False
            debt = self._note(debt, Debt(_LOG, debt.since))
            if not self._connections.checkpoint():
                return False
        self._note(debt, None)
        return True

    def _note(self, old: Debt, new: Debt | None) -> Debt:
        """Replaces the debt that was paid; if more was forgotten meanwhile, that one stays."""
        with self._connections.write() as connection:
            if Debt.read(connection) == old:
                journal.set_setting(connection, _KEY, None if new is None else str(new))
        return new or old
