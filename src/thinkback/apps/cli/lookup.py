"""Commands that look things up: get, list, history, neighbours, stats."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option, Typer

from thinkback.apps.cli.command import command
from thinkback.apps.cli.options import Common, Filters
from thinkback.apps.cli.output import facts, moment, note, show_list, show_result, size, styled, table
from thinkback.apps.cli.session import existing_memory
from thinkback.apps.cli.times import read_time

if TYPE_CHECKING:
    from rich.console import RenderableType

    from thinkback.model import Edge, Record

app = Typer()
PANEL = "Look up"

Id = Annotated[str, Argument(help="The memory's id.")]
Limit = Annotated[int, Option("--limit", "-n", min=1, help="Maximum number of results.")]


@command(app, panel=PANEL, example="thinkback get 01K0W3V8E5D1Q2R3S4T5V6W7X8 --json")
def get(
    ids: Annotated[list[str], Argument(help="The ids of the memories.")],
    common: Common,
    known_at: Annotated[str | None, Option(metavar="TIME", help="The version the store had at this time.")] = None,
) -> None:
    """Show memories with all their fields."""
    from rich.console import Group

    from thinkback.apps import wire

    with existing_memory(common) as memory:
        records = [memory.get(id, read_time(known_at) if known_at else None) for id in ids]
    show_list(
        common,
        records,
        wire.memory,
        lambda them: Group(*(part for one in them for part in (facts(wire.memory(one)), ""))),
    )


@command(
    app, "list", panel=PANEL, example="thinkback list --tags pets --limit 20\nthinkback list --thread chat-7 --json"
)
def list_(
    filters: Filters,
    common: Common,
    limit: Limit = 20,
    after: Annotated[str | None, Option(metavar="ID", help="Continue after this memory.")] = None,
) -> None:
    """List memories, newest first."""
    from thinkback.apps import wire

    with existing_memory(common) as memory:
        records = memory.list(limit=limit, after=after, **filters.given())
    show_list(common, records, wire.memory, _table)
    if len(records) == limit and not common.json:
        note(f"there may be more: --after {records[-1].id}")


def _table(records: "Sequence[Record]") -> "RenderableType":
    """Each memory with its date, and below it what one filters by; readable on a terminal of 80 columns."""
    from rich.table import Table

    from thinkback.apps.cli.render_search import details
    from thinkback.apps.words import in_words

    if not records:
        return styled("nothing found", "yellow")
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="blue", no_wrap=True)
    grid.add_column(overflow="fold")
    for one in records:
        grid.add_row(one.date.date().isoformat(), styled(in_words(one).strip()))
        grid.add_row("", details(one))
    return grid


@command(app, panel=PANEL, example="thinkback history 01K0W3V8E5D1Q2R3S4T5V6W7X8")
def history(id: Id, common: Common) -> None:
    """Show every version of a memory, oldest first."""
    from thinkback.apps import wire

    with existing_memory(common) as memory:
        records = memory.history(id)
    show_list(common, records, wire.memory, _versions)


def _versions(records: "Sequence[Record]") -> "RenderableType":
    from thinkback.apps.words import in_words

    def row(one: "Record") -> tuple[str, ...]:
        until = "now" if one.retired_at is None else moment(one.retired_at)
        return moment(one.recorded_at), until, in_words(one), ", ".join(one.tags)

    return table(dict.fromkeys(("known from", "known to", "text", "tags"), ""), map(row, records))


@command(app, panel=PANEL, example="thinkback neighbours 01K0W3V8E5D1Q2R3S4T5V6W7X8 --limit 5")
def neighbours(id: Id, common: Common, limit: Limit = 10) -> None:
    """Show a memory's strongest links, including its neighbours in the thread."""
    from thinkback.apps import wire
    from thinkback.apps.words import in_words

    with existing_memory(common) as memory:
        edges = memory.neighbours(id, limit)
        others = memory.get_many([edge.other(id) for edge in edges])

    def row(edge: "Edge") -> tuple[str, ...]:
        other = others[edge.other(id)]
        return "→" if edge.from_id == id else "←", edge.kind, f"{edge.weight:g}", in_words(other), other.id

    columns = {"": "", "kind": "", "weight": "", "text": "", "id": "dim"}
    show_list(common, edges, wire.edge, lambda them: table(columns, map(row, them)))


@command(app, panel=PANEL, example="thinkback stats --json")
def stats(common: Common) -> None:
    """Show how many memories, links and vectors the store holds, and its size."""
    from thinkback.apps import wire

    with existing_memory(common) as memory:
        counts = wire.stats(memory.stats())
    sizes = {name.replace("_", " "): size(it) if name.endswith("bytes") else it for name, it in counts.items()}
    show_result(common, counts, facts(sizes))
