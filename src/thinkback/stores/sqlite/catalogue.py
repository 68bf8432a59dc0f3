"""Columns of the present memories in memory, with filters as masks over their rows.

A catalogue is immutable. A newer one may share its buffers, because it writes only after the older one's last row.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial, reduce
from itertools import islice
from operator import attrgetter
from typing import Any, TypeVar

import apsw
import numpy as np
from numpy.typing import NDArray

from thinkback.model import Filter, Floats, Scored
from thinkback.stores.sqlite import carried
from thinkback.stores.sqlite.carried import ENDING
from thinkback.stores.sqlite.columns import COLUMNS, NUMBERED, Columns, Ids, extended, values_of
from thinkback.stores.sqlite.filters import clause
from thinkback.stores.sqlite.fulltext import HISTORY
from thinkback.stores.sqlite.rows import listed
from thinkback.stores.sqlite.threads import NO_THREAD, UNPLACED, Line, Threads, lines, number_of
from thinkback.values import dataclass, maker

Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]
T = TypeVar("T")

_scored = maker(Scored, ("id", "score", "passage"))
_MASKS_KEPT = 32
_LINES_KEPT = 5_000
_READ_AT_ONCE = 4096  # rows; with more, room for them costs more than is saved
_FEW = 8  # if fewer than one row in so many passes, only those are looked at
_SELECT = (
    "SELECT m.seq, m.id, m.date, m.valid_to, m.expires_at, m.archived_at IS NOT NULL, m.trust, m.recorded_at, "
    "m.thread, m.position, m.kind, m.tier, m.priority "
    # The unary plus keeps SQLite from scanning in seq order instead of using the index on `changed`.
    "FROM memories m WHERE m.retired_at IS NULL AND m.changed > ? ORDER BY +m.seq"
)

# What the columns, the tags and the kind of catalogue decide; SQLite decides the rest of a filter.
_IN_COLUMNS = {"now", "tags", "kinds", "without_kinds", "tiers", "priorities"} | {
    *("since", "until", "as_of", "known_at", "min_trust", "everything")
}
_OTHERS = tuple(name for name in Filter.__slots__ if name not in _IN_COLUMNS and name != "ids")
_of_others = attrgetter(*_OTHERS)
_NO_OTHERS = _of_others(Filter(now=0))
_APART = {"now", "ids", "metadata", "where", "everything"}
_lasting_part = attrgetter(
    *(name for name in Filter.__slots__ if name not in _APART)
)  # what does not depend on the time


@dataclass(frozen=True, slots=True, eq=False)
class Catalogue:
    """Rows 0 to `size` in order of `seqs`; the `dead` rows of removed memories are not `alive`."""

    changes: int
    size: int
    ids: Ids
    seqs: NDArray[np.int64]
    alive: Mask
    dead: int
    columns: dict[str, NDArray[Any]]
    mentions: NDArray[np.uint8] = field(
        default_factory=lambda: np.zeros(0, dtype=np.uint8)
    )  # of the first rows, see mentions.py
    masks: dict[Any, Mask] = field(default_factory=dict)  # of conditions that were asked for, at this state
    lasting: dict[int, tuple[Mask, Mask, Mask]] = field(
        default_factory=dict
    )  # by the identity of the mask they begin with
    rows_kept: dict[str, Rows] = field(default_factory=dict)  # at this state
    counts: dict[str, dict[str, int]] = field(default_factory=dict)  # by kind, tier and priority, at this state
    facts: dict[str, Any] = field(default_factory=dict)  # what else was read of this state
    lines_kept: dict[int, Line | None] = field(default_factory=dict)  # by the number of the thread, at this state
    counted_masks: dict[int, tuple[Mask, int]] = field(default_factory=dict)  # by identity, at this state
    threads: Threads = field(default_factory=Threads)  # for this state and those that follow from it

    @classmethod
    def empty(cls) -> "Catalogue":
        columns: dict[str, NDArray[Any]] = {name: np.zeros(0, dtype=kind) for name, kind in COLUMNS}
        return cls(-1, 0, Ids(), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.bool_), 0, columns)

    def fact(self, name: str, read: Callable[[], T]) -> T:
        """What `read` finds in the file at this state; read once."""
        if name not in self.facts:
            self.facts[name] = read()
        found: T = self.facts[name]
        return found

    def lines(self, connection: apsw.Connection, ids: Sequence[str]) -> dict[str, tuple[Line, int] | None]:
        """The threads of present memories, each with the memory's place in it; None for one without.

        Those that are not present or in a long thread are left out.
        """
        rows = self._rows_of(connection, ids)
        if not rows:
            return {}
        threads = dict(zip(rows, self._column("thread")[list(rows.values())].tolist(), strict=True))
        kept = self._lines(set(threads.values()))
        found: dict[str, tuple[Line, int] | None] = {}
        for id, thread in threads.items():
            line = kept.get(thread)
            if thread == NO_THREAD:
                found[id] = None
            elif line is not None:
                found[id] = line, line.order.index(rows[id])
        return found

    def _lines(self, threads: set[int]) -> dict[int, Line | None]:
        """These threads, those that were not asked for before put in order together."""
        kept = self.lines_kept
        found = {thread: kept[thread] for thread in threads & kept.keys()}
        missing = sorted(threads - found.keys() - {NO_THREAD, UNPLACED})
        if missing:
            rows, which = self.threads.rows(missing, self._column("thread"))
            if self.dead:
                here = self.alive[rows]
                rows, which = rows[here], which[here]
            made = lines(rows, which, len(missing), self._column("position")[rows], self.ids.__getitem__)
            found |= zip(missing, made, strict=True)
            if len(kept) < _LINES_KEPT:
                kept |= found
        return found

    def present(self, ids: Sequence[str]) -> dict[str, int]:
        """The rows of those present memories among these that a search has found."""
        known = self.ids.known(ids, self.size)
        return {id: row for id, row in known.items() if self.alive[row]} if self.dead else known

    def mentioned(self, rows: Rows) -> NDArray[np.uint8]:
        """What the texts of rows mention; 0 where it is not known."""
        found, known = np.zeros(len(rows), dtype=np.uint8), rows < len(self.mentions)
        found[known] = self.mentions[rows[known]]
        return found

    def _rows_of(self, connection: apsw.Connection, ids: Sequence[str]) -> dict[str, int]:
        """The rows of present memories, of those that a search has found without the file."""
        known = self.present(ids)
        if len(known) < len(ids) and (missing := [id for id in ids if id not in known]):
            sql = (
                "SELECT m.id, m.seq FROM memories m "
                "WHERE m.id IN (SELECT value FROM json_each(?)) AND m.retired_at IS NULL"
            )
            found: list[Any] = connection.execute(sql, (listed(missing),)).fetchall()
            places, here = self.find([seq for _, seq in found])
            known |= {
                id: row for (id, _), row, is_here in zip(found, places.tolist(), here.tolist(), strict=True) if is_here
            }
        return known

    def rows(self, seqs: Sequence[int] | NDArray[np.int64]) -> Rows:
        """The rows of those versions that are in the catalogue."""
        places, here = self.find(seqs)
        return places[here]

    def find(self, seqs: Sequence[int] | NDArray[np.int64]) -> tuple[Rows, Mask]:
        """For each version its row, and whether it is in the catalogue."""
        wanted, known = np.asarray(seqs, dtype=np.int64), self.seqs[: self.size]
        if self.size and int(known[-1] - known[0]) == self.size - 1:  # without a gap
            places = wanted - known[0]
            return places, (places >= 0) & (places < self.size)
        places = np.searchsorted(known, wanted)
        here = places < self.size
        here[here] = known[places[here]] == wanted[here]
        return places, here

    def mask(self, filter: Filter, connection: apsw.Connection) -> Mask:
        """Which rows pass a filter; conditions on fields without a column are evaluated by SQLite.

        With `known_at` these are only present versions; `retired` gives the others.
        """
        if filter.metadata or filter.where is not None:  # whose values may be equal and mean something else
            passing = self._tested(filter, connection)
        else:
            passing = self.kept(_lasting_part(filter), lambda: self._tested(filter, connection))
        if not filter.everything and len(self._ending()):
            passing = self._lasting(passing, filter)
        if filter.ids is None:
            return passing
        return passing & self._only(versions(connection, Filter(now=filter.now, everything=True, ids=filter.ids)))

    def count(self, filter: Filter, connection: apsw.Connection) -> int:
        """How many rows pass a filter; of a mask that is kept, they are counted once."""
        mask = self.mask(filter, connection)
        last = self.counted_masks.get(id(mask))
        if last is None or last[0] is not mask:
            if len(self.counted_masks) >= _MASKS_KEPT:
                self.counted_masks.clear()
            last = self.counted_masks[id(mask)] = mask, int(np.count_nonzero(mask))
        return last[1]

    def kept(self, name: Any, made: Callable[[], Mask]) -> Mask:
        """The mask of that name at this state; not to be written to."""
        found = self.masks.get(name)
        if found is None:
            if len(self.masks) >= _MASKS_KEPT:
                self.masks.clear()
            found = self.masks[name] = made()
        return found

    def _tested(self, filter: Filter, connection: apsw.Connection) -> Mask:
        """Which rows pass everything but the ids and the conditions on what has an end."""
        masks = [self.alive, *(self.kept(name, test) for name, test in self._tests(filter))]
        masks += [self.kept(("tag", tag), partial(self._tagged, tag, connection)) for tag in filter.tags]
        if (others := _of_others(filter)) != _NO_OTHERS:
            rest = Filter(now=filter.now, everything=True, **dict(zip(_OTHERS, others, strict=True)))
            rows = self.rows(versions(connection, rest))
            if len(rows) * _FEW < self.size:  # then the others need no look
                for mask in masks:
                    rows = rows[mask[rows]]
                return self._of(rows)
            masks.append(self._of(rows))
        return reduce(np.logical_and, masks)

    def _tagged(self, tag: str, connection: apsw.Connection) -> Mask:
        return self._only(integers(connection, "SELECT seq FROM memory_tags WHERE tag = ?", (tag,)))

    def best(self, rows: Rows, scores: Floats, limit: int) -> list[Scored]:
        """The memories of rows with their scores, best first, ties by id."""
        found = sorted(zip((-scores).tolist(), self.ids.of(rows), strict=True))
        return [_scored((id, -score, None)) for score, id in found[:limit]]

    def groups(self) -> dict[str, dict[str, int]]:
        """How many living rows have each kind, tier and priority, the most frequent first."""
        return {column: dict(self.counted(column)) for column in NUMBERED}

    def counted(self, column: str) -> Mapping[str, int]:
        """How many living rows have each value of one of these; counted once, then carried from state to state."""
        if column not in self.counts:
            names, values = NUMBERED[column], self._column(column)[self.alive] if self.dead else self._column(column)
            counts = np.bincount(values, minlength=len(names)).tolist()
            self.counts[column] = carried.ranked(dict(zip(map(str, names), counts, strict=True)))
        return self.counts[column]

    def archived(self) -> int:
        """How many living rows are archived."""
        return int(np.count_nonzero(self._column("archived")[self._ending()]))

    def others(self, seqs: NDArray[np.int64]) -> Mask:
        """Which rows are of other versions than these."""
        return ~self._only(seqs)

    def _only(self, seqs: NDArray[np.int64]) -> Mask:
        return self._of(self.rows(seqs))

    def _of(self, rows: Rows) -> Mask:
        mask = np.zeros(self.size, dtype=np.bool_)
        mask[rows] = True
        return mask

    def _ending(self) -> Rows:
        """The rows that are archived, or expire or stop being valid some day; few ever do."""
        if ENDING not in self.rows_kept:
            self.rows_kept[ENDING] = np.flatnonzero(self.alive & carried.ends(self.columns, slice(self.size)))
        return self.rows_kept[ENDING]

    def _lasting(self, passing: Mask, filter: Filter) -> Mask:
        """Those of a mask that are not archived, expired or no longer valid; the same mask until one of them ends."""
        some = self._ending()
        gone = (self._column("expires_at")[some] <= filter.now) | self._column("archived")[some]
        if filter.as_of is None:
            gone |= self._column("valid_to")[some] <= filter.now
        last = self.lasting.get(id(passing))
        if last is None or not np.array_equal(last[1], gone):
            left = passing.copy()
            left[some[gone]] = False
            if len(self.lasting) >= _MASKS_KEPT:
                self.lasting.clear()
            last = self.lasting[id(passing)] = passing, gone, left
        return last[2]

    def _tests(self, filter: Filter) -> Iterator[tuple[str, Callable[[], Mask]]]:
        """Every other condition, with a name that is the same for the same condition."""
        if filter.since is not None:
            yield f"since {filter.since}", lambda: self._column("date") >= filter.since
        if filter.until is not None:
            yield f"until {filter.until}", lambda: self._column("date") < filter.until
        if filter.as_of is not None:
            yield (
                f"as of {filter.as_of}",
                lambda: (self._column("date") <= filter.as_of) & (self._column("valid_to") > filter.as_of),
            )
        if filter.known_at is not None:
            yield f"known at {filter.known_at}", lambda: self._column("recorded") <= filter.known_at
        if filter.min_trust > 0:
            yield f"trust {filter.min_trust!r}", lambda: self._column("trust") >= filter.min_trust
        for column, names in (("kind", filter.kinds), ("tier", filter.tiers), ("priority", filter.priorities)):
            if names:
                yield f"{column} {sorted(names)}", partial(self.among, column, names)
        if filter.without_kinds:
            without = filter.without_kinds
            yield f"without {sorted(without)}", lambda: ~self.among("kind", without)

    def _column(self, name: str) -> NDArray[Any]:
        return self.columns[name][: self.size]

    def among(self, column: str, names: Sequence[str]) -> Mask:
        """Which rows have one of these values."""
        values, mask = self._column(column), np.zeros(self.size, dtype=np.bool_)
        for number, name in enumerate(NUMBERED[column]):
            if name in names:
                mask |= values == number  # many times as fast as a look-up for every row
        return mask


def versions(connection: apsw.Connection, filter: Filter) -> NDArray[np.int64]:
    """The row numbers of versions that pass, evaluated by SQLite."""
    passing = clause(filter)
    return integers(connection, f"SELECT m.seq FROM memories m WHERE {passing.sql}", passing.bindings)


def retired(connection: apsw.Connection, filter: Filter) -> NDArray[np.int64]:
    """The row numbers of versions that pass and were known at `filter.known_at`, but are no longer present, in order."""
    if filter.known_at is None:
        return np.zeros(0, dtype=np.int64)
    passing = clause(filter)
    sql = (
        f"SELECT m.seq FROM {HISTORY} h CROSS JOIN memories m ON m.seq = h.rowid "
        f"WHERE m.retired_at IS NOT NULL AND {passing.sql} ORDER BY m.seq"
    )
    return integers(connection, sql, passing.bindings)


def integers(connection: apsw.Connection, sql: str, bindings: Sequence[Any] = ()) -> NDArray[np.int64]:
    """The single column of a query, fetched as one string, which is several times faster than row by row."""
    text = connection.execute(f"WITH q(n) AS ({sql}) SELECT group_concat(n) FROM q", bindings).get
    return np.zeros(0, dtype=np.int64) if text is None else np.fromstring(text, dtype=np.int64, sep=",")


@dataclass(frozen=True, slots=True, eq=False)
class Delta:
    """The difference to an older catalogue: rows appended, changed in place, and removed."""

    appended: Rows
    changed: Rows
    died: Rows


def read(connection: apsw.Connection, old: Catalogue, changes: int) -> tuple[Catalogue, Delta]:
    """The catalogue at this change count, made from an older one."""
    catalogue, known, found = old, list[int](), connection.execute(_SELECT, (old.changes,))
    last = int(old.seqs[old.size - 1]) if old.size else 0
    while rows := list(islice(found, _READ_AT_ONCE)):
        # Row numbers only grow, so new rows come after all known ones.
        before = [row for row in rows if row[0] <= last]
        catalogue = _with_changed(_with_appended(catalogue, rows[len(before) :]), before)
        known += [row[0] for row in before]
    died = old.rows(_gone(connection, old.changes))
    died = died[old.alive[died]]
    if len(died):
        number_of.cache_clear()  # a thread that is forgotten leaves no name in memory
    alive = catalogue.alive.copy()
    alive[died] = False
    delta = Delta(np.arange(old.size, catalogue.size), old.rows(known), died)
    changed = delta.changed[old.alive[delta.changed]]
    gone, come = np.concatenate([died, changed]), np.concatenate([delta.appended, changed])
    step = carried.Step(old.columns, catalogue.columns, carried.distinct(gone), come[alive[come]])
    catalogue = replace(
        catalogue,
        changes=changes,
        alive=alive,
        dead=old.dead + len(died),
        masks={},
        lasting={},
        counted_masks={},
        rows_kept=carried.ending(old.rows_kept, step),
        counts=carried.counts(old.counts, NUMBERED, step),
        facts={},
        lines_kept=carried.lines(old.lines_kept, step),
        threads=old.threads if _keep_places(old, catalogue, delta.changed) else Threads(),
    )
    return catalogue, delta


def _gone(connection: apsw.Connection, since: int) -> NDArray[np.int64]:
    if since < 0:
        return np.zeros(0, dtype=np.int64)
    retired = "SELECT seq FROM memories WHERE retired_at IS NOT NULL AND changed > ?1"
    sql = f"{retired} UNION ALL SELECT seq FROM removed WHERE changed > ?1"
    return integers(connection, sql, (since,))


def _keep_places(old: Catalogue, new: Catalogue, rows: Rows) -> bool:
    """Whether these rows are in the same threads, at the same positions; an update makes a new row."""
    if not len(rows):
        return True
    return all(np.array_equal(old.columns[name][rows], new.columns[name][rows]) for name in ("thread", "position"))


def _with_appended(old: Catalogue, rows: Sequence[tuple[Any, ...]]) -> Catalogue:
    if not rows:
        return old
    size = old.size + len(rows)
    values = values_of(rows)
    if isinstance(old.columns, Columns):
        columns: dict[str, NDArray[Any]] = old.columns.appended(old.size, values)
    else:
        columns = {name: extended(old.columns[name], old.size, values[name]) for name, _ in COLUMNS}
    old.ids.put(old.size, [row[1] for row in rows])
    numbers = extended(old.seqs, old.size, np.array([row[0] for row in rows], dtype=np.int64))
    alive = np.concatenate([old.alive, np.ones(len(rows), dtype=np.bool_)])
    return replace(old, size=size, seqs=numbers, alive=alive, columns=columns)


def _with_changed(old: Catalogue, rows: Sequence[tuple[Any, ...]]) -> Catalogue:
    if not rows:
        return old
    values, places = values_of(rows), old.rows([row[0] for row in rows])
    columns = {name: old.columns[name] for name, _ in COLUMNS}
    for name, column in columns.items():
        if not np.array_equal(column[places], values[name]):
            columns[name] = column.copy()
            columns[name][places] = values[name]
    return replace(old, columns=columns)
