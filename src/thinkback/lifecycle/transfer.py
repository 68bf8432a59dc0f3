"""Export and import: everything in a store as values, and merging such values into a store.

Versions of one memory follow one another in time and never overlap, or a store would know two of them at once. The store keeps
what it has; a version recorded later than its own follows it.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from enum import Enum
from itertools import groupby, islice
from typing import Any

from thinkback.errors import (
    Action,
    EmbeddingSpaceMismatch,
    InvalidInput,
    NotFound,
    Notice,
    Remedy,
    ThinkbackError,
    sentence,
)
from thinkback.fields import VERSIONED
from thinkback.lifecycle.about import with_about
from thinkback.lifecycle.corroboration import DECAYED_UNTIL, reworded
from thinkback.lifecycle.reflect.promote import RAISED
from thinkback.lifecycle.secrets.door import Door
from thinkback.lifecycle.speakers import is_suggested, with_speaker
from thinkback.lifecycle.tombstones import buried, left_out
from thinkback.model import Draft, Filter, StoredEdge, StoredJudgement, StoredRecord
from thinkback.stores.base import EmbeddingSpace, Snapshot, Store
from thinkback.values import dataclass

BATCH = 500
CARRIED = (DECAYED_UNTIL, RAISED)  # upkeep settings that belong to the memories
_NAMED = 3  # memories that a warning names
_SUGGESTED_KINDS = {"observation", "preference"}


@dataclass(frozen=True, slots=True)
class Header:
    """The embedding space of the vectors that follow, if there are any, and the upkeep settings of the store they left."""

    space: EmbeddingSpace | None
    settings: Mapping[str, str] = field(default_factory=dict)


Value = Header | Draft | StoredRecord | StoredEdge | StoredJudgement
"""A Draft is a present memory, a StoredRecord a retired version of one."""
Line = tuple[int, Value | ThinkbackError]
"""A line's number, from 1, and its value, or why it could not be read."""


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that could not be imported; lines count from 1."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did.

    `updated` counts memories of which the file had a newer version, `known` the lines that the store had already, and
    `differing` those that differ from the store and are not newer: there the store kept its own.
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


@contextmanager
def export(store: Store, vectors: bool = False) -> Iterator[Snapshot]:
    """Everything in a store at one moment; `vectors` adds those of present memories."""
    with store.snapshot(vectors) as found:
        carried = {key: found.settings[key] for key in CARRIED if key in found.settings}
        yield replace(found, space=found.space if vectors else None, settings=carried)


log = logging.getLogger("thinkback")


def import_values(
    store: Store, lines: Iterable[Line], now: int, skip_bad: bool = False, door: Door | None = None
) -> ImportReport:
    """Merge values into a store in one transaction; a bad line fails it all or, with `skip_bad`, is left out.

    Memories and versions pass the door like what is remembered; a line that it refuses is a bad one.
    """
    with store.transaction():
        merging = _Merge(store, now, skip_bad, door or Door())
        for kind, run in groupby(lines, lambda line: type(line[1])):
            while batch := list(islice(run, BATCH)):
                merging.take(kind, batch)
        report = merging.finish()
    log.info("imported: %s", ", ".join(f"{name} {count}" for name, count in report.counts.items() if count))
    return report


