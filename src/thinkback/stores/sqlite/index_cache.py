"""Indexes that a process keeps in memory: derived from the file and checked against its change counter at every search."""

import threading
from dataclasses import dataclass, replace

import apsw

from thinkback.errors import StoreConflict
from thinkback.stores.sqlite import catalogue as catalogues
from thinkback.stores.sqlite import generations, vector_search
from thinkback.stores.sqlite import impact as impacts
from thinkback.stores.sqlite.catalogue import Catalogue
from thinkback.stores.sqlite.impact import Impact
from thinkback.stores.sqlite.vector_search import Matrix

_DEAD_KEPT = 1000  # rows of removed memories before the indexes are built again


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """One consistent state of the indexes; one that no search has needed yet is None."""

    catalogue: Catalogue
    matrix: Matrix | None = None
    impact: Impact | None = None


class IndexCache:
    """Indexes that follow the file. Readers get immutable views, so a search may run while another thread updates them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._view = View(Catalogue.empty())

    def view(self, connection: apsw.Connection, pinned: bool = False) -> View:
        """The view at the change count of the connection's transaction.

        A transaction that the cache is ahead of restarts; a pinned one cannot, and raises StoreConflict.
        """
        view = self._view
        if view.catalogue.changes == _counters(connection)[0]:
            return view
        with self._lock:
            self._synchronise(connection, pinned)
            return self._view

    def with_matrix(self, connection: apsw.Connection, pinned: bool = False) -> View:
        """The view with the live vectors, or without a matrix when the store has none."""
        view = self.view(connection, pinned)
        live = generations.generation(connection)
        if live is None or (view.matrix is not None and view.matrix.generation == live):
            return view
        with self._lock:
            self._synchronise(connection, pinned)
            view, live = self._view, generations.generation(connection)
            if live is not None and (view.matrix is None or view.matrix.generation != live):
                self._view = view = replace(view, matrix=vector_search.load(connection, live, view.catalogue))
            return view

    def with_impact(self, connection: apsw.Connection, pinned: bool = False) -> View:
        """The view with the inverted index."""
        view = self.view(connection, pinned)
        if view.impact is not None:
            return view
        with self._lock:
            self._synchronise(connection, pinned)
            if self._view.impact is None:
                self._view = replace(self._view, impact=impacts.build(connection, self._view.catalogue))
            return self._view

    def _synchronise(self, connection: apsw.Connection, pinned: bool) -> None:
        """Bring cache and transaction to the same change count; the caller holds the lock, so the cache stays there."""
        if self._view.catalogue.changes > _counters(connection)[0]:
            if pinned:
                raise StoreConflict("the store was written while this view of it was read")
            connection.execute("ROLLBACK; BEGIN")  # nothing that depends on the older snapshot was read yet
        changes, removed_before = _counters(connection)
        if self._view.catalogue.changes < changes:
            self._view = _updated(self._view, connection, changes, removed_before)


def _counters(connection: apsw.Connection) -> tuple[int, int]:
    changes, removed_before = next(connection.execute("SELECT changes, removed_before FROM counters"))
    return changes, removed_before


def _updated(old: View, connection: apsw.Connection, changes: int, removed_before: int) -> View:
    stale = 0 <= old.catalogue.changes < removed_before
    if stale or old.catalogue.dead > max(_DEAD_KEPT, old.catalogue.size // 2):
        return View(catalogues.read(connection, Catalogue.empty(), changes)[0])
    catalogue, delta = catalogues.read(connection, old.catalogue, changes)
    matrix = old.matrix
    if matrix is not None:
        live = generations.generation(connection)
        matrix = vector_search.follow(matrix, connection, catalogue, delta) if matrix.generation == live else None
    impact = old.impact and impacts.follow(old.impact, connection, catalogue, delta)
    return View(catalogue, matrix, impact)
