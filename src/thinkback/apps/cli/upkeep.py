"""Commands that keep memories in order (reflect, tidy, undo, archive, audit …) and a store sound (doctor, embed …)."""

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Exit, Option, Typer

from thinkback.apps.cli.command import command
from thinkback.apps.cli.options import Common, Embedder, Models
from thinkback.apps.cli.output import progress, show_json, show_list, show_result, shown, styled, table, warn
from thinkback.apps.cli.remedies import WORDS
from thinkback.apps.cli.session import NO_MODELS, existing_memory, settings_of
from thinkback.errors import InvalidInput

if TYPE_CHECKING:
    from rich.text import Text

    from thinkback.settings import Setting

app = Typer()
PANEL = "Keep"
MOST_BATCHES = 50

Ids = Annotated[list[str], Argument(help="The ids of the memories.")]


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
    dry_run: Annotated[bool, Option("--dry-run", help="Show the themes and write nothing.")] = False,
    clustering: Annotated[
        Clustering, Option(help="How themes are found: labels spread over the links, or single linkage.")
    ] = Clustering.LABELS,
) -> None:
    """Promote well-confirmed memories, link nearest neighbours, and write a reflection for every theme."""
    from thinkback.apps import wire_upkeep
    from thinkback.apps.cli import render_upkeep
    from thinkback.lifecycle.reflect.model import PUBLISHED, Consolidation

    settings = Consolidation(clustering="linkage") if clustering is Clustering.LINKAGE else PUBLISHED
    with existing_memory(common) as memory, progress("comparing memories") as step:
        done = memory.reflect(dry_run, step, settings=settings)
        themes = render_upkeep.themes_to_show(done)
        named = memory.get_many(render_upkeep.first_members(themes))
    for warning in done.warnings:
        warn(warning)
    if common.json:
        show_json(wire_upkeep.reflected(done, WORDS))
    else:
        render_upkeep.show_reflected(done, themes, named)


@command(app, panel=PANEL, example="thinkback tidy\nthinkback tidy --apply")
def tidy(
    common: Common,
    apply: Annotated[bool, Option("--apply", help="Make the changes; without this, only list them.")] = False,
    dry_run: Annotated[bool, Option("--dry-run", help="Only list the changes, as without --apply.")] = False,
) -> None:
    """Archive expired memories, count corroborations, let confidence decay, adjust tiers and priorities."""
    from thinkback.apps import wire_upkeep
    from thinkback.apps.cli.render_upkeep import show_tidied

    if apply and dry_run:
        raise InvalidInput("--apply and --dry-run exclude each other; give one of the two")
    with existing_memory(common) as memory:
        done = memory.tidy(dry_run=not apply)
    if common.json:
        show_json(wire_upkeep.tidied(done))
    else:
        show_tidied(done)


@command(
    app,
    panel=PANEL,
    example="thinkback undo --list\nthinkback undo tidy-01K0W3V8E5D1Q2R3S4T5V6W7X8 --list\n"
    "thinkback undo tidy-01K0W3V8E5D1Q2R3S4T5V6W7X8\nthinkback undo",
)
def undo(
    common: Common,
    batch: Annotated[str | None, Argument(help="The batch (default: the last one that can be undone).")] = None,
    list_: Annotated[
        bool, Option("--list", help="List the batches of the journal, or the actions of one; undo nothing.")
    ] = False,
    limit: Annotated[
        int | None,
        Option("--limit", "-n", min=0, help=f"Maximum number to list (default: {MOST_BATCHES} batches; 0 = all)."),
    ] = None,
) -> None:
    """Undo a batch of tidy, reflect, archive, restore, contest, or of corroborations by remember."""
    from thinkback.apps import wire_upkeep
    from thinkback.apps.cli import render_upkeep

    if limit is not None and not list_:
        raise InvalidInput("--limit needs --list")
    with existing_memory(common) as memory:
        if list_:
            entries = memory.journal(batch)
        else:
            done = memory.undo(batch)
    if not list_:
        if common.json:
            show_json(wire_upkeep.undone(done))
        render_upkeep.show_undone(done, common)
    elif batch is not None:
        render_upkeep.show_entries(batch, entries, limit or None, common)
    else:
        usual = None if common.json else MOST_BATCHES
        render_upkeep.show_batches(entries, usual if limit is None else limit or None, common)


@command(app, panel=PANEL, example="thinkback archive ID")
def archive(ids: Ids, common: Common) -> None:
    """Hide memories from every search; --everything still finds them."""
    with existing_memory(common) as memory:
        _show_ids("archived", memory.archive(*ids), common)


@command(app, panel=PANEL, example="thinkback restore ID")
def restore(ids: Ids, common: Common) -> None:
    """Bring archived and expired memories back."""
    with existing_memory(common) as memory:
        _show_ids("restored", memory.restore(*ids), common)


def _show_ids(done: str, ids: Sequence[str], common: Common) -> None:
    show_result(common, {done: list(ids)}, styled(f"{done} {len(ids)}", "green"), *(f"  {id}" for id in ids))


