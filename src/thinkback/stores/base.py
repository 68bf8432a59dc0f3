"""The interface of a store, independent of the database.

Reads come in batches, filters travel as values, and every write method is one transaction. A store is bound to one space (tenant).
`thinkback.testing.StoreContract` tests an implementation.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from thinkback.errors import InvalidInput, NotFound
from thinkback.model import (
    Access,
    ApproximateIndex,
    Draft,
    Filter,
    KeywordQuery,
    Passages,
    Scored,
    StoredEdge,
    StoredEntry,
    StoredJudgement,
    StoredRecord,
    Vector,
)
from thinkback.values import dataclass


@dataclass(frozen=True, slots=True)
class StoreState:
    """Which store, and how often it was written; equal states rank equally."""

    store_id: str
    changes: int  # text, tags, vectors, edges, standing
    touches: int  # access counts
    contents: str = ""  # unchanged until versions are added, removed or repaired; caches of words and tags depend on it

    def __str__(self) -> str:
        return f"{self.store_id}:{self.changes}:{self.touches}"


@dataclass(frozen=True, slots=True)
class EmbeddingSpace:
    """The model that made the live vectors."""

    fingerprint: str
    dimensions: int


@dataclass(frozen=True, slots=True)
class Problem:
    """Something `check` found; `repairable` when an index can be rebuilt from the text."""

    area: str
    message: str
    ids: tuple[str, ...] = ()
    repairable: bool = True


@dataclass(frozen=True, slots=True)
class Loss:
    """A row that could not be salvaged, and why."""

    table: str
    row: str
    what: str

    def __str__(self) -> str:
        return f"row {self.row} of {self.table} {self.what}"


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """Everything in a store at one moment; `records` are read lazily."""

    space: EmbeddingSpace | None
    records: Iterator[tuple[StoredRecord, Vector | None, Passages | None]]
    edges: Sequence[StoredEdge]
    judgements: Sequence[StoredJudgement]
    settings: Mapping[str, str]


PENDING_SCRUB = "forgotten text"  # the area of a problem that `scrub` solves


MAX_GRADE = 3


REFUSED = "bad_expression"  # the code of the error about a keyword query that full text cannot read
SHORTEST_TRACE = 8  # bytes; shorter ones occur in every file by chance


@dataclass(frozen=True, slots=True)
class FileScan:
    """A live file of a store that was searched, its size, and the needles that occur in it."""

    file: str
    size: int  # bytes
    found: frozenset[bytes]


# The protocol has a method called `list`, which inside the class hides the type.
Ids = list[str]
Records = list[StoredRecord]
Scores = list[Scored]
Counts = list[int]
Edges = list[StoredEdge]
Problems = list[Problem]
Judgements = list[StoredJudgement]
Journal = list[StoredEntry]


class Store(Protocol):
    """A space's memories, edges, vectors and indexes."""

    # -- identity and lifetime
    def state(self) -> StoreState: ...
    def close(self) -> None: ...
    def view(self) -> AbstractContextManager["Store"]:
        """The store as of one moment, for reading; threads may share it. Inside a transaction, the transaction's."""
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """Make the writes inside one transaction."""
        ...

    @property
    def in_transaction(self) -> bool:
        """Whether this thread is inside a transaction, whose writes no other thread sees yet."""
        ...

    # -- memories
    def add(self, drafts: Sequence[Draft], now: int, space: EmbeddingSpace | None = None) -> Records:
        """Write memories with full text, vectors and tags together; `space` names the model of the drafts' vectors."""
        ...

    def update(
        self,
        id: str,
        changes: Mapping[str, Any],
        now: int,
        vector: Vector | None = None,
        space: EmbeddingSpace | None = None,
        passages: Passages | None = None,
    ) -> StoredRecord:
        """Replace a memory by a new version (versioned fields); a changed text without a vector is marked unembedded."""
        ...

    def amend(self, changes: Mapping[str, Mapping[str, Any]], now: int) -> None:
        """Change standing in place (standing fields), many memories at once."""
        ...

    def touch(self, recalled: Mapping[str, Access]) -> None:
        """Add to access counts and raise the last accesses, in one write; unknown ids are ignored."""
        ...

    def forget(self, ids: Sequence[str]) -> Ids:
        """Remove memories with all versions, vectors, full-text rows, edges, judgements and journal entries.

        Entries of others and settings that name them lose the mention. Returns the ids that existed.
        """
        ...

    def scrub(self) -> bool:
        """Remove forgotten text from the store's files; False if others are using the store now.

        `forget` does so itself if it is quick; otherwise it is pending until the next scrub, repair or close.
        """
        ...

    def traces(self, needles: Collection[bytes]) -> Sequence[FileScan]:
        """Search the live files for needles of 8 bytes or more, leaving out what an empty store holds too.

        Empty for a store without files that it can read: one in memory or on a server.
        """
        ...

    def scrub_pending(self) -> bool:
        """Whether forgotten text may remain in the store's files."""
        ...

    def get(self, ids: Sequence[str], known_at: int | None = None) -> dict[str, StoredRecord]:
        """Records by id, present or as of `known_at`; unknown ids are absent."""
        ...

    def list(self, filter: Filter, limit: int | None, after: str | None = None) -> Records:
        """Records newest first (created_at, then id, descending), continuing after a given id; without a limit, all."""
        ...

    def ids_ending(self, ending: str, limit: int) -> Ids:
        """Ids of present memories that end with these letters, in order."""
        ...

    def count(self, filter: Filter) -> int: ...
    def history(self, id: str) -> Records:
        """Every version of a memory, oldest first, the present one last."""
        ...

    def restore_versions(self, records: Sequence[StoredRecord]) -> int:
        """Restore retired versions (import), except those already there; returns how many were new."""
        ...

    def export_records(self) -> Iterator[StoredRecord]:
        """Every version of every memory, retired ones first, in order of recording."""
        ...

    def snapshot(self, vectors: bool = False, *, retired: bool = False) -> AbstractContextManager[Snapshot]:
        """A consistent snapshot of everything; with `vectors`, also those of present memories and of their passages."""
        ...

    # -- links and tags
    def link(self, edges: Sequence[StoredEdge], now: int) -> None:
        """Write edges; the same ends and kind again replaces weight and validity."""
        ...

    def unlink(self, from_id: str, to_id: str, kind: str | None = None) -> int: ...
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
        """Per memory its edges in both directions, strongest first, then by the other end's id.

        Only edges valid at `filter.as_of` (else `filter.now`) whose other end passes `filter` (without `filter.ids`). With
        `sequence`, thread neighbours come as edges of kind `next` and weight 1, derived from thread and position, so they
        never drift. Only edges of `kinds`, if any are named, and of none in `without`, count towards the limit.
        """
        ...

    def between(self, pairs: Sequence[tuple[str, str]], filter: Filter, most: int) -> Counts:
        """For each pair of memories of one thread, the earlier first, how many that pass `filter` lie between.

        Counted without `filter.ids` and up to `most`, which is also the value for two that are not in one thread, or do not exist.
        """
        ...

    def export_edges(self) -> Iterator[StoredEdge]:
        """Every stored edge (thread order is derived, so not among them)."""
        ...

    def tags(self) -> Mapping[str, int]:
        """Every tag of present memories with its count; it holds for as long as `state().contents`."""
        ...

    def frequencies(self, words: Sequence[str]) -> tuple[int, Mapping[str, int]]:
        """The number of present memories without reflections, and the number that contain each word, by the index's tokenizer."""
        ...

    # -- search: higher is better, best first, ties by id
    def search_keywords(self, query: KeywordQuery, filter: Filter, limit: int) -> Scores:
        """BM25 over text, essence and tags; raises InvalidInput when the expression and its fallback are both refused.

        Reflections are found too, scored among themselves: derived texts do not change the statistics of memories.
        """
        ...

    def search_vectors(self, vector: Vector, filter: Filter, limit: int, *, long: bool = True) -> Scores:
        """Cosine similarity, exact to the last bit whatever the cache's history; without `long`, only memories without passages."""
        ...

    def search_hnsw(
        self, vector: Vector, filter: Filter, limit: int, *, long: bool = True
    ) -> tuple[Scores, ApproximateIndex | None]:
        """Like `search_vectors`, by an HNSW index as far as there is one; None with an exact answer.

        A store that has no such index answers exactly; one that could have it and lacks the library raises MissingExtra.
        """
        ...

    def search_passages(self, vector: Vector, filter: Filter, limit: int) -> Scores:
        """Long memories by the cosine of their best passage, each once, with that passage; memories without passages are absent."""
        ...

    def recent(self, filter: Filter, limit: int) -> Scores:
        """Newest by date (valid_from, else created_at); the score is that date in microseconds."""
        ...

    def dated(self, moment: int, filter: Filter, limit: int) -> Scores:
        """Nearest by date to a moment, on either side of it; the score is minus the distance in microseconds."""
        ...

    def about(self, begin: int, end: int, filter: Filter, limit: int) -> Scores:
        """Memories whose text tells of a time that overlaps [begin, end); the nearest middle first.

        The score is minus the distance in microseconds of the two middles.
        """
        ...

    # -- vectors
    def embedding_space(self) -> EmbeddingSpace | None: ...
    def vectors(self, ids: Sequence[str]) -> dict[str, Vector]: ...
    def passages(self, ids: Sequence[str]) -> dict[str, Passages]:
        """Live passages of present memories; those without passages are absent."""
        ...

    def unsplit(self, longer_than: int, limit: int) -> dict[int, StoredRecord]:
        """Embedded versions of more than so many bytes of text that have no passages, by version number, oldest first."""
        ...

    def unembedded(self, limit: int) -> dict[int, StoredRecord]:
        """Versions without a live vector, by version number, oldest first; retired ones too, for `known_at`."""
        ...

    def put_vectors(
        self, vectors: Mapping[int, Vector], space: EmbeddingSpace, passages: Mapping[int, Passages] | None = None
    ) -> None:
        """Add live vectors by version number, with those of passages; the text of a version never changes.

        Versions that no longer exist are ignored.
        """
        ...

    def begin_reembedding(self, space: EmbeddingSpace) -> int:
        """Open or resume a new generation beside the live one; return how many versions still lack its vector."""
        ...

    def next_to_reembed(self, limit: int) -> dict[int, StoredRecord]:
        """Versions that lack the new generation's vector, by version number, oldest first."""
        ...

    def put_reembedded(
        self, vectors: Mapping[int, Vector], space: EmbeddingSpace, passages: Mapping[int, Passages] | None = None
    ) -> None:
        """Write vectors of the new generation; EmbeddingSpaceMismatch if another re-embedding replaced it."""
        ...

    def finish_reembedding(self, space: EmbeddingSpace) -> None:
        """Make the new generation live and drop the old one, in one transaction; refused while memories lack a vector.

        EmbeddingSpaceMismatch if another re-embedding replaced it.
        """
        ...

    # -- judgements, journal, settings
    def judge(self, judgements: Sequence[StoredJudgement]) -> None: ...
    def unjudge(self, query: str, memory_id: str) -> bool:
        """Remove a judgement; returns whether there was one."""
        ...

    def judgements(self) -> Judgements: ...
    def log(self, entries: Sequence[StoredEntry]) -> None:
        """Append journal entries, whose `id` is assigned here; an entry with an id replaces the one stored under it."""
        ...

    def journal(self, batch: str | None = None, limit: int | None = None) -> Journal:
        """The latest entries, of one batch or of all, newest first; without a limit, every one."""
        ...

    def mark_undone(self, entry_ids: Sequence[int], now: int) -> None: ...
    def trim_journal(self, before: int) -> int:
        """Remove entries older than a moment; returns how many."""
        ...

    def setting(self, key: str) -> str | None: ...
    def set_setting(self, key: str, value: str | None) -> None: ...

    # -- health
    def check(self) -> Problems:
        """Compare every index with the text."""
        ...

    def repair(self) -> Problems:
        """Repair what `check` found; return the problems that remain."""
        ...

    def stats(self) -> Mapping[str, Any]:
        """Counts and sizes, ready for JSON; entries specific to this kind of store are under `engine`, with its `name`."""
        ...


