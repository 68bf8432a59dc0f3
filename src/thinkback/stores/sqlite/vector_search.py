"""Exact vector search over vectors in memory and codes in mapped files.

A float32 product, or one of codes, selects candidates with a margin for its error, so the result is exact. Candidates are scored
again in float64, row by row, so that a score depends on the two vectors alone, not on where they lie or on the processor.
"""

import math
from collections.abc import Sequence
from dataclasses import field
from functools import cached_property, partial
from hashlib import sha256
from typing import Any, Protocol

import apsw
import numpy as np
from numpy.typing import NDArray

from thinkback.model import UNIT_TOLERANCE, ApproximateIndex, Filter, Floats, Scored, Vector
from thinkback.stores.index.blocks import Blocks, Some
from thinkback.stores.index.codes import CodedQuery
from thinkback.stores.index.graphs import Graph, nearest
from thinkback.stores.index.reach import Part, most_promising, others_in_reach
from thinkback.stores.sqlite.catalogue import Catalogue, Mask, Rows, retired
from thinkback.stores.sqlite.generations import STORED, Generation, unit_rows
from thinkback.stores.sqlite.kept_vectors import KeptVectors, Read, products, squared
from thinkback.stores.sqlite.rows import listed
from thinkback.stores.sqlite.stored_vectors import read_rows, read_vectors
from thinkback.values import dataclass

_ROUNDING = 2.0**-24  # relative error of one float32 operation
_LENGTH_ERROR = 2e-6  # how far a stored vector's length may be from 1, twice
_MOST_PASS = 2  # a graph is used if at least one row in so many passes the filter
_DEVIATIONS = 3  # by which as many rows more are looked for in a graph as a filter may leave out by chance
_MASKS_KEPT = 8
_WORTH_A_LOOK = 8  # rows; fewer are read from the file as they are
_FEW = 8  # if fewer than one row in so many passes, gathering them is cheaper than multiplying all
_VERY_FEW = 4096  # rows; so many are looked at closely, and those of a filter are kept with their codes, 1.6 MB of 384 numbers each
_FEW_BESIDE_ALL = 512  # the same where the estimates of all rows are known, which cost nothing then
_READ_AS_THEY_ARE = 48  # rows; so many are not worth a look
_READ_OF_GRAPHS = 128  # the same of rows that graphs find


_NO_ROWS: Rows = np.zeros(0, dtype=np.intp)


class Asked:
    """A query, and what was computed of it; the legs of one search ask for the same vector under different filters."""

    def __init__(self, query: Vector, wide: Floats | None = None) -> None:
        self.query = query
        self.target = query.astype(np.float64) if wide is None else wide
        self.square = (self.target * self.target).sum()
        self.estimates: Vector | None = None  # of the rows in blocks
        self.products: tuple[Vector, int, Vector] | None = None  # with the first so many vectors in memory

    @cached_property
    def coded(self) -> CodedQuery:
        return CodedQuery.of(self.query)


class Questions:
    """The last query that was asked."""

    def __init__(self) -> None:
        self._last: tuple[bytes, Asked] | None = None

    def asked(self, vector: Vector, dimensions: int) -> Asked:
        """The query of a vector; InvalidInput if it cannot be one."""
        given = np.asarray(vector)
        key, last = given.dtype.str.encode() + given.tobytes(), self._last
        if last is None or last[0] != key or given.shape != last[1].query.shape:
            last = self._last = (key, _asked(given, dimensions))
        return last[1]


