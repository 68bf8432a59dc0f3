"""A whole store as JSON Lines, there and back without loss.

The first line is a header; then one object a line: memories (each version its own line, older ones with `retired_at`), links and
judgements, told apart by `type`. A line without a type is a memory, so `{"text": "…"}` alone is a valid file. Unknown fields are
refused rather than dropped: what is yours belongs under `metadata`.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import apsw

from thinkback.errors import Action, EmbeddingSpaceMismatch, InvalidInput, NotFound, Notice, Remedy, sentence
from thinkback.input_checks import canonical_json
from thinkback.interop.jsonl_lines import (
    Header,
    Value,
    header_line,
    judgement_line,
    link_line,
    memory_line,
    plain,
    read_line,
)
from thinkback.interop.merge_versions import Verdict, content, verdict
from thinkback.lifecycle.corroboration import DECAYED_UNTIL, reworded
from thinkback.lifecycle.reflect.promote import RAISED
from thinkback.model import Draft, Filter, StoredEdge, StoredRecord
from thinkback.stores.base import EmbeddingSpace, Judgement

if TYPE_CHECKING:
    from thinkback.memory import Memory

Progress = Callable[[int, int], None]
BATCH = 500
# What upkeep has noted of these memories: until when their confidence is counted, and whom it raised and may lower again.
CARRIED = (DECAYED_UNTIL, RAISED)
_NAMED = 3  # memories a warning names


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that could not be imported; lines count from 1."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did.

    `updated` counts memories of which the file had a newer version, `known` the lines that say what the store had already, and
    `differing` those that say something else and are not newer: there too the store kept what it had.
    """

    lines: int = 0
    memories: int = 0
    updated: int = 0
    versions: int = 0
    links: int = 0
    judgements: int = 0
    known: int = 0
    differing: int = 0
    bad: tuple[BadLine, ...] = ()
    warnings: tuple[Notice, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """The numbers alone."""
        names = ("lines", "memories", "updated", "versions", "links", "judgements", "known", "differing")
        return {name: getattr(self, name) for name in names}

    def plus(self, **more: int) -> "ImportReport":
        """The report with these numbers added."""
        return replace(self, **{name: getattr(self, name) + count for name, count in more.items()})


def export_lines(memory: "Memory", vectors: bool = False) -> Iterator[str]:
    """Everything in a store at one moment, line by line, without line ends; `vectors` adds those of present memories."""
    with memory.store.snapshot(vectors) as found:
        kept = {key: found.settings[key] for key in CARRIED if key in found.settings}
        yield header_line(found.space if vectors else None, kept)
        for record, vector in found.records:
            yield memory_line(record, vector)
        yield from map(link_line, found.edges)
        yield from map(judgement_line, found.judgements)


def import_lines(
    memory: "Memory", lines: Iterable[str], skip_bad: bool = False, progress: Progress | None = None
) -> ImportReport:
    """Reads lines in one transaction: a bad one is named and nothing is imported, or, with `skip_bad`, only it is left out.

    What the store has already it keeps as it is, so importing twice adds nothing; a version that was recorded later than the
    store's follows it. Nothing is embedded here; `embed_missing` does.
    """
    with memory.store.transaction():
        importing = _Import(memory, skip_bad)
        for number, line in enumerate(lines, 1):
            importing.take(number, line)
            if progress and number % BATCH == 0:
                progress(number, 0)
        importing.finish()
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
        self._linked: dict[tuple[str, str, str], StoredEdge] | None = None
        self._was_empty = not self._store.list(Filter(now=self._now, everything=True), 1)
        self._restored: set[str] = set()
        self._settings: Mapping[str, str] = {}
        self._differing: list[str] = []
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
            self._settings = self._settings or value.settings
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
            f"the store's by {live.fingerprint}"
        )
        self._warn(Notice("vectors_left_out", message, Remedy(Action.EMBED_MISSING)))
        return False

    def finish(self) -> None:
        """Writes what is left, and what upkeep noted, if the file is all there is."""
        self.flush()
        for key in CARRIED if self._was_empty else ():
            if key in self._settings:
                self._store.set_setting(key, self._settings[key])
        if self._differing:
            named = ", ".join(dict.fromkeys(self._differing[:_NAMED]))
            message = (
                f"{len(self._differing)} lines differ from the store and are not newer, as those on {named}; "
                "the store's versions were kept"
            )
            self._warn(Notice("older_lines_ignored", message))

    def _warn(self, message: Notice) -> None:
        if message not in self.report.warnings:
            self.report = replace(self.report, warnings=(*self.report.warnings, message))

    def _write(self, values: Sequence[Any]) -> None:
        writers: dict[type, Callable[[Any], dict[str, int]]] = {
            Draft: self._add,
            StoredRecord: self._restore,
            StoredEdge: self._link,
            Judgement: self._judge,
        }
        # A batch that fails is written again line by line, so nothing of it may stay.
        differing = len(self._differing)
        try:
            with self._store.transaction():
                counts = writers[type(values[0])](values)
        except BaseException:
            del self._differing[differing:]
            raise
        self.report = self.report.plus(**counts)

    def _add(self, drafts: Sequence[Draft]) -> dict[str, int]:
        there = set(self._store.get([str(draft.id) for draft in drafts]))
        new: dict[str, Draft] = {}
        again: list[Draft] = []
        for draft in drafts:
            if draft.id in there or draft.id in new:
                again.append(draft)
            else:
                new[str(draft.id)] = draft
        for id, draft in new.items():
            if id in self._restored:
                self._check_order(draft)
        if new:
            self._store.add(list(new.values()), self._now, self._space)
        counts = self._merge(again, {})
        return {**counts, "memories": len(new)}

    def _check_order(self, draft: Draft) -> None:
        """A present version must follow the retired ones, which come first in a file."""
        last = max((one.retired_at or 0 for one in self._store.history(str(draft.id))), default=None)
        recorded = self._now if draft.recorded_at is None else draft.recorded_at
        if last is not None and recorded < last:
            raise InvalidInput(f"the memory {draft.id!r} was recorded before an older version of it was retired")

    def _restore(self, records: Sequence[StoredRecord]) -> dict[str, int]:
        fresh: dict[str, list[StoredRecord]] = {}
        counts = self._merge(records, fresh)
        self._restored.update(fresh)
        return {**counts, "versions": self._store.restore_versions([one for its in fresh.values() for one in its])}

    def _merge(
        self, versions: Sequence[Draft] | Sequence[StoredRecord], fresh: dict[str, list[StoredRecord]]
    ) -> dict[str, int]:
        """Weighs each version against what the store has; those that belong among its past are gathered in `fresh`."""
        counts = {"updated": 0, "known": 0, "differing": 0}
        for version in versions:
            id = str(version.id)
            found = self._store.history(id)
            # What is gathered only counts where it would overlap: the same one twice is two.
            weighed = verdict(version, found)
            if weighed is Verdict.NEW and verdict(version, fresh.get(id, ())) is Verdict.DIFFERING:
                weighed = Verdict.DIFFERING
            if weighed is Verdict.NEW and isinstance(version, StoredRecord):
                fresh.setdefault(id, []).append(version)
            elif weighed is Verdict.NEWER:
                self._update(version)
                counts["updated"] += 1
            elif weighed is Verdict.DIFFERING:
                self._differing.append(id)
                counts["differing"] += 1
            else:
                counts["known"] += 1
        return counts

    def _update(self, version: Draft | StoredRecord) -> None:
        vector = version.vector if isinstance(version, Draft) else None
        space = None if vector is None else self._space
        self._store.update(str(version.id), content(version), version.recorded_at or self._now, vector, space)
        reworded(self._store, str(version.id), self._now)

    def _link(self, edges: Sequence[StoredEdge]) -> dict[str, int]:
        """What the store says of a link holds."""
        if self._linked is None:
            self._linked = {_ends(edge): edge for edge in self._store.export_edges()}
        new: dict[tuple[str, str, str], StoredEdge] = {}
        differing = 0
        for edge in edges:
            known = self._linked.get(_ends(edge)) or new.setdefault(_ends(edge), edge)
            if _said(known) != _said(edge):
                self._differing.append(f"{edge.from_id} → {edge.to_id}")
                differing += 1
        self._store.link(list(new.values()), self._now)
        self._linked |= new
        return {"links": len(new), "known": len(edges) - len(new) - differing, "differing": differing}

    def _judge(self, judgements: Sequence[Judgement]) -> dict[str, int]:
        """The later word on a query and a memory holds."""
        if self._judged is None:
            self._judged = {(one.query, one.memory_id): one.judged_at for one in self._store.judgements()}
        judged = self._judged
        new = [one for one in judgements if one.judged_at > judged.get((one.query, one.memory_id), one.judged_at - 1)]
        self._store.judge(new)
        return {"judgements": len(new), "known": len(judgements) - len(new)}


def _ends(edge: StoredEdge) -> tuple[str, str, str]:
    return edge.from_id, edge.to_id, edge.kind


def _said(edge: StoredEdge) -> tuple[float, int | None, int | None]:
    return edge.weight, edge.valid_from, edge.valid_to


class _Repeats:
    """How often each line came up so far, in a temporary file of SQLite's, so that memory stays bounded."""

    def __init__(self) -> None:
        self._file = apsw.Connection("")
        self._file.execute("CREATE TABLE seen (digest TEXT PRIMARY KEY, times INTEGER) WITHOUT ROWID; BEGIN")

    def count(self, digest: str) -> int:
        sql = "INSERT INTO seen VALUES (?, 1) ON CONFLICT DO UPDATE SET times = times + 1 RETURNING times"
        return int(self._file.execute(sql, (digest,)).get)
