"""Copies of small spaces in this process: a space that is read again and again unchanged is answered from memory.

A copy is a store in memory, filled with the present memories of a space. It answers for as long as the counters of the space, which
every view reads first, are those it was filled at; then it is dropped. A copy is made once it pays: after several views of an
unchanged space, more for a larger one. So a space that is written between its recalls is never copied.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from threading import Lock

import numpy as np

from thinkback.model import StoredRecord
from thinkback.stores.postgres import generations, links, passages, reads
from thinkback.stores.postgres.rows import COLUMNS, to_record
from thinkback.stores.postgres.session import Counters, Token, Tx
from thinkback.stores.record_cache import with_accesses
from thinkback.stores.sqlite.filled import Contents, FilledStore
from thinkback.stores.sqlite.generations import STORED
from thinkback.values import dataclass

COPIES_MB = 320
_PAYS_FROM = 3  # views of an unchanged space
_MEMORIES_A_VIEW = 250  # copying so many memories costs about what one recall saves
# About how many bytes they take, with 384 numbers a vector; only used for a space that was never copied.
_MEMORY, _WORD, _PASSAGE = 2500, 15, 3500
_NO_SEQS = np.zeros(0, dtype=np.int64)
_AGEING = 1000  # views after which earlier ones count half


@dataclass(frozen=True, slots=True)
class Copied:
    """A copy, and the counters it holds for; access counts alone may have moved on."""

    counters: Counters
    store: FilledStore

    def records(self, tx: Tx, ids: Sequence[str]) -> Mapping[str, StoredRecord]:
        """Present records by id, as the view sees them."""
        found = self.store.get(ids)
        if self.counters.touches == tx.counters.touches:
            return found
        return with_accesses(reads.accesses(tx, ids), found)


class Copies:
    """The copies of the spaces of one server, as one role sees them; together they take at most `limit` bytes.

    The least used ones make room for one that was used twice as often lately, so that many spaces of which each is asked now and
    then do not replace each other.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = Lock()
        self._held: dict[int, Copied] = {}
        self._seen: dict[int, tuple[Token, int]] = {}  # how often a space was viewed since it changed
        self._sizes: dict[int, int] = {}  # of copies, dropped ones too
        self._uses: Counter[int] = Counter()
        self._views = 0
        self._loading: dict[int, Counters] = {}  # spaces of which a copy is being made

    def __contains__(self, space: int) -> bool:
        """Whether there is a copy of a space, which may be outdated."""
        return space in self._held

    def at(self, space: int, counters: Counters) -> Copied | None:
        """The copy of a space that has these counters, if there is one."""
        with self._lock:
            held = self._current(space, counters)
            if held is not None:
                self._count(space)
            return held

    def of(self, tx: Tx) -> Copied | None:
        """The copy of a space as this view sees it, made if it pays; None if the server has to answer."""
        if not self._limit:
            return None
        with self._lock:
            self._count(tx.space)
            held = self._current(tx.space, tx.counters)
            if held is not None or not self._pays(tx.space, tx.counters) or tx.space in self._loading:
                return held
            self._loading[tx.space] = tx.counters
        copied = None
        try:
            copied = Copied(tx.counters, FilledStore(_contents(tx)))
        finally:
            with self._lock:
                wanted = self._loading.get(tx.space) is tx.counters  # not dropped meanwhile
                if wanted:
                    del self._loading[tx.space]
                if wanted and copied is not None:
                    self._put(tx.space, copied)
        return copied

    def drop(self, space: int) -> None:
        """Forgets the copy of a space, and one that is being made as soon as its view has ended."""
        with self._lock:
            for kept in (self._held, self._seen, self._loading):
                kept.pop(space, None)

    def clear(self) -> None:
        with self._lock:
            self._held.clear()

    @property
    def size(self) -> int:
        """Bytes in use, about."""
        return sum(self._sizes[space] for space in list(self._held))

    def facts(self) -> dict[str, int]:
        """How many there are and their bytes, for statistics and metrics."""
        return {"copies": len(self._held), "copies_bytes": self.size}

    def _count(self, space: int) -> None:
        self._uses[space] += 1
        self._views += 1
        if self._views % _AGEING == 0:
            self._uses = Counter({space: times // 2 for space, times in self._uses.items() if times > 1})
            self._seen = {space: seen for space, seen in self._seen.items() if space in self._uses}

    def _current(self, space: int, counters: Counters) -> Copied | None:
        held = self._held.get(space)
        if held is None:
            return None
        if held.counters.token == counters.token:
            return held
        older = held.counters.store_id == counters.store_id and counters.changes < held.counters.changes
        if not older:  # than the copy: a view that began before it was made
            del self._held[space]
        return None

    def _pays(self, space: int, counters: Counters) -> bool:
        token, times = self._seen.get(space, (None, 0))
        times = times + 1 if token == counters.token else 1
        self._seen[space] = (counters.token, times)
        memories = counters.documents + counters.themes
        words = counters.tokens + counters.theme_tokens
        size = memories * _MEMORY + words * _WORD + counters.passages * _PASSAGE
        return times >= _PAYS_FROM + memories // _MEMORIES_A_VIEW and self._fits(space, size)

    def _fits(self, space: int, size: int) -> bool:
        """Whether there is room, or would be without those that were used half as often."""
        kept = sum(self._sizes[other] for other in self._held if self._uses[other] * 2 > self._uses[space])
        return kept + self._sizes.get(space, size) <= self._limit

    def _put(self, space: int, copied: Copied) -> None:
        self._held[space], self._sizes[space] = copied, copied.store.size
        while self.size > self._limit:
            del self._held[min(self._held, key=lambda one: self._uses[one])]


def _contents(tx: Tx) -> Contents:
    """Everything that searches of present memories read."""
    sql = f"SELECT m.seq, {COLUMNS} FROM thinkback.memories m WHERE m.space = %(space)s AND m.retired_at IS NULL"
    records = {row[0]: to_record(row[1:]) for row in tx.rows(sql)}
    live = generations.generation(tx)
    if live is None:
        return Contents(records, None, _NO_SEQS, np.zeros((0, 0), dtype=STORED), {}, links.everything(tx))
    sql = (
        "SELECT v.seq, v.exact FROM thinkback.vectors v JOIN thinkback.memories m ON m.space = %(space)s AND m.seq = v.seq "
        "WHERE v.space = %(space)s AND v.generation = %(live)s AND m.retired_at IS NULL ORDER BY v.seq"
    )
    rows = tx.rows(sql, tx.params(live=live.number))
    seqs = np.array([seq for seq, _ in rows], dtype=np.int64)
    # An array of its own, because NumPy asks the system for large pages, which a product of all rows needs.
    vectors = generations.unpacked((exact for _, exact in rows), live.space.dimensions).copy()
    long = passages.by_version(tx, list(records), live.number)
    return Contents(records, live.space, seqs, vectors, long, links.everything(tx))
