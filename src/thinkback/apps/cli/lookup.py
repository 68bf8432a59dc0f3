"""Commands that look things up: get, list, history, neighbours, stats."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thinkback.apps.cli.flat import command
from thinkback.apps.cli.options import Common, Filters, Models
from thinkback.apps.cli.output import facts, moment, note, show, show_json, show_lines, size, styled, table
from thinkback.apps.cli.session import reading

if TYPE_CHECKING:
    from rich.table import Table

    from thinkback.model import Record

app = typer.Typer()
PANEL = "Look up"
_NO_MODEL = Models(embedder="none", reranker="none")

Id = Annotated[str, typer.Argument(help="The memory's id.")]


@command(app, panel=PANEL, example="thinkback get 01K0W3V8E5D1Q2R3S4T5V6W7X8 --json")
def get(
    ids: Annotated[list[str], typer.Argument(help="The ids of the memories.")],
    common: Common,
    known_at: Annotated[
        str | None, typer.Option("--known-at", metavar="TIME", help="As the store knew it at this moment.")
    ] = None,
) -> None:
    """Show memories with all their fields."""
    with reading(common, _NO_MODEL) as memory:
        records = [memory.get(id, known_at) for id in ids]
    if common.json:
        _show_lines(records)
        return
    for record in records:
        show(facts(_fields(record)), "")


@command(
    app, "list", panel=PANEL, example="thinkback list --tags pets --limit 20\nthinkback list --thread chat-7 --json"
)
def list_(
    filters: Filters,
    common: Common,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many at most.")] = 20,
    after: Annotated[str | None, typer.Option("--after", metavar="ID", help="Continue behind this memory.")] = None,
) -> None:
    """List memories, newest first."""
    with reading(common, _NO_MODEL) as memory:
        records = memory.list(limit=limit, after=after, **filters.given())
    if common.json:
        _show_lines(records)
        return
    show(_table(records))
    if len(records) == limit:
        note(f"there may be more: --after {records[-1].id}")


@command(app, panel=PANEL, example="thinkback history 01K0W3V8E5D1Q2R3S4T5V6W7X8")
def history(id: Id, common: Common) -> None:
    """Show every version of a memory, oldest first."""
    with reading(common, _NO_MODEL) as memory:
        records = memory.history(id)
    if common.json:
        _show_lines(records)
        return
    rows = table("known from", "known to", "text", "tags")
    for record in records:
        until = "now" if record.retired_at is None else moment(record.retired_at)
        rows.add_row(moment(record.recorded_at), until, styled(record.text), styled(", ".join(record.tags)))
    show(rows)


@command(app, panel=PANEL, example="thinkback neighbours 01K0W3V8E5D1Q2R3S4T5V6W7X8 --limit 5")
def neighbours(
    id: Id, common: Common, limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many at most.")] = 10
) -> None:
    """Show a memory's strongest links, its neighbours in the thread among them."""
    with reading(common, _NO_MODEL) as memory:
        edges = memory.neighbours(id, limit)
        others = memory.get_many([edge.other(id) for edge in edges])
    if common.json:
        from thinkback.apps import wire

        show_lines(wire.edge(edge) for edge in edges)
        return
    from thinkback.apps.words import in_words

    rows = table("", "kind", "weight", "text", "id")
    for edge in edges:
        other = others[edge.other(id)]
        arrow = "→" if edge.from_id == id else "←"
        rows.add_row(arrow, styled(edge.kind), f"{edge.weight:g}", styled(in_words(other)), styled(other.id, "dim"))
    show(rows)


@command(app, panel=PANEL, example="thinkback stats --json")
def stats(common: Common) -> None:
    """Count what is in the store."""
    from thinkback.apps import wire

    with reading(common, _NO_MODEL) as memory:
        counts = wire.stats(memory.stats())
    if common.json:
        show_json(counts)
    else:
        show(
            facts(
                {
                    name.replace("_", " "): size(value) if name.endswith("bytes") else value
                    for name, value in counts.items()
                }
            )
        )


def _show_lines(records: "Sequence[Record]") -> None:
    from thinkback.apps import wire

    show_lines(wire.memory(record) for record in records)


def _fields(record: "Record") -> dict[str, Any]:
    """Every field, the times as ISO 8601."""
    from thinkback.apps import wire

    return dict(wire.memory(record))


def _table(records: "Sequence[Record]") -> "Table":
    from thinkback.apps.words import in_words

    rows = table("date", "text", "tags", "thread", "id")
    for record in records:
        tags, thread = styled(", ".join(record.tags), "magenta"), styled(record.thread or "", "cyan")
        text = styled(in_words(record))
        rows.add_row(styled(moment(record.date), "blue"), text, tags, thread, styled(record.id, "dim"))
    return rows
