"""Records read before, at hand while the file stands still: derived, dropped with the first change, never the truth."""

from collections.abc import Iterable, Sequence
from threading import Lock

import apsw

from thinkback.model import StoredRecord
from thinkback.stores.base import StoreState
from thinkback.stores.sqlite import counters, reads

_MOST = 20_000


class Shelf:
    """Present records of one state of the file; searches ask for the same ones again and again."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._state: StoreState | None = None
        self._records: dict[str, StoredRecord] = {}

    def get(self, connection: apsw.Connection, ids: Sequence[str]) -> dict[str, StoredRecord]:
        """Records by id, in the order asked for."""
        records = self._at(counters.state(connection))
        missing = [id for id in ids if id not in records]
        if missing:
            records |= reads.get(connection, missing, None)
        return {id: records[id] for id in ids if id in records}

    def _at(self, state: StoreState) -> dict[str, StoredRecord]:
        """The records kept for a state; an older one than the newest seen gets none to keep."""
        with self._lock:
            known = self._state
            if state == known and len(self._records) <= _MOST:
                return self._records
            if known is not None and (state.changes, state.touches) < (known.changes, known.touches):
                return {}
            self._state, self._records = state, {}
            return self._records

    def touched(self, before: StoreState, after: StoreState, ids: Iterable[str]) -> None:
        """Only these changed between two states, so only these have to be read again."""
        with self._lock:
            if self._state == before:
                gone = set(ids)
                self._records = {id: record for id, record in self._records.items() if id not in gone}
                self._state = after