class _Merge:
    """Writes values of one type in batches; a batch that fails is written line by line, to name the bad one."""

    def __init__(self, store: Store, now: int, skip_bad: bool, door: Door) -> None:
        self._store, self._now, self._skip_bad, self._door = store, now, skip_bad, door
        self._secrets: set[str] = set()  # the kinds that were found
        self._with_secrets: set[str] = set()  # the memories they were found in
        self._header = Header(None)
        self._was_empty = not store.list(Filter(now=now, everything=True), 1)
        self._counts: Counter[str] = Counter()
        self._bad: list[BadLine] = []
        self._buried: set[str] = set()
        self._warnings: dict[str, Notice] = {}
        self._differing: list[str] = []
        self._restored: set[str] = set()
        self._judged: dict[tuple[str, str], int] | None = None
        self._linked: dict[tuple[str, str, str], StoredEdge] | None = None
        self._writers: dict[type, Callable[[Any], dict[str, int]]] = {
            Draft: self._add,
            StoredRecord: self._restore,
            StoredEdge: self._link,
            StoredJudgement: self._judge,
        }

    def take(self, kind: type, batch: Sequence[tuple[int, Any]]) -> None:
        self._counts["lines"] += len(batch)
        if kind in self._writers:
            if admitted := self._checked(kind, batch):
                self._write(kind, admitted)
            return
        for number, value in batch:
            if isinstance(value, Header):
                self._header = replace(value, settings=self._header.settings or value.settings)
            else:
                self._refuse(number, value)

    def _checked(self, kind: type, batch: Sequence[tuple[int, Any]]) -> Sequence[tuple[int, Any]]:
        """The lines without those that tombstones keep out or the door refuses, redacted if it redacts."""
        look = self._door.checked if kind in (Draft, StoredRecord) else _without_secrets
        checked = [(number, *look(value)) for number, value in batch]
        out = self._kept_out([value for _, value, _ in checked])
        kept = [one for one, gone in zip(checked, out, strict=True) if not gone]
        return [(number, value) for number, value, secrets in kept if self._passes(number, value, secrets)]

    def _passes(self, number: int, value: Any, secrets: set[str]) -> bool:
        if secrets:
            try:
                self._door.notice(secrets, 1)
            except InvalidInput as refused:
                self._refuse(number, refused)
                return False
            self._secrets |= secrets
            self._with_secrets.add(value.id)
        return True

    def _kept_out(self, values: Sequence[Any]) -> Sequence[bool]:
        """For each value, whether it is about a memory that a tombstone keeps out."""
        told = [_told(value) for value in values]
        found = iter(buried(self._store, [one for about in told for one in about]))
        out = []
        for about in told:
            marks = [next(found) or id in self._buried for id, _ in about]
            self._buried.update(id for (id, _), mark in zip(about, marks, strict=True) if mark)
            out.append(any(marks))
        if self._buried:
            notice = left_out(len(self._buried))
            self._warnings[notice.code] = notice
        return out

    def finish(self) -> ImportReport:
        """Take over the upkeep settings if the store was empty; return the counts."""
        for key in CARRIED if self._was_empty else ():
            if key in self._header.settings:
                self._store.set_setting(key, self._header.settings[key])
        if self._differing:
            named = ", ".join(dict.fromkeys(self._differing[:_NAMED]))
            message = (
                f"{len(self._differing)} lines differ from the store and are not newer, such as those on {named}; "
                "the store's versions were kept"
            )
            self._warn(Notice("older_lines_ignored", message))
        if self._with_secrets:
            self._warn(self._door.notice(self._secrets, len(self._with_secrets)))
        counts: dict[str, Any] = dict(self._counts)
        return ImportReport(**counts, bad=tuple(self._bad), warnings=tuple(self._warnings.values()))

    def _write(self, kind: type, batch: Sequence[tuple[int, Any]]) -> None:
        differing = len(self._differing)
        try:
            with self._store.transaction():
                counts = self._writers[kind]([value for _, value in batch])
        except (InvalidInput, NotFound, EmbeddingSpaceMismatch) as error:
            del self._differing[differing:]
            if len(batch) == 1:
                self._refuse(batch[0][0], error)
                return
            for line in batch:
                self._write(kind, [line])
        else:
            self._counts.update(counts)

    def _refuse(self, number: int, error: ThinkbackError) -> None:
        if not self._skip_bad:
            message = f"line {number}: {sentence(error.message)} Nothing was imported."
            raise InvalidInput(message, code="bad_line", remedy=Remedy(Action.SKIP_BAD_LINES)) from None
        self._bad.append(BadLine(number, error.message))

    def _warn(self, notice: Notice) -> None:
        self._warnings.setdefault(notice.code, notice)

    # -- memories ------------------------------------------------------------------------------------------------------------------

    def _add(self, drafts: Sequence[Draft]) -> dict[str, int]:
        drafts = self._with_usable_vectors(drafts)
        there = set(self._store.get([str(draft.id) for draft in drafts]))
        new: dict[str, Draft] = {}
        again: list[Draft] = []
        for draft in drafts:
            if draft.id in there or draft.id in new:
                again.append(draft)
            else:
                new[str(draft.id)] = draft
        for id in new.keys() & self._restored:
            self._check_order(new[id])
        if new:
            self._store.add([self._as_written(draft) for draft in new.values()], self._now, self._header.space)
        return {**self._merge(again, {}), "memories": len(new)}

    def _as_written(self, draft: Draft) -> Draft:
        """A draft that no store has recorded, with what is read from the text of every memory when it is written."""
        return draft if draft.recorded_at is not None else with_about(with_speaker(draft), self._now)

    def _with_usable_vectors(self, drafts: Sequence[Draft]) -> Sequence[Draft]:
        """The drafts, without their vectors if those are of another embedding space than the store's."""
        if all(draft.vector is None for draft in drafts):
            return drafts
        space, live = self._header.space, self._store.embedding_space()
        if space is None:
            raise InvalidInput("the line has a vector, but the file's header names no embedding")
        if live is None or live == space:
            return drafts
        message = f"vectors were left out: those of the file were made by {space.fingerprint}, the store's by {live.fingerprint}"
        self._warn(Notice("vectors_left_out", message, Remedy(Action.EMBED_MISSING)))
        return [replace(draft, vector=None, passages=None) for draft in drafts]

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
        """Compare each version with the store's; those that belong among its past are gathered in `fresh`."""
        counts = {"updated": 0, "known": 0, "differing": 0}
        for version in versions:
            id = str(version.id)
            found = compare(version, self._store.history(id))
            # Gathered versions count only where they overlap: the same one twice is two.
            if found is Relation.EARLIER and compare(version, fresh.get(id, ())) is Relation.DIFFERING:
                found = Relation.DIFFERING
            if found is Relation.EARLIER and isinstance(version, StoredRecord):
                fresh.setdefault(id, []).append(version)
            elif found is Relation.NEWER:
                self._update(version)
                counts["updated"] += 1
            elif found is Relation.DIFFERING:
                self._differing.append(id)
                counts["differing"] += 1
            else:
                counts["known"] += 1
        return counts

    def _update(self, version: Draft | StoredRecord) -> None:
        vector, passages = (version.vector, version.passages) if isinstance(version, Draft) else (None, None)
        space = None if vector is None else self._header.space
        at = version.recorded_at or self._now
        self._store.update(str(version.id), _content(version), at, vector, space, passages)
        reworded(self._store, str(version.id), self._now)

    # -- links and judgements ------------------------------------------------------------------------------------------------------

    def _link(self, edges: Sequence[StoredEdge]) -> dict[str, int]:
        """Write links the store does not have."""
        if self._linked is None:
            self._linked = {_ends(edge): edge for edge in self._store.export_edges()}
        new: dict[tuple[str, str, str], StoredEdge] = {}
        differing = 0
        for edge in edges:
            known = self._linked.get(_ends(edge)) or new.setdefault(_ends(edge), edge)
            if replace(known, created_at=edge.created_at) != edge:
                self._differing.append(f"{edge.from_id} → {edge.to_id}")
                differing += 1
        if new:
            self._store.link(list(new.values()), self._now)
        self._linked |= new
        return {"links": len(new), "known": len(edges) - len(new) - differing, "differing": differing}

    def _judge(self, judgements: Sequence[StoredJudgement]) -> dict[str, int]:
        """Write judgements made later than the store's."""
        if self._judged is None:
            self._judged = {(one.query, one.memory_id): one.judged_at for one in self._store.judgements()}
        judged = self._judged
        new = [one for one in judgements if one.judged_at > judged.get((one.query, one.memory_id), one.judged_at - 1)]
        self._store.judge(new)
        return {"judgements": len(new), "known": len(judgements) - len(new)}


