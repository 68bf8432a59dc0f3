"""The order of memories in their threads, read a thread at a time and kept until that thread changes.

The readers of several states share it. A thread that was read at one state is good for another if it did not change between the
two, which the change count of its last change tells.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from thinkback.model import SEQUENCE, StoredEdge
from thinkback.stores.sqlite.rows import listed
from thinkback.values import dataclass

_LONG = 128  # memories; a longer thread is not read as a whole
_MOST = 100_000  # memories that are kept
_MOST_CHANGED = 20_000
_OF = "SELECT m.id, m.thread FROM memories m WHERE m.id IN (SELECT value FROM json_each(?)) AND m.retired_at IS NULL"
_LINE = (
    "SELECT m.id, m.seq, m.created_at, m.position FROM memories m WHERE m.thread = ? AND m.retired_at IS NULL "
    "ORDER BY m.position, m.id LIMIT ?"
)

Mask = NDArray[np.bool_]
Seqs = NDArray[np.int64]


@dataclass(slots=True, eq=False)
class Line:
    """The present memories of a thread in its order, as they were at a change count."""

    thread: str
    changes: int
    places: Mapping[str, int]
    ids: Sequence[str]
    created: Sequence[int]
    rows: NDArray[np.intp]
    edges: dict[tuple[int, int, bool], StoredEdge] = field(default_factory=dict)
    passing: tuple[Mask, list[bool]] | None = None  # the last mask, and which of these pass it

    def passes(self, mask: Mask) -> list[bool]:
        """Which memories pass a mask over the rows of the catalogue, which nobody writes to."""
        last = self.passing
        if last is None or last[0] is not mask:
            last = self.passing = mask, mask[self.rows].tolist()
        return last[1]

    def around(self, id: str, mask: Mask) -> list[StoredEdge]:
        """The edges from the memory before and to the memory after, among those that pass; by the id of the other end."""
        place, passes = self.places[id], self.passes(mask)
        before = next((at for at in range(place - 1, -1, -1) if passes[at]), None)
        after = next((at for at in range(place + 1, len(passes)) if passes[at]), None)
        found = [] if before is None else [self._edge(before, place, False)]
        if after is not None:
            found.append(self._edge(place, after, True))
        if len(found) == 2 and found[0].from_id > found[1].to_id:
            found.reverse()
        return found

    def _edge(self, before: int, after: int, away: bool) -> StoredEdge:
        """The edge between two memories, as the first (`away`) or the second of them has it."""
        edge = self.edges.get((before, after, away))
        if edge is None:
            created = self.created[before if away else after]
            edge = StoredEdge(from_id=self.ids[before], to_id=self.ids[after], kind=SEQUENCE, created_at=created)
            self.edges[before, after, away] = edge
        return edge


class Threads:
    """Threads as they were read; all its readers number the rows of the catalogue alike."""

    def __init__(self) -> None:
        self._lines: dict[str, Line] = {}
        self._long: set[str] = set()
        self._of: dict[str, str] = {}  # the thread of a memory, as it was read last
        self._loose: dict[str, int] = {}  # memories without a thread, and the change count they were read at
        self._changed: dict[
            str | None, int
        ] = {}  # the change count of a thread's last change; None: of memories in none
        self._all_changed = -1  # what was read before this change count is not told by `_changed`
        self._held = 0

    def changed(self, threads: Iterable[str | None], changes: int, everything: bool = False) -> None:
        """These threads changed, the last time at a change count; called before anybody reads at that state."""
        if everything or len(self._changed) > _MOST_CHANGED:
            self._all_changed = changes  # before the others are dropped, as readers of older states go on meanwhile
            self._changed = {}
            self._drop()
        self._changed |= dict.fromkeys(threads, changes)

    def find(self, connection: apsw.Connection, ids: Sequence[str], seqs: Seqs, changes: int) -> dict[str, Line | None]:
        """The threads of present memories at a change count, which is that of the connection; None for one without.

        Memories of long threads are left out, and so are those that are not present. `seqs` are the catalogue's.
        """
        found: dict[str, Line | None] = {}
        missing = [id for id in ids if not self._known(id, changes, found)]
        if missing:
            self._read(connection, missing, seqs, changes, found)
        return found

    def _known(self, id: str, changes: int, found: dict[str, Line | None]) -> bool:
        """Whether it was read before; if so, it is added to those found."""
        thread = self._of.get(id)
        if thread is None:
            known = id in self._loose and self._lasts(None, min(self._loose[id], changes))
            if known:
                found[id] = None
            return known
        line = self._lines.get(thread)
        if line is None or id not in line.places or not self._lasts(thread, min(line.changes, changes)):
            return False
        found[id] = line
        return True

    def _lasts(self, thread: str | None, since: int) -> bool:
        return since >= self._all_changed and since >= self._changed.get(thread, -1)

    def _read(
        self,
        connection: apsw.Connection,
        ids: Sequence[str],
        seqs: Seqs,
        changes: int,
        found: dict[str, Line | None],
    ) -> None:
        lines: dict[str, Line | None] = {}
        read: list[Any] = connection.execute(_OF, (listed(ids),)).fetchall()
        for id, thread in read:
            if thread is None:
                found[id] = None
                self._loose[id] = changes
                self._of.pop(id, None)
            elif thread not in self._long:
                if thread not in lines:
                    lines[thread] = self._line(connection, thread, seqs, changes)
                line = lines[thread]
                if line is not None and id in line.places:
                    found[id] = line

    def _line(self, connection: apsw.Connection, thread: str, seqs: Seqs, changes: int) -> Line | None:
        rows: list[Any] = connection.execute(_LINE, (thread, _LONG + 1)).fetchall()
        if len(rows) > _LONG or any(row[3] is None for row in rows):
            self._long.add(thread)
            return None
        ids = [row[0] for row in rows]
        places = np.searchsorted(seqs, [row[1] for row in rows])
        line = Line(thread, changes, {id: at for at, id in enumerate(ids)}, ids, [row[2] for row in rows], places)
        if self._held > _MOST:
            self._drop()
        self._held += len(ids) + 1
        self._lines[thread] = line
        self._of |= dict.fromkeys(ids, thread)
        return line

    def _drop(self) -> None:
        self._lines, self._of, self._loose, self._long, self._held = {}, {}, {}, set(), 0
