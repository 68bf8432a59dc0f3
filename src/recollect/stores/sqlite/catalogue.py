"""Present memories as columns in memory: row numbers for the caches, and filters as masks over those rows.

A catalogue is a value. A newer one may share the older one's buffers, for it only ever writes behind the older one's last row.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from recollect.model import KINDS, PRIORITIES, TIERS, Filter
from recollect.stores.sqlite.filters import clause

Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]

NEVER = np.iinfo(np.int64).max
_NUMBERED = {"kind": KINDS, "tier": TIERS, "priority": PRIORITIES}
_COLUMNS = (
    ("date", np.int64),
    ("valid_to", np.int64),
    ("expires_at", np.int64),
    ("archived", np.bool_),
    ("trust", np.float64),
)
_CODED = tuple((name, np.uint8) for name in _NUMBERED)
_SELECT = (
    "SELECT m.seq, m.id, m.date, m.valid_to, m.expires_at, m.archived_at IS NOT NULL, m.trust, m.kind, m.tier, m.priority "
    "FROM memories m WHERE m.retired_at IS NULL AND m.changed > ? ORDER BY m.seq"
)


@dataclass(frozen=True, slots=True, eq=False)
class Catalogue:
    """Rows 0 to `size`; those of memories that are gone since are not `alive`."""

    changes: int
    size: int
    ids: list[str]
    seqs: NDArray[np.int64]
    row_of: dict[int, int]
    alive: Mask
    columns: dict[str, NDArray[Any]]

    @classmethod
    def empty(cls) -> "Catalogue":
        columns: dict[str, NDArray[Any]] = {name: np.zeros(0, dtype=kind) for name, kind in (*_COLUMNS, *_CODED)}
        return cls(-1, 0, [], np.zeros(0, dtype=np.int64), {}, np.zeros(0, dtype=np.bool_), columns)

    @property
    def dead(self) -> int:
        return self.size - int(np.count_nonzero(self.alive))

    def rows(self, seqs: Iterable[int]) -> Rows:
        """The rows of these versions, as far as they are here."""
        found = (self.row_of.get(seq, self.size) for seq in seqs)
        return np.fromiter((row for row in found if row < self.size), dtype=np.intp)

    def mask(self, filter: Filter, connection: apsw.Connection) -> Mask:
        """Which rows pass; what is not kept in columns is asked of the file."""
        passing = self.alive & self._standing(filter)
        rest = Filter(
            now=filter.now,
            ids=filter.ids,
            tags=filter.tags,
            threads=filter.threads,
            sources=filter.sources,
            metadata=filter.metadata,
            everything=True,
        )
        if rest == Filter(now=filter.now, everything=True):
            return passing
        asked = np.zeros(self.size, dtype=np.bool_)
        asked[self.rows(seqs(connection, rest))] = True
        return passing & asked

    def _standing(self, filter: Filter) -> Mask:
        date, valid_to = self._column("date"), self._column("valid_to")
        tests = []
        if filter.since is not None:
            tests.append(date >= filter.since)
        if filter.until is not None:
            tests.append(date < filter.until)
        if filter.as_of is not None:
            tests += [date <= filter.as_of, valid_to > filter.as_of]
        if not filter.everything:
            tests += [self._column("expires_at") > filter.now, ~self._column("archived")]
            tests += [valid_to > filter.now] if filter.as_of is None else []
        if filter.min_trust > 0:
            tests.append(self._column("trust") >= filter.min_trust)
        for column, names in (("kind", filter.kinds), ("tier", filter.tiers), ("priority", filter.priorities)):
            tests += [self._among(column, names)] if names else []
        tests += [~self._among("kind", filter.without_kinds)] if filter.without_kinds else []
        return np.logical_and.reduce(tests) if tests else np.ones(self.size, dtype=np.bool_)

    def _column(self, name: str) -> NDArray[Any]:
        return self.columns[name][: self.size]

    def _among(self, column: str, names: Sequence[str]) -> Mask:
        chosen = np.array([name in names for name in _NUMBERED[column]])
        return np.asarray(chosen[self._column(column)], dtype=np.bool_)


def seqs(connection: apsw.Connection, filter: Filter) -> list[int]:
    """The versions that pass, asked of the file."""
    passing = clause(filter)
    sql = f"SELECT m.seq FROM memories m WHERE {passing.sql}"
    return [seq for (seq,) in connection.execute(sql, passing.bindings)]


@dataclass(frozen=True, slots=True, eq=False)
class Delta:
    """What a newer catalogue has that the older one had not: rows appended, rows changed in place, rows that died."""

    appended: Rows
    changed: Rows
    died: Rows


def read(connection: apsw.Connection, old: Catalogue, changes: int) -> tuple[Catalogue, Delta]:
    """The catalogue at this change count, made from an older one."""
    found: list[Any] = connection.execute(_SELECT, (old.changes,)).fetchall()
    new = [row for row in found if row[0] not in old.row_of]
    known = [row for row in found if row[0] in old.row_of]
    died = old.rows(_gone(connection, old.changes))
    catalogue = _with_changed(_with_appended(old, new), known)
    alive = catalogue.alive.copy() if len(died) else catalogue.alive
    alive[died] = False
    changed = old.rows(row[0] for row in known)
    return replace(catalogue, changes=changes, alive=alive), Delta(np.arange(old.size, catalogue.size), changed, died)


def _gone(connection: apsw.Connection, since: int) -> list[int]:
    if since < 0:
        return []
    retired = "SELECT seq FROM memories WHERE retired_at IS NOT NULL AND changed > ?1"
    sql = f"{retired} UNION ALL SELECT seq FROM removed WHERE changed > ?1"
    return [seq for (seq,) in connection.execute(sql, (since,))]


def _with_appended(old: Catalogue, rows: Sequence[tuple[Any, ...]]) -> Catalogue:
    if not rows:
        return old
    size = old.size + len(rows)
    values = _values(rows)
    columns = {name: extended(column, old.size, values[name]) for name, column in old.columns.items()}
    old.ids.extend(row[1] for row in rows)
    old.row_of.update((row[0], old.size + place) for place, row in enumerate(rows))
    numbers = extended(old.seqs, old.size, np.array([row[0] for row in rows], dtype=np.int64))
    alive = np.concatenate([old.alive, np.ones(len(rows), dtype=np.bool_)])
    return replace(old, size=size, seqs=numbers, alive=alive, columns=columns)


def _with_changed(old: Catalogue, rows: Sequence[tuple[Any, ...]]) -> Catalogue:
    if not rows:
        return old
    values, places = _values(rows), old.rows(row[0] for row in rows)
    columns = {name: column.copy() for name, column in old.columns.items()}
    for name, column in columns.items():
        column[places] = values[name]
    return replace(old, columns=columns)


def _values(rows: Sequence[tuple[Any, ...]]) -> dict[str, NDArray[Any]]:
    _, _, date, valid_to, expires_at, archived, trust, *coded = zip(*rows, strict=True)
    never = [[NEVER if moment is None else moment for moment in moments] for moments in (valid_to, expires_at)]
    values = dict(zip((name for name, _ in _COLUMNS), (date, *never, archived, trust), strict=True))
    for (name, names), words in zip(_NUMBERED.items(), coded, strict=True):
        numbers = {word: number for number, word in enumerate(names)}
        values[name] = [numbers[word] for word in words]
    return {name: np.asarray(values[name], dtype=kind) for name, kind in (*_COLUMNS, *_CODED)}


def extended(buffer: NDArray[Any], size: int, tail: NDArray[Any]) -> NDArray[Any]:
    """The buffer with a tail behind its first `size` entries, in place while there is room."""
    needed = size + len(tail)
    if needed > len(buffer):
        roomier = np.zeros((max(needed, 2 * len(buffer)), *buffer.shape[1:]), dtype=buffer.dtype)
        roomier[:size] = buffer[:size]
        buffer = roomier
    buffer[size:needed] = tail
    return buffer
