"""PostgresStore: the Store protocol over one space of a server; each method runs a function of one module in a transaction."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeVar

from thinkback.errors import StoreReadOnly
from thinkback.ids import Entropy, IdSource
from thinkback.inputs import validate
from thinkback.model import (
    SEQUENCE,
    ApproximateIndex,
    Draft,
    Filter,
    KeywordQuery,
    Passages,
    StoredEdge,
    StoredEntry,
    StoredJudgement,
    StoredRecord,
    Vector,
)
from thinkback.stores.base import (
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
)
from thinkback.stores.postgres import (
    generations,
    health,
    journal,
    keywords,
    links,
    passages,
    reads,
    vectors,
    words,
    writes,
)
from thinkback.stores.postgres.filters import beyond_sql, where_beyond_sql
from thinkback.stores.postgres.history_index import HistoryIndex
from thinkback.stores.postgres.schema import VERSION
from thinkback.stores.postgres.server import Server
from thinkback.stores.postgres.session import Sessions, Tx
from thinkback.stores.record_cache import RecordCache
from thinkback.stores.sqlite.generations import Generation
from thinkback.stores.sqlite.links import Kinds

T = TypeVar("T")


@dataclass(slots=True)
class _Caches:
    """What a process remembers of a space; each entry is valid for the counters it was read at."""

    records: RecordCache = field(default_factory=RecordCache)
    frequencies: keywords.Frequencies = field(default_factory=keywords.Frequencies)
    history: HistoryIndex = field(default_factory=HistoryIndex)
    tags: tuple[tuple[str, int], Mapping[str, int]] = (("", -1), MappingProxyType({}))
    live: tuple[tuple[str, int], Generation | None] = (("", -1), None)


class PostgresStore:
    """A space on a server; threads and processes may share it. `release` is called when it is closed."""

    def __init__(
        self,
        server: Server,
        space: int,
        name: str,
        *,
        entropy: Entropy = os.urandom,
        release: Callable[[], None] = lambda: None,
    ) -> None:
        self.name = name
        self._server = server
        self._sessions = Sessions(server, space)
        self._ids = IdSource(entropy)
        self._release = release
        self._caches = _Caches()
        self._view: Tx | None = None

    # -- identity and lifetime

    @property
    def read_only(self) -> bool:
        return self._server.read_only

    def state(self) -> StoreState:
        return self._read(lambda tx: tx.counters.state)

    def close(self) -> None:
        self._caches.history.close()
        self._release()

    def __enter__(self) -> "PostgresStore":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def view(self) -> Iterator["PostgresStore"]:
        """The space as of one moment: one transaction that reads, on one connection."""
        if self._view is not None or self.in_transaction:
            yield self
            return
        with self._sessions.view() as tx:
            pinned = copy(self)
            pinned._view = tx
            yield pinned

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Runs the writes inside in one transaction; other threads see them after the commit."""
        with self._sessions.transaction():
            yield

    @property
    def in_transaction(self) -> bool:
        return self._sessions.current is not None

    def _read(self, work: Callable[[Tx], T]) -> T:
        return self._sessions.read(work) if self._view is None else self._sessions.in_view(self._view, work)

    def _write(self, work: Callable[[Tx], T]) -> T:
        if self._view is not None:
            raise StoreReadOnly("a view of a store cannot be changed", code="view")
        return self._sessions.write(work)

    def _matching(self, tx: Tx, filter: Filter) -> list[int] | None:
        """The versions whose metadata pass what SQL cannot compare; None if there is nothing of that kind."""
        wanted, where = beyond_sql(filter), where_beyond_sql(filter)
        if not wanted and where is None:
            return None
        law = Filter(now=filter.now, everything=True, known_at=filter.known_at, metadata=tuple(wanted), where=where)
        params = tx.params(keys=[key for key, _ in wanted])
        found = health.records_where(tx, "AND m.metadata::jsonb ?& %(keys)s::text[]", params)
        return [seq for seq, record in found if law.rejects(record) is None]

    # -- memories

    def add(self, drafts: Sequence[Draft], now: int, space: EmbeddingSpace | None = None) -> Records:
        checked = [validate(draft) for draft in drafts]
        if not checked:
            return []
        return self._write(lambda tx: writes.add(tx, checked, now, space, lambda count: self._ids.take(count, now)))

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
        return self._write(lambda tx: writes.update(tx, id, changes, now, given))

    def amend(self, changes: Mapping[str, Mapping[str, Any]], now: int) -> None:
        self._write(lambda tx: writes.amend(tx, changes))

    def touch(self, accesses: Mapping[str, int], now: int) -> None:
        self._write(lambda tx: writes.touch(tx, accesses, now))

    def forget(self, ids: Sequence[str]) -> Ids:
        def work(tx: Tx) -> Ids:
            gone = writes.forget(tx, ids)
            journal.drop(tx, gone)
            return gone

        return self._write(work)

    def scrub(self) -> bool:
        """Nothing is pending here: dead rows, the log, replicas and backups are the server's, out of this store's reach."""
        return True

    def traces(self, needles: Collection[bytes]) -> Sequence[FileScan]:
        return []

    def scrub_pending(self) -> bool:
        return False

    def get(self, ids: Sequence[str], known_at: int | None = None) -> dict[str, StoredRecord]:
        def work(tx: Tx) -> dict[str, StoredRecord]:
            if known_at is not None or self.in_transaction:
                return reads.get(tx, ids, known_at)
            return self._caches.records.get(
                ids, tx.counters.state, lambda some: reads.get(tx, some, None), lambda some: reads.accesses(tx, some)
            )

        return self._read(work)

    def list(self, filter: Filter, limit: int | None, after: str | None = None) -> Records:
        return self._read(lambda tx: reads.page(tx, filter, limit, after, self._matching(tx, filter)))

    def ids_ending(self, ending: str, limit: int) -> Ids:
        return self._read(lambda tx: reads.ids_ending(tx, ending, limit))

    def count(self, filter: Filter) -> int:
        return self._read(lambda tx: reads.count(tx, filter, self._matching(tx, filter)))

    def history(self, id: str) -> Records:
        return self._read(lambda tx: reads.history(tx, id))

    def restore_versions(self, records: Sequence[StoredRecord]) -> int:
        return self._write(lambda tx: health.restore(tx, records))

    def export_records(self) -> Iterator[StoredRecord]:
        with self._sessions.view() as tx:
            yield from (record for record, _, _ in reads.everything(tx))

    @contextmanager
    def snapshot(self, vectors: bool = False, *, retired: bool = False) -> Iterator[Snapshot]:
        with self._sessions.view() as tx:
            yield reads.snapshot(tx, vectors, retired)

    # -- links and tags

    def link(self, edges: Sequence[StoredEdge], now: int) -> None:
        self._write(lambda tx: links.link(tx, edges, now))

    def unlink(self, from_id: str, to_id: str, kind: str | None = None) -> int:
        return self._write(lambda tx: links.unlink(tx, from_id, to_id, kind))

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
        wanted = Kinds(tuple(kinds), tuple(without) if sequence else (*without, SEQUENCE))
        return self._read(lambda tx: links.around(tx, ids, filter, limit_each, wanted, self._matching(tx, filter)))

    def between(self, pairs: Sequence[tuple[str, str]], filter: Filter, most: int) -> Counts:
        return self._read(lambda tx: links.between(tx, pairs, filter, most, self._matching(tx, filter)))

    def export_edges(self) -> Iterator[StoredEdge]:
        yield from self._read(links.everything)

    def tags(self) -> Mapping[str, int]:
        def work(tx: Tx) -> Mapping[str, int]:
            at, kept = (tx.counters.store_id, tx.counters.contents), self._caches.tags
            if kept[0] == at and not self.in_transaction:
                return kept[1]
            found = MappingProxyType(reads.tags(tx))
            if not self.in_transaction:
                self._caches.tags = (at, found)
            return found

        return self._read(work)

    def frequencies(self, words_: Sequence[str]) -> tuple[int, Mapping[str, int]]:
        def work(tx: Tx) -> tuple[int, Mapping[str, int]]:
            spelt = words.plain(words_)
            terms = [term for some in spelt.values() for term in some]
            counts = self._frequencies().of(tx, words.PRESENT, terms)
            found = {word: min((counts[term] for term in some), default=0) for word, some in spelt.items()}
            return tx.counters.documents, found

        return self._read(work)

    def _frequencies(self) -> keywords.Frequencies:
        """Uncommitted rows must not reach the shared cache: the transaction may be rolled back."""
        return keywords.Frequencies() if self.in_transaction else self._caches.frequencies

    # -- search

    def search_keywords(self, query: KeywordQuery, filter: Filter, limit: int) -> Scores:
        def work(tx: Tx) -> Scores:
            matching = self._matching(tx, filter)
            if filter.known_at is not None:
                index = HistoryIndex() if self.in_transaction else self._caches.history
                return index.search(tx, query, filter, limit, matching)
            return keywords.search(tx, query, filter, limit, self._frequencies(), matching)

        return self._read(work)

    def search_vectors(self, vector: Vector, filter: Filter, limit: int, *, long: bool = True) -> Scores:
        def work(tx: Tx) -> Scores:
            live = self._live(tx)
            if live is None:
                return []
            if set(filter.kinds) == {"reflection"} and not tx.counters.themes and filter.known_at is None:
                return []
            whole = long or not tx.counters.passages
            return vectors.search(tx, live, vector, filter, limit, self._matching(tx, filter), long=whole)

        return self._read(work)

    def search_hnsw(
        self, vector: Vector, filter: Filter, limit: int, *, long: bool = True
    ) -> tuple[Scores, ApproximateIndex | None]:
        return self.search_vectors(vector, filter, limit, long=long), None

    def search_passages(self, vector: Vector, filter: Filter, limit: int) -> Scores:
        def work(tx: Tx) -> Scores:
            live = self._live(tx) if tx.counters.passages else None
            if live is None:
                return []
            return passages.search(tx, live, vector, filter, limit, self._matching(tx, filter))

        return self._read(work)

    def _live(self, tx: Tx) -> Generation | None:
        """The live generation, which only a finished re-embedding changes."""
        at = (tx.counters.store_id, tx.counters.live or 0)
        if self.in_transaction:
            return generations.generation(tx)
        if self._caches.live[0] != at:
            self._caches.live = (at, generations.generation(tx))
        return self._caches.live[1]

    def recent(self, filter: Filter, limit: int) -> Scores:
        return self._read(lambda tx: reads.recent(tx, filter, limit, self._matching(tx, filter)))

    def dated(self, moment: int, filter: Filter, limit: int) -> Scores:
        return self._read(lambda tx: reads.dated(tx, moment, filter, limit, self._matching(tx, filter)))

    def about(self, begin: int, end: int, filter: Filter, limit: int) -> Scores:
        return self._read(lambda tx: reads.about(tx, begin, end, filter, limit, self._matching(tx, filter)))

    # -- vectors

    def embedding_space(self) -> EmbeddingSpace | None:
        live = self._read(self._live)
        return None if live is None else live.space

    def vectors(self, ids: Sequence[str]) -> dict[str, Vector]:
        return self._read(lambda tx: generations.of(tx, ids))

    def passages(self, ids: Sequence[str]) -> dict[str, Passages]:
        return self._read(lambda tx: passages.of(tx, ids))

    def unsplit(self, longer_than: int, limit: int) -> dict[int, StoredRecord]:
        return self._read(lambda tx: passages.unsplit(tx, longer_than, limit))

    def unembedded(self, limit: int) -> dict[int, StoredRecord]:
        return self._read(lambda tx: generations.unembedded(tx, limit))

    def put_vectors(
        self, vectors: Mapping[int, Vector], space: EmbeddingSpace, passages: Mapping[int, Passages] | None = None
    ) -> None:
        self._write(lambda tx: generations.put_live(tx, vectors, space, passages or {}))

    def begin_reembedding(self, space: EmbeddingSpace) -> int:
        return self._write(lambda tx: generations.begin(tx, space))

    def next_to_reembed(self, limit: int) -> dict[int, StoredRecord]:
        return self._read(lambda tx: generations.lacking(tx, limit))

    def put_reembedded(
        self, vectors: Mapping[int, Vector], space: EmbeddingSpace, passages: Mapping[int, Passages] | None = None
    ) -> None:
        self._write(lambda tx: generations.put_built(tx, vectors, space, passages or {}))

    def finish_reembedding(self, space: EmbeddingSpace) -> None:
        self._write(lambda tx: generations.finish(tx, space))

    # -- judgements, journal, settings

    def judge(self, judgements: Sequence[StoredJudgement]) -> None:
        self._write(lambda tx: journal.judge(tx, judgements))

    def unjudge(self, query: str, memory_id: str) -> bool:
        return self._write(lambda tx: journal.unjudge(tx, query, memory_id))

    def judgements(self) -> Judgements:
        return self._read(journal.judgements)

    def log(self, entries: Sequence[StoredEntry]) -> None:
        self._write(lambda tx: journal.log(tx, entries))

    def journal(self, batch: str | None = None, limit: int | None = None) -> Journal:
        return self._read(lambda tx: journal.journal(tx, batch, limit))

    def mark_undone(self, entry_ids: Sequence[int], now: int) -> None:
        self._write(lambda tx: journal.mark_undone(tx, entry_ids, now))

    def trim_journal(self, before: int) -> int:
        return self._write(lambda tx: journal.trim(tx, before))

    def setting(self, key: str) -> str | None:
        return self._read(lambda tx: journal.setting(tx, key))

    def set_setting(self, key: str, value: str | None) -> None:
        self._write(lambda tx: journal.set_setting(tx, key, value))

    # -- health

    def check(self) -> Problems:
        return self._read(health.check)

    def repair(self) -> Problems:
        problems = self.check()
        if any(problem.repairable for problem in problems):
            self._write(lambda tx: health.repair(tx, problems))
            problems = self.check()
        return problems

    def stats(self) -> Mapping[str, Any]:
        counts = self._read(health.stats)
        return {**counts, "engine": {**self._server.facts(), "schema_version": VERSION, "space": self.name}}