def _asked(given: NDArray[Any], dimensions: int) -> Asked:
    if given.dtype == STORED and given.shape == (dimensions,):
        wide = given.astype(np.float64)
        if abs(float(wide @ wide) - 1) <= UNIT_TOLERANCE:  # its length is nearer still, so it stays as it is
            return Asked(given, wide)
    return Asked(unit_rows([given], dimensions)[0])


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """The rows with a vector among those that pass a mask: which of the ones in memory, and which of the coded ones."""

    passing: Mask
    own: Mask
    owned: int  # how many of `own`
    coded: Mask | None  # None if they are few
    count: int  # how many of `coded`
    few: Some | None  # the rows of `coded`, if they are; kept with their codes if they are not too many for that


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """The live vectors of the catalogue's rows: coded ones in mapped blocks, all others as they are, in memory.

    `own` names the rows of `vectors`; both have room at the end. `filled` are the rows that have a vector, `coded` those whose
    vector is in a block; `kept` has those of them that were read from the file. Neither `kept` nor `questions` knows rows that
    changed or died since.
    """

    generation: Generation
    filled: Mask
    own: Rows
    vectors: Vector
    held: int  # how many of `own` and `vectors` count
    blocks: Blocks = field(default_factory=Blocks)
    coded: Mask | None = None
    kept: KeptVectors | None = None
    questions: Questions = field(default_factory=Questions)
    graphs: tuple[Graph, ...] = ()  # in order of their rows
    chosen: dict[int, Chosen] = field(default_factory=dict)  # by the identity of the mask, of the last masks

    def asked(self, vector: Vector) -> Asked:
        """The query of a vector; InvalidInput if it cannot be one."""
        return self.questions.asked(vector, self.generation.space.dimensions)

    def nearest(
        self, asked: Asked, passing: Mask, limit: int, read: Read, *, approximately: bool = False
    ) -> tuple[Rows, Floats]:
        """The rows nearest to a query, including ties with the last one, and their cosines; unordered.

        If that is enough, rows under a graph are those that it finds, unless the filter leaves few of them.
        """
        parts: list[Part] = []
        if limit > 0:
            chosen = self._chosen(passing)
            some = self._some_coded(asked, chosen, limit, approximately)
            few = _VERY_FEW if asked.estimates is None else _FEW_BESIDE_ALL
            if some is not None and len(some.rows) <= few and not chosen.owned:
                kept = some is chosen.few  # else gathering the codes takes as long as reading the vectors
                near = len(some.rows) <= (_READ_AS_THEY_ARE if kept else _READ_OF_GRAPHS)
                rows = some.rows if near else some.foremost(asked.coded, limit)
                return self._scored_from_file(asked, rows, read)
            parts = [*self._in_memory(asked, chosen), *self._in_blocks(asked, chosen, some)]
        if not parts:
            return _NO_ROWS, np.zeros(0)
        best = most_promising(parts, limit)
        rows, scores = self._scored(asked, best, read)
        if len(best) < limit:
            return rows, scores
        # Their exact cosines leave fewer of the others in reach than estimates would.
        floor = _at_rank(scores, limit) if len(scores) >= limit else -np.inf
        rest = self._in_reach(asked, others_in_reach(parts, floor, best), floor)
        if not len(rest):
            return rows, scores
        more, others = self._scored(asked, rest, read)
        return np.concatenate([rows, more]), np.concatenate([scores, others])

    def _in_reach(self, asked: Asked, rows: Rows, floor: float) -> Rows:
        """Those that may reach a floor by a second, closer look at codes, which costs less than reading vectors from the file."""
        own, coded = rows[rows < 0], rows[rows >= 0]
        if len(coded) < _WORTH_A_LOOK:
            return rows
        return np.concatenate([own, self.blocks.some(coded).reaching(asked.coded, floor)])

    def _scored(self, asked: Asked, found: Rows, read: Read) -> tuple[Rows, Floats]:
        """Rows in memory, which are named by their complement, and coded ones, with their exact cosines."""
        if self.kept is None:
            return self.own[~found], _of_vectors(self.vectors[~found], asked)
        if not self.held:
            return self._scored_from_file(asked, found, read)
        places, coded = ~found[found < 0], found[found >= 0]
        rows, scores = self._scored_from_file(asked, coded, read)
        own = _of_vectors(self.vectors[places], asked)
        return np.concatenate([self.own[places], rows]), np.concatenate([own, scores])

    def _scored_from_file(self, asked: Asked, found: Rows, read: Read) -> tuple[Rows, Floats]:
        assert self.kept is not None
        rows, vectors, squares = self.kept.get(found, read)
        return rows, _cosines(vectors, squares, asked)

    def _chosen(self, passing: Mask) -> Chosen:
        """The rows of a mask, which nobody writes to; legs and searches ask with the same masks."""
        found = self.chosen.get(id(passing))
        if found is None:
            places = self.own[: self.held]
            own = passing[places] & self.filled[places]
            few = self._few_coded(passing)
            if few is not None:
                found = Chosen(passing, own, int(np.count_nonzero(own)), None, len(few), self.blocks.some(few))
            else:
                coded = self._coded(passing)
                found = Chosen(passing, own, int(np.count_nonzero(own)), coded, int(np.count_nonzero(coded)), None)
            if len(self.chosen) >= _MASKS_KEPT:
                self.chosen.clear()
            self.chosen[id(passing)] = found
        return found

    def _coded(self, passing: Mask) -> Mask:
        wanted = passing & self.filled
        return wanted[: len(self.blocks)] if self.coded is None else (wanted & self.coded)[: len(self.blocks)]

    def _few_coded(self, passing: Mask) -> Rows | None:
        """The coded rows of a mask if few pass; no other row is looked at."""
        within = passing[: len(self.blocks)]
        if int(np.count_nonzero(within)) * _FEW >= len(within):
            return None
        rows = np.flatnonzero(within)
        rows = rows[self.filled[rows]]
        return rows if self.coded is None else rows[self.coded[rows]]

    def _in_memory(self, asked: Asked, chosen: Chosen) -> list[Part]:
        # vecdot runs on one thread: a threaded product would wait for cores that other searches use.
        if not chosen.owned:
            return []
        error = np.float32(slack(self.vectors.shape[1]) / 2)
        if chosen.owned * _FEW < self.held:
            places = np.flatnonzero(chosen.own)
            return [_alike(np.vecdot(self.vectors[places], asked.query), error, rows=places)]
        last = asked.products
        if last is None or last[0] is not self.vectors or last[1] != self.held:
            last = (self.vectors, self.held, np.vecdot(self.vectors[: self.held], asked.query))
            asked.products = last
        return [_alike(last[2], error, passing=None if chosen.owned == self.held else chosen.own)]

    def _some_coded(self, asked: Asked, chosen: Chosen, limit: int, approximately: bool) -> Some | None:
        """The coded rows that are looked at; None if it is all that pass."""
        if chosen.few is None and approximately and self.graphs and chosen.count:
            near = self._near_by_graphs(asked.query, chosen, limit)
            return None if near is None else self.blocks.some(near)
        if chosen.few is None or chosen.count <= _VERY_FEW:
            return chosen.few
        return self.blocks.some(chosen.few.rows)

    def _in_blocks(self, asked: Asked, chosen: Chosen, some: Some | None) -> list[Part]:
        if not chosen.count:
            return []
        query, most = asked.coded, self.blocks.most_off(asked.coded)
        if some is None:
            if asked.estimates is None:
                asked.estimates = self.blocks.estimates(query)
            passing = None if chosen.count == len(self.blocks) else chosen.coded
            return [Part(asked.estimates, partial(self.blocks.off, query), most, passing=passing)]
        rows = some.rows
        if not len(rows):
            return []
        known = some.estimates(query) if asked.estimates is None else asked.estimates[rows]
        return [Part(known, lambda places: self.blocks.off(query, rows[places]), most, rows)]

    def _near_by_graphs(self, query: Vector, chosen: Chosen, limit: int) -> Rows | None:
        """The nearest rows that the graphs find of theirs, and all that are under no graph.

        None if these are not few, or fewer than are wanted, as where a filter leaves out just what is near to the query.
        """
        wanted, first = chosen.coded, 0
        assert wanted is not None
        found: list[tuple[Rows, Vector]] = []
        others: list[Rows] = []
        for graph in self.graphs:
            others.append(_rows_from(wanted, first, graph.first))
            size, first = graph.end - graph.first, graph.end
            passing = size if chosen.count == len(wanted) else int(np.count_nonzero(wanted[graph.first : graph.end]))
            if passing * _MOST_PASS < size:
                others.append(_rows_from(wanted, graph.first, graph.end))
            else:
                near, far = graph.near(query, _surely(limit, passing / size))
                here = wanted[near]
                found.append((near[here], far[here]))
        others.append(_rows_from(wanted, first, len(wanted)))
        rows = np.sort(np.concatenate([nearest(found, limit) if found else _NO_ROWS, *others]))
        return rows if min(limit, chosen.count) <= len(rows) < len(wanted) / _FEW else None


