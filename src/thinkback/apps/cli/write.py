"""Commands that change memories: remember, update, forget, link, unlink."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from thinkback.apps.cli.flat import command
from thinkback.apps.cli.options import Changes, Common, Embedder, Fields, Words, listed
from thinkback.apps.cli.output import moment, show, show_json, styled, warn
from thinkback.apps.cli.session import in_file, reading, text_of, writing
from thinkback.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from thinkback.model import Edge, Record

app = typer.Typer()
PANEL = "Write"

Id = Annotated[str, typer.Argument(help="The memory's id.")]
FromId = Annotated[str, typer.Argument(help="The id of the memory the link begins at.")]
ToId = Annotated[str, typer.Argument(help="The id of the memory it leads to.")]
EdgeKind = Annotated[str, typer.Option(metavar="NAME", help="What the link means, in a word of your own.")]


@command(
    app,
    panel=PANEL,
    example='thinkback remember "Caroline adopted a grey cat, Oscar" --tags pets,caroline --thread chat-7\n'
    "pbpaste | thinkback remember - --kind note",
)
def remember(
    text: Annotated[str, typer.Argument(help="What to remember; - reads it from stdin.")],
    fields: Fields,
    embedder: Embedder,
    common: Common,
) -> None:
    """Store one memory."""
    with writing(common, embedder) as memory:
        record = memory.remember(_text(text), **fields.given())
    _show_record(record, "remembered", common)


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
    text: Annotated[
        str | None, typer.Option("--text", metavar="TEXT", help="The new text; - reads it from stdin.")
    ] = None,
    clear: Annotated[
        Words, typer.Option("--clear", metavar="FIELDS", help="Fields to empty: valid_to,expires_at")
    ] = None,
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
    with reading(common, embedder) as memory:
        record = memory.update(id, **changes)
    _show_record(record, "updated", common)


@command(
    app,
    panel=PANEL,
    example="thinkback forget 01K0W3V8E5D1Q2R3S4T5V6W7X8\nthinkback forget ID --verify --json > receipt.json",
)
def forget(
    ids: Annotated[list[str], typer.Argument(help="The ids of the memories.")],
    common: Common,
    verify: Annotated[
        bool, typer.Option("--verify", help="Prove it: ask every index, read the files' bytes, print a receipt.")
    ] = False,
) -> None:
    """Remove memories for good, with everything derived from them."""
    from thinkback.apps import wire_upkeep
    from thinkback.apps.cli.render_upkeep import show_receipt
    from thinkback.apps.words import themes_told

    with reading(common) as memory:
        missing = [id for id in ids if id not in memory.get_many(ids)]
        if missing:
            raise NotFound(
                f"there is no memory {missing[0]!r}, so nothing was forgotten; `thinkback list` shows the ids"
            )
        if verify:
            show_receipt(memory.forget_verified(*ids), common)
            return
        done = memory.forget(*ids, scrub=True)
    if common.json:
        show_json(wire_upkeep.forgotten(done))
    else:
        show(styled(f"forgotten {len(done.ids)}", "green"), *(styled(f"  {id}") for id in done.ids))
        if done.reflections:
            show(styled(f"themes: {themes_told(len(done.reflections), len(done.rebuilt))}"))
    for warning in done.warnings:
        warn(warning)


@command(app, panel=PANEL, example="thinkback link ID1 ID2 --kind caused_by --weight 0.8")
def link(
    from_id: FromId,
    to_id: ToId,
    common: Common,
    kind: EdgeKind = "related",
    weight: Annotated[float, typer.Option(help="How strong, 0 or more.")] = 1.0,
) -> None:
    """Link two memories; linking again with the same kind replaces the weight."""
    with reading(common) as memory:
        edge = memory.link(from_id, to_id, kind, weight)
    _show_edge(edge, common)


@command(app, panel=PANEL, example="thinkback unlink ID1 ID2 --kind caused_by")
def unlink(
    from_id: FromId,
    to_id: ToId,
    common: Common,
    kind: Annotated[str | None, typer.Option(metavar="NAME", help="Only links of this kind.")] = None,
) -> None:
    """Remove the links from one memory to another."""
    with reading(common) as memory:
        count = memory.unlink(from_id, to_id, kind)
    if not count:
        raise NotFound(f"there is no link from {from_id!r} to {to_id!r}" + (f" of kind {kind!r}" if kind else ""))
    if common.json:
        show_json({"removed": count})
    else:
        show(styled(f"removed {count} link{'' if count == 1 else 's'}", "green"))


def _text(argument: str) -> str:
    """The text of a memory; what stdin brings is somebody's data, and not what was typed."""
    from thinkback.inputs import check_text

    text = text_of(argument)
    if argument == "-":
        with in_file():
            check_text(text)
    return text


def _show_record(record: "Record", done: str, common: Common) -> None:
    if common.json:
        from thinkback.apps import wire

        show_json(wire.memory(record))
    else:
        tags = "".join(f" #{tag}" for tag in record.tags)
        show(styled(done, "green") + styled(f" {record.id}", "bold") + styled(f"  {moment(record.date)}{tags}", "dim"))


def _show_edge(edge: "Edge", common: Common) -> None:
    if common.json:
        from thinkback.apps import wire

        show_json(wire.edge(edge))
    else:
        show(styled("linked", "green") + styled(f" {edge.from_id} → {edge.to_id}  {edge.kind}, weight {edge.weight:g}"))