def _ends(edge: StoredEdge) -> tuple[str, str, str]:
    return edge.from_id, edge.to_id, edge.kind


# -- versions ----------------------------------------------------------------------------------------------------------------------


class Relation(Enum):
    """The relation of a version to the store's versions of the same memory."""

    KNOWN = "the store has it"
    NEWER = "it follows the present one"
    EARLIER = "it belongs among the retired ones"
    DIFFERING = "the store has another for that time"


def compare(version: Draft | StoredRecord, versions: Sequence[StoredRecord]) -> Relation:
    """Compare a present (Draft) or a retired version (StoredRecord) with all the store's versions of that memory."""
    if any(_same(version, other) for other in versions):
        return Relation.KNOWN
    present = next((other for other in versions if other.retired_at is None), None)
    if version.recorded_at is not None and present is not None and version.recorded_at > present.recorded_at:
        return Relation.NEWER
    if isinstance(version, Draft) or any(_overlap(version, other) for other in versions):
        return Relation.DIFFERING
    return Relation.EARLIER


def _content(version: Draft | StoredRecord) -> dict[str, Any]:
    return {name: getattr(version, name) for name in VERSIONED}


def _same(version: Draft | StoredRecord, other: StoredRecord) -> bool:
    mine, theirs = _content(version), _content(other)
    if mine["position"] is None:  # the store assigned it when it was written
        theirs["position"] = None
    if version.recorded_at is None:  # what was read from its text when it was written is the same
        if mine["speaker"] is None and is_suggested(other):
            theirs["speaker"] = None
        if {mine["kind"], theirs["kind"]} == _SUGGESTED_KINDS:
            theirs["kind"] = mine["kind"]
    return mine == theirs and version.recorded_at in (None, other.recorded_at)


def _overlap(one: StoredRecord, other: StoredRecord) -> bool:
    """Whether both were known at some moment; a version that was replaced at once was never known."""
    if other.retired_at is None:
        return one.retired_at is not None and other.recorded_at < one.retired_at and one.recorded_at < one.retired_at
    starts, ends = max(one.recorded_at, other.recorded_at), min(one.retired_at or 0, other.retired_at)
    return starts < ends


def _without_secrets(value: Any) -> tuple[Any, set[str]]:
    return value, set()


def _told(value: Any) -> list[tuple[str, str]]:
    """The memories that a line is about, by id, with their text where it has one."""
    if isinstance(value, StoredEdge):
        return [(value.from_id, ""), (value.to_id, "")]
    if isinstance(value, StoredJudgement):
        return [(value.memory_id, "")]
    return [(str(value.id), str(value.text))]
