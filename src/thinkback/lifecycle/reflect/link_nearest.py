"""Link each memory to its nearest neighbour: incrementally, and in steps that may be interrupted anywhere.

The setting `reflect.seen` records which memories were compared: a hash of each one's id and vector, whose last bit says whether
it has a link. After every step, all recorded memories are linked to their nearest neighbour among the recorded ones, so the next
run continues after an interruption; of two concurrent processes, the slower one starts again from what the other wrote. Many new
memories are linked through an index in a single step; an interrupted run builds the index again.
"""

import base64
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from thinkback.errors import MissingExtra, Notice
from thinkback.lifecycle.reflect import hnsw
from thinkback.lifecycle.reflect.model import Consolidation
from thinkback.lifecycle.reflect.nearest import BLOCK_ROWS, Neighbourhood, Rows
from thinkback.lifecycle.reflect.observations import SEEN, Observations
from thinkback.model import NEAREST, StoredEdge
from thinkback.stores.base import Store
from thinkback.values import dataclass

Progress = Callable[[int, int], None]
STEP = 16 * BLOCK_ROWS  # memories compared between two commits
INDEX_FROM = 100_000  # new memories; with fewer, comparing all pairs takes less processor time
_SLOW = f"all pairs were compared; an index, which is faster from {INDEX_FROM:,} new memories,"
_LINKED, _APART = np.uint64(1), np.uint64(0)
_CLOSE = 1e-9  # weights that differ by less are equal
Marks = NDArray[np.uint64]


class Overtaken(Exception):
    """Another process wrote links in the meantime; the run starts again from there."""


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """The nearest neighbours of all observations; they are current while `reflect.seen` holds `token`."""

    near: Neighbourhood
    made: int
    token: str | None
    warnings: tuple[Notice, ...] = ()

    def graph(self, ids: Sequence[str]) -> dict[str, dict[str, float]]:
        """The links as an undirected graph, weighted by cosine."""
        graph: dict[str, dict[str, float]] = {id: {} for id in ids}
        for row in np.flatnonzero(self.near.nearest >= 0).tolist():
            one, other = ids[row], ids[int(self.near.nearest[row])]
            graph[one][other] = graph[other][one] = float(self.near.cosine[row])
        return graph


