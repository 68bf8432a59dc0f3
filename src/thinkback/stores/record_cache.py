"""A cache of present records, checked against the change counter; the store is authoritative."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field, fields
from itertools import islice, repeat
from operator import attrgetter
from threading import Lock

from thinkback.model import StoredRecord
from thinkback.stores.base import StoreState
from thinkback.values import dataclass, maker

_MOST, _DROPPED_AT_ONCE = 20_000, 1000
_MOST_TOUCHED = 2000
Read = Callable[[Sequence[str]], Mapping[str, StoredRecord]]  # present records by id
Accesses = Callable[[Sequence[str]], Iterable[tuple[str, int, int | None]]]  # id, access count and last access
Changed = Callable[[int], Iterable[str] | None]  # ids of those written since a change count; None if it cannot be told
Left = Mapping[str, tuple[int, int | None]]  # access count and last access after a write, by id
_Entries = dict[str, tuple[StoredRecord, int, int]]  # a record, and the touch and change counters it was read at


@dataclass(frozen=True, slots=True)
class Write:
    """The last write of a record's access count: the touch counter after it, and what it left, if that is known."""

    touches: int
    count: int | None = None
    last_access: int | None = None


@dataclass(frozen=True, slots=True)
class Touched:
    """Which records were touched while the touch counter went from `since` to `until`, as far as this process wrote it alone."""

    store_id: str = ""
    since: int = 0
    until: int = 0
    last: Mapping[str, Write] = field(default_factory=dict)

    def followed(self, ids: Collection[str], before: StoreState, after: StoreState, left: Left) -> "Touched":
        """With one more write."""
        known = (self.store_id, self.until) == (before.store_id, before.touches) and len(self.last) <= _MOST_TOUCHED
        since, last = (self.since, self.last) if known else (before.touches, {})
        at = after.touches
        new = {id: Write(at, *left[id]) if id in left else Write(at) for id in ids}
        return Touched(before.store_id, since, after.touches, {**last, **new})

    def covers(self, state: StoreState) -> bool:
        """Whether it tells of all writes between its beginning and a state."""
        return self.store_id == state.store_id and self.since <= state.touches <= self.until


def _cannot_tell(since: int) -> None:
    """What was written is not known."""


class RecordCache:
    """Present records at the newest change count seen; at the next one those stay that were not written since.

    Each record carries the change counter it was read at, and is not there for readers of an older state. Access counts change
    without a change count, so it carries the touch counter too. At another one only its access count and last access are read
    again. Hence threads and processes at different snapshots of the store cannot mislead each other.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._at: tuple[str, int] = ("", -1)  # store id and change count
        self._entries: _Entries = {}
        self._touched = Touched()

    def get(
        self, ids: Sequence[str], state: StoreState, read: Read, accesses: Accesses, changed: Changed = _cannot_tell
    ) -> dict[str, StoredRecord]:
        """Records by id, in the given order, as of the moment that the functions see, whose state is given."""
        entries, touched, now, changes = self._entries_at(state, changed), self._touched, state.touches, state.changes
        last, known = touched.last, touched.covers(state)
        since, until = (touched.since, touched.until) if known else (now, now)
        found: dict[str, StoredRecord] = {}
        outdated: dict[str, StoredRecord] = {}
        counted: dict[str, StoredRecord] = {}
        missing: list[str] = []
        for id in ids:
            entry = entries.get(id)
            if entry is None or entry[2] > changes:
                missing.append(id)
                continue
            record, read_at, _ = entry
            if read_at != now:
                write = last.get(id)
                if write is None:
                    current = since <= read_at <= until
                elif known and write.count is not None and read_at < write.touches <= now:
                    record, current = _with(record, write.count, write.last_access), True
                    counted[id] = record
                else:
                    current = since <= read_at <= until and write.touches <= min(read_at, now)
                if not current:
                    outdated[id] = record
                    continue
            found[id] = record
        if counted:
            self._keep(counted, state)
        if not outdated and not missing:
            return found
        if outdated:
            found |= self._keep(with_accesses(accesses(list(outdated)), outdated), state)
        if missing:
            found |= self._keep(read(missing), state)
        return {id: found[id] for id in ids if id in found}

    def touched(self, ids: Collection[str], before: StoreState, after: StoreState, left: Left | None = None) -> None:
        """A write of access counts was committed, which touched these records alone; `left` tells what it left, if known."""
        self._touched = self._touched.followed(ids, before, after, left or {})

    def _entries_at(self, state: StoreState, changed: Changed) -> _Entries:
        """The entries, brought to the state of the reader unless they are ahead of it."""
        with self._lock:
            store_id, changes = self._at
            if (surplus := len(self._entries) - _MOST) > 0:
                for id in list(islice(self._entries, surplus + _DROPPED_AT_ONCE)):  # the earliest
                    del self._entries[id]
            if state.store_id != store_id:
                self._entries = {}
            elif state.changes <= changes:
                return self._entries
            elif (written := changed(changes)) is None:
                self._entries = {}
            else:
                for id in written:
                    self._entries.pop(id, None)
            self._at = state.store_id, state.changes
            return self._entries

    def _keep(self, records: Mapping[str, StoredRecord], state: StoreState) -> Mapping[str, StoredRecord]:
        """Add records, unless the entries are of another state by now."""
        with self._lock:
            if self._at == (state.store_id, state.changes):
                entries = zip(records.values(), repeat(state.touches), repeat(state.changes), strict=False)
                self._entries.update(zip(records, entries, strict=True))
        return records


def with_accesses(
    found: Iterable[tuple[str, int, int | None]], records: Mapping[str, StoredRecord]
) -> dict[str, StoredRecord]:
    """These records with their present access counts."""
    return {id: _with(records[id], count, last) for id, count, last in found}


def _with(record: StoredRecord, count: int, last: int | None) -> StoredRecord:
    return record if record.access_count == count and record.last_access == last else _accessed(record, count, last)


_NAMES = tuple(one.name for one in fields(StoredRecord))
_COUNT, _LAST = _NAMES.index("access_count"), _NAMES.index("last_access")
_values, _made = attrgetter(*_NAMES), maker(StoredRecord, _NAMES)
_keep = StoredRecord.kept.__set__  # type: ignore[attr-defined]
_mention = StoredRecord.mentions.__set__  # type: ignore[attr-defined]


def _accessed(record: StoredRecord, count: int, last: int | None) -> StoredRecord:
    values = list(_values(record))
    values[_COUNT], values[_LAST] = count, last
    copied = _made(values)
    kept = getattr(record, "kept", None)
    if kept:  # a copy of it, as another thread may read the record meanwhile
        _keep(copied, kept.copy())
    if mentions := getattr(record, "mentions", 0):
        _mention(copied, mentions)
    return copied
