"""A cache of present records, kept until the change counter changes; the store is authoritative."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from threading import Lock

from thinkback.model import StoredRecord
from thinkback.stores.base import StoreState

_MOST = 20_000
Read = Callable[[Sequence[str]], Mapping[str, StoredRecord]]  # present records by id
Accesses = Callable[[Sequence[str]], Iterable[tuple[str, int, int | None]]]  # id, access count and last access
_Entries = dict[str, tuple[StoredRecord, int]]  # a record, and the touch counter it was read at


class RecordCache:
    """Present records of one change count.

    Access counts change without a change count, so each record carries the touch counter it was read at. At another touch
    counter only its access count and last access are read again. An entry is valid for exactly one pair of counters, hence
    threads and processes at different snapshots of the store cannot mislead each other.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._at: tuple[str, int] = ("", -1)  # store id and change count
        self._entries: _Entries = {}

    def get(self, ids: Sequence[str], state: StoreState, read: Read, accesses: Accesses) -> dict[str, StoredRecord]:
        """Records by id, in the given order, as of the moment that `read` and `accesses` see."""
        entries = self._entries_at(state)
        cached = {id: entry for id in ids if (entry := entries.get(id)) is not None}
        found = {id: record for id, (record, touches) in cached.items() if touches == state.touches}
        if len(found) < len(cached):
            outdated = {id: record for id, (record, _) in cached.items() if id not in found}
            found |= _kept(entries, _with_accesses(accesses(list(outdated)), outdated), state)
        if missing := [id for id in ids if id not in cached]:
            found |= _kept(entries, read(missing), state)
        return {id: found[id] for id in ids if id in found}

    def _entries_at(self, state: StoreState) -> _Entries:
        """The entries for a change count; a reader behind the newest count seen gets a separate dictionary."""
        at = (state.store_id, state.changes)
        with self._lock:
            if at == self._at and len(self._entries) <= _MOST:
                return self._entries
            if at[0] == self._at[0] and at[1] < self._at[1]:
                return {}
            self._at, self._entries = at, {}
            return self._entries


def _kept(entries: _Entries, records: Mapping[str, StoredRecord], state: StoreState) -> Mapping[str, StoredRecord]:
    entries.update((id, (record, state.touches)) for id, record in records.items())
    return records


def _with_accesses(
    found: Iterable[tuple[str, int, int | None]], records: Mapping[str, StoredRecord]
) -> dict[str, StoredRecord]:
    """These records with their present access counts."""
    return {
        id: records[id]
        if records[id].access_count == count and records[id].last_access == last
        else replace(records[id], access_count=count, last_access=last)
        for id, count, last in found
    }
