"""The JSON shapes of maintenance: reflect, tidy, undo, audit, redact, and forgetting with proof."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import PurePath
from typing import Any

from typing_extensions import TypedDict

from thinkback.apps.wire import shaped, warnings
from thinkback.clock import iso
from thinkback.errors import PYTHON_WORDS
from thinkback.errors import Action as Remedial
from thinkback.lifecycle.audit import AuditReport
from thinkback.lifecycle.forget import Forgotten, Receipt
from thinkback.lifecycle.journal import Action
from thinkback.lifecycle.redact import Redacted
from thinkback.lifecycle.reflect.model import Reflected
from thinkback.lifecycle.tidy import Tidied
from thinkback.lifecycle.undo import Undone, barred
from thinkback.model import JournalEntry

Words = Mapping[Remedial, str]


class ThemeShape(TypedDict):
    """Memories on one subject."""

    id: str
    members: list[str]
    keywords: list[str]
    coherence: float


class ReflectedShape(TypedDict):
    """The result of a consolidation, or its plan in a dry run; undo takes `batch`, null if there is nothing to undo."""

    promoted: list[str]
    linked: int
    themes: list[ThemeShape]
    created: list[str]
    refreshed: list[str]
    removed: list[str]
    refused: dict[str, int]
    warnings: list[str]
    batch: str | None
    dry_run: bool


class ActionShape(TypedDict):
    """One change to a memory, and why."""

    action: str
    id: str
    before: dict[str, Any]
    after: dict[str, Any]
    why: str


class TidiedShape(TypedDict):
    """What tidy did, or would do in a dry run; undo takes `batch`, null if there is nothing to undo."""

    actions: list[ActionShape]
    batch: str | None
    dry_run: bool


class UndoneShape(TypedDict):
    """The memories restored to their earlier state, and those skipped with the reason.

    `passed_over` are later batches that could not be undone, when no batch was named: the reason by memory, by batch.
    """

    batch: str
    undone: list[str]
    skipped: dict[str, str]
    passed_over: dict[str, dict[str, str]]


class BatchShape(TypedDict):
    """One batch of the journal; `why_not` is the reason why it cannot be undone, null if it can."""

    batch: str
    at: str
    actions: int
    what: list[str]
    undone: bool
    why_not: str | None


class EntryShape(TypedDict):
    """One action of the journal."""

    action: str
    id: str
    before: dict[str, Any]
    after: dict[str, Any]
    at: str
    undone_at: str | None


class FindingShape(TypedDict):
    """A finding about one memory."""

    id: str
    what: str


class AuditShape(TypedDict):
    """The findings of an audit."""

    clean: bool
    memories: int
    duplicates: list[list[str]]
    stale: list[FindingShape]
    never_recalled: list[str]
    secrets: list[FindingShape]
    orphans: list[FindingShape]


class ForgottenShape(TypedDict):
    """The ids that existed, the reflections removed with them, and those rebuilt."""

    forgotten: list[str]
    reflections: list[str]
    rebuilt: list[str]
    dry_run: bool
    tombstones: list[str]
    warnings: list[str]


class SearchedShape(TypedDict):
    """How many searches of one leg or index were made, and how many found something."""

    where: str
    asked: int
    found: int


class ScannedShape(TypedDict):
    """A file that was read, and the traces found in it."""

    file: str
    bytes: int
    traces: int


class ReceiptShape(TypedDict):
    """The proof of forgetting; `verified` if nothing was found anywhere.

    `too_short` texts and ids were searched in the indexes only; `named_by` are hand-written reflections that still name them.
    """

    verified: bool
    forgotten: list[str]
    unknown: list[str]
    at: str
    store: str
    removed: dict[str, int]
    rebuilt: list[str]
    searches: list[SearchedShape]
    files: list[ScannedShape]
    too_short: int
    log_cleared: bool
    notes: list[str]
    named_by: list[str]
    tombstones: list[str]


class RedactedShape(TypedDict):
    """The memories that were redacted."""

    redacted: list[str]
    log_cleared: bool
    warnings: list[str]


def reflected(done: Reflected, words: Words = PYTHON_WORDS) -> ReflectedShape:
    """A consolidation as JSON."""
    return {**shaped(ReflectedShape, done), "warnings": warnings(done.warnings, words)}


def tidied(done: Tidied) -> TidiedShape:
    """A tidying as JSON."""
    return {"actions": [action(one) for one in done.actions], "batch": done.batch, "dry_run": done.dry_run}


def action(one: Action) -> ActionShape:
    """A change as JSON."""
    before, after = _with_times(one.before), _with_times(one.after)
    return {"action": one.action, "id": one.id, "before": before, "after": after, "why": one.why}


def undone(done: Undone) -> UndoneShape:
    """An undo as JSON."""
    return shaped(UndoneShape, done)


def batch(name: str, entries: Sequence[JournalEntry]) -> BatchShape:
    """A batch of the journal as JSON."""
    return {
        "batch": name,
        "at": iso(entries[0].at),
        "actions": len(entries),
        "what": sorted({entry.action for entry in entries}),
        "undone": all(entry.undone_at is not None for entry in entries),
        "why_not": _why_not(entries),
    }


def entry(one: JournalEntry) -> EntryShape:
    """An action of the journal as JSON."""
    return {
        "action": one.action,
        "id": one.memory_id,
        "before": _with_times(one.before),
        "after": _with_times(one.after),
        "at": iso(one.at),
        "undone_at": iso(one.undone_at),
    }


def audited(report: AuditReport) -> AuditShape:
    """An audit as JSON."""
    return shaped(AuditShape, report)


def forgotten(done: Forgotten, words: Words = PYTHON_WORDS) -> ForgottenShape:
    """The result of forget as JSON."""
    return {
        "forgotten": list(done.ids),
        "reflections": list(done.reflections),
        "rebuilt": list(done.rebuilt),
        "dry_run": done.dry_run,
        "tombstones": list(done.tombstones),
        "warnings": warnings(done.warnings, words),
    }


def receipt(proof: Receipt) -> ReceiptShape:
    """A receipt as JSON, with the names of files but not their folders."""
    shape: ReceiptShape = shaped(ReceiptShape, proof)
    for scanned in shape["files"]:
        scanned["file"] = PurePath(scanned["file"]).name
    return shape


def redacted(done: Redacted, words: Words = PYTHON_WORDS) -> RedactedShape:
    """A redaction as JSON."""
    return {
        "redacted": list(done.ids),
        "log_cleared": done.log_cleared,
        "warnings": warnings(done.warnings, words),
    }


def _why_not(entries: Sequence[JournalEntry]) -> str | None:
    """Why no part of a batch can be undone; that a memory has changed since shows only in the attempt."""
    if all(entry.undone_at is not None for entry in entries):
        return "was undone already"
    reasons = [barred(entry) for entry in entries if entry.undone_at is None and entry.memory_id]
    return None if None in reasons else "; ".join(sorted({reason for reason in reasons if reason}))


def _with_times(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: iso(value) if isinstance(value, datetime) else value for name, value in fields.items()}
