"""Exact vector search over vectors in memory and codes in mapped files.

A float32 product, or one of codes, selects candidates with a margin for its error, so the result is exact. Candidates are scored
again in float64, row by row, so that a score depends on the two vectors alone, not on where they lie or on the processor.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from itertools import islice
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from thinkback.model import ApproximateIndex, Filter, Floats, Scored, Vector
from thinkback.stores.index.codes import Block, CodedQuery
from thinkback.stores.index.graphs import Graph
from thinkback.stores.sqlite.catalogue import Catalogue, Delta, Mask, Rows, extended, retired
from thinkback.stores.sqlite.generations import STORED, Generation, unit_rows
from thinkback.stores.sqlite.rows import listed

_ROUNDING = 2.0**-24  # relative error of one float32 operation
_LENGTH_ERROR = 2e-6  # how far a stored vector's length may be from 1, twice
_BLOCK = 64  # rows scored at once; the allocator returns larger blocks to the system after each search
_CHUNK = 4096  # vectors read at once
_LEAST_ROOM = 1024
_MOST_PASS = 2  # a graph is used if at least one row in so many passes the filter
_FEW = 8  # if fewer than one row in so many passes, gathering them is cheaper than multiplying all


_NO_ROWS: Rows = np.zeros(0, dtype=np.intp)
Read = Callable[[Rows], tuple[Rows, Vector]]  # the rows among these that have a vector in the file, and their vectors


class Estimates:
    """What the last query gave in whole blocks: the legs of one search ask for the same vector under different filters."""

    def __init__(self) -> None:
        self._last: tuple[bytes, CodedQuery, dict[int, tuple[Vector, Vector]]] | None = None

    def of(self, query: Vector) -> tuple[CodedQuery, dict[int, tuple[Vector, Vector]]]:
        """The codes of a query, and its estimates by the first row of a block, to be added to."""
        key, last = query.tobytes(), self._last
        if last is None or last[0] != key:
            last = self._last = (key, CodedQuery.of(query), {})
        return last[1], last[2]


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """The live vectors of the catalogue's rows: coded ones in mapped blocks, all others as they are, in memory.

    `own` names the rows of `vectors`; both have room at the end. `filled` are the rows that have a vector, `coded` those whose
    vector is in a block.
    """

    generation: Generation
    filled: Mask
    own: Rows
    vectors: Vector
    held: int  # how many of `own` and `vectors` count
    blocks: tuple[tuple[int, Block], ...] = ()  # each with its first row
    coded: Mask | None = None
    estimates: Estimates = field(default_factory=Estimates)
    graphs: tuple[Graph, ...] = ()

    def exactly(self) -> "Matrix":
        """The same without graphs."""
        return replace(self, graphs=()) if self.graphs else self

    def nearest(self, query: Vector, passing: Mask, limit: int, read: Read) -> tuple[Rows, Floats]:
        """The rows nearest to a unit query, including ties with the last one, and their cosines; unordered.

        Rows under a graph are those that it finds, unless the filter leaves few of them.
        """
        wanted = passing & self.filled
        if limit <= 0 or not wanted.any():
            return _NO_ROWS, np.zeros(0)
        head = Head(limit)
        self._look_in_memory(query, wanted, head)
        self._look_in_blocks(query, wanted, head)
        found, upper = head.rows()
        if len(found) <= limit:
            return self._scored(query, found, read)
        # The exact cosines of the most promising rows leave fewer of the others in reach than estimates do.
        order = np.argsort(-upper, kind="stable")
        rows, scores = self._scored(query, found[order[:limit]], read)
        floor = scores.min() if len(scores) == limit else -np.inf
        rest = order[limit:]
        more, others = self._scored(query, found[rest[upper[rest] >= floor]], read)
        return np.concatenate([rows, more]), np.concatenate([scores, others])

    def _scored(self, query: Vector, found: Rows, read: Read) -> tuple[Rows, Floats]:
        """Rows in memory, which are named by their complement, and coded ones, with their exact cosines."""
        places, coded = ~found[found < 0], found[found >= 0]
        rows, scores = self.own[places], cosines(self.vectors[places], query)
        if not len(coded):
            return rows, scores
        coded, exact = read(coded)
        return np.concatenate([rows, coded]), np.concatenate([scores, cosines(exact, query)])

    def _look_in_memory(self, query: Vector, wanted: Mask, head: "Head") -> None:
        # vecdot runs on one thread: a threaded product would wait for cores that other searches use.
        if not self.held:
            return
        passing = wanted[self.own[: self.held]]
        places = np.flatnonzero(passing)
        slack = np.float32(1.01 * self.vectors.shape[1] * _ROUNDING + _LENGTH_ERROR)
        if len(places) * _FEW < self.held:
            head.add(~places, np.vecdot(self.vectors[places], query), slack)
        elif len(places):
            products: Vector = np.vecdot(self.vectors[: self.held], query)
            head.add(~places, products if len(places) == self.held else products[places], slack)

    def _left_by_graphs(self, query: Vector, wanted: Mask, head: "Head") -> Rows:
        """The rows to look at: what the graphs find of theirs, and all that are under no graph."""
        found = []
        for graph in self.graphs:
            passing = int(np.count_nonzero(wanted[graph.first : graph.end]))
            if passing * _MOST_PASS < graph.end - graph.first:
                continue
            near = graph.near(query, -(-head.limit * (graph.end - graph.first) // passing))
            found.append(near[wanted[near]])
            wanted[graph.first : graph.end] = False
        return np.sort(np.concatenate([*found, np.flatnonzero(wanted)]))

    def _look_in_blocks(self, query: Vector, wanted: Mask, head: "Head") -> None:
        if self.coded is None:
            return
        rows = self._left_by_graphs(query, wanted & self.coded, head)
        if not len(rows):
            return
        coded, known = self.estimates.of(query)
        ends = np.searchsorted(rows, [first + len(block) for first, block in self.blocks])
        for (first, block), start, end in zip(self.blocks, [0, *ends[:-1]], ends, strict=True):
            here = rows[start:end]
            if not len(here):
                continue
            if first not in known and len(here) * _FEW < len(block):
                head.add(here, *block.bounds(coded, here - first))
                continue
            if first not in known:
                known[first] = block.bounds(coded)
            estimate, slack = known[first]
            if len(here) < len(block):
                estimate, slack = estimate[here - first], slack[here - first]
            head.add(here, estimate, slack)


class Head:
    """The rows that may be among the best so many, of estimates that are off by at most a slack."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._floor = -np.inf  # so many are at least this near
        self._best = np.zeros(0, dtype=np.float32)  # the lower bounds that the floor was taken from
        self._kept: list[tuple[Rows, Vector]] = []

    def add(self, rows: Rows, estimates: Vector, slack: Vector | np.float32) -> None:
        upper = estimates + slack
        near = np.flatnonzero(upper >= self._floor)
        upper = upper[near]
        self._kept.append((rows[near], upper))
        best = np.concatenate([self._best, upper - 2 * np.broadcast_to(slack, estimates.shape)[near]])
        if len(best) > self.limit:
            best = np.partition(best, len(best) - self.limit)[len(best) - self.limit :]
        self._best = best
        if len(best) == self.limit:
            self._floor = float(best.min())

    def rows(self) -> tuple[Rows, Vector]:
        """Those that are still in reach, and how near each may be at most."""
        near = [(rows[here], upper[here]) for rows, upper in self._kept for here in (upper >= self._floor,)]
        if not near:
            return _NO_ROWS, np.zeros(0, dtype=np.float32)
        return np.concatenate([rows for rows, _ in near]), np.concatenate([upper for _, upper in near])


