"""The `judge` commands: which memories were the answer to which questions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from thinkback.apps.cli.command import command, epilog
from thinkback.apps.cli.options import Common
from thinkback.apps.cli.output import moment, show, show_json, show_list, styled, table
from thinkback.apps.cli.session import existing_memory, file_errors, open_lines
from thinkback.errors import NotFound

if TYPE_CHECKING:
    from rich.console import RenderableType

    from thinkback.model import Judgement

app = typer.Typer(
    help="Record which memories answer which questions; tuning and benchmarks learn from it.",
    epilog=epilog('thinkback judge record "what is Caroline\'s pet called?" ID'),
    no_args_is_help=True,
)


@command(
    app,
    example='thinkback judge record "what is Caroline\'s pet called?" ID\nthinkback judge record "who is Oscar?" ID --no',
)
def record(
    question: Annotated[str, typer.Argument(help="The question.")],
    id: Annotated[str, typer.Argument(help="The memory's id.")],
    common: Common,
    grade: Annotated[int, typer.Option(min=0, max=3, help="0 is no answer, 1 an answer, 3 the best.")] = 1,
    no: Annotated[bool, typer.Option("--no", help="It was no answer: grade 0.")] = False,
) -> None:
    """Record that a memory is, or is not, an answer to a question."""
    from thinkback.apps import wire

    with existing_memory(common) as memory:
        judged = memory.judge(question, id, 0 if no else grade)
    if common.json:
        show_json(wire.judgement(judged))
    else:
        show(styled("judged", "green") + styled(f" {id}: grade {judged.grade}"))


@command(app, example='thinkback judge remove "what is Caroline\'s pet called?" ID')
def remove(
    question: Annotated[str, typer.Argument(help="The question, as `thinkback judge list` shows it.")],
    id: Annotated[str, typer.Argument(help="The memory's id.")],
    common: Common,
) -> None:
    """Take a judgement back, as if it had never been given."""
    with existing_memory(common) as memory:
        if not memory.unjudge(question, id):
            raise NotFound(
                f"nobody judged {id!r} as an answer to {question!r}; `thinkback judge list` shows what was judged"
            )
    if common.json:
        show_json({"query": question, "memory_id": id, "removed": True})
    else:
        show(styled("removed", "green") + styled(f" the judgement of {id}"))


@command(app, "list", example="thinkback judge list --json")
def list_(common: Common) -> None:
    """List all judgements."""
    from thinkback.apps import wire

    with existing_memory(common) as memory:
        judgements = memory.judgements()
    columns = {"question": "", "memory": "dim", "grade": "", "judged": ""}

    def rows(judged: "Sequence[Judgement]") -> "RenderableType":
        return table(columns, ((one.query, one.memory_id, str(one.grade), moment(one.judged_at)) for one in judged))

    show_list(common, judgements, wire.judgement, rows)


@command(app, "export", example="thinkback judge export judged.jsonl")
def export(
    common: Common, file: Annotated[str, typer.Argument(help="The file to write; - writes to stdout.")] = "-"
) -> None:
    """Write all judgements as JSON Lines."""
    from thinkback.apps.cli.transfer import open_target
    from thinkback.interop.jsonl_lines import judgement_line

    with existing_memory(common) as memory, open_target(file) as target:
        judgements = memory.judgements()
        target.writelines(judgement_line(judged) + "\n" for judged in judgements)
    if common.json and file != "-":
        show_json({"file": file, "lines": len(judgements)})


@command(app, "import", example="thinkback judge import judged.jsonl\nthinkback judge import -")
def import_(file: Annotated[str, typer.Argument(help="A JSON Lines file; - reads stdin.")], common: Common) -> None:
    """Read judgements from JSON Lines: all or nothing; where a pair was judged before, the later judgement is kept."""
    from thinkback.interop.jsonl import import_lines

    with existing_memory(common) as memory, open_lines(file) as lines, file_errors():
        report = import_lines(memory, lines, types=("judgement",))
    if common.json:
        show_json({"judgements": report.judgements, "known": report.known})
    else:
        from thinkback.apps.words import counted

        show(styled("judged", "green") + styled(f" {counted(report.judgements, 'answer')}"))
