"""The life of memories as people read it: what was done, undone, found and proved. With `--json`, the shapes of the wire."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import typer
from rich.text import Text

from thinkback.apps import wire_upkeep
from thinkback.apps.cli.options import Common
from thinkback.apps.cli.output import facts, moment, note, show, show_json, show_lines, shown, styled, table, warn
from thinkback.apps.cli.render_search import MOST_MEMBERS, members_shown
from thinkback.apps.words import counted, themes_told
from thinkback.errors import NotFound
from thinkback.fields import TIMES
from thinkback.lifecycle.audit import AuditReport
from thinkback.lifecycle.forget import Receipt
from thinkback.lifecycle.journal import Action
from thinkback.lifecycle.reflect.model import Reflected, Theme
from thinkback.lifecycle.undo import Undone, why_left
from thinkback.model import Record
from thinkback.stores.base import JournalEntry

MOST_SHOWN = 50
_TIMES = TIMES | {"until"}  # what may change in a journal
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
            f"or write it anew with `thinkback update {id} --text TEXT`"
        )
    if not receipt.log_cleared:
        warn("another process uses the store, so its log could not be cleared; run `thinkback doctor` when it is done")
    if not receipt.verified:
        raise typer.Exit(1)


def _show_proof(receipt: Receipt) -> None:
    show(styled(f"forgotten {len(receipt.forgotten)}", "green"), *(styled(f"  {id}") for id in receipt.forgotten))
    if gone := receipt.removed["reflections"]:
        show(styled(f"themes: {themes_told(gone, len(receipt.rebuilt))}"))
    rows = table("looked in", "asked", "found")
    for search in receipt.searches:
        rows.add_row(styled(search.where), str(search.asked), str(search.found))
    for file in receipt.files:
        rows.add_row(styled(file.file), f"{file.bytes} bytes", str(file.traces))
    show(rows)
    show(*(styled(warning.message, "dim") for warning in receipt.warnings))
    if not receipt.verified:
        show(styled("not verified", "bold red"))
    elif not receipt.too_short:
        show(styled("nothing is left", "green"))
    else:
        few = counted(receipt.too_short, "text or id", "texts or ids")
        show(
            styled("nothing is left", "green")
            + styled(f", but {few} of less than 8 bytes could be looked for in the indexes alone, not in the files")
        )


def show_actions(actions: Sequence[Action], how: str) -> None:
    """What a tidying did or would do; `how` the rest can be seen."""
    if not actions:
        return
    rows = table("action", "memory", "change", "why")
    for action in actions[:MOST_SHOWN]:
        change = _change(action.before, action.after)
        rows.add_row(styled(action.action, "cyan"), styled(action.id), change, styled(action.why, "dim"))
    show(rows)
    _show_more(len(actions), MOST_SHOWN, how)


def _change(before: Mapping[str, Any], after: Mapping[str, Any]) -> Text:
    return styled(
        ", ".join(f"{name} {_told(name, before.get(name))} → {_told(name, value)}" for name, value in after.items())
    )


def _told(name: str, value: Any) -> str:
    return moment(value) if name in _TIMES and isinstance(value, int) else shown(value)


def tell_undone(done: Undone, common: Common) -> None:
    """What was undone, left alone and passed over; an error when a batch was named of which nothing can be undone."""
    if done.skipped and not done.undone:
        raise NotFound(f"nothing of {done.batch} can be undone: {why_left(done.skipped)}")
    if not common.json:
        show(styled(f"undone {len(done.undone)}", "green") + styled(f"  {done.batch}", "dim"))
        show(*(styled(f"  {id}") for id in done.undone[:MOST_SHOWN]))
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
    told = [(its[0].at, wire_upkeep.batch(name, its)) for name, its in list(batches.items())[:most]]
    if common.json:
        show_lines(one for _, one in told)
        return
    rows = table("batch", "at", "actions", "what", "can be undone")
    for at, one in told:
        can = styled("yes", "green") if one["why_not"] is None else styled(f"no: {one['why_not']}", "dim")
        rows.add_row(styled(one["batch"]), moment(at), str(one["actions"]), styled(", ".join(one["what"])), can)
    show(rows if told else styled("the journal is empty", "dim"))
    _show_more(len(batches), most, "--limit 0 lists all")


def show_entries(batch: str, entries: Sequence[JournalEntry], most: int | None, common: Common) -> None:
    """What a batch of the journal did."""
    if not entries:
        raise NotFound(f"the journal has no batch {batch!r}; `thinkback undo --list` shows what there is")
    if common.json:
        show_lines(wire_upkeep.entry(one) for one in entries[:most])
        return
    rows = table("action", "memory", "change", "undone")
    for one in entries[:most]:
        change = _change(one.before, one.after)
        rows.add_row(styled(one.action, "cyan"), styled(one.memory_id), change, moment(one.undone_at))
    show(rows)
    _show_more(len(entries), most, "--limit 0 lists all")


def _show_more(count: int, most: int | None, how: str, label: str = "") -> None:
    """That there is more than was shown, and how to see it."""
    if most is not None and count > most:
        show(styled(f"{label}and {count - most} more; {how}", "dim"))


def show_ids(done: str, ids: Sequence[str], common: Common) -> None:
    """Memories to which something was done."""
    if common.json:
        show_json({done: list(ids)})
    else:
        show(styled(f"{done} {len(ids)}", "green"), *(styled(f"  {id}") for id in ids))


def worth_showing(done: Reflected) -> list[Theme]:
    """What is new or refreshed; in a dry run, after that the themes that stay as they are."""
    changed = {*done.created, *done.refreshed}
    staying = [theme for theme in done.themes if theme.id not in changed]
    return [*(theme for theme in done.themes if theme.id in changed), *(staying if done.dry_run else ())]


def first_members(themes: Sequence[Theme]) -> list[str]:
    """The members that `show_reflected` shows."""
    return list(dict.fromkeys(id for theme in themes[:MOST_SHOWN] for id in theme.members[:MOST_MEMBERS]))


def show_reflected(done: Reflected, themes: Sequence[Theme], named: Mapping[str, Record]) -> None:
    """What a consolidation did or would do; the first members of themes are looked up in `named`."""
    if themes:
        rows = table("members", "coherence", "theme", "")
        label = {**dict.fromkeys(done.refreshed, "refreshed"), **dict.fromkeys(done.created, "new")}
        for theme in themes[:MOST_SHOWN]:
            fresh = styled(label.get(theme.id, ""), "green")
            about = styled(", ".join(theme.keywords)) + members_shown(theme.members, named)
            rows.add_row(str(len(theme.members)), f"{theme.coherence:.2f}", about, fresh)
        show(rows)
        _show_more(len(themes), MOST_SHOWN, "--json lists all")
    told = {
        "promoted": len(done.promoted),
        "linked": done.linked,
        "reflections": f"{len(done.created)} new, {len(done.refreshed)} refreshed, {len(done.removed)} gone",
    }
    refused = ", ".join(f"{count} {reason}" for reason, count in done.refused.items())
    show(
        styled("would be " if done.dry_run else "", "dim")
        + styled(", ".join(f"{k} {v}" for k, v in told.items()), "green")
    )
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
        note("take them out with: thinkback audit --redact")
