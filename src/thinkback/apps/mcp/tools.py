"""The tools: one function each, and a table with the title and the scope.

A function's docstring is the description that language models read; its annotations give the input and output schemas.
"""

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, create_model

from thinkback import fields
from thinkback.apps.mcp import answers
from thinkback.apps.mcp.answers import Answer
from thinkback.apps.validation import TEXT_LIMIT, check_overrides
from thinkback.errors import InvalidInput
from thinkback.memory import Memory
from thinkback.search.recipes.named import named

Scope = Literal["read", "write", "delete"]


class Arguments(BaseModel):
    """The arguments of a tool; an unknown one is an error."""

    model_config = ConfigDict(extra="forbid")


# A model chooses better among few arguments, so the tools take only these fields and filters.
_FILTERS = ("tags", "kinds", "threads", "since", "until", "as_of", "known_at", "everything")
_REMEMBERED = ("tags", "kind", "thread", "importance", "valid_from", "valid_to", "metadata")

_TYPES: dict[str, Any] = {
    "tags": list[str],
    "kinds": list[str],
    "names": list[str],
    "object": dict[str, Any],
    "fraction": Annotated[float, Field(ge=0, le=1)],
    "flag": bool,
}  # all other types are strings


def _with(
    base: type[Arguments], rows: Iterable[fields.Field | fields.FilterField], names: Sequence[str]
) -> type[Arguments]:
    """The model with those of these fields or filters that are named, and the defaults of the table."""
    made: dict[str, Any] = {}
    for row in sorted((row for row in rows if row.name in names), key=lambda row: names.index(row.name)):
        type, default = _TYPES.get(row.type, str), row.default
        if get_origin(type) is list:
            default = []
        help = f"{row.help[:-1]}, ISO 8601." if row.type == "time" else row.help
        made[row.name] = (type | None if default is None else type, Field(default, description=help))
    return create_model("With", __base__=base, **made)


class Search(Arguments):
    """A search."""

    query: str = Field(description="What to look for, in plain words.", max_length=10_000)
    limit: int = Field(8, ge=1, le=50, description="Maximum number of memories to return.")


class SearchWithFilter(_with(Search, fields.FILTERS, _FILTERS)):  # type: ignore[misc]
    """A search and its filter."""

    def where(self) -> dict[str, Any]:
        """The filter as keyword arguments for the engine."""
        given = self.model_dump(include=set(_FILTERS))
        return {name: value for name, value in given.items() if value}


class RecallArguments(SearchWithFilter):
    """Arguments of `recall`."""

    max_tokens: int = Field(
        4000, ge=0, le=1_000_000, description="Approximate maximum number of tokens of text; 0 for no limit."
    )
    recipe: str | None = Field(None, description="A named ranking recipe, such as default, precise or keyword.")
    cycle: int | None = Field(None, description="The current cycle, for recency by cycles.")
    overrides: dict[str, Any] = Field({}, description="Changes to the recipe by path, such as signals.recency.weight.")
    explain: bool = Field(False, description="Explain for every memory what each leg and signal added to its score.")


class Statement(Arguments):
    """A text to remember and its source."""

    text: str = Field(
        description="What to remember: one self-contained statement, with names and dates written out.",
        max_length=TEXT_LIMIT,
    )
    source: str | None = Field(None, description="Where it comes from; the client's name by default.")


class RememberArguments(_with(Statement, fields.FIELDS, _REMEMBERED)):  # type: ignore[misc]
    """Arguments of `remember`."""


class UpdateArguments(Arguments):
    """Arguments of `update`."""

    id: str = Field(description="The id of the memory to change.")
    text: str | None = Field(None, max_length=TEXT_LIMIT, description="The new text (default: unchanged).")
    tags: list[str] | None = Field(None, description="The complete new list of tags, [] for none (default: unchanged).")
    valid_from: str | None = Field(None, description="When it happened or became true, ISO 8601.")
    valid_to: str | None = Field(
        None, description="When it stopped being true, ISO 8601; an empty text if it is still true."
    )
    importance: float | None = Field(None, ge=0, le=1, description="0 (trivial) to 1 (vital).")

    def changes(self) -> dict[str, Any]:
        """The changes; language models write null for fields they do not change."""
        given = self.model_dump(exclude={"id"}, exclude_none=True)
        if not given:
            names = ", ".join(name for name in type(self).model_fields if name != "id")
            raise InvalidInput(f"no change was given; give one of {names}", code="no_change")
        return {name: None if name == "valid_to" and value == "" else value for name, value in given.items()}


class ForgetArguments(Arguments):
    """Arguments of `forget`."""

    ids: list[str] = Field(min_length=1, max_length=100, description="Ids of the memories to remove permanently.")


class LinkArguments(Arguments):
    """Arguments of `link`."""

    from_id: str = Field(description="The memory the link starts from.")
    to_id: str = Field(description="The memory it leads to.")
    kind: str = Field("related", max_length=100, description="What the link means: related, causes, contradicts, …")
    weight: float = Field(1.0, ge=0, allow_inf_nan=False, description="The strength of the link: 0 or more, usually 1.")


class ReflectArguments(Arguments):
    """Arguments of `reflect`."""

    dry_run: bool = Field(False, description="Report what would be done without doing it.")


