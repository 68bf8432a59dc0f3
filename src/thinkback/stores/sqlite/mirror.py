"""What a process keeps in memory of the file: derived, checked against the change counter at every search, never the truth."""

import threading
from dataclasses import dataclass, replace

import apsw

from thinkback.stores.sqlite import catalogue as catalogues
from thinkback.stores.sqlite import generations
from thinkback.stores.sqlite import impact as impacts
from thinkback.stores.sqlite import matrix as matrices
from thinkback.stores.sqlite.catalogue import Catalogue
from thinkback.stores.sqlite.impact import Impact
from thinkback.stores.sqlite.matrix import Matrix

_DEAD_KEPT = 1000  # rows of memories that are gone, before a mirror is made anew


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """One consistent state of the mirror; a part that no search has asked for yet is None."""

    catalogue: Catalogue
    matrix: Matrix | None = None
    impact: Impact | None = None


class Mirror:
    """Follows the file; readers get immutable views, so one may search while another brings the mirror up to date."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._view = View(Catalogue.empty())

    def view(self, connection: apsw.Connection) -> View:
        """The mirror as of the connection's transaction, which begins anew where another search has brought the mirror farther."""
        view = self._view
        if view.catalogue.changes == _counters(connection)[0]:
            return view
        with self._lock:
            self._meet(connection)
            return self._view

    def with_matrix(self, connection: apsw.Connection) -> View:
        """The view with the live vectors, or without a matrix when the store has none."""
        view = self.view(connection)
        live = generations.generation(connection)
        if live is None or (view.matrix is not None and view.matrix.generation == live):
            return view
        with self._lock:
            self._meet(connection)
            view, live = self._view, generations.generation(connection)
            if live is not None and (view.matrix is None or view.matrix.generation != live):
                self._view = view = replace(view, matrix=matrices.load(connection, live, view.catalogue))
            return view

    def with_impact(self, connection: apsw.Connection) -> View:
        """The view with the inverted index."""
        view = self.view(connection)
        if view.impact is not None:
            return view
        with self._lock:
            self._meet(connection)
            if self._view.impact is None:
                self._view = replace(self._view, impact=impacts.build(connection, self._view.catalogue))
            return self._view

    def _meet(self, connection: apsw.Connection) -> None:
        """Brings mirror and transaction to the same change count; the lock is held, so the mirror stays where it is."""
        if self._view.catalogue.changes > _counters(connection)[0]:
            connection.execute("ROLLBACK; BEGIN")  # nothing was read yet that depends on the older view
        changes, removed_before = _counters(connection)
        if self._view.catalogue.changes < changes:
            self._view = _followed(self._view, connection, changes, removed_before)


def _counters(connection: apsw.Connection) -> tuple[int, int]:
    changes, removed_before = next(connection.execute("SELECT changes, removed_before FROM counters"))
    return changes, removed_before


def _followed(old: View, connection: apsw.Connection, changes: int, removed_before: int) -> View:
    stale = 0 <= old.catalogue.changes < removed_before
    if stale or old.catalogue.dead > max(_DEAD_KEPT, old.catalogue.size // 2):
        return View(catalogues.read(connection, Catalogue.empty(), changes)[0])
    catalogue, delta = catalogues.read(connection, old.catalogue, changes)
    matrix = old.matrix
    if matrix is not None:
        live = generations.generation(connection)
        matrix = matrices.follow(matrix, connection, catalogue, delta) if matrix.generation == live else None
    impact = old.impact and impacts.follow(old.impact, connection, catalogue, delta)
    return View(catalogue, matrix, impact)
