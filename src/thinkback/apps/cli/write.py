"""Commands that change memories: remember, update, forget, link, unlink."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option, Typer

from thinkback.apps.cli.command import command
from thinkback.apps.cli.options import Changes, Common, Embedder, Fields, Words, condition, listed
from thinkback.apps.cli.output import moment, show, show_json, show_result, styled, warn
from thinkback.apps.cli.remedies import WORDS
from thinkback.apps.cli.session import existing_memory, file_errors, open_memory, read_argument, settings_of
from thinkback.errors import Action, InvalidInput, NotFound, Remedy

if TYPE_CHECKING:
    from thinkback.lifecycle.documents import Synced
    from thinkback.model import Record

app = Typer()
PANEL = "Write"

Id = Annotated[str, Argument(help="The memory's id.")]
FromId = Annotated[str, Argument(help="The id of the memory the link begins at.")]
ToId = Annotated[str, Argument(help="The id of the memory the link leads to.")]
EdgeKind = Annotated[str, Option(metavar="NAME", help="The kind of link, any word.")]


@command(
    app,
    panel=PANEL,
    example='thinkback remember "Caroline adopted a grey cat, Oscar" --tags pets,caroline --thread chat-7\n'
    "pbpaste | thinkback remember - --kind note\nthinkback remember --file notes/",
)
def remember(
    fields: Fields,
    embedder: Embedder,
    common: Common,
    text: Annotated[str | None, Argument(help="What to remember; - reads it from stdin.", show_default=False)] = None,
    file: Annotated[
        Path | None,
        Option(metavar="PATH", help="Remember a file or folder of Markdown or text instead, one memory a section."),
    ] = None,
) -> None:
    """Store one memory, or the sections of files; reading a file again updates what changed and forgets what is gone."""
    if (text is None) == (file is None):
        raise InvalidInput("give a text, or a file or folder with --file PATH", code="no_text")
    with open_memory(settings_of(common, embedder), create=True) as memory:
        if file is not None:
            _show_synced(memory.remember(file=file, **fields.given()), common)
            return
        record = memory.remember(_text(str(text)), **fields.given())
    _show_record(record, "remembered", common)


def _show_synced(done: "Synced", common: Common) -> None:
    counts = {name: len(getattr(done, name)) for name in ("added", "updated", "forgotten")}
    counts["unchanged"] = done.unchanged
    line = ", ".join(f"{count} {name}" for name, count in counts.items())
    show_result(common, {**done.to_dict(), "warnings": [str(warning) for warning in done.warnings]}, styled(line))
    for warning in done.warnings:
        warn(warning)


@command(
    app,
    panel=PANEL,
    example='thinkback update ID --text "Oscar moved to Bergen" --valid-from 2026-05-08\nthinkback update ID --clear valid_to',
)
def update(
    id: Id,
    fields: Changes,
    embedder: Embedder,
    common: Common,
    text: Annotated[str | None, Option("--text", metavar="TEXT", help="The new text; - reads it from stdin.")] = None,
    clear: Annotated[Words, Option("--clear", metavar="FIELDS", help="Fields to empty: valid_to,expires_at")] = None,
) -> None:
    """Change a memory; its older version stays for --known-at and `history`."""
    changes: dict[str, Any] = fields.given()
    if text is not None:
        changes["text"] = _text(text)
    for name in listed(clear) or ():
        if changes.setdefault(name, None) is not None:
            raise InvalidInput(f"{name} is both given and cleared; do one of the two")
    if not changes:
        raise InvalidInput("nothing to change; give --text, a field, or --clear FIELD")
    with existing_memory(common, embedder) as memory:
        record = memory.update(id, **changes)
    _show_record(record, "updated", common)


@command(
    app,
    panel=PANEL,
    example="thinkback forget 01K0W3V8E5D1Q2R3S4T5V6W7X8\nthinkback forget ID --verify --json > receipt.json\n"
    """thinkback forget --where '{"thread": "chat-7"}' --dry-run""",
)
def forget(
    common: Common,
    ids: Annotated[list[str] | None, Argument(help="The ids of the memories.", show_default=False)] = None,
    where: Annotated[
        str | None,
        Option(metavar="JSON", help="Also every memory that this condition holds for, as in --where of recall."),
    ] = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Report what would be forgotten without forgetting it.")] = False,
    verify: Annotated[
        bool, Option("--verify", help="Search every index and the bytes of the files afterwards, and print a receipt.")
    ] = False,
    tombstone: Annotated[
        bool | None,
        Option(
            "--tombstone/--no-tombstone", help="Keep imports and captures from bringing them back.", show_default=False
        ),
    ] = None,
) -> None:
    """Remove memories for good, with everything derived from them."""
    from thinkback.apps import wire_upkeep
    from thinkback.apps.cli.render_upkeep import show_receipt
    from thinkback.apps.words import theme_changes

    if not ids and where is None:
        raise InvalidInput("name the ids of memories, or a condition with --where JSON", code="no_condition")
    with existing_memory(common) as memory:
        ids = [*(ids or ()), *(memory.forget(where=condition(where), dry_run=True).ids if where is not None else ())]
        missing = [id for id in ids if id not in memory.get_many(ids)]
        if missing:
            raise NotFound(
                f"there is no memory {missing[0]!r}, so nothing was forgotten",
                code="unknown_memory",
                remedy=Remedy(Action.LIST_MEMORIES),
            )
        if verify and not dry_run:
            show_receipt(memory.forget_verified(*ids, tombstone=tombstone), common)
            return
        done = memory.forget(*ids, scrub=True, dry_run=dry_run, tombstone=tombstone)
    if common.json:
        show_json(wire_upkeep.forgotten(done, WORDS))
    else:
        said = "would forget" if dry_run else "forgotten"
        show(styled(f"{said} {len(done.ids)}", "green"), *(f"  {id}" for id in done.ids))
        if done.tombstones:
            show(f"{len(done.tombstones)} tombstones set")
        if done.reflections:
            show(f"themes: {theme_changes(len(done.reflections), len(done.rebuilt))}")
    for warning in done.warnings:
        warn(warning)


@command(app, panel=PANEL, example="thinkback tombstones\nthinkback tombstones --revoke 4f1c…")
def tombstones(
    common: Common,
    revoke: Annotated[list[str] | None, Option("--revoke", metavar="HASH", help="Take these back.")] = None,
) -> None:
    """List what may not come back by an import or a capture, as keyed hashes."""
    with existing_memory(common) as memory:
        if revoke:
            gone = list(memory.revoke_tombstones(*revoke))
            show_result(common, {"revoked": gone}, f"revoked {len(gone)}")
            return
        for stone in memory.tombstones():
            row = {"hash": stone.hash, "at": stone.at.isoformat()}
            show_json(row) if common.json else show(f"{stone.hash}  {moment(stone.at)}")


@command(app, panel=PANEL, example="thinkback link ID1 ID2 --kind caused_by --weight 0.8")
def link(
    from_id: FromId,
    to_id: ToId,
    common: Common,
    kind: EdgeKind = "related",
    weight: Annotated[float, Option(help="How strong, 0 or more.")] = 1.0,
) -> None:
    """Link two memories; linking again with the same kind replaces the weight."""
    from thinkback.apps import wire

    with existing_memory(common) as memory:
        edge = memory.link(from_id, to_id, kind, weight)
    line = f" {edge.from_id} → {edge.to_id}  {edge.kind}, weight {edge.weight:g}"
    show_result(common, wire.edge(edge), styled("linked", "green") + styled(line))


@command(app, panel=PANEL, example="thinkback unlink ID1 ID2 --kind caused_by")
def unlink(
    from_id: FromId,
    to_id: ToId,
    common: Common,
    kind: Annotated[str | None, Option(metavar="NAME", help="Only links of this kind.")] = None,
) -> None:
    """Remove the links from one memory to another."""
    with existing_memory(common) as memory:
        count = memory.unlink(from_id, to_id, kind)
    if not count:
        raise NotFound(f"there is no link from {from_id!r} to {to_id!r}" + (f" of kind {kind!r}" if kind else ""))
    show_result(common, {"removed": count}, styled(f"removed {count} link{'' if count == 1 else 's'}", "green"))


def _text(argument: str) -> str:
    """The text of a memory; an invalid text on stdin is an error of the data, not of usage."""
    from thinkback.inputs import check_text

    text = read_argument(argument)
    if argument == "-":
        with file_errors():
            check_text(text)
    return text


def _show_record(record: "Record", done: str, common: Common) -> None:
    from thinkback.apps import wire

    detail = moment(record.date) + "".join(f" #{tag}" for tag in record.tags)
    line = styled(done, "green") + styled(f" {record.id}", "bold") + styled(f"  {detail}", "dim")
    show_result(common, wire.memory(record), line)