class ReflectionsArguments(Search):
    """Arguments of `search_reflections`."""

    cycle: int | None = Field(None, description="The current cycle, for recency by cycles.")
    recency: float | None = Field(
        None, ge=0, le=1, description="Weight of recency (default: 0.1 with a cycle, else 0)."
    )
    vector: list[float] | None = Field(None, description="The embedding of the query, instead of the embedder's.")


class SearchArguments(Arguments):
    """Arguments of `search`."""

    query: str = Field(description="The search query.", max_length=10_000)


class FetchArguments(Arguments):
    """Arguments of `fetch`."""

    id: str = Field(description="The id of a search result.")


def recall(memory: Memory, asked: RecallArguments, client: str) -> Answer[answers.FoundAnswer]:
    """Search the memory by meaning, words, time and links, best first. Use it before answering anything that may have come up
    before, and phrase the query like the fact you hope to find.
    """
    recipe = None if asked.recipe is None else named(asked.recipe)
    check_overrides(asked.overrides)
    found = memory.recall(
        asked.query,
        limit=asked.limit,
        recipe=recipe,
        max_tokens=asked.max_tokens,
        cycle=asked.cycle,
        overrides=asked.overrides,
        **asked.where(),
    )
    return answers.found(found, asked.explain)


def remember(memory: Memory, asked: RememberArguments, client: str) -> Answer[answers.RememberedAnswer]:
    """Store one memory for later sessions. Write one self-contained fact per call, and leave secrets out."""
    given = {name: value for name, value in asked.model_dump(exclude={"text"}).items() if value not in (None, [], {})}
    return answers.remembered(memory.remember(asked.text, **{"source": client, **given}))


def update(memory: Memory, asked: UpdateArguments, client: str) -> Answer[answers.UpdatedAnswer]:
    """Change a memory: its text, tags, times or importance. Earlier text, tags and times are kept, and recall with known_at still
    finds them. For a fact that has ended, set valid_to and remember the new fact.
    """
    changes = asked.changes()
    return answers.updated(memory.update(asked.id, **changes), list(changes))


def forget(memory: Memory, asked: ForgetArguments, client: str) -> Answer[answers.ForgottenAnswer]:
    """Remove memories permanently, with everything derived from them. Use it only for what the user wants gone; correct a mistake
    or an outdated fact with update instead.
    """
    return answers.forgotten(asked.ids, memory.forget(*asked.ids))


def link(memory: Memory, asked: LinkArguments, client: str) -> Answer[answers.LinkedAnswer]:
    """Link one memory to another, so that finding one helps to find the other."""
    return answers.linked(memory.link(asked.from_id, asked.to_id, asked.kind, asked.weight))


def reflect(memory: Memory, asked: ReflectArguments, client: str) -> Answer[answers.ReflectedAnswer]:
    """Consolidate the memory: promote proven memories, link similar ones and write a reflection on every theme. No memory is
    changed or lost. Call it at the end of a long session.
    """
    return answers.reflected(memory.reflect(asked.dry_run))


def search_keywords(memory: Memory, asked: SearchWithFilter, client: str) -> Answer[answers.FoundAnswer]:
    """Search by keywords only: "quoted phrases", AND, OR, NOT, prefix*. Use it for names, numbers and code."""
    return answers.found(memory.search_keywords(asked.query, limit=asked.limit, **asked.where()), False)


def search_reflections(memory: Memory, asked: ReflectionsArguments, client: str) -> Answer[answers.FoundAnswer]:
    """Search only the reflections on themes that consolidation wrote, by meaning."""
    vector: Any = None if asked.vector is None else np.asarray(asked.vector, dtype=np.float64)
    found = memory.search_reflections_only(
        asked.query, limit=asked.limit, vector=vector, cycle=asked.cycle, recency=asked.recency
    )
    return answers.found(found, False)


def search(memory: Memory, asked: SearchArguments, client: str) -> Answer[answers.SearchAnswer]:
    """Search the memory and list ids and titles; fetch returns the whole text of one."""
    return answers.results(memory.recall(asked.query, limit=10))


def fetch(memory: Memory, asked: FetchArguments, client: str) -> Answer[answers.FetchAnswer]:
    """The whole text of one memory, and where it comes from."""
    return answers.fetched(memory.get(asked.id))


@dataclass(frozen=True, slots=True)
class Tool:
    """One row of the table; `run` gets the memory, the checked arguments and the name of the client."""

    title: str
    scope: Scope
    run: Callable[[Memory, Any, str], Answer[Any]]
    idempotent: bool = True
    searches: bool = False

    @property
    def name(self) -> str:
        return self.run.__name__

    @property
    def about(self) -> str:
        """The description for language models."""
        return " ".join((inspect.getdoc(self.run) or "").split())

    @property
    def takes(self) -> type[Arguments]:
        """The model of the arguments."""
        model: type[Arguments] = get_type_hints(self.run)["asked"]
        return model

    @property
    def gives(self) -> Any:
        """The shape of the structured content."""
        return get_args(get_type_hints(self.run)["return"])[0]


TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool("Recall memories", "read", recall, searches=True),
        Tool("Remember something", "write", remember, idempotent=False),
        Tool("Correct a memory", "write", update, idempotent=False),
        Tool("Forget memories", "delete", forget),
        Tool("Link two memories", "write", link),
        Tool("Reflect on the memory", "write", reflect),
        Tool("Search by keywords", "read", search_keywords, searches=True),
        Tool("Search reflections", "read", search_reflections, searches=True),
        Tool("Search", "read", search, searches=True),
        Tool("Fetch one memory", "read", fetch),
    )
}