@runtime_checkable
class Copied(Protocol):
    """A store that can copy itself to a file."""

    read_only: bool

    def copy_to(self, path: Path, replace: bool) -> None:
        """A copy as of one moment, checked before it takes its name."""
        ...


class Spaces(Protocol):
    """The spaces (tenants) of one place, each a store; names are checked by `check_space`."""

    def open(self, name: str) -> Store:
        """The store of a space, made if absent."""
        ...

    def names(self) -> Ids: ...
    def exists(self, name: str) -> bool: ...
    def create(self, name: str) -> None:
        """Create a space if it does not exist."""
        ...

    def drop(self, name: str) -> None:
        """Remove a space with everything in it; NotFound if there is none."""
        ...

    def close(self) -> None: ...


SPACE_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
DEFAULT_SPACE = "default"


def check_space(name: str) -> str:
    """Check the name of a space, which may also be a file name: lower-case letters, digits, - and _."""
    if not SPACE_NAME.fullmatch(name):
        raise InvalidInput(
            f"not the name of a space: {name[:80]!r}; use 1 to 63 of a-z, 0-9, - and _, beginning with a letter or a digit",
            code="space_name",
        )
    return name


def unknown_space(name: str) -> NotFound:
    """There is no space of that name."""
    return NotFound(f"there is no space {name!r}", code="unknown_space")
