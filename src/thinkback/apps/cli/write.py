"""Commands that change memories: remember, update, forget, link, unlink."""

from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option, Typer

from thinkback.apps.cli.command import command
from thinkback.apps.cli.options import Changes, Common, Embedder, Fields, Words, listed
from thinkback.apps.cli.output import moment, show, show_json, show_result, styled, warn
from thinkback.apps.cli.remedies import WORDS
from thinkback.apps.cli.session import existing_memory, file_errors, open_memory, read_argument, settings_of
from thinkback.errors import Action, InvalidInput, NotFound, Remedy

if TYPE_CHECKING:
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
    "pbpaste | thinkback remember - --kind note",
)
def remember(
    text: Annotated[str, Argument(help="What to remember; - reads it from stdin.")],
    fields: Fields,
    embedder: Embedder,
    common: Common,
) -> None:
    """Store one memory."""
    with open_memory(settings_of(common, embedder), create=True) as memory:
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
    example="thinkback forget 01K0W3V8E5D1Q2R3S4T5V6W7X8\nthinkback forget ID --verify --json > receipt.json",
)
def forget(
    ids: Annotated[list[str], Argument(help="The ids of the memories.")],
    common: Common,
    verify: Annotated[
        bool, Option("--verify", help="Search every index and the bytes of the files afterwards, and print a receipt.")
    ] = False,
) -> None:
    """Remove memories for good, with everything derived from them."""
    from thinkback.apps import wire_upkeep
    from thinkback.apps.cli.render_upkeep import show_receipt
    from thinkback.apps.words import theme_changes

    with existing_memory(common) as memory:
        missing = [id for id in ids if id not in memory.get_many(ids)]
        if missing:
            raise NotFound(
                f"there is no memory {missing[0]!r}, so nothing was forgotten",
                code="unknown_memory",
                remedy=Remedy(Action.LIST_MEMORIES),
            )
        if verify:
            show_receipt(memory.forget_verified(*ids), common)
            return
        done = memory.forget(*ids, scrub=True)
    if common.json:
        show_json(wire_upkeep.forgotten(done, WORDS))
    else:
        show(styled(f"forgotten {len(done.ids)}", "green"), *(f"  {id}" for id in done.ids))
        if done.reflections:
            show(f"themes: {theme_changes(len(done.reflections), len(done.rebuilt))}")
    for warning in done.warnings:
        warn(warning)


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