def _surely(limit: int, share: float) -> int:
    """How many rows to look for so that, of a random share of them that passes, there are almost always enough."""
    return math.ceil((limit + _DEVIATIONS * math.sqrt(limit * (1 - share))) / share)


def _rows_from(wanted: Mask, first: int, end: int) -> Rows:
    """The rows of a mask within these."""
    return np.flatnonzero(wanted[first:end]) + first if first < end else _NO_ROWS


def _alike(values: Vector, error: np.float32, rows: Rows | None = None, passing: Mask | None = None) -> Part:
    """Estimates of rows in memory, which are named by their complement; all may be off by the same."""
    return Part(values, lambda _: np.asarray(error), float(error), rows, passing, flipped=True)


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


def _at_rank(scores: Floats, rank: int) -> float:
    """The score at a rank, counted from 1."""
    return float(np.partition(scores, len(scores) - rank)[len(scores) - rank])


def cosines(rows: Vector, query: Vector) -> Floats:
    """The cosine of each row with the query in float64; each depends on its two vectors only."""
    return _of_vectors(rows, Asked(query))


def _of_vectors(rows: Vector, asked: Asked) -> Floats:
    return _cosines(rows, squared(rows), asked)


def _cosines(rows: Vector, squares: Floats, asked: Asked) -> Floats:
    found: Floats = products(rows, asked.target) / np.sqrt(squares * asked.square)
    return found.clip(-1.0, 1.0)


