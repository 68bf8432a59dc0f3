"""`thinkback demo`: nine weeks of a bakery are remembered, recalled, explained, changed and partly forgotten.

Every question stands in `QUESTIONS` with a word of its right answer; a test asks them all under the default recipe.
"""

import json
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from typing import NamedTuple

from rich.console import Console, RenderableType
from rich.rule import Rule

import thinkback
from thinkback.apps.cli.output import styled, warn
from thinkback.apps.cli.render_search import absence, hits, parsed
from thinkback.memory import Memory
from thinkback.model import Record
from thinkback.search.trace import Recall

NOW = "2026-05-29T09:00:00Z"


class Question(NamedTuple):
    """A question, the strength it shows, and a word that only its right answer has."""

    text: str
    shows: str
    answer: str
    explained: bool = False
    with_query: bool = False


QUESTIONS = (
    Question("who lends us a vehicle?", "meaning: nobody said “vehicle”", "truck"),
    Question("what did Mrs. Holm order?", "names, word for word", "forty cardamom knots"),
    Question(
        "how much water does the rye dough need?", "the exact reason for every score", "78 percent", explained=True
    ),
    Question("what did the inspector say three weeks ago?", "time in a question", "misses a filter", with_query=True),
)
ABSENT = Question("why do the loaves burn at the back?", "why not, too", "thirty degrees hotter")
CHANGED = "when is the opening of Pier Street?"
BEFORE, AFTER = "sixth of June", "thirteenth of June"


def tell(memory: Memory, console: Console) -> None:
    """Run the demo on an empty memory."""
    records = remember(memory)
    _chapter(console, f"{len(records)} memories of nine weeks in a bakery that has to move", "memory.remember_many(…)")
    _show(console, styled("Lena, Tomas, Ines and Emre write; every memory has its thread, its tags and its date."))
    for question in QUESTIONS:
        ask(memory, console, question)
    _why_not(memory, console, records)
    _change(memory, console, records)
    forget(memory, console, records)
    _chapter(console, "Now with your own memories", "thinkback tour")


def remember(memory: Memory) -> list[Record]:
    """All memories of the story in one transaction, and one link."""
    story = files("thinkback.apps").joinpath("nordlys.jsonl").read_text(encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", thinkback.SecretWarning)  # the alarm code, which the last chapter forgets
        records = memory.remember_many(json.loads(line) for line in story.splitlines())
    memory.link(_about(records, "thirty degrees"), _about(records, "We buy the used"), kind="caused_by")
    return records


def answers(memory: Memory) -> Iterator[tuple[Question, Recall]]:
    """Every question of the story with its answer, from a memory that holds the story."""
    for question in (*QUESTIONS, ABSENT):
        yield question, memory.recall(question.text, limit=1, now=NOW)


def _about(records: Sequence[Record], words: str) -> str:
    return next(record.id for record in records if words in record.text)


def ask(memory: Memory, console: Console, question: Question) -> None:
    """One question with its answer."""
    option = " --explain" if question.explained else ""
    _chapter(console, question.shows, f'thinkback recall "{question.text}" --limit 1{option}')
    found = memory.recall(question.text, limit=1, now=NOW)
    if question.with_query:
        _show(console, parsed(found.trace.query), "")
    _show(console, hits(found, question.explained))


def _why_not(memory: Memory, console: Console, records: Sequence[Record]) -> None:
    parrot = _about(records, "parrot")
    _chapter(console, "Why is the parrot not the answer?", f'thinkback recall "{ABSENT.text}" --why-not {parrot}')
    found = memory.recall(ABSENT.text, limit=1, now=NOW)
    _show(console, hits(found, False), absence(found.why_not(parrot)))


def _change(memory: Memory, console: Console, records: Sequence[Record]) -> None:
    """A fact is closed and another takes its place; both can be asked for."""
    old = _about(records, BEFORE)
    memory.update(old, valid_to="2026-05-28")
    new = memory.remember(
        f"Lena: The painter is late, so the opening of Pier Street moves to Saturday, the {AFTER}.",
        tags=["opening"],
        thread="planning",
        created_at="2026-05-28T08:00:00Z",
    )
    memory.link(new.id, old, kind="replaces")
    _chapter(console, "Facts change: the opening has moved", f"thinkback update {old} --valid-to 2026-05-28")
    for label, found in (
        ("today", memory.recall(CHANGED, limit=1, now=NOW)),
        ("as of the tenth of May", memory.recall(CHANGED, limit=1, now=NOW, as_of="2026-05-10")),
    ):
        _show(console, styled(f"{CHANGED} ({label})", "italic"), hits(found, False))


def forget(memory: Memory, console: Console, records: Sequence[Record]) -> None:
    """A memory is forgotten, with its receipt."""
    code = _about(records, "alarm code")
    _chapter(console, "Some things should not be remembered", f"thinkback forget {code} --verify")
    receipt = memory.forget_verified(code)
    asked, traces = sum(one.asked for one in receipt.searches), sum(one.found for one in receipt.searches)
    _show(
        console,
        styled(f"searched {len(receipt.searches)} indexes with {asked} questions: {traces} traces", "dim"),
        *(styled(f"read {file.bytes:,} bytes of {file.file}: {file.traces} traces", "dim") for file in receipt.files),
        styled("nothing is left", "green") if receipt.verified else styled("not verified", "bold red"),
    )


def _chapter(console: Console, title: str, command: str) -> None:
    console.print()
    console.print(Rule(styled(title, "bold"), align="left", style="cyan"))
    console.print(styled(f"$ {command}" if command.startswith("thinkback") else command, "dim"))


def _show(console: Console, *parts: RenderableType) -> None:
    for part in parts:
        console.print(part)


@contextmanager
def warnings_once() -> Iterator[None]:
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
