"""How many versions, threads and tags there are: counted once in a process, then kept up with what was written since.

After another process forgot something, after a repair and after a restored history they are counted again, because the rows no
longer tell what is gone.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import apsw

from thinkback.stores.base import StoreState
from thinkback.stores.sqlite import counters, rows
from thinkback.stores.sqlite.fulltext import HISTORY
from thinkback.values import dataclass

_FEW = 2000  # rows changed since; more are counted again
_SINCE = (  # thread, tags, change in the number of versions, change in the number of present ones
    "SELECT m.thread, m.tags, 1, m.retired_at IS NULL FROM memories m WHERE m.seq > ?1 "
    # A version that was retired since: the one that retired it was recorded at that moment. The plus keeps the index on `changed`.
    "UNION ALL SELECT m.thread, m.tags, 0, -1 FROM memories m WHERE m.changed > ?2 AND +m.seq <= ?1 AND m.retired_at "
    "IS NOT NULL AND EXISTS (SELECT 1 FROM memories n WHERE n.id = m.id AND n.recorded_at = m.retired_at AND n.seq > ?1)"
)
_LEAVING = "SELECT m.thread, m.tags, -1, -(m.retired_at IS NULL) FROM memories m WHERE m.id IN (SELECT value FROM json_each(?))"
_VERSIONS = "SELECT count(*) FROM memories"
_HAS_OLD = f"SELECT EXISTS (SELECT 1 FROM {HISTORY}_docsize)"
_TAGS = "SELECT t.tag, count(*) FROM memory_tags t {present} GROUP BY t.tag ORDER BY t.tag"
_ONLY_PRESENT = "JOIN memories m USING (seq) WHERE m.retired_at IS NULL"
_THREADS = "SELECT thread, count(*) FROM memories WHERE retired_at IS NULL AND thread IS NOT NULL GROUP BY thread"
_CHANGED_KEPT = 1000  # threads beside those that were counted together


class ThreadCounts:
    """How many present memories each thread has: those that were counted together, which later ones share, and the changed ones."""

    def __init__(self, counted: Mapping[str, int], changed: Mapping[str, int] | None = None) -> None:
        self._counted, self._changed = counted, changed or {}
        more = (bool(count) - (name in counted) for name, count in self._changed.items())
        self._size = len(counted) + sum(more)

    def __len__(self) -> int:
        return self._size

    def after(self, changes: Mapping[str, int]) -> "ThreadCounts":
        """The same once some of them have grown or shrunk."""
        changed = {**self._changed, **{name: self._of(name) + change for name, change in changes.items()}}
        if len(changed) <= _CHANGED_KEPT:
            return ThreadCounts(self._counted, changed)
        return ThreadCounts({name: count for name, count in {**self._counted, **changed}.items() if count})

    def _of(self, name: str) -> int:
        return self._changed.get(name, self._counted.get(name, 0))


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of present memories by tag and thread, and of all versions, as of one state."""

    state: StoreState
    tags: Mapping[str, int]  # in the order of the tags
    # Counted when they are asked for: a search does not need them.
    threads: "ThreadCounts | None" = None
    versions: int = 0

    @classmethod
    def read(cls, connection: apsw.Connection, older: "Tally | None", threads: bool = False) -> "Tally":
        """The counts now, from those at an older state if they can be kept up."""
        state = counters.state(connection)
        found = older if older and _same(older.state, state) else older and _kept_up(connection, older, state)
        found = found or _counted(connection, state)
        if not threads or found.threads is not None:
            return found
        versions = int(connection.execute(_VERSIONS).get)
        return replace(found, threads=ThreadCounts(dict(connection.execute(_THREADS))), versions=versions)

    def without(self, connection: apsw.Connection, ids: Sequence[str]) -> "Tally | None":
        """The counts once these memories are removed, asked before they are; None if something else was written meanwhile."""
        if self.state.contents != counters.contents(connection):
            return None
        return self._with(connection.execute(_LEAVING, (rows.listed(ids),)))

    def _with(self, changes: Iterable[Any]) -> "Tally | None":
        """The counts after changes to the number of versions, and of present ones with a thread and tags; None if unreadable."""
        try:
            return self._changed(changes)
        except (TypeError, ValueError):  # a damaged row, which whoever reads the memory reports
            return None

    def _changed(self, changes: Iterable[Any]) -> "Tally":
        threads, tags, versions = Counter[str](), Counter[str](), 0
        for thread, listed, version, present in changes:
            versions += version
            threads.update({} if thread is None else {thread: present})
            tags.update(dict.fromkeys(json.loads(listed), present))
        counted = None if self.threads is None else self.threads.after(threads)
        return replace(self, versions=self.versions + versions, threads=counted, tags=_sum(self.tags, tags))


def _sum(counts: Mapping[str, int], changes: Mapping[str, int]) -> Mapping[str, int]:
    """Counts with changes, in the order of the names, without those that are none any more."""
    if not changes:
        return counts
    found = dict(counts)
    for name, change in changes.items():
        found[name] = found.get(name, 0) + change
        if not found[name]:
            del found[name]
    return found if found.keys() == counts.keys() else dict(sorted(found.items()))


def _counted(connection: apsw.Connection, state: StoreState) -> Tally:
    # Looking up each tag's version costs many times the counting, and most stores hold no old versions.
    present = _ONLY_PRESENT if connection.execute(_HAS_OLD).get else ""
    return Tally(state, dict(connection.execute(_TAGS.format(present=present))))


def _same(one: StoreState, other: StoreState) -> bool:
    return (one.store_id, one.contents) == (other.store_id, other.contents)


def _kept_up(connection: apsw.Connection, older: Tally, state: StoreState) -> Tally | None:
    """The older counts with what was written since; None if that cannot be told."""
    (last, *removed), (newest, *removed_now) = (one.contents.split(".") for one in (older.state, state))
    if older.state.store_id != state.store_id or removed != removed_now or not 0 < int(newest) - int(last) <= _FEW:
        return None
    changes: list[Any] = connection.execute(_SINCE, (int(last), older.state.changes)).fetchall()
    if any(version and not present for _, _, version, present in changes):
        return None
    found = older._with(changes)
    return None if found is None else replace(found, state=state)