class Linker:
    """One run over one snapshot of the store; a dry run writes nothing."""

    def __init__(self, store: Store, seen: Observations, settings: Consolidation, now: int, dry_run: bool) -> None:
        self._store, self._seen, self._settings, self._now, self._dry = store, seen, settings, now, dry_run
        self._near = Neighbourhood(seen.matrix, settings.link_at)
        self._marks = _marks(seen)
        self._links = dict(seen.links)  # as stored
        self._stray = list(seen.stray)
        self._token = seen.token

    def run(self, progress: Progress) -> Links:
        """Bring the link of every observation up to date; raises Overtaken."""
        known = self._unchanged()
        everyone = np.arange(len(self._seen.ids))
        todo = np.setdiff1d(everyone, known)
        many = len(todo) >= INDEX_FROM
        if many and hnsw.available():
            for rows, others in hnsw.candidates(self._near.matrix, todo, progress):
                self._near.compare_pairs(rows, others)
        else:
            self._compare(todo, known, progress)
        made = len(list(self._changed(self._seen.links)))
        self._commit(everyone)
        slow = many and not hnsw.available()
        return Links(self._near, made, self._token, (MissingExtra.of(_SLOW, "ann").notice(),) if slow else ())

    def _compare(self, todo: Rows, known: Rows, progress: Progress) -> None:
        for done in range(0, len(todo), BLOCK_ROWS):
            rows = todo[done : done + BLOCK_ROWS]
            self._near.compare_all(rows)
            self._near.compare(rows, known)
            known = np.union1d(known, rows)
            progress(done + len(rows), len(todo))
            if (done + BLOCK_ROWS) % STEP == 0:
                self._commit(known)

    def _unchanged(self) -> Rows:
        """Rows that an earlier run compared and whose link is still right; their neighbours are kept."""
        ids, near = self._seen.ids, self._near
        places = {id: row for row, id in enumerate(ids)}
        edges = [self._links.get(id) for id in ids]
        ends = np.array([-1 if edge is None else places.get(edge.to_id, -1) for edge in edges], dtype=np.intp)
        weights = np.array([0.0 if edge is None else edge.weight for edge in edges])
        linked = np.flatnonzero(ends >= 0)
        near.set_nearest(linked, ends[linked])
        right = (near.cosine >= near.at) & (np.abs(weights - self._settings.link_weight * near.cosine) < _CLOSE)
        consistent = right | np.array([edge is None for edge in edges], dtype=bool)
        before = _read(self._token, self._settings)
        settled = consistent & np.isin(self._marks | np.where(right, _LINKED, _APART), before)
        near.clear(np.flatnonzero(~settled))
        return np.flatnonzero(settled)

    def _commit(self, known: Rows) -> None:
        changed = list(self._changed(self._links))
        flags = np.where(self._near.nearest[known] >= 0, _LINKED, _APART)
        token = _spell(np.sort(self._marks[known] | flags), self._settings)
        if self._dry or not (changed or self._stray or token != self._token):
            return
        with self._store.transaction():
            if self._seen.overtaken(self._store, self._token):
                raise Overtaken
            self._write(changed)
            self._store.set_setting(SEEN, token)
        self._token = token

    def _changed(self, held: Mapping[str, StoredEdge]) -> Iterator[tuple[StoredEdge | None, StoredEdge | None]]:
        """Stored links beside the right ones, where they differ."""
        for row, id in enumerate(self._seen.ids):
            old, new = held.get(id), self._edge(row)
            if old is None and new is None:
                continue
            if old is None or new is None or old.to_id != new.to_id or abs(old.weight - new.weight) >= _CLOSE:
                yield old, new

    def _edge(self, row: int) -> StoredEdge | None:
        other = self._near.nearest[row]
        if other < 0:
            return None
        weight = self._settings.link_weight * float(self._near.cosine[row])
        ends = self._seen.ids[row], self._seen.ids[other]
        return StoredEdge(from_id=ends[0], to_id=ends[1], kind=NEAREST, weight=weight, created_at=self._now)

    def _write(self, changed: Sequence[tuple[StoredEdge | None, StoredEdge | None]]) -> None:
        replaced = [old for old, _ in changed if old is not None]
        for old in [*self._stray, *replaced]:
            self._store.unlink(old.from_id, old.to_id, NEAREST)
        self._stray = []
        for old in replaced:
            del self._links[old.from_id]
        new = [edge for _, edge in changed if edge is not None]
        there = self._store.get(list({id for edge in new for id in (edge.from_id, edge.to_id)}))
        # Memories forgotten since the snapshot are left out; the next run notices the missing link.
        new = [edge for edge in new if edge.from_id in there and edge.to_id in there]
        self._store.link(new, self._now)
        self._links.update((edge.from_id, edge) for edge in new)


def _marks(seen: Observations) -> Marks:
    """A hash of each observation's id and vector, with its last bit cleared."""
    digests = (
        hashlib.blake2b(id.encode() + b"\0" + row.tobytes(), digest_size=8).digest()
        for id, row in zip(seen.ids, seen.matrix, strict=True)
    )
    marks = np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)
    return marks & ~_LINKED


def _spell(marks: Marks, settings: Consolidation) -> str:
    return _terms(settings) + base64.b64encode(marks.astype("<u8").tobytes()).decode("ascii")


def _read(token: str | None, settings: Consolidation) -> Marks:
    """The marks of an earlier run; none if it used other settings."""
    if token is None or not token.startswith(_terms(settings)):
        return np.zeros(0, dtype=np.uint64)
    return np.frombuffer(base64.b64decode(token.removeprefix(_terms(settings))), dtype="<u8").astype(np.uint64)


def _terms(settings: Consolidation) -> str:
    return f"{settings.link_at!r} {settings.link_weight!r} "
