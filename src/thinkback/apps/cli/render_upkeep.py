"""The results of upkeep for people: receipts, tidying, the journal, themes, audits and checks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import starmap
from typing import Any

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from thinkback.apps import wire_upkeep
from thinkback.apps.cli.checkup import Check
from thinkback.apps.cli.options import Common
from thinkback.apps.cli.output import facts, moment, note, show, show_json, shown, styled, table, warn
from thinkback.apps.cli.render_search import MOST_MEMBERS, members_shown
from thinkback.apps.words import counted, theme_changes
from thinkback.errors import Action, NotFound, Remedy
from thinkback.lifecycle.audit import AuditReport
from thinkback.lifecycle.forget import Receipt
from thinkback.lifecycle.reflect.model import Reflected, Theme
from thinkback.lifecycle.tidy import Tidied
from thinkback.lifecycle.undo import Undone, why_left
from thinkback.model import JournalEntry, Record
from thinkback.stores.base import Problem

MOST_SHOWN = 50
MOST_PLANNED = 10  # of more themes a dry run shows the largest, a line each
_BATCHES = Remedy(Action.LIST_BATCHES)
_WIDEST = len("likely secrets ")


def show_receipt(receipt: Receipt, common: Common) -> None:
    """The receipt of a verified forgetting; exit 1 when it could not be verified."""
    if common.json:
        show_json(wire_upkeep.receipt(receipt))
    else:
        _show_proof(receipt)
    for id in receipt.named_by:
        warn(
            f"the reflection {id}, written by hand, still names what was forgotten; remove it with `thinkback forget {id}`, "
            f"or replace the text with `thinkback update {id} --text TEXT`"
        )
    if not receipt.log_cleared:
        warn("another process uses the store, so its log could not be cleared; run `thinkback doctor` when it is done")
    if not receipt.verified:
        raise typer.Exit(1)


def _show_proof(receipt: Receipt) -> None:
    show(styled(f"forgotten {len(receipt.forgotten)}", "green"), *(f"  {id}" for id in receipt.forgotten))
    if gone := receipt.removed["reflections"]:
        show(f"themes: {theme_changes(gone, len(receipt.rebuilt))}")
    searches = [(search.where, str(search.asked), str(search.found)) for search in receipt.searches]
    files = [(file.file, f"{file.bytes} bytes", str(file.traces)) for file in receipt.files]
    show(table(dict.fromkeys(("searched", "asked", "found"), ""), [*searches, *files]))
    show(*(styled(warning.message, "dim") for warning in receipt.warnings))
    if not receipt.verified:
        show(styled("not verified", "bold red"))
        return
    few = counted(receipt.too_short, "text or id", "texts or ids")
    short = f", but {few} of less than 8 bytes could be looked for in the indexes alone, not in the files"
    show(styled("nothing is left", "green") + styled(short if receipt.too_short else ""))


def show_tidied(done: Tidied) -> None:
    """The actions of a `tidy`, done or planned."""
    if not done.actions:
        show(styled("nothing to do", "green"))
        return
    rows = ((one.action, one.id, _change(one.before, one.after), one.why) for one in done.actions[:MOST_SHOWN])
    show(table({"action": "cyan", "memory": "", "change": "", "why": "dim"}, rows))
    rest = "--json lists all" if done.dry_run else f"thinkback undo {done.batch} --list shows all"
    _show_more(len(done.actions), MOST_SHOWN, rest)
    if done.dry_run:
        show(styled(f"{len(done.actions)} to do; --apply does it", "green"))
    else:
        show(styled(f"{len(done.actions)} done", "green") + styled(f"; undo with: thinkback undo {done.batch}", "dim"))


def _change(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    def value(it: Any) -> str:
        return moment(it) if isinstance(it, datetime) else shown(it)

    return ", ".join(f"{name} {value(before.get(name))} → {value(new)}" for name, new in after.items())


def show_undone(done: Undone, common: Common) -> None:
    """Undone, skipped and passed-over actions; an error if nothing of a named batch can be undone."""
    if done.skipped and not done.undone:
        raise NotFound(f"nothing of {done.batch} can be undone: {why_left(done.skipped)}")
    if not common.json:
        show(styled(f"undone {len(done.undone)}", "green") + styled(f"  {done.batch}", "dim"))
        show(*(f"  {id}" for id in done.undone[:MOST_SHOWN]))
        _show_more(len(done.undone), MOST_SHOWN, f"thinkback undo {done.batch} --list shows all")
    for batch, reasons in done.passed_over.items():
        warn(f"passed over {batch}, of which nothing can be undone: {why_left(reasons)}")
    if done.skipped:
        warn(f"left alone: {why_left(done.skipped)}")


def show_batches(entries: Iterable[JournalEntry], most: int | None, common: Common) -> None:
    """The journal, a line for each batch."""
    batches: dict[str, list[JournalEntry]] = {}
    for entry in entries:
        batches.setdefault(entry.batch, []).append(entry)
    first = [(its[0].at, wire_upkeep.batch(name, its)) for name, its in list(batches.items())[:most]]
    if common.json:
        show_json(*(one for _, one in first))
        return

    def row(at: int, one: wire_upkeep.BatchShape) -> tuple[str | Text, ...]:
        can = styled("yes", "green") if one["why_not"] is None else styled(f"no: {one['why_not']}", "dim")
        return one["batch"], moment(at), str(one["actions"]), ", ".join(one["what"]), can

    columns = dict.fromkeys(("batch", "at", "actions", "what", "can be undone"), "")
    show(table(columns, starmap(row, first)) if first else styled("the journal is empty", "dim"))
    _show_more(len(batches), most, "--limit 0 lists all")


def show_entries(batch: str, entries: Sequence[JournalEntry], most: int | None, common: Common) -> None:
    """The actions of one batch of the journal."""
    if not entries:
        raise NotFound(f"the journal has no batch {batch!r}", code="unknown_batch", remedy=_BATCHES)
    if common.json:
        show_json(*map(wire_upkeep.entry, entries[:most]))
        return
    cells = (
        (one.action, one.memory_id, _change(one.before, one.after), moment(one.undone_at)) for one in entries[:most]
    )
    show(table({"action": "cyan", "memory": "", "change": "", "undone": ""}, cells))
    _show_more(len(entries), most, "--limit 0 lists all")


def _show_more(count: int, most: int | None, how: str, label: str = "") -> None:
    """That there is more than was shown, and how to see it."""
    if most is not None and count > most:
        show(styled(f"{label}and {count - most} more; {how}", "dim"))


def themes_to_show(done: Reflected) -> list[Theme]:
    """The new and refreshed themes; in a dry run all of them, the largest first."""
    changed = {*done.created, *done.refreshed}
    if done.dry_run:
        return sorted(done.themes, key=lambda theme: -len(theme.members))
    return [theme for theme in done.themes if theme.id in changed]


def first_members(themes: Sequence[Theme]) -> list[str]:
    """The members that `show_reflected` shows."""
    return list(dict.fromkeys(id for theme in themes[:MOST_SHOWN] for id in theme.members[:MOST_MEMBERS]))


def show_reflected(done: Reflected, themes: Sequence[Theme], named: Mapping[str, Record]) -> None:
    """The result of a consolidation, or its plan in a dry run; `named` holds the first members of themes."""
    if themes:
        brief = done.dry_run and len(themes) > MOST_PLANNED
        label = {**dict.fromkeys(done.refreshed, "refreshed"), **dict.fromkeys(done.created, "new")}

        def row(theme: Theme) -> tuple[str | Text, ...]:
            members = styled("") if brief else members_shown(theme.members, named)
            about = styled(", ".join(theme.keywords)) + members
            return str(len(theme.members)), f"{theme.coherence:.2f}", about, label.get(theme.id, "")

        most = MOST_PLANNED if brief else MOST_SHOWN
        show(table({"members": "", "coherence": "", "theme": "", "": "green"}, map(row, themes[:most])))
        _show_more(len(themes), most, "--json lists all")
    if done.dry_run and themes:
        of = len({id for theme in themes for id in theme.members})
        show(styled(f"{counted(len(themes), 'theme')} of {counted(of, 'memory', 'memories')}", "bold"))
    reflections = f"{len(done.created)} new, {len(done.refreshed)} refreshed, {len(done.removed)} gone"
    counts = f"promoted {len(done.promoted)}, linked {done.linked}, reflections {reflections}"
    show(styled("would be " if done.dry_run else "", "dim") + styled(counts, "green"))
    refused = ", ".join(f"{count} {reason}" for reason, count in done.refused.items())
    if refused and (done.dry_run or themes or done.removed):
        note(f"clusters that are no theme: {refused}")


def show_report(report: AuditReport) -> None:
    """What an audit found, by concern."""
    sections = {
        "duplicates": ["  ".join(group) for group in report.duplicates],
        "stale": [f"{one.id}  {one.what}" for one in report.stale],
        "never recalled": list(report.never_recalled),
        "likely secrets": [f"{one.id}  {one.what}" for one in report.secrets],
        "orphans": [f"{one.id}  {one.what}" for one in report.orphans],
    }
    for title, lines in sections.items():
        label, style = f"{title:<{_WIDEST}}", "bold red" if title == "likely secrets" else "yellow"
        show(*(styled(label, style) + styled(line) for line in lines[:MOST_SHOWN]))
        _show_more(len(lines), MOST_SHOWN, "--json lists all", label)
    show(facts({"memories": report.memories, **{title: len(lines) for title, lines in sections.items()}}))
    if report.secrets:
        note("to remove them: thinkback audit --redact")


def looked_at(around: Sequence[Check]) -> RenderableType:
    """One line for each check: green, or red with its remedy."""
    made = Table.grid(padding=(0, 2))
    made.add_column(no_wrap=True)
    made.add_column(overflow="fold")
    for one in around:
        mark = styled(f"✓ {one.name}", "green") if one.fine else styled(f"✗ {one.name}", "bold red")
        made.add_row(mark, styled(one.seen) + styled("" if one.fine else f"\n→ {one.remedy}", "yellow"))
    return made


def checked(found: Sequence[Problem], left: Sequence[Problem], repaired: bool) -> Iterator[RenderableType]:
    """The problems of a store, which of them were repaired, and the verdict."""
    for one in found:
        label = styled("repaired ", "green") if repaired and one not in left else styled("problem  ", "bold red")
        yield label + styled(f"{one.area}: {one.message}")
    if left:
        yield styled(counted(len(left), "problem") + (" left" if repaired else "; try --repair"), "bold red")
        if not all(one.repairable for one in left):
            yield styled("restore a backup, or save what can be read: thinkback salvage DAMAGED NEW")
    else:
        yield styled("the store is healthy", "green")
