"""The JSON shapes of what keeps a memory in order: reflecting, tidying, auditing, proven forgetting."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from typing_extensions import TypedDict

from thinkback.clock import iso
from thinkback.inputs import TIMES
from thinkback.lifecycle.audit import AuditReport, Finding
from thinkback.lifecycle.forget import Forgotten
from thinkback.lifecycle.journal import Action
from thinkback.lifecycle.receipt import Receipt
from thinkback.lifecycle.redact import Redacted
from thinkback.lifecycle.reflect.model import Reflected, Theme
from thinkback.lifecycle.tidy import Tidied
from thinkback.lifecycle.undo import Undone, barred
from thinkback.stores.base import JournalEntry


class ThemeShape(TypedDict):
    """Memories that belong together."""

    id: str
    members: list[str]
    keywords: list[str]
    coherence: float


class ReflectedShape(TypedDict):
    """What a consolidation did, or in a dry run would do; `batch` undoes it, null when there is nothing to undo."""

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
    """One change of standing, and why."""

    action: str
    id: str
    before: dict[str, Any]
    after: dict[str, Any]
    why: str


class TidiedShape(TypedDict):
    """What tidying did, or in a dry run would do; `batch` undoes it, null when there is nothing to undo."""

    actions: list[ActionShape]
    batch: str | None
    dry_run: bool


class UndoneShape(TypedDict):
    """Memories brought back to what they were, and those left alone with the reason.

    `passed_over` are the later batches of which nothing could be undone, when none was named: the reason by memory, by batch.
    """

    batch: str
    undone: list[str]
    skipped: dict[str, str]
    passed_over: dict[str, dict[str, str]]


class BatchShape(TypedDict):
    """What stands in the journal under one name; `why_not` says why it cannot be undone, null if it can."""

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
    """Something about one memory."""

    id: str
    what: str


class AuditShape(TypedDict):
    """What an audit found, by concern."""

    clean: bool
    memories: int
    duplicates: list[list[str]]
    stale: list[FindingShape]
    never_recalled: list[str]
    secrets: list[FindingShape]
    orphans: list[FindingShape]


class ForgottenShape(TypedDict):
    """The ids that existed, the reflections that went with them, and those written anew in their place."""

    forgotten: list[str]
    reflections: list[str]
    rebuilt: list[str]
    warnings: list[str]


class SearchedShape(TypedDict):
    """How often one leg or index was asked, and what it still held."""

    where: str
    asked: int
    found: int


class ScannedShape(TypedDict):
    """A file that was read, and the traces in it."""

    file: str
    bytes: int
    traces: int


class ReceiptShape(TypedDict):
    """The proof of forgetting; `verified` when nothing was found anywhere.

    `too_short` texts and ids were looked for in the indexes alone; `named_by` are reflections written by hand that still name it.
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


class RedactedShape(TypedDict):
    """The memories that were rewritten."""

    redacted: list[str]
    log_cleared: bool
    warnings: list[str]


def reflected(done: Reflected) -> ReflectedShape:
    """A consolidation as JSON."""
    return {
        "promoted": list(done.promoted),
        "linked": done.linked,
        "themes": [theme(one) for one in done.themes],
        "created": list(done.created),
        "refreshed": list(done.refreshed),
        "removed": list(done.removed),
        "refused": dict(done.refused),
        "warnings": [str(warning) for warning in done.warnings],
        "batch": done.batch,
        "dry_run": done.dry_run,
    }


def theme(one: Theme) -> ThemeShape:
    """A theme as JSON."""
    return {"id": one.id, "members": list(one.members), "keywords": list(one.keywords), "coherence": one.coherence}


def tidied(done: Tidied) -> TidiedShape:
    """A tidying as JSON."""
    return {"actions": [action(one) for one in done.actions], "batch": done.batch, "dry_run": done.dry_run}


def action(one: Action) -> ActionShape:
    """A change of standing as JSON."""
    return {
        "action": one.action,
        "id": one.id,
        "before": _with_times(one.before),
        "after": _with_times(one.after),
        "why": one.why,
    }


def undone(done: Undone) -> UndoneShape:
    """An undoing as JSON."""
    return {
        "batch": done.batch,
        "undone": list(done.undone),
        "skipped": dict(done.skipped),
        "passed_over": {batch: dict(reasons) for batch, reasons in done.passed_over.items()},
    }


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


def _why_not(entries: Sequence[JournalEntry]) -> str | None:
    """Why nothing of a batch can be undone; whether a memory was changed since is only seen in the attempt."""
    if all(entry.undone_at is not None for entry in entries):
        return "was undone already"
    reasons = [barred(entry) for entry in entries if entry.undone_at is None and entry.memory_id]
    return None if None in reasons else "; ".join(sorted({reason for reason in reasons if reason}))


def audited(report: AuditReport) -> AuditShape:
    """An audit as JSON."""
    return {
        "clean": report.clean,
        "memories": report.memories,
        "duplicates": [list(ids) for ids in report.duplicates],
        "stale": [_finding(one) for one in report.stale],
        "never_recalled": list(report.never_recalled),
        "secrets": [_finding(one) for one in report.secrets],
        "orphans": [_finding(one) for one in report.orphans],
    }


def forgotten(done: Forgotten) -> ForgottenShape:
    """A forgetting as JSON."""
    return {
        "forgotten": list(done.ids),
        "reflections": list(done.reflections),
        "rebuilt": list(done.rebuilt),
        "warnings": [str(warning) for warning in done.warnings],
    }


def receipt(given: Receipt) -> ReceiptShape:
    """A receipt as JSON; files by their names alone."""
    return {
        "verified": given.verified,
        "forgotten": list(given.forgotten),
        "unknown": list(given.unknown),
        "at": given.at,
        "store": given.store,
        "removed": dict(given.removed),
        "rebuilt": list(given.rebuilt),
        "searches": [{"where": one.where, "asked": one.asked, "found": one.found} for one in given.searches],
        "files": [{"file": PurePath(one.file).name, "bytes": one.bytes, "traces": one.traces} for one in given.files],
        "too_short": given.too_short,
        "log_cleared": given.log_cleared,
        "notes": list(given.notes),
        "named_by": list(given.named_by),
    }


def redacted(done: Redacted) -> RedactedShape:
    """A redaction as JSON."""
    return {
        "redacted": list(done.ids),
        "log_cleared": done.log_cleared,
        "warnings": [str(warning) for warning in done.warnings],
    }


def _finding(one: Finding) -> FindingShape:
    return {"id": one.id, "what": one.what}


def _with_times(fields: Mapping[str, Any]) -> dict[str, Any]:
    times = (*TIMES, "until")
    return {name: iso(value) if name in times and isinstance(value, int) else value for name, value in fields.items()}
