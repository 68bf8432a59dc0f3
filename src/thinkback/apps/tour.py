"""`thinkback tour`: the first five minutes with a memory, step by step, with what the user types."""

from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.rule import Rule

from thinkback.apps.cli.output import styled
from thinkback.apps.cli.render_search import absence, hits
from thinkback.memory import Memory
from thinkback.model import Record

_OWN = "Caroline adopted a grey cat, Oscar"
_QUESTION = "what is Caroline's pet called?"
_NOW = "Oscar, Caroline's cat, moved to Bergen"
_MEMORIES = (
    {"text": "Melanie took up pottery in May", "tags": ["hobbies"], "thread": "chat-7"},
    {"text": "The landlord is called Rossi and wants the rent on the first", "tags": ["home"]},
    {"text": "Caroline's sister lives in Bergen", "tags": ["family"], "thread": "chat-7"},
)


class Tour:
    """The steps of the tour on an empty memory; without `ask` every answer is the suggested one."""

    def __init__(self, memory: Memory, console: Console, *, ask: Callable[[str], str] | None) -> None:
        self._memory = memory
        self._console = console
        self._ask_user = ask
        self._told: list[dict[str, Any]] = []

    def take(self) -> list[dict[str, Any]]:
        """All steps, in order, and what was done in each."""
        own = self._remember()
        question = self._recall()
        self._explain(question)
        other = self._why_not(question)
        self._change(own)
        self._forget(other)
        self._end()
        return self._told

    def _remember(self) -> Record:
        self._step("1  Remember", "thinkback remember TEXT --tags a,b --thread chat-7")
        self._say("A memory is a text. Tags, a thread, a date and more are optional.")
        text = self._ask("Something worth remembering", _OWN)
        record = self._memory.remember(text, tags=["tour"], thread="chat-7")
        # The suggested question has its answer, whatever was typed.
        others = [*_MEMORIES] if text == _OWN else [{"text": _OWN, "tags": ["pets"]}, *_MEMORIES]
        self._memory.remember_many(others)
        self._did("remember", id=record.id, text=text)
        self._say(f"Stored as {record.id}, with {len(others)} more so that there is something to choose from.")
        return record

    def _recall(self) -> str:
        self._step("2  Ask", "thinkback recall QUESTION")
        self._say("Keywords, meaning, threads, links and dates all search; one formula ranks what they find.")
        question = self._ask("Ask for it in other words", _QUESTION)
        found = self._memory.recall(question, limit=2)
        self._console.print(hits(found, False))
        self._did("recall", question=question, ids=[hit.id for hit in found])
        return question

    def _explain(self, question: str) -> None:
        self._step("3  Why?", "thinkback recall QUESTION --explain")
        self._wait("Every score is the exact sum of its parts.")
        found = self._memory.recall(question, limit=1)
        self._console.print(hits(found, True))
        self._did("explain", contributions={c.name: c.delta for hit in found for c in hit.contributions})

    def _why_not(self, question: str) -> str:
        other = next(record.id for record in self._memory.list(tags=["home"]))
        self._step("4  And why not?", f"thinkback recall QUESTION --why-not {other}")
        self._wait("What is missing has a reason too.")
        reason = self._memory.recall(question, limit=1).why_not(other)
        self._console.print(absence(reason))
        self._did("why_not", id=other, verdict=reason.verdict)
        return other

    def _change(self, own: Record) -> None:
        self._step("5  Change", f"thinkback update {own.id} --text TEXT; thinkback history {own.id}")
        new = self._ask("What is true now", _NOW if own.text == _OWN else f"{own.text}, or so it was")
        self._memory.update(own.id, text=new)
        versions = [record.text for record in self._memory.history(own.id)]
        for version in versions:
            self._say(f"  {version}")
        self._did("update", id=own.id, versions=versions)

    def _forget(self, other: str) -> None:
        self._step("6  Forget", f"thinkback forget {other} --verify")
        self._wait("Forgetting removes every copy and proves it.")
        receipt = self._memory.forget_verified(other)
        size = sum(file.bytes for file in receipt.files)
        self._say(f"Searched {len(receipt.searches)} indexes and {size:,} bytes: nothing of it is left.")
        self._did("forget", id=other, verified=receipt.verified)

    def _end(self) -> None:
        self._step("That was all", 'thinkback remember "…"')
        self._say("Your agent:   thinkback mcp install")
        self._say("A web page:   thinkback serve")
        self._say("Your tuning:  thinkback judge, thinkback tune")

    # -- how it is told ------------------------------------------------------------------------------------------------------------

    def _step(self, title: str, command: str) -> None:
        self._console.print()
        self._console.print(Rule(styled(title, "bold"), align="left", style="cyan"))
        self._console.print(styled(f"$ {command}", "dim"))

    def _say(self, text: str) -> None:
        self._console.print(styled(text))

    def _wait(self, text: str) -> None:
        self._say(text)
        self._answer("[dim](Enter)[/dim] ")

    def _ask(self, what: str, suggested: str) -> str:
        return self._answer(f"{what} [dim](Enter for: {suggested})[/dim]\n> ").strip() or suggested

    def _answer(self, prompt: str) -> str:
        if self._ask_user is None:
            self._console.print(prompt)
            return ""
        try:
            return self._ask_user(prompt)
        except EOFError:
            return ""

    def _did(self, step: str, **what: Any) -> None:
        self._told.append({"step": step, **what})
