"""Commands that search: recall, search-keywords, parse."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option, Typer

from thinkback.apps.cli.command import command
from thinkback.apps.cli.options import Common, Filters, Models, Words, changes
from thinkback.apps.cli.output import show, show_json, show_result, warn
from thinkback.apps.cli.session import (
    NO_MODELS,
    existing_memory,
    has_store,
    open_memory,
    read_argument,
    recipe_of,
    settings_of,
    typed_recipe,
)
from thinkback.clock import to_us
from thinkback.errors import InvalidInput
from thinkback.values import dataclass

if TYPE_CHECKING:
    from thinkback.memory import Memory
    from thinkback.search.query.parse import Parsing, Query
    from thinkback.search.recipes.model import Recipe
    from thinkback.search.trace import Recall, WhyNot
    from thinkback.settings import Settings

app = Typer()
PANEL = "Ask"

Question = Annotated[str, Argument(help="The question; - reads it from stdin.")]
Now = Annotated[str | None, Option("--now", metavar="TIME", help="The time of the question (default: now).")]


@dataclass(frozen=True, slots=True)
class Formula:
    """How a search ranks."""

    recipe: Annotated[str | None, Option(metavar="NAME", help="A named recipe, or a TOML file.")] = None
    set: Annotated[
        Words, Option(metavar="PATH=VALUE", help="Change the recipe: signals.quality.weight=.3; may be repeated.")
    ] = None
    limit: Annotated[
        int | None,
        Option("--limit", "-n", min=0, help="Maximum number of hits (default: the recipe's; 0 = all)."),
    ] = None
    max_tokens: Annotated[int | None, Option(min=0, help="Token budget for all texts together (0 = none).")] = None
    min_relevance: Annotated[
        float | None, Option(min=0, max=1, help="Leave out hits that answer with less than this probability.")
    ] = None
    now: Now = None
    cycle: Annotated[int | None, Option(help="The current cycle, for recency by cycles.")] = None
    reflection_boost: Annotated[
        float | None, Option(min=0, help="Factor for the score of reflections; --no-reflections leaves them out.")
    ] = None

    def resolved(self, usual: "Recipe") -> "Recipe":
        """The recipe with its changes."""
        recipe = usual if self.recipe is None else typed_recipe(self.recipe)
        return recipe.with_(**changes(self.set)) if self.set else recipe

    def given(self) -> dict[str, Any]:
        """The other options, as keyword arguments of `recall`."""
        names = ("limit", "max_tokens", "min_relevance", "cycle", "reflection_boost")
        return {"now": time_of(self.now), **{name: getattr(self, name) for name in names}}


@command(
    app,
    panel=PANEL,
    example='thinkback recall "what is Caroline\'s pet called?" --limit 3 --explain\n'
    'thinkback recall "deploy" --tags work --since 2026-05-01 --set signals.quality.weight=0.3 --json',
)
def recall(
    question: Question,
    formula: Formula,
    filters: Filters,
    models: Models,
    common: Common,
    explain: Annotated[bool, Option("--explain", help="Show what each leg and signal added.")] = False,
    why_not: Annotated[str | None, Option(metavar="ID", help="Explain why this memory was not found.")] = None,
) -> None:
    """Search, best first; every score can be explained."""
    with existing_memory(common, models) as memory:
        recipe = formula.resolved(memory.recipe)
        found = memory.recall(
            read_argument(question), recipe=recipe, **formula.given(), **filters.given(time_of(formula.now))
        )
        reason = None if why_not is None else found.why_not(why_not)
        # Before the memory is closed: closing counts the accesses, and that may wait for another process.
        _show_found(memory, found, common, explain, reason)


@command(
    app, "search-keywords", panel=PANEL, example="thinkback search-keywords '\"grey cat\" OR essence:pet*' --limit 5"
)
def search_keywords(
    question: Question,
    filters: Filters,
    common: Common,
    limit: Annotated[int, Option("--limit", "-n", min=0, help="Maximum number of hits (0 = all).")] = 10,
) -> None:
    """Search by keyword alone, with the full syntax: "a phrase", AND, OR, NOT, prefix*, content:, essence: and tags:."""
    with existing_memory(common) as memory:
        found = memory.search_keywords(read_argument(question), limit=limit, **filters.given())
        _show_found(memory, found, common)


@command(
    app,
    "search-reflections",
    panel=PANEL,
    example='thinkback search-reflections "what matters to Caroline?" --cycle 120',
)
def search_reflections(
    question: Question,
    models: Models,
    common: Common,
    limit: Annotated[int, Option("--limit", "-n", min=0, help="Maximum number of hits (0 = all).")] = 10,
    cycle: Annotated[int | None, Option(help="The current cycle, for recency by cycles.")] = None,
    recency: Annotated[
        float | None, Option(min=0, max=1, help="Weight of recency (default: 0.1 with a cycle, else 0).")
    ] = None,
    vector: Annotated[
        str | None, Option(metavar="JSON", help="The embedding of the query as a JSON list, instead of the embedder's.")
    ] = None,
) -> None:
    """Search only the reflections on themes, by meaning."""
    with existing_memory(common, models) as memory:
        found = memory.search_reflections_only(
            read_argument(question), limit=limit, cycle=cycle, recency=recency, vector=_numbers(vector)
        )
        _show_found(memory, found, common)


def _numbers(vector: str | None) -> Any:
    import json

    if vector is None:
        return None
    try:
        return json.loads(vector)
    except ValueError:
        raise InvalidInput(f"--vector takes a JSON list of numbers; got {vector[:80]!r}") from None


@command(app, panel=PANEL, example='thinkback parse "what did we decide about #pricing last week?" --now 2026-05-08')
def parse(
    question: Question,
    common: Common,
    recipe: Annotated[str | None, Option(metavar="NAME", help="The recipe whose parser is used.")] = None,
    now: Now = None,
) -> None:
    """Show how a question is parsed: words, tags, time."""
    from thinkback.apps.cli.render_search import parsed, query_object

    settings = settings_of(common, NO_MODELS)
    tags: Mapping[str, int] = {}
    if settings.database is not None or has_store(settings.store_path):
        with open_memory(settings) as memory:
            tags = memory.tags()
    query = _parse(read_argument(question), time_of(now), recipe_of(recipe, settings).parsing, tags, settings)
    show_result(common, query_object(query), parsed(query))


def _parse(text: str, now: datetime, parsing: "Parsing", tags: Mapping[str, int], settings: "Settings") -> "Query":
    """The question as a search parses it, with a language model if the settings name one."""
    from concurrent.futures import ThreadPoolExecutor

    from thinkback.model import Filter
    from thinkback.opening import chat_of
    from thinkback.search.query.ask_model import ask
    from thinkback.search.query.parse import parse
    from thinkback.search.query.tags import Vocabulary

    vocabulary, zone = Vocabulary.of(tags), now.tzinfo or UTC
    query = parse(text, Filter(now=to_us(now)), parsing, vocabulary, zone)
    chat = chat_of(settings)
    if chat is None:
        return query
    with ThreadPoolExecutor(max_workers=2) as pool:
        asked = ask(query, parsing, chat, vocabulary, pool, zone)
        return asked.answer(query, lambda what, error: warn(error.notice(what)))


def time_of(now: str | None) -> datetime:
    """The time of a question in the zone its days are counted in: the user's own unless another is given."""
    if now is None:
        return datetime.now().astimezone()
    to_us(now)  # raises the usual error for an invalid time
    moment = datetime.fromisoformat(now.strip())
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _show_found(
    memory: "Memory", found: "Recall", common: Common, explain: bool = False, reason: "WhyNot | None" = None
) -> None:
    from thinkback.apps import wire
    from thinkback.apps.cli.render_search import absence, first_members, hits

    for warning in found.warnings:
        warn(warning)
    if not common.json:
        show(hits(found, explain, memory.get_many(first_members(found))), *([absence(reason)] if reason else []))
    elif reason is not None:
        show_json(wire.why_not(reason))
    else:
        beside = {"answered": found.answered, "backends_used": list(found.trace.backends_used)}
        show_json(*({"id": hit.id, "text": hit.text, **wire.hit(hit), **beside} for hit in found))
