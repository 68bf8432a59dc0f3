"""PostgresStore: the Store protocol over one space of a server; each method runs a function of one module in a transaction."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar, cast

from thinkback.errors import StoreReadOnly
from thinkback.ids import Entropy, IdSource
from thinkback.inputs import validate
from thinkback.model import (
    Access,
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
    Store,
    StoreState,
)
from thinkback.stores.postgres import (
    at_once,
    generations,
    health,
    journal,
    keywords,
    links,
    passages,
    reads,
    words,
    writes,
)
from thinkback.stores.postgres.asks import Asks, Caches, together
from thinkback.stores.postgres.copies import Copied, Copies
from thinkback.stores.postgres.gathering import Gathering
from thinkback.stores.postgres.schema import VERSION
from thinkback.stores.postgres.server import Server
from thinkback.stores.postgres.session import Sessions, Tx
from thinkback.stores.segmentation import segment
from thinkback.stores.stemming import STEMMED
from thinkback.stores.together import NOTHING, Call

T = TypeVar("T")


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
        copies: Copies | None = None,
    ) -> None:
        self.name = name
        self._server = server
        self._sessions = Sessions(server, space)
        self._ids = IdSource(entropy)
        self._release = release
        self._caches = Caches()
        self._copies = copies or Copies(0)
        self._view: Tx | None = None
        self._copied: Copied | None = None  # of a view: what answers instead of the server
        self._told: list[tuple[Call, Any]] = []  # answers that a view has read ahead
        self._noted: list[Call] | None = None  # of a rehearsal
        self._gaps: tuple[Filter, int, links.Gaps] | None = None  # between memories that a view has read

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
        """The space as of one moment: one transaction that reads, on one connection, unless a copy can answer everything."""
        if self._view is not None or self.in_transaction:
            yield self
            return
        if self._sessions.space in self._copies:
            counters = self._sessions.counters()
            copied = self._copies.at(self._sessions.space, counters)
            if copied is not None:
                with self._sessions.view_later(counters) as tx:
                    yield self._pinned(tx, copied)
                return
        with self._sessions.view(self._caches.tags[0][1]) as tx:
            if tx.tags is not None:
                at = (tx.counters.store_id, tx.counters.contents)
                self._caches.tags = (at, MappingProxyType(dict(tx.tags)))
            yield self._pinned(tx, self._copies.of(tx))

    def _pinned(self, tx: Tx, copied: Copied | None) -> "PostgresStore":
        pinned = copy(self)
        pinned._view, pinned._copied, pinned._told, pinned._gaps = tx, copied, [], None
        return pinned

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

    @property
    def _asks(self) -> Asks:
        return Asks(self._caches, self.in_transaction)

    def rehearse(self, search: Callable[[Store], object]) -> bool:
        """Runs a search that finds nothing, and reads what it looked for in one statement; for views."""
        noting = copy(self)
        noting._noted = []
        try:
            search(noting)
        except _Held:  # each of its reads will be answered at once
            return False

        def work(tx: Tx) -> None:
            self._told.extend(together(tx, self._asks, noting._noted or ()))

        if self._view is not None and noting._noted:
            self._read(work)
        return self._view is not None and bool(noting._noted)

    def _answer(self, method: str, *given: Any, **named: Any) -> Any:
        if self._view is None and not self.in_transaction:
            return self._sessions.repeated(lambda: self._viewed(method, given, named))
        call = Call(method, given, named)
        if self._copied is not None and _of_the_present(call):
            if self._noted is not None:
                raise _Held
            return getattr(self._copied.store, method)(*given, **named)
        told = [answer for known, answer in self._told if known.same(call)]
        if not told and self._noted is not None:
            self._noted.append(call)
            return NOTHING[method]
        answer = told[0] if told else self._read(lambda tx: self._asks.answer(tx, [call])[0])
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _viewed(self, method: str, given: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """An answer from a view of its own, because a copy may have it."""
        with self.view() as view:
            return view._answer(method, *given, **named)

    # -- memories

    def add(self, drafts: Sequence[Draft], now: int, space: EmbeddingSpace | None = None) -> Records:
        checked = [validate(draft) for draft in drafts]
        if not checked:
            return []

        def new_ids(count: int) -> Sequence[str]:
            return self._ids.take(count, now)

        added = None if self._view else at_once.add(self._sessions, self._asks, checked, now, space, new_ids)
        return added or self._write(lambda tx: writes.add(tx, checked, now, space, new_ids))

    def add_unless_found(
        self, drafts: Sequence[Draft], now: int, space: EmbeddingSpace | None, queries: Sequence[KeywordQuery]
    ) -> Records | None:
        """The look-up is part of the statement that writes; a query that postings alone cannot answer is left to the caller."""
        checked = [validate(draft) for draft in drafts]
        unless = [words.distinct(words.terms_of(segment(" ".join(t.text for t in query.terms)))) for query in queries]
        if self._view is not None or any(term.prefix for query in queries for term in query.terms) or not all(unless):
            return None
        unless.append([STEMMED])  # where texts are stemmed by language, a word has more forms than these
        return at_once.add(self._sessions, self._asks, checked, now, space, lambda n: self._ids.take(n, now), unless)

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

    def touch(self, recalled: Mapping[str, Access]) -> None:
        def work(tx: Tx) -> None:
            before = tx.counters.state
            writes.touch(tx, recalled)
            after = replace(before, touches=before.touches + 1)
            tx.when_committed.append(lambda: self._caches.records.touched(recalled, before, after))

        self._write(work)

    def forget(self, ids: Sequence[str]) -> Ids:
        def work(tx: Tx) -> Ids:
            gone = writes.forget(tx, ids)
            journal.drop(tx, gone)
            tx.when_committed += [lambda: self._copies.drop(tx.space), self._caches.terms.forget]
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
        return self._read(lambda tx: self._get(tx, ids, known_at))

    def _get(self, tx: Tx, ids: Sequence[str], known_at: int | None) -> dict[str, StoredRecord]:
        if known_at is not None or self.in_transaction:
            return reads.get(tx, ids, known_at)
        read = partial(reads.get, tx, known_at=None) if self._copied is None else partial(self._copied.records, tx)
        return self._caches.records.get(ids, tx.counters.state, read, partial(reads.accesses, tx))

    def gather(self, ids: Sequence[str], filter: Filter, steps: int) -> None:
        """Reads records that are not known yet, with the gaps between them in their threads; for views."""
        if self._view is None or self._copied is not None or self.in_transaction or filter.known_at is not None:
            return

        def work(tx: Tx) -> None:
            wanted = Gathering(tx, ids, filter, steps, self._asks.matching(tx, filter))
            self._caches.records.get(ids, tx.counters.state, wanted.records, wanted.accesses)
            if wanted.gaps is not None:
                self._gaps = (filter, steps, wanted.gaps)

        self._read(work)

    def list(self, filter: Filter, limit: int | None, after: str | None = None) -> Records:
        return self._read(lambda tx: reads.page(tx, filter, limit, after, self._asks.matching(tx, filter)))

    def ids_ending(self, ending: str, limit: int) -> Ids:
        return self._read(lambda tx: reads.ids_ending(tx, ending, limit))

    def count(self, filter: Filter) -> int:
        return cast(int, self._answer("count", filter))

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
        return cast(
            dict[str, Edges], self._answer("edges", ids, filter, limit_each, sequence, kinds=kinds, without=without)
        )

    def between(self, pairs: Sequence[tuple[str, str]], filter: Filter, most: int) -> Counts:
        if self._copied is not None and filter.known_at is None:
            return self._copied.store.between(pairs, filter, most)

        def work(tx: Tx) -> Counts:
            if self._gaps is not None and self._gaps[:2] == (filter, most) and set(pairs) <= self._gaps[2].keys():
                return [self._gaps[2][pair] for pair in pairs]
            records = self._get(tx, list(dict.fromkeys(id for pair in pairs for id in pair)), filter.known_at)
            known = [
                (records[first], records[last]) if first in records and last in records else None
                for first, last in pairs
            ]
            return links.between(tx, known, filter, most, self._asks.matching(tx, filter))

        return self._read(work)

    def export_edges(self) -> Iterator[StoredEdge]:
        yield from self._read(links.everything)

    def tags(self) -> Mapping[str, int]:
        def work(tx: Tx) -> Mapping[str, int]:
            at, kept = (tx.counters.store_id, tx.counters.contents), self._caches.tags
            if kept[0] == at and not self.in_transaction:
                return kept[1]
            found = MappingProxyType(dict(reads.tags(tx) if self._copied is None else self._copied.store.tags()))
            if not self.in_transaction:
                self._caches.tags = (at, found)
            return found

        return self._read(work)

    def frequencies(self, words_: Sequence[str]) -> tuple[int, Mapping[str, int]]:
        if self._copied is not None:
            return self._copied.store.frequencies(words_)

        def work(tx: Tx) -> tuple[int, Mapping[str, int]]:
            return tx.counters.documents, keywords.frequencies(tx, self._asks.terms(), words_)

        return self._read(work)

    # -- search

    def search_keywords(self, query: KeywordQuery, filter: Filter, limit: int) -> Scores:
        return cast(Scores, self._answer("search_keywords", query, filter, limit))

    def search_vectors(self, vector: Vector, filter: Filter, limit: int, *, long: bool = True) -> Scores:
        return cast(Scores, self._answer("search_vectors", vector, filter, limit, long=long))

    def search_hnsw(
        self, vector: Vector, filter: Filter, limit: int, *, long: bool = True
    ) -> tuple[Scores, ApproximateIndex | None]:
        found = self._answer("search_hnsw", vector, filter, limit, long=long)
        return cast(tuple[Scores, ApproximateIndex | None], found)

    def search_passages(self, vector: Vector, filter: Filter, limit: int) -> Scores:
        return cast(Scores, self._answer("search_passages", vector, filter, limit))

    def recent(self, filter: Filter, limit: int) -> Scores:
        return cast(Scores, self._answer("recent", filter, limit))

    def dated(self, moment: int, filter: Filter, limit: int) -> Scores:
        return cast(Scores, self._answer("dated", moment, filter, limit))

    def about(self, begin: int, end: int, filter: Filter, limit: int) -> Scores:
        return cast(Scores, self._answer("about", begin, end, filter, limit))

    # -- vectors

    def embedding_space(self) -> EmbeddingSpace | None:
        live = self._read(self._asks.live)
        return None if live is None else live.space

    def vectors(self, ids: Sequence[str]) -> dict[str, Vector]:
        return (
            self._read(lambda tx: generations.of(tx, ids)) if self._copied is None else self._copied.store.vectors(ids)
        )

    def passages(self, ids: Sequence[str]) -> dict[str, Passages]:
        return self._read(lambda tx: passages.of(tx, ids)) if self._copied is None else self._copied.store.passages(ids)

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
        engine = {**self._server.facts(), **self._copies.facts(), "schema_version": VERSION, "space": self.name}
        return {**counts, "engine": engine}


class _Held(Exception):
    """A rehearsal is not needed."""


def _of_the_present(call: Call) -> bool:
    """Whether a copy can answer: it has no history, and no index that may miss some."""
    past = any(isinstance(one, Filter) and one.known_at is not None for one in call.given)
    return not past and call.method != "search_hnsw"
