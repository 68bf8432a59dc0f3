"""Embeddings for one store: opened on first use, never mixed; a write never fails for lack of a model."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any

import numpy as np

from thinkback import passages as splitting
from thinkback.errors import (
    Action,
    EmbeddingSpaceMismatch,
    InvalidInput,
    ModelError,
    NotFound,
    Remedy,
    StoreDamaged,
    ThinkbackError,
)
from thinkback.model import REFLECTION, Draft, Passages, StoredRecord, Vector
from thinkback.models.embedders.base import Embedder, combine_windows
from thinkback.stores.base import EmbeddingSpace, Store
from thinkback.values import dataclass

GIVEN = "given"  # the embedding space of vectors that callers supply
RETRY_SECONDS = 60.0
_LONG_AT_ONCE = 8  # long texts held at once
Progress = Callable[[int, int], None]
log = logging.getLogger("thinkback")


class Embedding:
    """The embedder of a store; `open_embedder` is called on first use, and again at the earliest a minute after a failure."""

    def __init__(self, store: Store, open_embedder: Callable[[], Embedder] | None) -> None:
        self._store = store
        self._open = open_embedder
        self._embedder: Embedder | None = None
        self._failure: ThinkbackError | None = None
        self._retry_at = 0.0
        self._agreed = False  # whether the store was seen to hold vectors of this embedder
        self._lock = Lock()

    @property
    def configured(self) -> bool:
        """Whether there is an embedder."""
        return self._open is not None

    @property
    def fingerprint(self) -> str | None:
        """The fingerprint of the embedder; None before its first use."""
        return None if self._embedder is None else self._embedder.fingerprint

    def embedder(self) -> Embedder:
        """The open embedder; raises the error that opening it raised."""
        with self._lock:
            if self._embedder is not None:
                return self._embedder
            if self._open is None:
                raise ModelError("this memory was opened without an embedder", code="no_embedder")
            if self._failure is not None and time.monotonic() < self._retry_at:
                raise self._failure
            try:
                self._embedder = self._open()
            except ThinkbackError as error:
                self._failure, self._retry_at = error, time.monotonic() + RETRY_SECONDS
                raise
            return self._embedder

    def space(self) -> EmbeddingSpace:
        """The embedder's own space."""
        embedder = self.embedder()
        return EmbeddingSpace(embedder.fingerprint, embedder.dimensions)

    def query(self, text: str, store: Store | None = None) -> Vector:
        """The vector of a query; raises EmbeddingSpaceMismatch if the store (or this view of it) has another model's vectors."""
        embedder = self.embedder()
        self._same_space(embedder, store)
        return embedder.embed_query(text)

    def _same_space(self, embedder: Embedder, store: Store | None = None) -> None:
        live = (store or self._store).embedding_space()
        self._agreed = live is not None and live.fingerprint == embedder.fingerprint
        if live is not None and not self._agreed:
            raise EmbeddingSpaceMismatch(
                f"the store's vectors were made by {live.fingerprint}, the embedder in use is {embedder.fingerprint}; "
                "open the store with its own embedder, or re-embed it",
                remedy=Remedy(Action.REEMBED),
            )

    def doubt(self) -> None:
        """The store refused a vector: ask it again which ones it holds."""
        self._agreed = False

    def fill(
        self, drafts: Sequence[Draft], *, checked_later: bool = False
    ) -> tuple[list[Draft], EmbeddingSpace | None, ThinkbackError | None]:
        """Drafts with vectors where possible, the vectors' space, and the error if embedding failed.

        With `checked_later`, a store that held vectors of this embedder before is not asked again: it checks when it writes.
        """
        bare = [draft for draft in drafts if draft.vector is None]
        given = self._given_space(drafts) if len(bare) < len(drafts) else None
        if not bare or self._open is None:
            return list(drafts), given, None
        try:
            embedder = self.embedder()
            if not (checked_later and self._agreed):
                self._same_space(embedder)
            made = embedded(embedder, bare)
        except ThinkbackError as error:
            return list(drafts), given, error
        new = (replace(draft, vector=one.vector, passages=one.passages) for draft, one in zip(bare, made, strict=True))
        return [draft if draft.vector is not None else next(new) for draft in drafts], self.space(), None

    def _given_space(self, drafts: Sequence[Draft]) -> EmbeddingSpace:
        """The space of supplied vectors: the store's, else the embedder's, else a new one."""
        sizes = sorted({_size(draft.vector) for draft in drafts if draft.vector is not None})
        space = self._store.embedding_space() or self._usable_space() or EmbeddingSpace(GIVEN, sizes[0])
        for size in sizes:
            if size != space.dimensions:
                raise InvalidInput(
                    f"a vector of {size} numbers was given; this store's vectors have {space.dimensions}",
                    code="wrong_dimensions",
                )
        return space

    def _usable_space(self) -> EmbeddingSpace | None:
        try:
            return None if self._open is None else self.space()
        except ThinkbackError:  # a write does not need a model
            return None

    def passage(self, text: str) -> tuple[Draft, EmbeddingSpace | None, ThinkbackError | None]:
        """A draft of one text with its vectors and their space, or the error."""
        filled, space, error = self.fill([Draft(text=text)])
        return filled[0], space, error

    def embed_missing(self, progress: Progress | None = None, batch: int = 64) -> int:
        """Embed memories that have no vector; returns their number."""
        embedder = self.embedder()
        self._same_space(embedder)
        done = 0
        total = int(self._store.stats()["unembedded"]) if progress else 0
        last: Mapping[int, StoredRecord] = {}
        while waiting := self._store.unembedded(batch):
            vectors, passages = self._embed(embedder, waiting)
            self._store.put_vectors(vectors, self.space(), passages)
            _check_progress(last, waiting)
            last = waiting
            done += len(waiting)
            if progress:
                progress(done, max(done, total))
        if done:
            log.info("embedded %d memories", done)
        return done + self._split_missing(embedder, progress, done)

    def _split_missing(self, embedder: Embedder, progress: Progress | None, done: int) -> int:
        """Give long memories that were embedded whole, by an older Thinkback, their passages."""
        count = 0
        last: Mapping[int, StoredRecord] = {}
        while waiting := self._store.unsplit(splitting.WHOLE, _LONG_AT_ONCE):
            self._store.put_vectors({}, self.space(), self._embed(embedder, waiting)[1])
            _check_progress(last, waiting)
            last = waiting
            count += len(waiting)
            if progress:
                progress(done + count, done + count)
        return count

    def reembed(self, progress: Progress | None = None, batch: int = 64) -> int:
        """Build a new generation of vectors beside the old one, then switch; continues an interrupted run. Returns a count."""
        embedder, space = self.embedder(), self.space()
        left = self._store.begin_reembedding(space)
        done = 0
        switched = False
        last: Mapping[int, StoredRecord] = {}
        try:
            while not switched:
                while waiting := self._store.next_to_reembed(batch):
                    vectors, passages = self._embed(embedder, waiting)
                    self._store.put_reembedded(vectors, space, passages)
                    _check_progress(last, waiting)
                    last = waiting
                    done += len(waiting)
                    if progress:
                        progress(done, left)
                late, switched = self._switch(embedder, space, batch)
                done += late
        except NotFound:  # another process finished or cancelled it
            self._finished_by_another(space)
        return done

    def _finished_by_another(self, space: EmbeddingSpace) -> None:
        """Two processes that re-embed with the same model share the work, and one of them switches."""
        live = self._store.embedding_space()
        if live != space:
            raise EmbeddingSpaceMismatch(
                f"the re-embedding with {space.fingerprint} was cancelled: the store was re-embedded with "
                f"{live.fingerprint if live else 'another model'} in the meantime",
                code="reembedding_overtaken",
                remedy=Remedy(Action.REEMBED),
            )

    def _switch(self, embedder: Embedder, space: EmbeddingSpace, batch: int) -> tuple[int, bool]:
        """Make the new generation live, unless many memories were written since; the last few are embedded inside it."""
        with self._store.transaction():
            late = self._store.next_to_reembed(batch)
            if len(late) == batch:
                return 0, False
            if late:
                vectors, passages = self._embed(embedder, late)
                self._store.put_reembedded(vectors, space, passages)
            self._store.finish_reembedding(space)
        return len(late), True

    @staticmethod
    def _embed(
        embedder: Embedder, versions: Mapping[int, StoredRecord]
    ) -> tuple[dict[int, Vector], dict[int, Passages]]:
        made = dict(zip(versions, embedded(embedder, list(versions.values())), strict=True))
        passages = {seq: one.passages for seq, one in made.items() if one.passages is not None}
        return {seq: one.vector for seq, one in made.items()}, passages