@command(app, panel=PANEL, example="thinkback contest NEW_ID OLD_ID\nthinkback contest NEW_ID OLD_ID --close")
def contest(
    new_id: Annotated[str, Argument(help="The newer memory.")],
    old_id: Annotated[str, Argument(help="The older memory that it contradicts.")],
    common: Common,
    close: Annotated[bool, Option("--close", help="End the validity of the older one where the newer begins.")] = False,
) -> None:
    """Mark that a newer memory contradicts an older one; both stay valid unless --close is given."""
    from thinkback.apps import wire

    with existing_memory(common) as memory:
        edge = memory.contest(new_id, old_id, close)
    line = styled("closed" if close else "contested", "green") + styled(f" {old_id} by {new_id}")
    show_result(common, wire.edge(edge), line)


@command(app, panel=PANEL, example="thinkback audit\nthinkback audit --redact")
def audit(
    common: Common,
    models: Models,
    redact: Annotated[bool, Option("--redact", help="Remove likely secrets from every version and index.")] = False,
) -> None:
    """List duplicates, stale facts, memories never recalled, likely secrets and orphans; exit 1 if secrets are left."""
    from thinkback.apps import wire_upkeep
    from thinkback.apps.cli.render_upkeep import show_report

    with existing_memory(common, models if redact else NO_MODELS) as memory:
        redacted = memory.redact() if redact else None
        report = memory.audit()
    if common.json:
        show_json({**wire_upkeep.audited(report), "redacted": list(redacted.ids) if redacted else []})
    else:
        if redacted is not None:
            _show_ids("redacted", redacted.ids, common)
        show_report(report)
    for warning in redacted.warnings if redacted else ():
        warn(warning)
    if redacted is not None and not redacted.log_cleared:
        warn("another process uses the store, so its log still holds the redacted text; run this again when it is done")
    if report.secrets:
        raise Exit(1)


@command(app, panel=PANEL, example="thinkback doctor\nthinkback doctor --repair")
def doctor(
    common: Common,
    repair: Annotated[bool, Option("--repair", help="Rebuild indexes from the text where possible.")] = False,
) -> None:
    """Check the installation, the models, the file, and every index against the text; exit 1 when something is wrong."""
    from dataclasses import asdict

    from thinkback.apps import wire
    from thinkback.apps.cli.checkup import checks
    from thinkback.apps.cli.render_upkeep import checked, looked_at

    with existing_memory(common) as memory:
        found = list(memory.check())
        left = list(memory.repair()) if repair and found else found
        around = list(checks(settings_of(common), memory))
    red = [one for one in around if not one.fine]
    problems = {"found": list(map(wire.problem, found)), "left": list(map(wire.problem, left))}
    data = {"healthy": not left and not red, **problems, "checks": list(map(asdict, around))}
    show_result(common, data, looked_at(around), *checked(found, left, repair))
    if left or red:
        raise Exit(1)


@command(app, panel=PANEL, example="thinkback embed --missing")
def embed(
    embedder: Embedder,
    common: Common,
    missing: Annotated[bool, Option("--missing", help="Embed memories that were stored without a vector.")] = False,
) -> None:
    """Embed memories that were stored while no embedder was available."""
    if not missing:
        raise InvalidInput("say what to embed: thinkback embed --missing, or to replace all vectors: thinkback reembed")
    with existing_memory(common, embedder) as memory, progress("embedding") as step:
        count = memory.embed_missing(step)
    _show_embedded(count, common)


@command(app, panel=PANEL, example="thinkback reembed --embedder bge-small-en-v1.5")
def reembed(embedder: Embedder, common: Common) -> None:
    """Re-embed everything beside the old vectors, then switch; an interrupted run continues where it stopped."""
    with existing_memory(common, embedder) as memory, progress("embedding") as step:
        count = memory.reembed(step)
    _show_embedded(count, common)


def _show_embedded(count: int, common: Common) -> None:
    from thinkback.apps.words import counted

    line = styled("embedded", "green") + styled(f" {counted(count, 'memory', 'memories')}")
    show_result(common, {"embedded": count}, line)


@command(app, panel=PANEL, example="thinkback reindex")
def reindex(common: Common) -> None:
    """Read again the times that memories tell of ("last weekend") and who speaks ("Ann: …"); what you gave yourself stays."""
    from thinkback.apps.words import counted

    with existing_memory(common) as memory:
        count = memory.reindex()
    line = styled("changed", "green") + styled(f" {counted(count, 'memory', 'memories')}")
    show_result(common, {"changed": count}, line)


@command(app, panel=PANEL, example="thinkback settings\nTHINKBACK_RECIPE=precise thinkback settings --json")
def settings(common: Common) -> None:
    """Show every setting, its value and where it came from."""
    from thinkback.settings import described, variable

    def to_json(one: "Setting") -> dict[str, object]:
        return {"key": one.key, "value": one.shown, "source": one.source, "variable": variable(one.key)}

    def row(one: "Setting") -> "tuple[str | Text, ...]":
        source = styled(one.source, "dim" if one.source == "default" else "green")
        return one.key, shown(one.shown), source, variable(one.key)

    columns = {"setting": "bold cyan", "value": "", "from": "", "variable": "dim"}
    show_list(
        common,
        described(store=common.store, space=common.space),
        to_json,
        lambda found: table(columns, map(row, found)),
    )
