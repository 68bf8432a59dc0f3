"""What each call of a search needs from the server, so that one statement can answer several."""

from collections.abc import Sequence
from dataclasses import field
from types import MappingProxyType
from typing import Any

from thinkback.errors import InvalidInput, StoreError
from thinkback.model import SEQUENCE, Filter, KeywordQuery, Vector
from thinkback.stores.postgres import generations, health, hnsw, keywords, links, passages, reads, vectors
from thinkback.stores.postgres.filters import beyond_sql, where_beyond_sql
from thinkback.stores.postgres.history_index import HistoryIndex
from thinkback.stores.postgres.postings import Terms
from thinkback.stores.postgres.searches import Ask, answered
from thinkback.stores.postgres.session import Tx
from thinkback.stores.record_cache import RecordCache
from thinkback.stores.sqlite.generations import Generation
from thinkback.stores.sqlite.links import Kinds
from thinkback.stores.together import Call
from thinkback.values import dataclass

_EMPTY = Ask((), lambda _: [])


@dataclass(slots=True)
class Caches:
    """What a process remembers of a space; each entry is valid for the counters it was read at."""

    records: RecordCache = field(default_factory=RecordCache)
    terms: Terms = field(default_factory=Terms)
    margin: vectors.Margin = field(default_factory=vectors.Margin)
    history: HistoryIndex = field(default_factory=HistoryIndex)
    tags: tuple[tuple[str, int], MappingProxyType[str, int]] = (("", -1), MappingProxyType({}))
    live: tuple[tuple[str, int], Generation | None] = (("", -1), None)


