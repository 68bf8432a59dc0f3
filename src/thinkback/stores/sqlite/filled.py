"""A store in memory that is filled once with the present memories of another store, and then only read."""

from collections.abc import Mapping, Sequence

import apsw

from thinkback.model import Passages, StoredEdge, StoredRecord, Vector
from thinkback.stores.base import EmbeddingSpace
from thinkback.stores.sqlite import counters, fulltext, generations, keywords, links, writes
from thinkback.stores.sqlite.connection import PinnedConnection
from thinkback.stores.sqlite.files import MEMORY
from thinkback.stores.sqlite.index_cache import View
from thinkback.stores.sqlite.store import SqliteStore
from thinkback.values import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Contents:
    """The present versions of a store by number, their live vectors and passages, and the links between them."""

    records: Mapping[int, StoredRecord]
    space: EmbeddingSpace | None
    vectors: Mapping[int, Vector]
    passages: Mapping[int, Passages]
    edges: Sequence[StoredEdge]


class FilledStore(SqliteStore):
    """Answers searches of present memories as their own store does; `size` is about how many bytes it takes."""

    def __init__(self, contents: Contents) -> None:
        super().__init__(MEMORY)
        with self._connections.write() as connection:
            counters.take_seqs(connection, max(contents.records, default=0))
            writes.insert(
                connection, list(contents.records), list(contents.records.values()), counters.bump(connection)
            )
            fulltext.put(connection, contents.records.items())
            if contents.space is not None:
                live = generations.live_for(connection, contents.space)
                generations.put(connection, live.number, contents.vectors.items())
                generations.put_passages(connection, live, contents.passages)
            links.put(connection, contents.edges, 0)
        # Without the scrubber nothing in it refers back to it, so that its memory is free as soon as nobody reads it.
        self._connections.after_write = lambda: None
        del self._scrubber
        # It is never written again, so it is a view of itself, which reads counters and indexes once.
        self._connections = PinnedConnection(self._connections, connection)
        self._pinned = True
        self._words.keyword_searches = keywords.PAYS_FROM_SEARCH
        pages = connection.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").get
        # Beside the pages searches keep the vectors in an array, and codes, terms and records that take about as much again.
        self.size = pages + 2 * sum(vector.nbytes for vector in contents.vectors.values())

    def _catalogued(self, connection: apsw.Connection) -> View:
        """Columns and postings are read once and stay as they are, so counts need not be asked of SQL."""
        return self._once("impact", lambda: self._indexes.with_impact(connection, self._pinned_at(connection)))
