"""The derived index of a store file, in a folder beside it: read at the first search of a process, written in the background.

It holds what `index_cache` keeps in memory, in immutable segments of rows that are mapped: columns, ids, vector codes and postings.
The file is the truth: a segment is used only if it belongs to this store and to a state that the file has gone through, and
whatever changed since is read from the file. A segment with rows that changed or died is dirty, and the next writing replaces it.
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import apsw
import numpy as np
from numpy.typing import NDArray

from thinkback.errors import StoreError, ThinkbackError
from thinkback.stores.index import graphs
from thinkback.stores.index.folder import MANIFEST, Arrays, Entry, Folder, Link, Manifest, Unusable
from thinkback.stores.index.graphs import Graph
from thinkback.stores.sqlite import counters, generations, journal, mapped_view, segment_files
from thinkback.stores.sqlite.catalogue import integers
from thinkback.stores.sqlite.generations import STORED
from thinkback.stores.sqlite.index_cache import NOT_MAPPED, IndexCache, View
from thinkback.stores.sqlite.segment_files import Reading
from thinkback.stores.sqlite.vector_search import Matrix

Mark = Callable[[str, str], None]
NONCE = "index.nonce"
GRAPH_SEGMENTS = 16  # that one graph is over: few graphs to search, and not too much to build anew after a forgetting
_READ_AT_ONCE = 4096
PAYS_FROM = 4096  # rows in memory only; fewer are read from the file in a moment


class DerivedIndex:
    """Loads, writes and purges the index of one store; everything that fails leaves the store working without it.

    `mark` writes a setting of the store: the index is valid only for files that hold its nonce, so not for an older copy that is
    put in the place of the file.
    """

    def __init__(self, path: Path, read_only: bool, mark: Mark) -> None:
        self.folder = Folder(path)
        self._mark = mark
        self._read_only = read_only
        self._lock = threading.Lock()
        self._writing: threading.Thread | None = None
        self._failed = False
        self._closing = False
        self._held: dict[str, Arrays] = {}  # segments that are mapped
        self._purged: tuple[tuple[Entry, ...], tuple[Entry, ...]] = (), ()  # before and after the last purge, in pairs

    @property
    def exists(self) -> bool:
        """Whether there is an index, which may turn out to be unusable."""
        return (self.folder.path / MANIFEST).exists()

    def load(self, connection: apsw.Connection) -> View | None:
        """The view of the state the index was written at; None if there is no index that can be used."""
        try:
            manifest = self._usable(connection)
            return self._opened(manifest, generations.generation(connection))
        except (Unusable, KeyError, ValueError):
            return None

    def _usable(self, connection: apsw.Connection) -> Manifest:
        manifest, state = self.folder.manifest(), counters.state(connection)
        (removed_before,) = next(connection.execute("SELECT removed_before FROM counters"))
        mine = (manifest.store_id, manifest.nonce) == (state.store_id, journal.setting(connection, NONCE))
        if not mine or not removed_before <= manifest.changes <= state.changes:
            raise Unusable("the index belongs to another store, or to a state that cannot be followed from")
        return manifest

    def write_soon(self, indexes: IndexCache, read: Reading) -> None:
        """Write what a search has read in the background, so that the next process does not read it again.

        Postings that no search needed yet are read for that: a program that asks one question a process shall have an index, too.
        """
        if not (self._read_only or self._failed or self._closing):
            # No daemon: a program that ends without closing the store waits for it, too.
            self._begin("thinkback-index", partial(self._write, indexes, read), daemon=False)

    def _begin(self, name: str, task: Callable[[], None], *, daemon: bool) -> None:
        with self._lock:
            if not self.busy:
                self._writing = threading.Thread(target=task, name=name, daemon=daemon)
                self._writing.start()

    @property
    def busy(self) -> bool:
        """Whether files are being written."""
        return self._writing is not None and self._writing.is_alive()

    def wait(self) -> None:
        """Wait until a writing in progress is done."""
        if self._writing is not None and self._writing is not threading.current_thread():
            self._writing.join()

    def close(self) -> None:
        """Give up a graph that is being built, and wait for a writing in progress."""
        self._closing = True
        self.wait()

    def _write(self, indexes: IndexCache, read: Reading) -> None:
        try:
            with self.folder.locked(wait=False) as mine:
                if not mine:
                    return  # another process is at it
            with read() as connection:
                held, live = indexes.view(connection), generations.generation(connection)
                if held.unsaved < PAYS_FROM:
                    return
                found = self._of_another(held, connection)
                view, store_id = found or indexes.whole(connection), counters.state(connection).store_id
            if found is None:
                with self.folder.locked(wait=False) as mine:
                    if not mine:
                        return
                    with read() as connection:  # from here on a forgetting waits for the lock to purge what is written
                        if _removed_since(view.catalogue.changes, connection):
                            return
                        found = self._of_another(held, connection)  # written while this one read
                    found = found or self._published(view, store_id, live, read)
            indexes.replace(held, found)
        except (OSError, Unusable, KeyError, MemoryError, ImportError, ThinkbackError):  # a full disk, a closed store
            self._failed = True

    def _of_another(self, held: View, connection: apsw.Connection) -> View | None:
        """What another process has written since, if it has more rows than those mapped here, or has removed their files."""
        with suppress(Unusable):
            manifest = self._usable(connection)
            more = sum(entry.rows for entry in manifest.segments) > held.mapped.rows
            if more or not set(held.mapped.entries).issubset(manifest.segments):
                return self.load(connection)
        return None

    def _published(self, view: View, store_id: str, live: generations.Generation | None, read: Reading) -> View:
        """Write a view, and read it from the files; the lock is held, so none that the view is made of goes meanwhile."""
        if not {entry.file for entry in view.mapped.entries}.issubset(self.files()):
            view = replace(view, mapped=NOT_MAPPED)  # another process removed some; here they are still mapped
        entries = segment_files.write(self.folder, view, live, read)
        changes, number = view.catalogue.changes, None if live is None else live.number
        manifest = Manifest(store_id, self._new_nonce(), changes, changes, number, graphs=self._graphs(number))
        self.folder.publish(manifest.of(entries))
        return self._opened(manifest.of(entries), live)

    def _graphs(self, generation: int | None) -> tuple[Link, ...]:
        """Those there are, of this generation of vectors."""
        with suppress(Unusable):
            manifest = self.folder.manifest()
            return manifest.graphs if manifest.generation == generation else ()
        return ()

    def _opened(self, manifest: Manifest, live: generations.Generation | None) -> View:
        # What is mapped already was verified then.
        self._held = {one.file: self._held.get(one.file) or self.folder.open(one) for one in manifest.segments}
        view = mapped_view.opened(manifest, list(self._held.values()), live)
        if view.matrix is None or not manifest.graphs:
            return view
        return replace(view, matrix=replace(view.matrix, graphs=self._mapped_graphs(manifest)))

    def _mapped_graphs(self, manifest: Manifest) -> tuple[Graph, ...]:
        files = [entry.file for entry in manifest.segments]
        firsts = np.cumsum([0, *(entry.rows for entry in manifest.segments)]).tolist()
        found = []
        for link in manifest.graphs:
            place = files.index(link.over[0])
            bounds = firsts[place], firsts[place + len(link.over)]
            if tuple(files[place : place + len(link.over)]) == link.over:
                arrays = self.folder.open(link.entry)
                found.append(Graph(link.entry.file, *bounds, link.expansion, link.recall, arrays))
        return tuple(sorted(found, key=lambda graph: graph.first))

    def link_soon(self, view: View, indexes: IndexCache, read: Reading) -> None:
        """Build graphs over segments that have none, in the background."""
        if self._read_only or self._failed or self._closing or view.matrix is None or not view.mapped.entries:
            return
        if sum(graph.end - graph.first for graph in view.matrix.graphs) < view.mapped.rows:
            self._begin("thinkback-graph", partial(self._link, view, view.matrix, indexes, read), daemon=True)

    def _link(self, view: View, matrix: Matrix, indexes: IndexCache, read: Reading) -> None:
        try:
            for over in _unlinked(self.folder.manifest()):
                made = self._built(over, matrix, read)
                if made is None:
                    return
                with self.folder.locked():  # only now: a forgetting must not wait for a graph
                    self._publish_graph(over, *made)
            with self.folder.locked():
                manifest = self.folder.manifest()
                found = self._mapped_graphs(manifest) if manifest.segments == view.mapped.entries else ()
            indexes.linked(matrix, found)
        except (OSError, Unusable, MemoryError, ImportError, ThinkbackError, ValueError):
            self._failed = True

    def _publish_graph(self, over: Sequence[Entry], arrays: Arrays, expansion: int, recall: float) -> None:
        manifest = self.folder.manifest()
        if set(manifest.segments).issuperset(over):  # else a memory was forgotten meanwhile
            link = Link(self.folder.write(arrays), tuple(one.file for one in over), expansion, recall)
            self.folder.publish(replace(manifest, graphs=(*manifest.graphs, link)))

    def _built(self, over: Sequence[Entry], matrix: Matrix, read: Reading) -> tuple[Arrays, int, float] | None:
        seqs = np.concatenate([self.folder.open(entry)["seqs"] for entry in over])
        vectors = np.zeros((len(seqs), matrix.vectors.shape[1]), dtype=STORED)
        for at in range(0, len(seqs), _READ_AT_ONCE):
            found, some = segment_files.exact(seqs[at : at + _READ_AT_ONCE], matrix.generation, read)
            vectors[np.searchsorted(seqs, found)] = some
        made = graphs.build(vectors, lambda: self._closing)
        return None if made is None else (made[0] | {"seqs": seqs[[0, -1]]}, *made[1:])

    def purge(self, connection: apsw.Connection) -> bool:
        """Write those segments anew that hold a removed memory; False if that is not possible now."""
        if not self.folder.path.is_dir():
            return True
        if threading.current_thread() is self._writing:  # which holds the lock
            return False
        try:
            with self.folder.locked():
                self._purge(connection)
        except (OSError, ImportError, StoreError):
            return False
        return True

    def _purge(self, connection: apsw.Connection) -> None:
        try:
            manifest = self._usable(connection)
            gone = integers(connection, "SELECT seq FROM removed WHERE changed > ? ORDER BY seq", (manifest.purged,))
            segments = tuple(self._without(entry, gone) for entry in manifest.segments)
        except (Unusable, KeyError):
            self.folder.remove()
            return
        if segments == manifest.segments:
            return
        purged, left = counters.state(connection).changes, tuple(one for one in segments if one.rows)
        self.folder.publish(replace(manifest, nonce=self._new_nonce(), purged=purged).of(left))
        self._held = {one.file: self._held[one.file] for one in left if one.file in self._held}
        self._purged = manifest.segments, segments

    def purged(self, view: View) -> View | None:
        """A view without what the last purge took out of its segments; None if it has to be read again."""
        before, after = self._purged
        if not after or view.mapped.entries != before:
            return None
        try:
            left = [one for one in after if one.rows]
            self._held = {one.file: self._held.get(one.file) or self.folder.open(one) for one in left}
            return mapped_view.without(view, after, self._held, self.files())
        except (Unusable, KeyError, ValueError):
            return None

    def files(self) -> frozenset[str]:
        """The files of the index as it is."""
        with suppress(Unusable):
            manifest = self.folder.manifest()
            return frozenset(one.file for one in (*manifest.segments, *(link.entry for link in manifest.graphs)))
        return frozenset()

    def _new_nonce(self) -> str:
        nonce = os.urandom(8).hex()
        self._mark(NONCE, nonce)
        return nonce

    def _without(self, entry: Entry, gone: NDArray[np.int64]) -> Entry:
        if gone.searchsorted(entry.first) == gone.searchsorted(entry.last, side="right"):
            return entry
        arrays = self._held.get(entry.file) or self.folder.open(entry)
        keep = ~np.isin(arrays["seqs"], gone)
        return entry if keep.all() else self.folder.write(segment_files.only(arrays, keep))


def _unlinked(manifest: Manifest) -> Iterator[Sequence[Entry]]:
    """Neighbouring segments that no graph is over, as many as one graph takes."""
    taken, group = {file for link in manifest.graphs for file in link.over}, list[Entry]()
    for entry in manifest.segments:
        if group and (entry.file in taken or len(group) == GRAPH_SEGMENTS):
            yield group
            group = []
        if entry.file not in taken:
            group.append(entry)
    if group:
        yield group


def _removed_since(changes: int, connection: apsw.Connection) -> bool:
    """Whether a memory was forgotten since."""
    sql = "SELECT removed_before > ?1 OR EXISTS (SELECT 1 FROM removed WHERE changed > ?1) FROM counters"
    return bool(connection.execute(sql, (changes,)).get)


def folder_of(path: str) -> Path:
    """Where the index of a store lies."""
    return Path(f"{path}-index")


def discard(path: str) -> None:
    """Remove the index of a store that is gone."""
    with suppress(OSError):
        Folder(folder_of(path)).destroy()
