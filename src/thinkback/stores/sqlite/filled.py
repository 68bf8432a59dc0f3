"""A store in memory that is filled once with the present memories of another store, and then only read.

It is made small: vectors stand in one array and in no table, full text keeps no texts, postings are packed, and there are no
indexes that only writes, exports and the history need.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from thinkback.model import Passages, StoredEdge, StoredRecord, Vector
from thinkback.stores.base import EmbeddingSpace
from thinkback.stores.index.postings import MOST_ROWS, MappedPostings, pack, split
from thinkback.stores.sqlite import counters, fulltext, generations, keywords, links, schema, writes
from thinkback.stores.sqlite.catalogue import Catalogue
from thinkback.stores.sqlite.connection import PinnedConnection
from thinkback.stores.sqlite.files import MEMORY
from thinkback.stores.sqlite.impact import Impact
from thinkback.stores.sqlite.index_cache import View
from thinkback.stores.sqlite.rows import listed
from thinkback.stores.sqlite.store import SqliteStore
from thinkback.stores.sqlite.term_gains import Gains
from thinkback.stores.sqlite.vector_search import Matrix
from thinkback.values import dataclass

_UNUSED = ("memories_versions", "memories_created", "memories_changed", "memories_unembedded")
_MOST_GAINS = 65_536  # postings of terms that were asked for; each takes 16 bytes
_A_ROW = 400  # bytes of a memory in columns, and of its id and its place in a thread


@dataclass(frozen=True, slots=True, eq=False)
class Contents:
    """The present versions of a store by number, the live vectors of some in order, their passages, and the links between them."""

    records: Mapping[int, StoredRecord]
    space: EmbeddingSpace | None
    seqs: NDArray[np.int64]  # of the versions with a vector
    vectors: Vector
    passages: Mapping[int, Passages]
    edges: Sequence[StoredEdge]


class FilledStore(SqliteStore):
    """Answers searches of present memories as their own store does; `size` is about how many bytes it takes."""

    def __init__(self, contents: Contents) -> None:
        super().__init__(MEMORY)
        with self._connections.write() as connection:
            _reduce(connection)
            counters.take_seqs(connection, max(contents.records, default=0))
            writes.insert(
                connection, list(contents.records), list(contents.records.values()), counters.bump(connection)
            )
            fulltext.put(connection, contents.records.items())
            live = None
            if contents.space is not None:
                live = generations.live_for(connection, contents.space)
                generations.put_passages(connection, live, contents.passages)
            links.put(connection, contents.edges, 0)
        # Without the scrubber nothing in it refers back to it, so that its memory is free as soon as nobody reads it.
        self._connections.after_write = lambda: None
        del self._scrubber
        # It is never written again, so it is a view of itself, which reads counters and indexes once.
        self._connections = PinnedConnection(self._connections, connection)
        self._pinned = True
        self._words.keyword_searches = keywords.PAYS_FROM_SEARCH
        self._held = (contents.seqs, contents.vectors)
        view = self._indexes.with_impact(connection)
        assert view.impact is not None
        packed = _packed(view.impact)
        matrix = None if live is None else _matrix(live, view.catalogue, contents)
        self._indexes.replace(view, replace(view, impact=packed, matrix=matrix))
        pages = connection.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").get
        postings = size_of_postings(packed) + 16 * min(packed.words, _MOST_GAINS)
        self.size = pages + contents.vectors.nbytes + postings + _A_ROW * len(contents.records)

    def _catalogued(self, connection: apsw.Connection) -> View:
        """Columns and postings are read once and stay as they are, so counts need not be asked of SQL."""
        return self._once("impact", lambda: self._indexes.with_impact(connection, self._pinned_at(connection)))

    def vectors(self, ids: Sequence[str]) -> dict[str, Vector]:
        sql = "SELECT id, seq FROM memories WHERE id IN (SELECT value FROM json_each(?)) AND retired_at IS NULL"
        with self._connections.read() as connection:
            found: list[tuple[Any, ...]] = connection.execute(sql, (listed(ids),)).fetchall()
        numbers = {str(id): int(seq) for id, seq in found}
        seqs, vectors = self._held
        wanted = [(id, numbers[id]) for id in ids if id in numbers]
        places = np.searchsorted(seqs, [seq for _, seq in wanted]).tolist()
        return {
            id: vectors[place]
            for (id, seq), place in zip(wanted, places, strict=True)
            if place < len(seqs) and seqs[place] == seq
        }


def _reduce(connection: apsw.Connection) -> None:
    """Drops what only writers and readers of the past need."""
    for index in _UNUSED:
        connection.execute(f"DROP INDEX {index}")
    connection.execute(f"DROP TABLE {fulltext.PRESENT}")
    connection.execute(schema.full_text(fulltext.PRESENT, texts=False))


def _matrix(live: generations.Generation, catalogue: Catalogue, contents: Contents) -> Matrix:
    filled, rows = np.zeros(catalogue.size, dtype=np.bool_), catalogue.rows(contents.seqs)
    filled[rows] = True
    return Matrix(live, filled, rows, contents.vectors, len(rows))


def _packed(old: Impact) -> Impact:
    """The same index in small arrays; it keeps fewer postings of terms that were asked for."""
    triples = [segment.triples() for segment in old.segments]
    segments = [
        MappedPostings(first, min(MOST_ROWS, old.size - first), **pack(parts))
        for first, parts in zip(
            range(0, old.size, MOST_ROWS), split(triples, np.arange(old.size), MOST_ROWS), strict=True
        )
    ]
    return replace(old, segments=tuple(segments), known=Gains(_MOST_GAINS), found={})


def size_of_postings(index: Impact) -> int:
    """Bytes of packed segments."""
    return sum(segment.nbytes for segment in index.segments if isinstance(segment, MappedPostings))
