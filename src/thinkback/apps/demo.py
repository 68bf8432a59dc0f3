"""`make demo`: nine weeks of a bakery are remembered, recalled, explained, changed and partly forgotten, in a temporary file."""

import json
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

from rich.console import Console, RenderableType
from rich.rule import Rule

import thinkback
from thinkback.apps.cli.output import FetchProgress, styled, warn
from thinkback.apps.cli.render_search import absence, hits, parsed
from thinkback.memory import Memory
from thinkback.model import Record
from thinkback.opening import Opener
from thinkback.search.trace import Recall
from thinkback.settings import load

NOW = "2026-05-29T09:00:00Z"


def main() -> None:
    """Run the demo in a temporary file."""
    with tempfile.TemporaryDirectory() as folder, _warnings_once():
        opener = Opener(load(), progress=FetchProgress())
        with opener(Path(folder) / "nordlys.db", recipe="default") as memory:
            tell(memory, Console(highlight=False))


def tell(memory: Memory, console: Console) -> None:
    """Run the demo on an empty memory."""
    records = remember(memory)
    _chapter(console, f"{len(records)} memories of nine weeks in a bakery that has to move", "memory.remember_many(…)")
    _show(console, styled("Lena, Tomas, Ines and Emre write; every memory has its thread, its tags and its date."))
    _ask(memory, console, "who must not eat nuts?", limit=2)
    _ask(memory, console, "what did Ines find out about the rye bread?", limit=2, explained=True)
    _ask(memory, console, "what did the inspector say three weeks ago?", limit=3, with_query=True)
    _why_not(memory, console, records)
    _change(memory, console, records)
    _forget(memory, console, records)
    _chapter(console, "That was the whole of it", "thinkback --help")


def remember(memory: Memory) -> list[Record]:
    """All memories of the story in one transaction, and one link."""
    story = files("thinkback.apps").joinpath("nordlys.jsonl").read_text(encoding="utf-8")
    records = memory.remember_many(json.loads(line) for line in story.splitlines())
    memory.link(_about(records, "thirty degrees"), _about(records, "We buy the used"), kind="caused_by")
    return records


def _about(records: list[Record], words: str) -> str:
    return next(record.id for record in records if words in record.text)


def _ask(
    memory: Memory, console: Console, question: str, *, limit: int, explained: bool = False, with_query: bool = False
) -> Recall:
    option = " --explain" if explained else ""
    _chapter(console, question, f'thinkback recall "{question}" --limit {limit}{option}')
    found = memory.recall(question, limit=limit, now=NOW)
    if with_query:
        _show(console, parsed(found.trace.query), "")
    _show(console, hits(found, explained))
    return found


def _why_not(memory: Memory, console: Console, records: list[Record]) -> None:
    question = "what does the oven cost?"
    parrot = _about(records, "parrot")
    _chapter(console, "Why is the parrot not among the answers?", f'thinkback recall "{question}" --why-not {parrot}')
    found = memory.recall(question, limit=3, now=NOW)
    _show(console, hits(found, False), absence(found.why_not(parrot)))


def _change(memory: Memory, console: Console, records: list[Record]) -> None:
    """A fact is closed and another takes its place; both can be asked for."""
    old = _about(records, "sixth of June")
    memory.update(old, valid_to="2026-05-28")
    new = memory.remember(
        "Lena: The painter is late, so the opening of Pier Street moves to Saturday, the thirteenth of June.",
        tags=["opening"],
        thread="planning",
        created_at="2026-05-28T08:00:00Z",
    )
    memory.link(new.id, old, kind="replaces")
    question = "when is the opening of Pier Street?"
    _chapter(console, "Facts change: the opening has moved", f"thinkback update {old} --valid-to 2026-05-28")
    for label, found in (
        ("today", memory.recall(question, limit=1, now=NOW)),
        ("as of the tenth of May", memory.recall(question, limit=1, now=NOW, as_of="2026-05-10")),
    ):
        _show(console, styled(f"{question} ({label})", "italic"), hits(found, False))


def _forget(memory: Memory, console: Console, records: list[Record]) -> None:
    code = _about(records, "alarm code")
    _chapter(console, "Some things should not be remembered", f"thinkback forget {code}")
    for label, forgotten in (("before", False), ("after", True)):
        if forgotten:
            memory.forget(code)
        found = memory.search_keywords("alarm code 4417", limit=1)
        _show(console, styled(label, "italic"), hits(found, False))


def _chapter(console: Console, title: str, command: str) -> None:
    console.print()
    console.print(Rule(styled(title, "bold"), align="left", style="cyan"))
    console.print(styled(f"$ {command}" if command.startswith("thinkback") else command, "dim"))


def _show(console: Console, *parts: RenderableType) -> None:
    for part in parts:
        console.print(part)


@contextmanager
def _warnings_once() -> Iterator[None]:
    """Print each warning of the engine once: without weights the story runs on keywords."""
    printed: set[str] = set()

    def show_warning(message: Warning | str, *_: object) -> None:
        if str(message) not in printed:
            printed.add(str(message))
            warn(getattr(message, "notice", str(message)))

    with warnings.catch_warnings():
        warnings.simplefilter("always", thinkback.ThinkbackWarning)
        warnings.showwarning = show_warning  # type: ignore[assignment]
        yield


if __name__ == "__main__":
    main()