def approximate(matrix: Matrix) -> ApproximateIndex | None:
    """The graphs of a matrix as one index; None without any."""
    if not matrix.graphs:
        return None
    names, rows = "".join(graph.name for graph in matrix.graphs), sum(g.end - g.first for g in matrix.graphs)
    recall = sum(graph.recall * (graph.end - graph.first) for graph in matrix.graphs) / rows
    return ApproximateIndex("hnsw", sha256(names.encode()).hexdigest()[:16], recall, rows)


def slack(dimensions: int) -> float:
    """By how much two rough products may mislead about which is larger."""
    return 2 * (1.01 * dimensions * _ROUNDING + _LENGTH_ERROR)


def cosines(rows: Vector, query: Vector) -> Floats:
    """The cosine of each row with the query in float64; each depends on its two vectors only."""
    target = query.astype(np.float64)
    blocks = [_cosines(rows[at : at + _BLOCK], target) for at in range(0, len(rows), _BLOCK)]
    return np.concatenate(blocks) if blocks else np.zeros(0)


def _cosines(rows: Vector, target: Floats) -> Floats:
    wide = rows.astype(np.float64)
    lengths = np.sqrt((wide * wide).sum(axis=1) * (target * target).sum())
    cosine: Floats = (wide * target).sum(axis=1) / lengths
    return cosine.clip(-1.0, 1.0)


