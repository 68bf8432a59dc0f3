"""Indexes that a process keeps in memory: derived from the file and checked against its change counter at every search."""

import threading
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import apsw
import numpy as np

from thinkback.errors import StoreConflict
from thinkback.stores.index.folder import Entry
from thinkback.stores.index.graphs import Graph
from thinkback.stores.sqlite import catalogue as catalogues
from thinkback.stores.sqlite import generations, matrices
from thinkback.stores.sqlite import impact as impacts
from thinkback.stores.sqlite.catalogue import Catalogue
from thinkback.stores.sqlite.impact import Impact
from thinkback.stores.sqlite.vector_search import Matrix
from thinkback.values import dataclass

if TYPE_CHECKING:
    from thinkback.stores.sqlite.derived import DerivedIndex

_DEAD_KEPT = 1000  # rows of removed memories before the indexes are built again


@dataclass(frozen=True, slots=True)
class Mapped:
    """The segments that the first rows of a view are read from, and which of these rows are no longer as they are there."""

    entries: tuple[Entry, ...] = ()
    dirty: frozenset[int] = frozenset()

    @property
    def rows(self) -> int:
        return sum(entry.rows for entry in self.entries)

    def touched(self, rows: Iterable[int]) -> "Mapped":
        return replace(self, dirty=self.dirty.union(rows))


NOT_MAPPED = Mapped()


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """One consistent state of the indexes; one that no search has needed yet is None."""

    catalogue: Catalogue
    matrix: Matrix | None = None
    impact: Impact | None = None
    mapped: Mapped = NOT_MAPPED

    @property
    def unsaved(self) -> int:
        """How many rows stand in memory that could be in mapped files."""
        return self.catalogue.size - self.mapped.rows + len(self.mapped.dirty)


class IndexCache:
    """Indexes that follow the file. Readers get immutable views, so a search may run while another thread updates them."""

    def __init__(self, derived: "DerivedIndex | None" = None) -> None:
        self._lock = threading.Lock()
        self._derived = derived
        self._view = View(Catalogue.empty())

    @property
    def latest(self) -> View:
        """The view of the last search, whatever was written since."""
        return self._view

    def replace(self, old: View, new: View) -> None:
        """Go on from a view that was read from the files of another one.

        If the store was read again since, the next search follows from the files, which costs as much as what was written since;
        else a store that is written all the time would never let go of its copy in memory, and write the files again and again.
        """
        with self._lock:
            if self._view is old or self._still_there(new):
                self._view = new

    def _still_there(self, view: View) -> bool:
        """Whether no forgetting has removed a file of a view."""
        return self._derived is not None and _files(view).issubset(self._derived.files())

    def unmap(self) -> None:
        """Let go of files that are no longer in the derived index: go on without the rows that it lost, or read it again."""
        if self._derived is None:
            return
        with self._lock:
            if not self._still_there(self._view):
                self._view = self._derived.purged(self._view) or View(Catalogue.empty())

    def linked(self, old: Matrix, graphs: tuple[Graph, ...]) -> None:
        """Give the matrix its graphs, and those that followed from it meanwhile."""
        with self._lock:
            matrix = self._view.matrix
            if matrix is not None and matrix.blocks is old.blocks:
                self._view = replace(self._view, matrix=replace(matrix, graphs=graphs))

    def view(self, connection: apsw.Connection, pinned: int | None = None) -> View:
        """The view at the change count of the connection's transaction.

        A transaction that the cache is ahead of restarts; a pinned one, whose change count is given, cannot, and raises
        StoreConflict.
        """
        view = self._view
        if view.catalogue.changes == (_counters(connection)[0] if pinned is None else pinned):
            return view
        with self._lock:
            self._synchronise(connection, pinned)
            return self._view

    def with_matrix(self, connection: apsw.Connection, pinned: int | None = None) -> View:
        """The view with the live vectors, or without a matrix when the store has none."""
        view = self.view(connection, pinned)
        live = _live(view, connection)
        if live is None or (view.matrix is not None and view.matrix.generation == live):
            return view
        with self._lock:
            self._synchronise(connection, pinned)
            view, live = self._view, _live(self._view, connection)
            if live is not None and (view.matrix is None or view.matrix.generation != live):
                self._view = view = replace(view, matrix=matrices.load(connection, live, view.catalogue))
            return view

    def with_impact(self, connection: apsw.Connection, pinned: int | None = None) -> View:
        """The view with the inverted index."""
        view = self.view(connection, pinned)
        if view.impact is not None:
            return view
        with self._lock:
            self._synchronise(connection, pinned)
            if self._view.impact is None:
                self._view = replace(self._view, impact=impacts.build(connection, self._view.catalogue))
            return self._view

    def whole(self, connection: apsw.Connection) -> View:
        """The view with the inverted index; one that no search has asked for yet is read beside them, and not kept."""
        view = self.view(connection)
        return view if view.impact is not None else replace(view, impact=impacts.build(connection, view.catalogue))

    def _synchronise(self, connection: apsw.Connection, pinned: int | None) -> None:
        """Bring cache and transaction to the same change count; the caller holds the lock, so the cache stays there."""
        if self._view.catalogue.changes > _counters(connection)[0]:
            if pinned is not None:
                raise StoreConflict("the store was written while this view of it was read")
            connection.execute("ROLLBACK; BEGIN")  # nothing that depends on the older snapshot was read yet
        changes, removed_before = _counters(connection)
        if _outdated(self._view.catalogue, removed_before):
            self._view = View(Catalogue.empty())
        if self._view.catalogue.changes < 0 and self._derived is not None:
            self._view = self._derived.load(connection) or self._view
        if self._view.catalogue.changes < changes:
            self._view = _updated(self._view, connection, changes)


def _files(view: View) -> set[str]:
    """The files that a view is read from."""
    graphs = () if view.matrix is None else view.matrix.graphs
    return {entry.file for entry in view.mapped.entries} | {graph.name for graph in graphs}


def _live(view: View, connection: apsw.Connection) -> generations.Generation | None:
    """The generation that is searched at the state of a view."""
    return view.catalogue.fact("live", lambda: generations.generation(connection))


def _counters(connection: apsw.Connection) -> tuple[int, int]:
    changes, removed_before = next(connection.execute("SELECT changes, removed_before FROM counters"))
    return changes, removed_before


def _outdated(catalogue: Catalogue, removed_before: int) -> bool:
    """Whether it cannot be followed from, or holds too many removed rows."""
    return 0 <= catalogue.changes < removed_before or catalogue.dead > max(_DEAD_KEPT, catalogue.size // 2)


def _updated(old: View, connection: apsw.Connection, changes: int) -> View:
    catalogue, delta = catalogues.read(connection, old.catalogue, changes)
    matrix = old.matrix
    if matrix is not None:
        live = generations.generation(connection)
        matrix = matrices.follow(matrix, connection, catalogue, delta) if matrix.generation == live else None
    impact = old.impact and impacts.follow(old.impact, connection, catalogue, delta)
    touched = np.concatenate([delta.changed, delta.died])
    return View(catalogue, matrix, impact, old.mapped.touched(touched[touched < old.mapped.rows].tolist()))