class Without(Protocol):
    """Versions that a search leaves out; the name is the same for the same versions of a state of the store."""

    @property
    def name(self) -> tuple[str, int, int]: ...
    def versions(self) -> NDArray[np.int64]: ...


def search(
    connection: apsw.Connection,
    catalogue: Catalogue,
    matrix: Matrix,
    vector: Vector,
    filter: Filter,
    limit: int,
    without: Without | None = None,
    *,
    approximately: bool = False,
) -> list[Scored]:
    """The nearest memories but for some versions, best first, ties by id; retired versions are read from the file."""
    asked = matrix.asked(vector)
    passing = catalogue.mask(filter, connection)
    elsewhere = retired(connection, filter)
    if without is not None:
        passing = passing & catalogue.kept(without.name, lambda: catalogue.others(without.versions()))
        elsewhere = elsewhere[~np.isin(elsewhere, without.versions())]
    read = partial(read_rows, connection, catalogue, matrix.generation)
    rows, scores = matrix.nearest(asked, passing, limit, read, approximately=approximately)
    if len(rows) > limit > 0 and not len(elsewhere):
        best = scores >= _at_rank(scores, limit)
        rows, scores = rows[best], scores[best]
    hits = catalogue.best(rows, scores, limit)
    if len(elsewhere):
        hits += _retired(connection, matrix, asked.query, elsewhere.tolist())
        hits.sort(key=lambda hit: (-hit.score, hit.id))
    return hits[: max(limit, 0)]


def _retired(connection: apsw.Connection, matrix: Matrix, query: Vector, seqs: Sequence[int]) -> list[Scored]:
    found, rows = read_vectors(connection, seqs, matrix.generation)
    sql = "SELECT m.seq, m.id FROM memories m WHERE m.seq IN (SELECT value FROM json_each(?))"
    ids = dict(connection.execute(sql, (listed(found.tolist()),)))
    return [Scored(ids[seq], score) for seq, score in zip(found.tolist(), cosines(rows, query).tolist(), strict=True)]
