"""Commands for the life of memories: reflect, tidy, undo, archive, restore, contest, audit."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from thinkback.apps.cli.flat import command
from thinkback.apps.cli.options import Common, Models
from thinkback.apps.cli.output import progress, show, show_json, styled, warn
from thinkback.apps.cli.session import reading
from thinkback.errors import InvalidInput

if TYPE_CHECKING:
    pass

app = typer.Typer()
PANEL = "Keep"
MOST_BATCHES = 50

Ids = Annotated[list[str], typer.Argument(help="The ids of the memories.")]
_NO_MODELS = Models(embedder="none", reranker="none")


class Clustering(StrEnum):
    """How memories are grouped into themes."""

    LABELS = "labels"
    LINKAGE = "linkage"


@command(
    app,
    panel=PANEL,
    example="thinkback reflect --dry-run\nthinkback reflect\nthinkback reflect --clustering linkage --dry-run",
)
def reflect(
    common: Common,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the themes, write nothing.")] = False,
    clustering: Annotated[
        Clustering, typer.Option(help="How themes are found: labels spread over the links, or single linkage.")
    ] = Clustering.LABELS,
) -> None:
    """Consolidate: promote what has proved itself, link nearest neighbours, write a reflection on every theme."""
    from thinkback.apps import wire_upkeep
    from thinkback.apps.cli import render_upkeep
    from thinkback.lifecycle.reflect.model import PUBLISHED, Consolidation

    settings = Consolidation(clustering="linkage") if clustering is Clustering.LINKAGE else PUBLISHED
    with reading(common, _NO_MODELS) as memory, progress("comparing memories") as step:
        done = memory.reflect(dry_run, step, settings=settings)
        themes = render_upkeep.worth_showing(done)
        named = memory.get_many(render_upkeep.first_members(themes))
    for warning in done.warnings:
        warn(warning)
    if common.json:
        show_json(wire_upkeep.reflected(done))
    else:
        render_upkeep.show_reflected(done, themes, named)


@command(app, panel=PANEL, example="thinkback tidy\nthinkback tidy --apply")
def tidy(
    common: Common,
    apply: Annotated[bool, typer.Option("--apply", help="Do it; without this, only tell.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell, as without --apply.")] = False,
) -> None:
    """Archive what expired, confirm what was said again, let confidence decay, move tiers and priorities."""
    from thinkback.apps import wire_upkeep
    from thinkback.apps.cli import render_upkeep

    if apply and dry_run:
        raise InvalidInput("--apply does it and --dry-run only tells; give one of the two")
    with reading(common, _NO_MODELS) as memory:
        done = memory.tidy(dry_run=not apply)
    if common.json:
        show_json(wire_upkeep.tidied(done))
        return
    render_upkeep.show_actions(
        done.actions, "--json lists all" if done.dry_run else f"thinkback undo {done.batch} --list shows all"
    )
    if not done.actions:
        show(styled("nothing to do", "green"))
    elif done.dry_run:
        show(styled(f"{len(done.actions)} to do; --apply does it", "green"))
    else:
        show(styled(f"{len(done.actions)} done", "green") + styled(f"; undo with: thinkback undo {done.batch}", "dim"))


@command(
    app,
    panel=PANEL,
    example="thinkback undo --list\nthinkback undo tidy-01K0W3V8E5D1Q2R3S4T5V6W7X8 --list\n"
    "thinkback undo tidy-01K0W3V8E5D1Q2R3S4T5V6W7X8\nthinkback undo",
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
            "--limit", "-n", min=0, help=f"How many to list, 0 for all; else {MOST_BATCHES} batches, with --json all."
        ),
    ] = None,
) -> None:
    """Take back what tidy, reflect, archive, restore or contest did, or what remember confirmed."""
    from thinkback.apps import wire_upkeep
    from thinkback.apps.cli import render_upkeep

    if limit is not None and not list_:
        raise InvalidInput("--limit says how many --list shows; without --list it means nothing")
    with reading(common, _NO_MODELS) as memory:
        if list_:
            entries = memory.journal(batch)
            if batch is not None:
                render_upkeep.show_entries(batch, entries, limit or None, common)
            else:
                render_upkeep.show_batches(
                    entries, limit or None if limit is not None or common.json else MOST_BATCHES, common
                )
            return
        done = memory.undo(batch)
    if common.json:
        show_json(wire_upkeep.undone(done))
    render_upkeep.tell_undone(done, common)


@command(app, panel=PANEL, example="thinkback archive ID")
def archive(ids: Ids, common: Common) -> None:
    """Hide memories from every search; --everything still finds them."""
    from thinkback.apps.cli.render_upkeep import show_ids

    with reading(common, _NO_MODELS) as memory:
        show_ids("archived", memory.archive(*ids), common)


@command(app, panel=PANEL, example="thinkback restore ID")
def restore(ids: Ids, common: Common) -> None:
    """Bring archived and expired memories back."""
    from thinkback.apps.cli.render_upkeep import show_ids

    with reading(common, _NO_MODELS) as memory:
        show_ids("restored", memory.restore(*ids), common)


@command(app, panel=PANEL, example="thinkback contest NEW_ID OLD_ID\nthinkback contest NEW_ID OLD_ID --close")
def contest(
    new_id: Annotated[str, typer.Argument(help="The newer memory.")],
    old_id: Annotated[str, typer.Argument(help="The older one it contradicts.")],
    common: Common,
    close: Annotated[bool, typer.Option("--close", help="End the older one where the newer begins.")] = False,
) -> None:
    """Mark that a newer memory contradicts an older one; both stand unless closed."""
    from thinkback.apps import wire

    with reading(common, _NO_MODELS) as memory:
        edge = memory.contest(new_id, old_id, close)
    if common.json:
        show_json(wire.edge(edge))
    else:
        show(styled("closed" if close else "contested", "green") + styled(f" {old_id} by {new_id}"))


@command(app, panel=PANEL, example="thinkback audit\nthinkback audit --redact")
def audit(
    common: Common,
    models: Models,
    redact: Annotated[
        bool, typer.Option("--redact", help="Take likely secrets out, in every version and index.")
    ] = False,
) -> None:
    """List duplicates, stale facts, memories never recalled, likely secrets and orphans; exit 1 when secrets are left."""
    from thinkback.apps import wire_upkeep
    from thinkback.apps.cli import render_upkeep

    with reading(common, models if redact else _NO_MODELS) as memory:
        taken = memory.redact() if redact else None
        report = memory.audit()
    if common.json:
        show_json({**wire_upkeep.audited(report), "redacted": list(taken.ids) if taken else []})
    else:
        if taken is not None:
            render_upkeep.show_ids("redacted", taken.ids, common)
        render_upkeep.show_report(report)
    for warning in taken.warnings if taken else ():
        warn(warning)
    if taken is not None and not taken.log_cleared:
        warn(
            "another process uses the store, so its log still holds what was taken out; run this again when it is done"
        )
    if report.secrets:
        raise typer.Exit(1)
