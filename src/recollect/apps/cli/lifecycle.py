"""Commands for the life of memories: reflect, tidy, undo, archive, restore, contest, audit."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.apps.cli.flat import command
from recollect.apps.cli.opening import reading
from recollect.apps.cli.options import Common, Models
from recollect.apps.cli.output import moment, note, progress, show, show_json, show_lines, shown, styled, table, warn
from recollect.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from rich.text import Text

    from recollect.apps.keeping import TakenBack
    from recollect.lifecycle.auditing import AuditReport
    from recollect.lifecycle.journal import Action
    from recollect.lifecycle.receipts import Receipt
    from recollect.lifecycle.redacting import Redacted
    from recollect.memory import Memory
    from recollect.model import Record
    from recollect.reflect.model import Reflected, Theme
    from recollect.stores.base import JournalEntry

app = typer.Typer()
PANEL = "Keep"
MOST_SHOWN = 50

Ids = Annotated[list[str], typer.Argument(help="The ids of the memories.")]
_TIMES = ("expires_at", "archived_at", "valid_to", "until")  # what may change in a journal
_WIDEST = len("likely secrets ")
_NO_MODELS = Models(embedder="none", reranker="none")


@command(app, panel=PANEL, example="recollect reflect --dry-run\nrecollect reflect")
def reflect(
    common: Common,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the themes, write nothing.")] = False,
) -> None:
    """Consolidate: promote what has proved itself, link nearest neighbours, write a reflection on every theme."""
    from recollect.apps import keeping, wire_upkeep
    from recollect.apps.cli.explaining import MOST_MEMBERS

    with reading(common, _NO_MODELS) as memory, progress("comparing memories") as step:
        done = keeping.reflect(memory, dry_run, step)
        themes = _worth_showing(done)
        named = memory.store.get([id for theme in themes[:MOST_SHOWN] for id in theme.members[:MOST_MEMBERS]])
    for warning in done.warnings:
        warn(warning)
    if common.json:
        show_json(wire_upkeep.reflected(done))
    else:
        _show_reflected(done, themes, named)


@command(app, panel=PANEL, example="recollect tidy\nrecollect tidy --apply")
def tidy(
    common: Common,
    apply: Annotated[bool, typer.Option("--apply", help="Do it; without this, only tell.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell, as without --apply.")] = False,
) -> None:
    """Archive what expired, confirm what was said again, let confidence decay, move tiers and priorities."""
    from recollect.apps import wire_upkeep

    if apply and dry_run:
        raise InvalidInput("--apply does it and --dry-run only tells; give one of the two")
    with reading(common, _NO_MODELS) as memory:
        done = memory.tidy(dry_run=not apply)
    if common.json:
        show_json(wire_upkeep.tidied(done))
        return
    _show_actions(done.actions, "--json lists all" if done.dry_run else f"recollect undo {done.batch} --list shows all")
    if not done.actions:
        show(styled("nothing to do", "green"))
    elif done.dry_run:
        show(styled(f"{len(done.actions)} to do; --apply does it", "green"))
    else:
        show(styled(f"{len(done.actions)} done", "green") + styled(f"; undo with: recollect undo {done.batch}", "dim"))


@command(
    app,
    panel=PANEL,
    example="recollect undo --list\nrecollect undo tidy-01K0W3V8E5D1Q2R3S4T5V6W7X8 --list\n"
    "recollect undo tidy-01K0W3V8E5D1Q2R3S4T5V6W7X8\nrecollect undo",
)
def undo(
    common: Common,
    batch: Annotated[
        str | None, typer.Argument(help="The batch; the last that can be undone if none is named.")
    ] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="Show what the journal holds, or what a batch did; undo nothing.")
    ] = False,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit", "-n", min=0, help=f"How many to list, 0 for all; else {MOST_SHOWN} batches, with --json all."
        ),
    ] = None,
) -> None:
    """Take back what tidy, reflect, archive, restore or contest did, or what remember confirmed."""
    from recollect.apps import keeping, wire_upkeep

    if limit is not None and not list_:
        raise InvalidInput("--limit says how many --list shows; without --list it means nothing")
    with reading(common, _NO_MODELS) as memory:
        if list_:
            entries = memory.store.journal(batch, keeping.WHOLE_JOURNAL)
            if batch is not None:
                _show_entries(entries, limit or None, common)
            else:
                _show_batches(entries, limit or None if limit is not None or common.json else MOST_SHOWN, common)
            return
        taken = keeping.undo(memory, batch)
    if common.json:
        show_json(wire_upkeep.undone(taken))
    _tell_undone(taken, common)


@command(app, panel=PANEL, example="recollect archive ID")
def archive(ids: Ids, common: Common) -> None:
    """Hide memories from every search; --everything still finds them."""
    with reading(common, _NO_MODELS) as memory:
        _show_ids("archived", memory.archive(*ids), common)


@command(app, panel=PANEL, example="recollect restore ID")
def restore(ids: Ids, common: Common) -> None:
    """Bring archived and expired memories back."""
    with reading(common, _NO_MODELS) as memory:
        _show_ids("restored", memory.restore(*ids), common)


@command(app, panel=PANEL, example="recollect contest NEW_ID OLD_ID\nrecollect contest NEW_ID OLD_ID --close")
def contest(
    new_id: Annotated[str, typer.Argument(help="The newer memory.")],
    old_id: Annotated[str, typer.Argument(help="The older one it contradicts.")],
    common: Common,
    close: Annotated[bool, typer.Option("--close", help="End the older one where the newer begins.")] = False,
) -> None:
    """Mark that a newer memory contradicts an older one; both stand unless closed."""
    from recollect.apps import wire

    with reading(common, _NO_MODELS) as memory:
        edge = memory.contest(new_id, old_id, close)
    if common.json:
        show_json(wire.edge(edge))
    else:
        show(styled("closed" if close else "contested", "green") + styled(f" {old_id} by {new_id}"))


@command(app, panel=PANEL, example="recollect audit\nrecollect audit --redact")
def audit(
    common: Common,
    models: Models,
    redact: Annotated[
        bool, typer.Option("--redact", help="Take likely secrets out, in every version and index.")
    ] = False,
) -> None:
    """List duplicates, stale facts, memories never recalled, likely secrets and orphans; exit 1 when secrets are left."""
    from recollect.apps import wire_upkeep

    with reading(common, models if redact else _NO_MODELS) as memory:
        taken = _redacted(memory) if redact else None
        report = memory.audit()
    if common.json:
        show_json({**wire_upkeep.audited(report), "redacted": list(taken.ids) if taken else []})
    else:
        if taken is not None:
            _show_ids("redacted", taken.ids, common)
        _show_report(report)
    for warning in taken.warnings if taken else ():
        warn(warning)
    if taken is not None and not taken.log_cleared:
        warn(
            "another process uses the store, so its log still holds what was taken out; run this again when it is done"
        )
    if report.secrets:
        raise typer.Exit(1)


def _redacted(memory: "Memory") -> "Redacted":
    """Its warnings come back with it, so that they are told once and after the result."""
    from recollect.memory import RecollectWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecollectWarning)
        return memory.redact()


def show_receipt(receipt: "Receipt", named_by: Sequence[str], common: Common) -> None:
    """The receipt of a verified forgetting; exit 1 when it could not be verified."""
    from recollect.apps import wire_upkeep

    if common.json:
        show_json(wire_upkeep.receipt(receipt, named_by))
    else:
        _show_proof(receipt)
    for id in named_by:
        warn(
            f"the reflection {id}, written by hand, still names what was forgotten; remove it with `recollect forget {id}`, "
            f"or write it anew with `recollect update {id} --text TEXT`"
        )
    if not receipt.log_cleared:
        warn("another process uses the store, so its log could not be cleared; run `recollect doctor` when it is done")
    if not receipt.verified:
        raise typer.Exit(1)


def _show_proof(receipt: "Receipt") -> None:
    from recollect.apps.words import counted, themes_told

    show(styled(f"forgotten {len(receipt.forgotten)}", "green"), *(styled(f"  {id}") for id in receipt.forgotten))
    if gone := receipt.removed["reflections"]:
        show(styled(f"themes: {themes_told(gone, len(receipt.rebuilt))}"))
    rows = table("looked in", "asked", "found")
    for search in receipt.searches:
        rows.add_row(styled(search.where), str(search.asked), str(search.found))
    for file in receipt.files:
        rows.add_row(styled(file.file), f"{file.bytes} bytes", str(file.traces))
    show(rows)
    show(*(styled(note, "dim") for note in receipt.notes))
    if not receipt.verified:
        show(styled("not verified", "bold red"))
    elif not receipt.too_short:
        show(styled("nothing is left", "green"))
    else:
        few = counted(receipt.too_short, "text")
        show(
            styled("nothing is left", "green")
            + styled(f", but {few} of less than 8 bytes could be looked for in the indexes alone, not in the files")
        )


def _show_actions(actions: Sequence["Action"], how: str) -> None:
    if not actions:
        return
    rows = table("action", "memory", "change", "why")
    for action in actions[:MOST_SHOWN]:
        change = _change(action.before, action.after)
        rows.add_row(styled(action.action, "cyan"), styled(action.id), change, styled(action.why, "dim"))
    show(rows)
    _show_more(len(actions), MOST_SHOWN, how)


def _change(before: Mapping[str, Any], after: Mapping[str, Any]) -> "Text":
    return styled(
        ", ".join(f"{name} {_told(name, before.get(name))} → {_told(name, value)}" for name, value in after.items())
    )


def _told(name: str, value: Any) -> str:
    return moment(value) if name in _TIMES and isinstance(value, int) else shown(value)


def _tell_undone(taken: "TakenBack", common: Common) -> None:
    from recollect.apps.words import why_left

    done = taken.done
    if done.skipped and not done.undone:
        raise NotFound(f"nothing of {done.batch} can be undone: {why_left(done.skipped)}")
    if not common.json:
        show(styled(f"undone {len(done.undone)}", "green") + styled(f"  {done.batch}", "dim"))
        show(*(styled(f"  {id}") for id in done.undone[:MOST_SHOWN]))
        _show_more(len(done.undone), MOST_SHOWN, "--json lists all")
    for batch, reasons in taken.passed_over.items():
        warn(f"passed over {batch}, of which nothing can be undone: {why_left(reasons)}")
    if done.skipped:
        warn(f"left alone: {why_left(done.skipped)}")


def _show_batches(entries: Iterable["JournalEntry"], most: int | None, common: Common) -> None:
    from recollect.apps import wire_upkeep

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


def _show_entries(entries: Sequence["JournalEntry"], most: int | None, common: Common) -> None:
    from recollect.apps import wire_upkeep

    if not entries:
        raise NotFound("the journal has no such batch; `recollect undo --list` shows what there is")
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


def _show_ids(done: str, ids: Sequence[str], common: Common) -> None:
    if common.json:
        show_json({done: list(ids)})
    else:
        show(styled(f"{done} {len(ids)}", "green"), *(styled(f"  {id}") for id in ids))


def _worth_showing(done: "Reflected") -> list["Theme"]:
    """What is new or refreshed; in a dry run, after that the themes that stay as they are."""
    changed = {*done.created, *done.refreshed}
    staying = [theme for theme in done.themes if theme.id not in changed]
    return [*(theme for theme in done.themes if theme.id in changed), *(staying if done.dry_run else ())]


def _show_reflected(done: "Reflected", themes: Sequence["Theme"], named: Mapping[str, "Record"]) -> None:
    from recollect.apps.cli.explaining import members_shown

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


def _show_report(report: "AuditReport") -> None:
    from recollect.apps.cli.output import facts

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
        note("take them out with: recollect audit --redact")