@dataclass(frozen=True, slots=True)
class Asks:
    """Makes the `Ask` of each call; uncommitted rows must not reach the shared caches, as they may be rolled back."""

    caches: Caches
    in_transaction: bool

    def answer(self, tx: Tx, calls: Sequence[Call]) -> list[Any]:
        """The answer of each call, or the error that it raises."""
        found: list[Any] = [self._asked(tx, call) for call in calls]
        asks = {at: ask for at, ask in enumerate(found) if isinstance(ask, Ask)}
        around = {at: one for at, one in enumerate(found) if isinstance(one, links.Around)}
        for at, answer in zip(asks, answered(tx, list(asks.values())), strict=True):
            found[at] = answer
        for at, edges in zip(around, links.around(tx, list(around.values())), strict=True):
            found[at] = edges
        return found

    def _asked(self, tx: Tx, call: Call) -> Any:
        try:
            return getattr(self, call.method)(tx, *call.given, **call.named)
        except (InvalidInput, StoreError) as error:
            return error

    def matching(self, tx: Tx, filter: Filter) -> list[int] | None:
        """The versions whose metadata pass what SQL cannot compare; None if there is nothing of that kind."""
        wanted, where = beyond_sql(filter), where_beyond_sql(filter)
        if not wanted and where is None:
            return None
        law = Filter(now=filter.now, everything=True, known_at=filter.known_at, metadata=tuple(wanted), where=where)
        params = tx.params(keys=[key for key, _ in wanted])
        found = health.records_where(tx, "AND m.metadata::jsonb ?& %(keys)s::text[]", params)
        return [seq for seq, record in found if law.rejects(record) is None]

    def terms(self) -> Terms:
        return Terms() if self.in_transaction else self.caches.terms

    def live(self, tx: Tx) -> Generation | None:
        """The live generation, which only a finished re-embedding changes."""
        at = (tx.counters.store_id, tx.counters.live or 0)
        if self.in_transaction:
            return generations.generation(tx)
        if self.caches.live[0] != at:
            self.caches.live = (at, generations.generation(tx))
        return self.caches.live[1]

    # -- one method a call

    def search_keywords(self, tx: Tx, query: KeywordQuery, filter: Filter, limit: int) -> Ask:
        matching = self.matching(tx, filter)
        if filter.known_at is not None:
            index = HistoryIndex() if self.in_transaction else self.caches.history
            hits = index.search(tx, query, filter, limit, matching)
            return Ask((), lambda _: hits)
        return keywords.ask(tx, query, filter, limit, self.terms(), matching)

    def search_vectors(self, tx: Tx, vector: Vector, filter: Filter, limit: int, *, long: bool = True) -> Ask:
        live = self.live(tx)
        no_themes = set(filter.kinds) == {"reflection"} and not tx.counters.themes and filter.known_at is None
        if live is None or no_themes:
            return _EMPTY
        whole = long or not tx.counters.passages
        matching, margin = self.matching(tx, filter), self.caches.margin
        nearest = vectors.Nearest(live, vector, filter, limit, matching, margin, long=whole)
        return Ask([nearest]) if limit > 0 else _EMPTY

    def search_hnsw(self, tx: Tx, vector: Vector, filter: Filter, limit: int, *, long: bool = True) -> Ask:
        """By the index of the space, if it has one and the filter lets many through; else exact."""
        live = self.live(tx)
        index = (
            None if live is None or filter.known_at is not None or vectors.few(filter) else hnsw.used(tx, live.number)
        )
        if live is None or index is None or limit <= 0:
            exact = self.search_vectors(tx, vector, filter, limit, long=long)
            return Ask(exact.searches, lambda answers: (exact.join(answers), None))
        whole = long or not tx.counters.passages
        matching = self.matching(tx, filter)
        margin = self.caches.margin
        nearest = vectors.Nearest(live, vector, filter, limit, matching, margin, long=whole, approximate=True)
        return Ask([nearest], lambda answers: (answers[0], index))

    def search_passages(self, tx: Tx, vector: Vector, filter: Filter, limit: int) -> Ask:
        live = self.live(tx) if tx.counters.passages else None
        if live is None:
            return _EMPTY
        nearest = passages.NearestPassages(live, vector, filter, limit, self.matching(tx, filter))
        return Ask([nearest]) if limit > 0 else _EMPTY

    def recent(self, tx: Tx, filter: Filter, limit: int) -> Ask:
        return Ask([reads.Recent(filter, limit, self.matching(tx, filter))])

    def dated(self, tx: Tx, moment: int, filter: Filter, limit: int) -> Ask:
        return Ask([reads.Dated(moment, filter, limit, self.matching(tx, filter))])

    def about(self, tx: Tx, begin: int, end: int, filter: Filter, limit: int) -> Ask:
        return Ask([reads.About(begin, end, filter, limit, self.matching(tx, filter))])

    def count(self, tx: Tx, filter: Filter) -> Ask:
        return Ask([reads.Counted(filter, self.matching(tx, filter))])

    def edges(
        self,
        tx: Tx,
        ids: Sequence[str],
        filter: Filter,
        limit_each: int | None,
        sequence: bool = True,
        *,
        kinds: Sequence[str] = (),
        without: Sequence[str] = (),
    ) -> links.Around:
        wanted = Kinds(tuple(kinds), tuple(without) if sequence else (*without, SEQUENCE))
        return links.Around(ids, filter, limit_each, wanted, self.matching(tx, filter))


def together(tx: Tx, asks: Asks, calls: Sequence[Call]) -> list[tuple[Call, Any]]:
    """Calls of a rehearsal with their answers.

    A search that finds passages takes only short memories by their own vector. A rehearsal finds no passages, so where both are
    asked for, short memories are looked for; if no passage is found, none that passes has any, and all are short.
    """
    if not tx.counters.passages:
        return list(zip(calls, asks.answer(tx, calls), strict=True))
    by_passage = [call for call in calls if call.method == "search_passages"]
    short = [_short(call) if any(_beside(call, one) for one in by_passage) else call for call in calls]
    told = list(zip(short, asks.answer(tx, short), strict=True))
    without = [call for call, found in told if call.method == "search_passages" and found == []]
    same = [
        (call, found) for call, (_, found) in zip(calls, told, strict=True) if any(_beside(call, o) for o in without)
    ]
    return told + same


def _short(call: Call) -> Call:
    return Call(call.method, call.given, {**call.named, "long": False})


def _beside(call: Call, passages: Call) -> bool:
    """Whether a search by vector looks for the same as one by passages."""
    return call.method == "search_vectors" and Call("", call.given).same(Call("", passages.given))