def load(connection: apsw.Connection, generation: Generation, catalogue: Catalogue) -> Matrix:
    """Read every live vector of the catalogue's rows into memory."""
    dimensions = generation.space.dimensions
    # Room for later writes: untouched memory costs nothing, but moving all rows does.
    room = max(_LEAST_ROOM, catalogue.size // 4)
    vectors = np.zeros((catalogue.size + room, dimensions), dtype=STORED)
    own, held = np.zeros(len(vectors), dtype=np.intp), 0
    filled = np.zeros(catalogue.size, dtype=np.bool_)
    stored = connection.execute("SELECT seq, vector FROM vectors WHERE generation = ?", (generation.number,))
    while chunk := list(islice(stored, _CHUNK)):
        seqs, read = _unpacked(chunk, dimensions)
        places, here = catalogue.find(seqs)
        end = held + int(here.sum())
        vectors[held:end], own[held:end] = read[here], places[here]
        filled[places[here]], held = True, end
    return Matrix(generation, filled, own, vectors, held)


def follow(old: Matrix, connection: apsw.Connection, catalogue: Catalogue, delta: Delta) -> Matrix:
    """The matrix beside a newer catalogue; of a changed row the vector is taken from the file, as it may be new."""
    filled = _grown(old.filled, catalogue.size)
    coded = None if old.coded is None else _grown(old.coded, catalogue.size)
    seqs = catalogue.seqs[np.concatenate([delta.appended, delta.changed])].tolist()
    found, vectors = read_vectors(connection, seqs, old.generation)
    rows = catalogue.rows(found)
    known = filled[rows] if coded is None else filled[rows] & ~coded[rows]
    if not _holds(old, rows[known], vectors[known]):
        return load(connection, old.generation, catalogue)
    filled[rows] = True
    if coded is not None:
        coded[rows] = False
    own = extended(old.own, old.held, rows[~known])
    return replace(
        old,
        filled=filled,
        own=own,
        vectors=extended(old.vectors, old.held, vectors[~known]),
        held=old.held + len(rows) - int(known.sum()),
        coded=coded,
    )


def _grown(mask: Mask, size: int) -> Mask:
    return np.concatenate([mask, np.zeros(size - len(mask), dtype=np.bool_)])


def _holds(matrix: Matrix, rows: Rows, vectors: Vector) -> bool:
    """Whether these rows have these vectors in memory; only a repair writes the vector of a version anew."""
    if not len(rows):
        return True
    own = matrix.own[: matrix.held]
    order = np.argsort(own, kind="stable")
    places = order[np.searchsorted(own, rows, sorter=order)]
    return np.array_equal(matrix.vectors[places], vectors)


def read_vectors(
    connection: apsw.Connection, seqs: Sequence[int], generation: Generation
) -> tuple[NDArray[np.int64], Vector]:
    """The versions among these that have a vector, and their vectors as rows."""
    sql = (
        "SELECT seq, vector FROM vectors WHERE seq IN (SELECT value FROM json_each(?)) AND generation = ? ORDER BY seq"
    )
    found = connection.execute(sql, (listed(seqs), generation.number)).fetchall() if len(seqs) else []
    return _unpacked(found, generation.space.dimensions)


def _unpacked(found: Sequence[Any], dimensions: int) -> tuple[NDArray[np.int64], Vector]:
    seqs = np.array([seq for seq, _ in found], dtype=np.int64)
    flat = np.frombuffer(b"".join([blob for _, blob in found]), dtype=STORED)
    return seqs, flat.reshape(len(found), dimensions)


def search(
    connection: apsw.Connection,
    catalogue: Catalogue,
    matrix: Matrix,
    vector: Vector,
    filter: Filter,
    limit: int,
    without: NDArray[np.int64],
) -> list[Scored]:
    """The nearest memories but for some versions, best first, ties by id; retired versions are read from the file."""
    query = unit_rows([vector], matrix.generation.space.dimensions)[0]
    passing = catalogue.mask(filter, connection)
    past = retired(connection, filter)
    elsewhere = past[~np.isin(past, without)].tolist()
    if len(without):
        passing = passing.copy()
        passing[catalogue.rows(without)] = False
    rows, scores = matrix.nearest(query, passing, limit, partial(_exact, connection, catalogue, matrix.generation))
    if len(rows) > limit > 0 and not elsewhere:
        best = scores >= np.partition(scores, len(scores) - limit)[len(scores) - limit]
        rows, scores = rows[best], scores[best]
    hits = [Scored(catalogue.ids[row], score) for row, score in zip(rows.tolist(), scores.tolist(), strict=True)]
    if elsewhere:
        hits += _retired(connection, matrix, query, elsewhere)
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]


def _exact(
    connection: apsw.Connection, catalogue: Catalogue, generation: Generation, rows: Rows
) -> tuple[Rows, Vector]:
    """The vectors of coded rows, from the file."""
    found, vectors = read_vectors(connection, catalogue.seqs[rows].tolist() if len(rows) else [], generation)
    return catalogue.rows(found), vectors


def _retired(connection: apsw.Connection, matrix: Matrix, query: Vector, seqs: Sequence[int]) -> list[Scored]:
    found, rows = read_vectors(connection, seqs, matrix.generation)
    sql = "SELECT m.seq, m.id FROM memories m WHERE m.seq IN (SELECT value FROM json_each(?))"
    ids = dict(connection.execute(sql, (listed(found.tolist()),)))
    return [Scored(ids[seq], score) for seq, score in zip(found.tolist(), cosines(rows, query).tolist(), strict=True)]
