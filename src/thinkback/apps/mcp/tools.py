"""The tools: a table of rows, each with what it takes, what it answers, what it may do and the one function that does it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from thinkback.apps import wire
from thinkback.apps.mcp import answers
from thinkback.apps.mcp.answers import Answer
from thinkback.apps.validation import TEXT_LIMIT
from thinkback.errors import InvalidInput
from thinkback.memory import Memory
from thinkback.model import KINDS
from thinkback.search.recipes.named import named

Scope = Literal["read", "write", "delete"]


class Arguments(BaseModel):
    """What a tool takes; a misspelt argument is an error."""

    model_config = ConfigDict(extra="forbid")


_WHERE = {"tags", "kinds", "threads", "since", "until", "as_of", "known_at", "everything"}


class Narrowed(Arguments):
    """A search and what narrows it."""

    query: str = Field(description="What to look for, in plain words.", max_length=10_000)
    limit: int = Field(8, ge=1, le=50, description="How many memories to return at most.")
    tags: list[str] = Field([], description="Only memories that carry all of these tags.")
    kinds: list[str] = Field([], description=f"Only memories of these kinds: {', '.join(KINDS)}.")
    threads: list[str] = Field([], description="Only memories of these threads (conversations).")
    since: str | None = Field(None, description="Only memories dated at or after this ISO 8601 time.")
    until: str | None = Field(None, description="Only memories dated before this ISO 8601 time.")
    as_of: str | None = Field(None, description="What was true at this ISO 8601 time, instead of now.")
    known_at: str | None = Field(
        None, description="What was remembered at this ISO 8601 time, before later corrections."
    )
    everything: bool = Field(False, description="Also memories that are no longer true, expired or archived.")

    def where(self) -> dict[str, Any]:
        """The filter, as the engine takes it."""
        given = self.model_dump(include=_WHERE)
        return {name: value for name, value in given.items() if value}


class RecallArguments(Narrowed):
    """Arguments of `recall`."""

    max_tokens: int = Field(
        4000, ge=0, le=1_000_000, description="About how many tokens of text to return; 0 for no cap."
    )
    recipe: str | None = Field(None, description="A named ranking recipe, such as default, precise or keyword.")
    explain: bool = Field(False, description="Say for every memory what each leg and signal added to its score.")


class RememberArguments(Arguments):
    """Arguments of `remember`."""

    text: str = Field(
        description="What to remember: one self-contained statement, with names and dates written out.",
        max_length=TEXT_LIMIT,
    )
    tags: list[str] = Field([], description="A few lower-case words to group it by.")
    kind: str = Field("observation", description=f"One of {', '.join(KINDS)}.")
    thread: str | None = Field(
        None, description="The conversation it belongs to; memories of a thread are linked in order."
    )
    importance: float | None = Field(None, ge=0, le=1, description="0 (trivial) to 1 (vital).")
    source: str | None = Field(None, description="Where it comes from; the client's name if left out.")
    valid_from: str | None = Field(None, description="When it happened or began to be true, ISO 8601; now if left out.")
    valid_to: str | None = Field(None, description="When it stops being true, ISO 8601.")
    metadata: dict[str, Any] = Field({}, description="Anything else, as a JSON object.")


class UpdateArguments(Arguments):
    """Arguments of `update`."""

    id: str = Field(description="The id of the memory to change.")
    text: str | None = Field(
        None, max_length=TEXT_LIMIT, description="The text as it should read; unchanged if left out."
    )
    tags: list[str] | None = Field(
        None, description="All the tags it should carry; [] for none, unchanged if left out."
    )
    valid_from: str | None = Field(None, description="When it happened or began to be true, ISO 8601.")
    valid_to: str | None = Field(
        None, description="When it stopped being true, ISO 8601; an empty text for: it still is."
    )
    importance: float | None = Field(None, ge=0, le=1, description="0 (trivial) to 1 (vital).")

    def changes(self) -> dict[str, Any]:
        """What is to be different; models write null for what they leave alone."""
        given = self.model_dump(exclude={"id"}, exclude_none=True)
        if not given:
            raise InvalidInput(
                f"nothing to change was given; say {', '.join(name for name in type(self).model_fields if name != 'id')}"
            )
        return {name: None if name == "valid_to" and value == "" else value for name, value in given.items()}


class ForgetArguments(Arguments):
    """Arguments of `forget`."""

    ids: list[str] = Field(min_length=1, max_length=100, description="Ids of the memories to remove for good.")


class LinkArguments(Arguments):
    """Arguments of `link`."""

    from_id: str = Field(description="The memory the link starts from.")
    to_id: str = Field(description="The memory it leads to.")
    kind: str = Field("related", max_length=100, description="What the link means: related, causes, contradicts, …")
    weight: float = Field(1.0, ge=0, allow_inf_nan=False, description="How strong the link is: 0 or more, usually 1.")


class ReflectArguments(Arguments):
    """Arguments of `reflect`."""

    dry_run: bool = Field(False, description="Only say what would be done.")


class SearchArguments(Arguments):
    """Arguments of `search`."""

    query: str = Field(description="What to look for.", max_length=10_000)


class FetchArguments(Arguments):
    """Arguments of `fetch`."""

    id: str = Field(description="The id of a search result.")


@dataclass(frozen=True, slots=True)
class Tool:
    """One row of the table; `run` gets the memory, the checked arguments and the name of the client."""

    name: str
    title: str
    about: str
    scope: Scope
    takes: type[Arguments]
    gives: Any
    run: Callable[[Memory, Any, str], Answer]
    idempotent: bool = True
    searches: bool = False


def recall(memory: Memory, asked: RecallArguments, client: str) -> Answer:
    recipe = None if asked.recipe is None else named(asked.recipe)
    found = memory.recall(
        asked.query,
        limit=asked.limit,
        recipe=recipe,
        max_tokens=asked.max_tokens,
        **asked.where(),
    )
    return answers.found(found, asked.explain)


def search_keywords(memory: Memory, asked: Narrowed, client: str) -> Answer:
    return answers.found(memory.search_keywords(asked.query, limit=asked.limit, **asked.where()), False)


def remember(memory: Memory, asked: RememberArguments, client: str) -> Answer:
    fields = {name: value for name, value in asked.model_dump(exclude={"text"}).items() if value not in (None, [], {})}
    fields.setdefault("source", client)
    return answers.remembered(memory.remember(asked.text, **fields))


def update(memory: Memory, asked: UpdateArguments, client: str) -> Answer:
    changes = asked.changes()
    return answers.updated(memory.update(asked.id, **changes), list(changes))


def forget(memory: Memory, asked: ForgetArguments, client: str) -> Answer:
    return answers.forgotten(asked.ids, memory.forget(*asked.ids))


def link(memory: Memory, asked: LinkArguments, client: str) -> Answer:
    edge = memory.link(asked.from_id, asked.to_id, asked.kind, asked.weight)
    return answers.linked(edge, wire.edge(edge))


def reflect(memory: Memory, asked: ReflectArguments, client: str) -> Answer:
    return answers.reflected(memory.reflect(asked.dry_run))


def search(memory: Memory, asked: SearchArguments, client: str) -> Answer:
    return answers.results(memory.recall(asked.query, limit=10))


def fetch(memory: Memory, asked: FetchArguments, client: str) -> Answer:
    return answers.fetched(memory.get(asked.id))


TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            name="recall",
            title="Recall memories",
            about="Searches the memory by meaning, words, time and links, best first. Use it before answering anything "
            "that may have come up before, and phrase the query like the fact you hope to find.",
            scope="read",
            takes=RecallArguments,
            gives=answers.FoundAnswer,
            run=recall,
            searches=True,
        ),
        Tool(
            name="remember",
            title="Remember something",
            about="Stores one memory for later sessions. Write one fact a call, self-contained; leave secrets out.",
            scope="write",
            takes=RememberArguments,
            gives=answers.RememberedAnswer,
            run=remember,
            idempotent=False,
        ),
        Tool(
            name="update",
            title="Correct a memory",
            about="Changes a memory: its text, tags, times or importance. The text, tags and times it had are kept, and recall "
            "with known_at still finds them. For a fact that has ended, set valid_to and remember the new fact.",
            scope="write",
            takes=UpdateArguments,
            gives=answers.UpdatedAnswer,
            run=update,
            idempotent=False,
        ),
        Tool(
            name="forget",
            title="Forget memories",
            about="Removes memories for good, with everything derived from them. Only for what the user wants gone; "
            "a mistake or a fact that has changed is better corrected with update.",
            scope="delete",
            takes=ForgetArguments,
            gives=answers.ForgottenAnswer,
            run=forget,
        ),
        Tool(
            name="link",
            title="Link two memories",
            about="Links one memory to another, so that finding one helps to find the other.",
            scope="write",
            takes=LinkArguments,
            gives=answers.LinkedAnswer,
            run=link,
        ),
        Tool(
            name="reflect",
            title="Reflect on what is remembered",
            about="Consolidates the memory: promotes what has proved itself, links what is alike and writes a reflection "
            "on every theme. Memories are never changed or lost. Call it at the end of a long session.",
            scope="write",
            takes=ReflectArguments,
            gives=answers.ReflectedAnswer,
            run=reflect,
        ),
        Tool(
            name="search_keywords",
            title="Search by exact words",
            about='Searches by words alone: "quoted phrases", AND, OR, NOT, prefix*. Use it for names, numbers and code.',
            scope="read",
            takes=Narrowed,
            gives=answers.FoundAnswer,
            run=search_keywords,
            searches=True,
        ),
        Tool(
            name="search",
            title="Search",
            about="Searches the memory and lists ids and titles; fetch gives the whole text of one.",
            scope="read",
            takes=SearchArguments,
            gives=answers.SearchAnswer,
            run=search,
            searches=True,
        ),
        Tool(
            name="fetch",
            title="Fetch one memory",
            about="The whole text of one memory, with where it comes from.",
            scope="read",
            takes=FetchArguments,
            gives=answers.FetchAnswer,
            run=fetch,
        ),
    )
}
