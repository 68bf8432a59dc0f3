"""Passages of long texts: read, and searched by their best one.

The cache holds the live passages of all versions in the order of their numbers. Numbers only grow, so a later search reads what
is new. A reader at an older snapshot uses the rows up to its own last number. Rows of memories that were forgotten stay until the
next full reading; no search sees them, because a filter is evaluated on what the store holds.
"""

import threading
from collections.abc import Sequence
from dataclasses import field, replace
from itertools import groupby, pairwise
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from thinkback.model import REFLECTION, Filter, Passages, Scored, StoredRecord, Vector
from thinkback.passages import Span
from thinkback.stores.sqlite.catalogue import Catalogue, Mask, retired
from thinkback.stores.sqlite.columns import extended
from thinkback.stores.sqlite.generations import STORED, Generation, generation
from thinkback.stores.sqlite.rows import COLUMNS, SOURCE, listed, to_record
from thinkback.stores.sqlite.vector_search import Asked, Questions, cosines, slack
from thinkback.values import dataclass

_CHUNK = 4096  # passages read at once
_FEW = 8  # if fewer than one in so many passes, those alone are multiplied
Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """Passages by number, of one generation; `places` holds number, version, first and last character of each."""

    generation: Generation
    removed_before: int
    size: int
    places: Numbers
    rows: Vector
    kept: dict[int, "Owners"] = field(default_factory=dict)  # by size
    questions: Questions = field(default_factory=Questions)

    def until(self, number: int) -> "Held":
        """The passages up to a number."""
        size = int(np.searchsorted(self.places[: self.size, 0], number, side="right"))
        return self if size == self.size else replace(self, size=size)

    @property
    def name(self) -> tuple[str, int, int]:
        """What is the same for the same passages of a state of the store."""
        return "passages", self.generation.number, int(self.places[self.size - 1, 0]) if self.size else 0

    def owners(self) -> "Owners":
        """Which version each passage belongs to."""
        found = self.kept.get(self.size)
        if found is None:
            self.kept.clear()  # without the inverse NumPy would import its masked arrays
            of_versions = np.unique(
                self.places[: self.size, 1], return_index=True, return_inverse=True, return_counts=True
            )
            found = self.kept[self.size] = Owners(*of_versions)
        return found

    def versions(self) -> Numbers:
        """The versions that have passages, in ascending order."""
        return self.owners().versions

    def of(self, versions: Numbers) -> list[Passages | None]:
        """The passages of versions; None of one that has none, or if only the file can tell which are the present ones."""
        places = np.searchsorted(self.owners().versions, versions).tolist()
        return list(map(self._of, versions.tolist(), places))

    def _of(self, version: int, place: int) -> Passages | None:
        """The passages of the version at a place among the owners, if they are the present ones: others lie apart or twice."""
        owners = self.owners()
        if place == len(owners.versions) or owners.versions[place] != version:
            return None
        first = int(owners.first[place])
        rows = slice(first, first + int(owners.counts[place]))
        places = self.places[rows].tolist()
        spans = tuple([Span(start, end) for _, owner, start, end in places if owner == version])
        if len(spans) < len(places) or not all(one.end <= other.start for one, other in pairwise(spans)):
            return None
        return Passages(spans, self.rows[rows])

    def rough(self, asked: Asked) -> Vector:
        """The product of each with the query, near enough."""
        last = asked.products
        if last is None or last[0] is not self.rows or last[1] != self.size:
            last = asked.products = (self.rows, self.size, np.vecdot(self.rows[: self.size], asked.query))
        return last[2]


@dataclass(frozen=True, slots=True, eq=False)
class Owners:
    """The versions that have passages, in ascending order, how many each has, and for every passage which of them it is of."""

    versions: Numbers
    first: NDArray[np.intp]  # row
    of: NDArray[np.intp]
    counts: NDArray[np.intp]


class PassageCache:
    """The passages that a process holds; checked against the file at every search."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: Held | None = None

    def at(self, connection: apsw.Connection) -> Held | None:
        """The live passages as the connection's transaction sees them; None if there are none."""
        last = connection.execute("SELECT max(number) FROM passages").get
        live = None if last is None else generation(connection)
        if live is None:
            return None
        removed_before = int(connection.execute("SELECT removed_before FROM counters").get)
        with self._lock:
            held = self._held
            if held is None or held.generation != live or held.removed_before != removed_before:
                held = Held(
                    live, removed_before, 0, np.zeros((0, 4), np.int64), np.zeros((0, live.space.dimensions), STORED)
                )
            if not held.size or held.places[held.size - 1, 0] < last:
                held = _read_on(connection, held)
            self._held = held
        return held.until(last)


def _read_on(connection: apsw.Connection, held: Held) -> Held:
    """With the passages written since."""
    known = int(held.places[held.size - 1, 0]) if held.size else 0
    sql = "SELECT number, seq, first, last, vector FROM passages WHERE number > ? AND generation = ? ORDER BY number LIMIT ?"
    dimensions, size, places, rows = held.generation.space.dimensions, held.size, held.places, held.rows
    while True:
        found: list[Any] = connection.execute(sql, (known, held.generation.number, _CHUNK)).fetchall()
        if not found:
            break
        flat = np.frombuffer(b"".join([row[4] for row in found]), dtype=STORED)
        places = extended(places, size, np.array([row[:4] for row in found], dtype=np.int64))
        rows = extended(rows, size, flat.reshape(len(found), dimensions))
        size, known = size + len(found), int(found[-1][0])
    return Held(held.generation, held.removed_before, size, places, rows)