@dataclass(frozen=True, slots=True, eq=False)
class Embedded:
    """The vector of a text and, of a long one, those of its passages."""

    vector: Vector
    passages: Passages | None = None


def embedded(embedder: Embedder, memories: Sequence[Draft | StoredRecord]) -> list[Embedded]:
    """Memories embedded; a long text by its passages, and its own vector is their mean, weighted by length."""
    texts = [memory.text for memory in memories]
    spans = [() if memory.kind == REFLECTION else splitting.split(memory.text) for memory in memories]
    parts = [span.of(text) for text, its in zip(texts, spans, strict=True) for span in its]
    whole = [text for text, its in zip(texts, spans, strict=True) if not its]
    rows = embedder.embed_passages([*whole, *parts])
    at_whole, at_part = 0, len(whole)
    found: list[Embedded] = []
    for text, its in zip(texts, spans, strict=True):
        if its:
            vectors = rows[at_part : at_part + len(its)]
            weights = [splitting.size(span.of(text)) for span in its]
            found.append(Embedded(combine_windows(list(vectors), weights), Passages(its, vectors)))
            at_part += len(its)
        else:
            found.append(Embedded(rows[at_whole]))
            at_whole += 1
    return found


def _check_progress(last: Mapping[int, StoredRecord], waiting: Mapping[int, StoredRecord]) -> None:
    """Versions that were just embedded do not wait again, unless an index of the store is damaged."""
    again = sorted(last.keys() & waiting.keys())
    if again:
        raise StoreDamaged(
            f"vectors were written for {len(again)} versions (the first is row {again[0]} of memories), and the store still "
            "reports them as missing",
            code="no_progress",
            remedy=Remedy(Action.CHECK),
        )


def _size(vector: Any) -> int:
    if isinstance(vector, np.ndarray):
        return vector.size
    try:
        return int(np.size(vector))
    except ValueError:
        raise InvalidInput("a vector is a sequence of numbers, not of sequences", code="not_numbers") from None
