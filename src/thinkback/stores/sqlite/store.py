"""SqliteStore: the Store protocol over one SQLite file; each method runs a function of one module in a transaction."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, TypeVar

import apsw

from thinkback.errors import StoreDamaged
from thinkback.ids import Entropy, IdSource
from thinkback.inputs import validate
from thinkback.model import (
    SEQUENCE,
    Access,
    ApproximateIndex,
    Draft,
    Filter,
    KeywordQuery,
    KeywordTerm,
    Passages,
    StoredEdge,
    StoredEntry,
    StoredJudgement,
    StoredRecord,
    Vector,
)
from thinkback.stores.base import (
    DEFAULT_SPACE,
    PENDING_SCRUB,
    SPACE_NAME,
    Counts,
    Edges,
    EmbeddingSpace,
    FileScan,
    Ids,
    Journal,
    Judgements,
    Problems,
    Records,
    Scores,
    Snapshot,
    StoreState,
    check_space,
    unknown_space,
)
from thinkback.stores.index import graphs
from thinkback.stores.record_cache import RecordCache
from thinkback.stores.sqlite import (
    accesses,
    counters,
    generations,
    journal,
    keywords,
    links,
    passages,
    reads,
    scrub,
    vector_search,
    writes,
)
from thinkback.stores.sqlite.catalogue import Catalogue
from thinkback.stores.sqlite.connection import Connections, PinnedConnection
from thinkback.stores.sqlite.derived import PAYS_FROM, DerivedIndex, discard, folder_of
from thinkback.stores.sqlite.fulltext import THEMES, homes
from thinkback.stores.sqlite.history_index import HistoryIndex
from thinkback.stores.sqlite.index_cache import IndexCache, View
from thinkback.stores.sqlite.schema import Progress
from thinkback.stores.sqlite.tally import Tally
from thinkback.values import dataclass

BUSY_TIMEOUT_S = 30.0
COMPANIONS = ("-wal", "-shm", "-journal")  # the files SQLite keeps beside a database
SUFFIX = ".db"
T = TypeVar("T")
FEW = 32  # new memories that do not keep other threads' writes waiting for their commit
WORDS_KEPT = 10_000  # words whose frequencies are cached until the store changes


@dataclass(slots=True)
class WordCache:
    """Counts, and frequencies of words, each valid for the contents it was read at; views share it with their store."""

    tally: Tally | None = None
    frequencies: tuple[str, int, dict[str, int]] = field(default_factory=lambda: ("", 0, {}))
    keyword_searches: int = 0


class SqliteStore:
    """A store in a file, or in memory as `:memory:`; threads and processes may share it.

    `entropy` feeds the ids of new memories and is only replaced in tests. `progress` hears how far an upgrade of an older file is.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        read_only: bool = False,
        busy_timeout_s: float = BUSY_TIMEOUT_S,
        entropy: Entropy = os.urandom,
        progress: Progress | None = None,
    ) -> None:
        self._connections = Connections(
            os.fspath(path), read_only=read_only, busy_timeout_s=busy_timeout_s, progress=progress
        )
        on_disk = not self._connections.in_memory
        self._derived = DerivedIndex(folder_of(self.path), read_only, self.set_setting) if on_disk else None
        self._scrubber = scrub.Scrubber(self._connections, self._purge_index)
        self._connections.after_write = self._scrubber.after_write
        self._indexes = IndexCache(self._derived)
        self._passages = passages.PassageCache()
        self._history = HistoryIndex()
        self._records = RecordCache()
        self._ids = IdSource(entropy)
        self._words = WordCache()
        self._added = 0  # memories, by this process
        self._pinned = False  # whether this is a view
        self._seen: dict[str, Any] = {}  # of a view: what it has read once and cannot change

    @property
    def path(self) -> str:
        return self._connections.path

    @property
    def read_only(self) -> bool:
        return self._connections.read_only

    def _purge_index(self, connection: apsw.Connection) -> bool:
        """Take forgotten memories out of the derived index, and let go of files that held one."""
        if self._derived is None:
            return True
        done = self._derived.purge(connection)
        self._indexes.unmap()
        return done

    def state(self) -> StoreState:
        with self._connections.read() as connection:
            return self._state(connection)

    def _state(self, connection: apsw.Connection) -> StoreState:
        return self._once("state", lambda: counters.state(connection))

    def _contents(self, connection: apsw.Connection) -> str:
        return self._once("contents", lambda: counters.contents(connection))

    def _once(self, name: str, read: Callable[[], T]) -> T:
        """What `read` returns; a view, which stays as it is, reads it once."""
        if not self._pinned:
            return read()
        if name not in self._seen:
            self._seen[name] = read()
        found: T = self._seen[name]
        return found

    def _pinned_at(self, connection: apsw.Connection) -> int | None:
        """The change count of a view."""
        return self._state(connection).changes if self._pinned else None

    def _at_hand(self, connection: apsw.Connection) -> Catalogue | None:
        """Of a view, the columns in memory, if a search has read them at its state."""
        if not self._pinned:
            return None
        latest = self._indexes.latest.catalogue
        return latest if latest.changes == self._state(connection).changes else None

    def close(self) -> None:
        """Close the file after any pending scrub; the index of many new memories is written first, for the next process."""
        self._history.close()
        if self._derived is not None:
            if self._added >= PAYS_FROM:
                self._derived.write_soon(self._indexes, self._connections.read)
            self._derived.close()
        try:
            self._scrubber.before_close()
        finally:
            self._connections.close()

    def __enter__(self) -> "SqliteStore":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def view(self) -> AbstractContextManager["SqliteStore"]:
        """The store as of one moment, on one connection that the threads of a search share."""
        return nullcontext(self) if self._pinned or self._connections.shared else _Viewed(self)

    def _pinned_to(self, connection: PinnedConnection) -> "SqliteStore":
        """A view of this store through a connection inside a transaction."""
        pinned = object.__new__(type(self))
        pinned.__dict__.update(self.__dict__)
        pinned._connections, pinned._pinned, pinned._seen = connection, True, {}
        return pinned

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run the writes inside in one transaction; other threads see them after the commit."""
        with self._connections.write(foreign=True):
            yield

    @contextmanager
    def joined(self) -> Iterator[None]:
        """The same for a few short writes, which may be committed together with those of other threads."""
        with self._connections.write(foreign=True, joins=True):
            yield

    @property
    def in_transaction(self) -> bool:
        return self._connections.in_transaction

    # -- memories

    def add(self, drafts: Sequence[Draft], now: int, space: EmbeddingSpace | None = None) -> Records:
        checked = [validate(draft) for draft in drafts]
        if not checked:
            return []
        self._added += len(checked)
        with self._connections.write(joins=len(checked) <= FEW) as connection:
            return writes.add(connection, checked, now, space, lambda count: self._ids.take(count, now))

    def update(
        self,
        id: str,
        changes: Mapping[str, Any],
        now: int,
        vector: Vector | None = None,
        space: EmbeddingSpace | None = None,
        passages: Passages | None = None,
    ) -> StoredRecord:
        given = None if vector is None else (vector, space, passages)
        with self._connections.write() as connection:
            return writes.update(connection, id, changes, now, given)

    def amend(self, changes: Mapping[str, Mapping[str, Any]], now: int) -> None:
        with self._connections.write() as connection:
            writes.amend(connection, changes)

    def touch(self, recalled: Mapping[str, Access]) -> None:
        with self._connections.write() as connection:
            before = counters.state(connection)
            left = accesses.add(connection, recalled)
            after = replace(before, touches=before.touches + 1)
            self._connections.when_committed(lambda: self._records.touched(recalled, before, after, left))

    def forget(self, ids: Sequence[str]) -> Ids:
        with self._connections.write() as connection:
            left = None if self._words.tally is None else self._words.tally.without(connection, ids)
            gone = writes.forget(connection, ids)
            if left is not None and gone:
                left = replace(left, state=counters.state(connection))
                self._connections.when_committed(lambda: setattr(self._words, "tally", left))
            journal.drop(connection, gone)
            if gone and not self._connections.in_memory:
                scrub.request(connection, counters.state(connection).changes)
        return gone

    def scrub(self) -> bool:
        """Rewrite the file if a scrub is pending, and empty the log."""
        return self._scrubber.run()

    def traces(self, needles: Collection[bytes]) -> Sequence[FileScan]:
        from thinkback.stores.sqlite import byte_search

        return byte_search.scan_files(Path(self.path), needles, _write_empty)

    def copy_to(self, path: Path, replace: bool) -> None:
        """A copy as of one moment; text of forgotten memories is cleared first, where nobody reads it."""
        from thinkback.stores.sqlite import backup

        if not self.read_only and self.scrub_pending():
            self.scrub()
        backup.back_up(self._connections, path, replace)

    def scrub_pending(self) -> bool:
        with self._connections.read() as connection:
            return scrub.PendingScrub.read(connection) is not None

    def get(self, ids: Sequence[str], known_at: int | None = None) -> dict[str, StoredRecord]:
        with self._connections.read() as connection:
            if known_at is not None or self._connections.in_transaction:
                return reads.get(connection, ids, known_at)
            return self._records.get(
                ids,
                self._state(connection),
                lambda missing: reads.present(connection, missing, self._at_hand(connection)),
                lambda known: reads.accesses(connection, known),
                lambda since: reads.written_since(connection, since),
            )

    def list(self, filter: Filter, limit: int | None, after: str | None = None) -> Records:
        with self._connections.read() as connection:
            return reads.page(connection, filter, limit, after)

    def ids_ending(self, ending: str, limit: int) -> Ids:
        with self._connections.read() as connection:
            return reads.ids_ending(connection, ending, limit)

    def count(self, filter: Filter) -> int:
        with self._connections.read() as connection:
            view = None if filter.known_at is not None else self._catalogued(connection)
            if view is None:
                return reads.count(connection, filter)
            return view.catalogue.count(filter, connection)

    def _catalogued(self, connection: apsw.Connection) -> View | None:
        """The columns in memory, if a search has read them or there are files to map."""
        if self._derived is None or self._connections.in_transaction:
            return None
        if self._indexes.latest.catalogue.changes < 0 and not self._derived.exists:
            return None
        return self._view(connection)

    def _view(self, connection: apsw.Connection) -> View:
        return self._once("view", lambda: self._indexes.view(connection, self._pinned_at(connection)))

    def history(self, id: str) -> Records:
        with self._connections.read() as connection:
            return reads.history(connection, id)

    def restore_versions(self, records: Sequence[StoredRecord]) -> int:
        from thinkback.stores.sqlite import snapshot

        self._added += len(records)
        with self._connections.write() as connection:
            return snapshot.restore(connection, records)

    def export_records(self) -> Iterator[StoredRecord]:
        from thinkback.stores.sqlite import snapshot

        # A store in memory has one connection, which a slow consumer must not hold.
        with self._connections.read() as connection:
            found = snapshot.everything(connection)
            if not self._connections.shared:
                yield from found
                return
            kept = [*found]
        yield from kept

    @contextmanager
    def snapshot(self, vectors: bool = False, *, retired: bool = False) -> Iterator[Snapshot]:
        from thinkback.stores.sqlite import snapshot

        with self._connections.read() as connection:
            found = snapshot.snapshot(connection, vectors, retired)
            if not self._connections.shared:
                yield found
                return
            found = replace(found, records=iter(list(found.records)))
        yield found

    # -- links and tags

    def link(self, edges: Sequence[StoredEdge], now: int) -> None:
        with self._connections.write() as connection:
            links.link(connection, edges, now)

    def unlink(self, from_id: str, to_id: str, kind: str | None = None) -> int:
        with self._connections.write() as connection:
            return links.unlink(connection, from_id, to_id, kind)

    def edges(
        self,
        ids: Sequence[str],
        filter: Filter,
        limit_each: int | None,
        sequence: bool = True,
        *,
        kinds: Sequence[str] = (),
        without: Sequence[str] = (),
    ) -> dict[str, Edges]:
        wanted = links.Kinds(tuple(kinds), tuple(without) if sequence else (*without, SEQUENCE))
        with self._connections.read() as connection:
            return links.around(connection, ids, filter, limit_each, wanted, self._at_hand(connection), self.get)

    def between(self, pairs: Sequence[tuple[str, str]], filter: Filter, most: int) -> Counts:
        with self._connections.read() as connection:
            return links.between(connection, pairs, filter, most, self._at_hand(connection))

    def export_edges(self) -> Iterator[StoredEdge]:
        with self._connections.read() as connection:
            found = links.everything(connection)
        yield from found

    def tags(self) -> Mapping[str, int]:
        with self._connections.read() as connection:
            return MappingProxyType(self._tally(connection).tags)

    def _tally(self, connection: apsw.Connection, threads: bool = False) -> Tally:
        """Counts of threads and tags; those that a transaction sees may be rolled back and are not kept."""
        if self._connections.in_transaction:
            return Tally.read(connection, None, threads)
        kept, found = self._words.tally, Tally.read(connection, self._words.tally, threads)
        if kept is None or found.state.changes >= kept.state.changes:
            self._words.tally = found
        return found

    def frequencies(self, words: Sequence[str]) -> tuple[int, Mapping[str, int]]:
        with self._connections.read() as connection:
            if self._connections.in_transaction:
                return keywords.frequencies(connection, words)
            view = self._catalogued(connection)
            if view is not None and view.impact is not None:
                return keywords.known_frequencies(connection, view.impact, view.catalogue, words)
            contents, kept = self._contents(connection), self._words.frequencies
            if kept[0] != contents or len(kept[2]) > WORDS_KEPT:
                kept = self._words.frequencies = (contents, *keywords.frequencies(connection, ()))
            _, total, known = kept
            unknown = [word for word in words if word not in known]
            if unknown:
                known |= keywords.frequencies(connection, unknown)[1]
            return total, {word: known[word] for word in words}

    # -- search

    def search_keywords(self, query: KeywordQuery, filter: Filter, limit: int) -> Scores:
        with self._connections.read() as connection:
            found = self._search_keywords(connection, query, filter, limit)
        self._index_soon()
        return found

    def _search_keywords(self, connection: apsw.Connection, query: KeywordQuery, filter: Filter, limit: int) -> Scores:
        terms = keywords.plain_terms(connection, query) if self._postings_pay(connection) else None
        if filter.known_at is not None and (terms is None or THEMES in homes(filter)):
            return self._search_history(connection, query, filter, limit)
        if terms is None:
            return keywords.search(connection, query, filter, limit)
        view = self._once("impact", lambda: self._indexes.with_impact(connection, self._pinned_at(connection)))
        if filter.known_at is not None:
            return self._history.search_postings(connection, view, query, terms, filter, limit)
        found = keywords.search_postings(connection, view, query, terms, filter, limit)
        return keywords.with_reflections(connection, found, query, filter, limit)

    def holding_all(self, terms: Sequence[KeywordTerm], filter: Filter, limit: int) -> Ids | None:
        """The ids of memories that hold all these words, in no order; None if they are more."""
        with self._connections.read() as connection:
            return keywords.holding_all(connection, terms, filter, limit)

    def _search_history(self, connection: apsw.Connection, query: KeywordQuery, filter: Filter, limit: int) -> Scores:
        index = HistoryIndex() if self._connections.in_transaction else self._history
        return index.search(connection, counters.state(connection).changes, query, filter, limit)

    def _postings_pay(self, connection: apsw.Connection) -> bool:
        if self._connections.in_transaction:
            return False
        self._words.keyword_searches += 1
        if self._words.keyword_searches == 1 and self._derived is not None:
            self._view(connection)  # maps the postings, if there are files
        if self._indexes.latest.impact is not None:
            return True
        if self._derived is not None and self._derived.busy:
            return False  # they are being read, and will be mapped
        often = self._words.keyword_searches >= keywords.PAYS_FROM_SEARCH
        return often and counters.last_seq(connection) > keywords.PAYS_FROM_ROWS

    def _index_soon(self) -> None:
        """Write the index in the background, if a search is over that has read so much; a view leaves it to its store."""
        if self._derived is not None and not self._pinned and self._indexes.latest.unsaved >= PAYS_FROM:
            self._derived.write_soon(self._indexes, self._connections.read)

    def search_vectors(self, vector: Vector, filter: Filter, limit: int, *, long: bool = True) -> Scores:
        with self._connections.read() as connection:
            view = self._matrix_view(connection)
            found = (
                [] if view.matrix is None else self._nearest(connection, view, view.matrix, vector, filter, limit, long)
            )
        self._index_soon()
        return found

    def search_hnsw(
        self, vector: Vector, filter: Filter, limit: int, *, long: bool = True
    ) -> tuple[Scores, ApproximateIndex | None]:
        graphs.require()
        with self._connections.read() as connection:
            view = self._matrix_view(connection)
            if view.matrix is None:
                return [], None
            if self._derived is not None and not self._connections.in_transaction:
                self._derived.link_soon(view, self._indexes, self._connections.lasting.read)
            found = self._nearest(connection, view, view.matrix, vector, filter, limit, long, approximately=True)
            return found, vector_search.approximate(view.matrix)

    def _nearest(
        self,
        connection: apsw.Connection,
        view: View,
        matrix: vector_search.Matrix,
        vector: Vector,
        filter: Filter,
        limit: int,
        long: bool,
        approximately: bool = False,
    ) -> Scores:
        without = None if long else self._held_passages(connection, view)
        return vector_search.search(
            connection, view.catalogue, matrix, vector, filter, limit, without, approximately=approximately
        )

    def search_passages(self, vector: Vector, filter: Filter, limit: int) -> Scores:
        with self._connections.read() as connection:
            if self._connections.in_transaction and passages.PassageCache().at(connection) is None:
                return []  # before all vectors are read for nothing
            view = self._matrix_view(connection)
            held = self._held_passages(connection, view)
            if held is None:
                return []
            return passages.search(connection, view.catalogue, held, vector, filter, limit)

    def _held_passages(self, connection: apsw.Connection, view: View) -> passages.Held | None:
        cache = passages.PassageCache() if self._connections.in_transaction else self._passages
        return view.catalogue.fact("passages", lambda: cache.at(connection))

    def recent(self, filter: Filter, limit: int) -> Scores:
        with self._connections.read() as connection:
            return reads.recent(connection, filter, limit)

    def dated(self, moment: int, filter: Filter, limit: int) -> Scores:
        with self._connections.read() as connection:
            return reads.dated(connection, moment, filter, limit)

    def about(self, begin: int, end: int, filter: Filter, limit: int) -> Scores:
        with self._connections.read() as connection:
            return reads.about(connection, begin, end, filter, limit)

    def _matrix_view(self, connection: apsw.Connection) -> View:
        # Uncommitted rows must not reach the shared indexes: the transaction may be rolled back.
        indexes = IndexCache() if self._connections.in_transaction else self._indexes
        return self._once("matrix", lambda: indexes.with_matrix(connection, self._pinned_at(connection)))

    # -- vectors

    def embedding_space(self) -> EmbeddingSpace | None:
        with self._connections.glance() as connection:
            live = generations.generation(connection)
            return None if live is None else live.space

    def vectors(self, ids: Sequence[str]) -> dict[str, Vector]:
        with self._connections.read() as connection:
            return generations.of(connection, ids)

    def passages(self, ids: Sequence[str]) -> dict[str, Passages]:
        with self._connections.read() as connection:
            return passages.of(connection, ids)

    def held_passages(self) -> Callable[[Sequence[str]], dict[str, Passages]] | None:
        """Of a view that was searched by passages, what reads those it found, without the file and after its end."""
        with self._connections.read() as connection:
            catalogue = self._at_hand(connection)
        held = None if catalogue is None else catalogue.facts.get("passages")
        return None if catalogue is None or held is None else partial(passages.at_hand, catalogue, held)

    def unsplit(self, longer_than: int, limit: int) -> dict[int, StoredRecord]:
        with self._connections.read() as connection:
            return passages.unsplit(connection, longer_than, limit)

    def unembedded(self, limit: int) -> dict[int, StoredRecord]:
        with self._connections.read() as connection:
            return generations.unembedded(connection, limit)

    def put_vectors(
        self, vectors: Mapping[int, Vector], space: EmbeddingSpace, passages: Mapping[int, Passages] | None = None
    ) -> None:
        with self._connections.write() as connection:
            generations.put_live(connection, vectors, space, counters.bump(connection), passages or {})

    def begin_reembedding(self, space: EmbeddingSpace) -> int:
        with self._connections.write() as connection:
            return generations.begin(connection, space)

    def next_to_reembed(self, limit: int) -> dict[int, StoredRecord]:
        with self._connections.read() as connection:
            return generations.lacking(connection, limit)

    def put_reembedded(
        self, vectors: Mapping[int, Vector], space: EmbeddingSpace, passages: Mapping[int, Passages] | None = None
    ) -> None:
        with self._connections.write() as connection:
            generations.put_built(connection, vectors, space, passages or {})

    def finish_reembedding(self, space: EmbeddingSpace) -> None:
        with self._connections.write() as connection:
            generations.finish(connection, space, counters.bump(connection))

    # -- judgements, journal, settings

    def judge(self, judgements: Sequence[StoredJudgement]) -> None:
        with self._connections.write() as connection:
            journal.judge(connection, judgements)

    def unjudge(self, query: str, memory_id: str) -> bool:
        with self._connections.write() as connection:
            return journal.unjudge(connection, query, memory_id)

    def judgements(self) -> Judgements:
        with self._connections.read() as connection:
            return journal.judgements(connection)

    def log(self, entries: Sequence[StoredEntry]) -> None:
        with self._connections.write() as connection:
            journal.log(connection, entries)

    def journal(self, batch: str | None = None, limit: int | None = None) -> Journal:
        with self._connections.read() as connection:
            return journal.journal(connection, batch, limit)

    def mark_undone(self, entry_ids: Sequence[int], now: int) -> None:
        with self._connections.write() as connection:
            journal.mark_undone(connection, entry_ids, now)

    def trim_journal(self, before: int) -> int:
        with self._connections.write() as connection:
            return journal.trim(connection, before)

    def setting(self, key: str) -> str | None:
        with self._connections.read() as connection:
            return journal.setting(connection, key)

    def set_setting(self, key: str, value: str | None) -> None:
        with self._connections.write() as connection:
            journal.set_setting(connection, key, value)

    # -- health

    def check(self) -> Problems:
        from thinkback.stores.sqlite import health

        # SQLite's integrity check uses the connection's cached full-text index, which another connection may have changed.
        with self._connections.fresh() as connection:
            return health.check(connection)

    def repair(self) -> Problems:
        """Rebuild in one transaction; a damaged file is left as it is."""
        from thinkback.stores.sqlite import health

        problems = self.check()
        if any(problem.repairable for problem in problems) and not any(p.area == "file" for p in problems):
            if any(problem.area != PENDING_SCRUB for problem in problems):
                try:
                    with self._connections.write() as connection:
                        health.repair(connection, problems)
                except StoreDamaged:  # a row that cannot be read stops the rebuilding, which changed nothing
                    return problems
            self.scrub()
            problems = self.check()
        return problems

    def stats(self) -> Mapping[str, Any]:
        from thinkback.stores.sqlite import health

        with self._connections.read() as connection:
            view, tally = self._catalogued(connection), self._tally(connection, threads=True)
            return health.stats(connection, self.path, tally, None if view is None else view.catalogue)


class _Viewed:
    """Lends a view of a store."""

    __slots__ = ("_lent", "_pinned", "_store")

    def __init__(self, store: SqliteStore) -> None:
        self._store, self._lent = store, store._connections.read()

    def __enter__(self) -> SqliteStore:
        self._pinned = PinnedConnection(self._store._connections, self._lent.__enter__())
        return self._store._pinned_to(self._pinned)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._pinned.end()
        finally:
            self._lent.__exit__(kind, error, trace)
        self._store._index_soon()


class SqliteSpaces:
    """Spaces in a folder, one file each; `default_file` is the file of the space `default`, if it is elsewhere."""

    def __init__(self, folder: Path, *, default_file: Path | None = None, read_only: bool = False) -> None:
        self._folder = folder
        self._default_file = default_file
        self._read_only = read_only

    def path(self, name: str) -> Path:
        """The file of a space."""
        if check_space(name) == DEFAULT_SPACE and self._default_file is not None:
            return self._default_file
        return self._folder / f"{name}{SUFFIX}"

    def open(self, name: str) -> SqliteStore:
        path = self.path(name)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return SqliteStore(path, read_only=self._read_only)

    def names(self) -> Ids:
        found = {path.stem for path in self._folder.glob(f"*{SUFFIX}") if SPACE_NAME.fullmatch(path.stem)}
        if self._default_file is not None and self._default_file.exists():
            found.add(DEFAULT_SPACE)
        return sorted(found)

    def exists(self, name: str) -> bool:
        return self.path(name).exists()

    def create(self, name: str) -> None:
        self.open(name).close()

    def drop(self, name: str) -> None:
        path = self.path(name)
        if not path.exists():
            raise unknown_space(name)
        for file in (path, *(path.with_name(path.name + companion) for companion in COMPANIONS)):
            file.unlink(missing_ok=True)
        discard(str(path))

    def close(self) -> None:
        """Nothing is held open here."""


def _write_empty(path: Path) -> None:
    with SqliteStore(path) as store:
        store.scrub()
