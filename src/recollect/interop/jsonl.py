"""A whole store as JSON Lines, there and back without loss.

The first line is a header; then one object a line: memories (each version its own line, older ones with `retired_at`), links and
judgements, told apart by `type`. A line without a type is a memory, so `{"text": "…"}` alone is a valid file. Unknown fields are
refused rather than dropped: what is yours belongs under `metadata`.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

from recollect.drafts import canonical_json
from recollect.errors import EmbeddingSpaceMismatch, InvalidInput, NotFound, sentence
from recollect.interop.lines import Header, Value, header_line, judgement_line, link_line, memory_line, plain, read_line
from recollect.model import Draft, Edge, Record
from recollect.stores.base import EmbeddingSpace, Judgement

if TYPE_CHECKING:
    from recollect.memory import Memory

T = TypeVar("T")
Progress = Callable[[int, int], None]
BATCH = 500


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that could not be imported; lines count from 1."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did; `known` are lines that say what the store had already, and kept as it was."""

    lines: int = 0
    memories: int = 0
    versions: int = 0
    links: int = 0
    judgements: int = 0
    known: int = 0
    bad: tuple[BadLine, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """The numbers alone."""
        names = ("lines", "memories", "versions", "links", "judgements", "known")
        return {name: getattr(self, name) for name in names}

    def plus(self, **more: int) -> "ImportReport":
        """The report with these numbers added."""
        return replace(self, **{name: getattr(self, name) + count for name, count in more.items()})


def export_lines(memory: "Memory", vectors: bool = False) -> Iterator[str]:
    """Everything in a store, line by line, without line ends; `vectors` adds those of present memories."""
    store = memory.store
    space = store.embedding_space() if vectors else None
    # Read before the memories, so that they name none that is younger than the file.
    edges, judgements = list(store.export_edges()), store.judgements()
    yield header_line(space)
    for batch in _batches(store.export_records()):
        found = store.vectors([one.id for one in batch if one.retired_at is None]) if space else {}
        for record in batch:
            yield memory_line(record, found.get(record.id) if record.retired_at is None else None)
    for some in _batches(edges):
        there = store.get(list({id: None for edge in some for id in (edge.from_id, edge.to_id)}))
        yield from (link_line(edge) for edge in some if edge.from_id in there and edge.to_id in there)
    for judged in _batches(judgements):
        there = store.get(list({one.memory_id: None for one in judged}))
        yield from (judgement_line(one) for one in judged if one.memory_id in there)


def _batches(values: Iterable[T]) -> Iterator[list[T]]:
    rest = iter(values)
    while batch := list(islice(rest, BATCH)):
        yield batch


def import_lines(
    memory: "Memory", lines: Iterable[str], skip_bad: bool = False, progress: Progress | None = None
) -> ImportReport:
    """Reads lines in one transaction: a bad one is named and nothing is imported, or, with `skip_bad`, only it is left out.

    What the store has already it keeps as it is, so importing twice adds nothing. Nothing is embedded here; `embed_missing` does.
    """
    importing = _Import(memory, skip_bad)
    with memory.store.transaction():
        for number, line in enumerate(lines, 1):
            importing.take(number, line)
            if progress and number % BATCH == 0:
                progress(number, 0)
        importing.flush()
    return importing.report


class _Import:
    """Gathers lines of one kind and writes them in batches; a batch that fails is tried line by line, to name the culprit."""

    def __init__(self, memory: "Memory", skip_bad: bool) -> None:
        self.report = ImportReport()
        self._store = memory.store
        self._now = memory.clock()
        self._skip_bad = skip_bad
        self._space: EmbeddingSpace | None = None
        self._judged: dict[tuple[str, str], int] | None = None
        self._repeats = _Repeats()
        self._pending: list[tuple[int, Value]] = []

    def take(self, number: int, line: str) -> None:
        """Understands one line; blank ones are passed over."""
        if number == 1:
            line = line.removeprefix("\ufeff")
        if not line.strip():
            return
        self.report = self.report.plus(lines=1)
        try:
            value = self._ready(read_line(line))
        except InvalidInput as error:
            self._refuse(number, error)
            return
        if isinstance(value, Header):
            self._space = value.space
            return
        if self._pending and (type(self._pending[0][1]) is not type(value) or len(self._pending) >= BATCH):
            self.flush()
        self._pending.append((number, value))

    def flush(self) -> None:
        """Writes what was gathered."""
        batch, self._pending = self._pending, []
        if not batch:
            return
        try:
            self._write([value for _, value in batch])
        except (InvalidInput, NotFound, EmbeddingSpaceMismatch) as error:
            if len(batch) == 1:
                self._refuse(batch[0][0], error)
                return
            for item in batch:
                self._pending = [item]
                self.flush()

    def _refuse(self, number: int, error: Exception) -> None:
        if not self._skip_bad:
            raise InvalidInput(
                f"line {number}: {sentence(error)} Nothing was imported; mend the line, or leave out bad lines with --skip-bad"
            ) from None
        self.report = replace(self.report, bad=(*self.report.bad, BadLine(number, str(error))))

    def _ready(self, value: Value) -> Value:
        """A memory gets an id if it has none, and keeps its vector only if the store can use it."""
        if not isinstance(value, Draft):
            return value
        if value.id is None:
            digest = hashlib.sha256(canonical_json(plain(replace(value, vector=None))).encode()).hexdigest()[:20]
            # The same words twice in one file are two memories, and the same two when the file is read again.
            value = replace(value, id=f"import-{digest}-{self._repeats.count(digest)}")
        if value.vector is None or self._fits():
            return value
        return replace(value, vector=None)

    def _fits(self) -> bool:
        """Whether the file's vectors may join the store's; if not, that is said once."""
        if self._space is None:
            raise InvalidInput("the line has a vector, but the file's header names no embedding")
        live = self._store.embedding_space()
        if live is None or live == self._space:
            return True
        message = (
            f"vectors were left out: those of the file were made by {self._space.fingerprint}, "
            f"the store's by {live.fingerprint}; embed anew with: recollect embed --missing"
        )
        if message not in self.report.warnings:
            self.report = replace(self.report, warnings=(*self.report.warnings, message))
        return False

    def _write(self, values: Sequence[Any]) -> None:
        writers: dict[type, tuple[Callable[[Any], int], str]] = {
            Draft: (self._add, "memories"),
            Record: (self._store.restore_versions, "versions"),
            Edge: (self._link, "links"),
            Judgement: (self._judge, "judgements"),
        }
        write, name = writers[type(values[0])]
        new = write(values)
        self.report = self.report.plus(**{name: new, "known": len(values) - new})

    def _add(self, drafts: Sequence[Draft]) -> int:
        known = set(self._store.get([str(draft.id) for draft in drafts]))
        new = {draft.id: draft for draft in reversed(drafts) if draft.id not in known}
        if new:
            self._store.add(list(new.values())[::-1], self._now, self._space)
        return len(new)

    def _link(self, edges: Sequence[Edge]) -> int:
        self._store.link(edges, self._now)
        return len(edges)

    def _judge(self, judgements: Sequence[Judgement]) -> int:
        """The later word on a query and a memory holds."""
        if self._judged is None:
            self._judged = {(one.query, one.memory_id): one.judged_at for one in self._store.judgements()}
        judged = self._judged
        new = [one for one in judgements if one.judged_at > judged.get((one.query, one.memory_id), one.judged_at - 1)]
        self._store.judge(new)
        return len(new)


class _Repeats:
    """How often each line came up so far, in a temporary file of SQLite's, so that memory stays bounded."""

    def __init__(self) -> None:
        self._file = apsw.Connection("")
        self._file.execute("CREATE TABLE seen (digest TEXT PRIMARY KEY, times INTEGER) WITHOUT ROWID; BEGIN")

    def count(self, digest: str) -> int:
        sql = "INSERT INTO seen VALUES (?, 1) ON CONFLICT DO UPDATE SET times = times + 1 RETURNING times"
        return int(self._file.execute(sql, (digest,)).get)