def search(
    connection: apsw.Connection, catalogue: Catalogue, held: Held, vector: Vector, filter: Filter, limit: int
) -> list[Scored]:
    """Memories by their best passage, best first, ties by id; of equal passages the earlier one."""
    asked = held.questions.asked(vector, held.generation.space.dimensions)
    places, owners = held.places[: held.size], held.owners()
    passing = _passing(connection, catalogue, filter, held)
    count = int(np.count_nonzero(passing))
    if limit <= 0 or not count:
        return []
    rows = np.flatnonzero(passing[owners.of])
    few = len(rows) * _FEW < held.size and asked.products is None
    rough: Vector = np.vecdot(held.rows[rows], asked.query) if few else held.rough(asked)[rows]
    of, margin = owners.of[rows], slack(held.rows.shape[1])
    best = np.full(len(passing), -np.inf, dtype=np.float32)
    np.maximum.at(best, of, rough)
    floor = -np.inf if count <= limit else np.partition(best, len(best) - limit)[len(best) - limit] - margin
    rows = rows[rough >= np.maximum(best[of] - margin, floor)]
    exact = cosines(held.rows[rows], asked.query)
    order = np.lexsort((places[rows, 2], -exact))
    found: dict[int, tuple[float, Span]] = {}
    for place in order.tolist():
        _, seq, start, end = places[rows[place]].tolist()
        found.setdefault(seq, (float(exact[place]), Span(start, end)))
    ids = _ids(connection, catalogue, list(found))
    hits = [Scored(ids[seq], score, span) for seq, (score, span) in found.items()]
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]


def _passing(connection: apsw.Connection, catalogue: Catalogue, filter: Filter, held: Held) -> Mask:
    """Which of the versions that have passages pass a filter."""
    versions = held.versions()
    passing = np.zeros(len(versions), dtype=np.bool_)
    places, here = catalogue.find(versions)
    passing[here] = catalogue.mask(filter, connection)[places[here]]
    return passing if filter.known_at is None else passing | np.isin(versions, retired(connection, filter))


def _ids(connection: apsw.Connection, catalogue: Catalogue, seqs: Sequence[int]) -> dict[int, str]:
    """The ids of versions; the file tells those of versions that are no longer present."""
    places, here = catalogue.find(seqs)
    present = [seq for seq, is_here in zip(seqs, here.tolist(), strict=True) if is_here]
    found = dict(zip(present, catalogue.ids.of(places[here]), strict=True))
    if len(found) < len(seqs):
        sql = "SELECT m.seq, m.id FROM memories m WHERE m.seq IN (SELECT value FROM json_each(?))"
        found |= dict(connection.execute(sql, (listed([seq for seq in seqs if seq not in found]),)))
    return found


def at_hand(catalogue: Catalogue, held: Held, ids: Sequence[str]) -> dict[str, Passages]:
    """Live passages of those present memories that a search has found, without the file; both values are of one state."""
    rows = catalogue.present(ids)
    found = zip(rows, held.of(catalogue.seqs[list(rows.values())]), strict=True)
    return {id: passages for id, passages in found if passages is not None}


def of(connection: apsw.Connection, ids: Sequence[str]) -> dict[str, Passages]:
    """Live passages of present memories."""
    sql = (
        "SELECT m.id, p.first, p.last, p.vector FROM memories m JOIN passages p ON p.seq = m.seq "
        "JOIN generations g USING (generation) WHERE m.id IN (SELECT value FROM json_each(?)) "
        "AND m.retired_at IS NULL AND g.state = 'live' ORDER BY m.id, p.ordinal"
    )
    found = groupby(connection.execute(sql, (listed(ids),)), lambda row: row[0])
    return {id: _joined([row[1:] for row in rows]) for id, rows in found}


def of_version(connection: apsw.Connection, seq: int, made: Generation) -> Passages | None:
    """The passages of one version, if it has any."""
    sql = "SELECT first, last, vector FROM passages WHERE seq = ? AND generation = ? ORDER BY ordinal"
    rows: list[Any] = connection.execute(sql, (seq, made.number)).fetchall()
    return _joined(rows) if rows else None


def _joined(rows: Sequence[tuple[int, int, bytes]]) -> Passages:
    vectors = np.frombuffer(b"".join([row[2] for row in rows]), dtype=STORED).reshape(len(rows), -1)
    return Passages(tuple(Span(start, end) for start, end, _ in rows), vectors)


def unsplit(connection: apsw.Connection, longer_than: int, limit: int) -> dict[int, StoredRecord]:
    """Embedded versions with a long text and without passages, oldest first; reflections have none."""
    sql = (
        f"SELECT m.seq, {COLUMNS} FROM {SOURCE} WHERE m.embedded = 1 AND m.kind <> ? AND octet_length(m.text) > ? "
        "AND NOT EXISTS (SELECT 1 FROM passages p JOIN generations g USING (generation) "
        "WHERE p.seq = m.seq AND g.state = 'live') ORDER BY m.seq LIMIT ?"
    )
    return {row[0]: to_record(row[1:]) for row in connection.execute(sql, (REFLECTION, longer_than, limit))}
