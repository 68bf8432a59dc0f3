"""Commands that search: recall, search-keywords, parse."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thinkback.apps.cli.flat import command
from thinkback.apps.cli.options import Common, Filters, Models, Words, changes
from thinkback.apps.cli.output import show, show_json, show_lines, warn
from thinkback.apps.cli.session import has_store, reading, recipe_of, settings_of, text_of
from thinkback.clock import to_us

if TYPE_CHECKING:
    from thinkback.memory import Memory
    from thinkback.search.recipes.model import Recipe
    from thinkback.search.trace import Recall, WhyNot
    from thinkback.settings import Settings

app = typer.Typer()
PANEL = "Ask"

Question = Annotated[str, typer.Argument(help="The question; - reads it from stdin.")]
Limit = Annotated[
    int | None, typer.Option("--limit", "-n", min=0, help="How many at most, if not as the recipe says; 0 for all.")
]

MostWords = Annotated[int, typer.Option("--limit", "-n", min=0, help="How many at most; 0 for all.")]


@dataclass(frozen=True, slots=True)
class Formula:
    """How a search ranks."""

    recipe: Annotated[str | None, typer.Option("--recipe", metavar="NAME", help="A named recipe, or a TOML file.")] = (
        None
    )
    set: Annotated[
        Words,
        typer.Option(
            "--set", metavar="PATH=VALUE", help="Change the recipe: signals.quality.weight=.3; may be repeated."
        ),
    ] = None
    limit: Limit = None
    max_tokens: Annotated[
        int | None, typer.Option("--max-tokens", min=0, help="A budget for all texts together; 0 for none.")
    ] = None
    now: Annotated[
        str | None, typer.Option("--now", metavar="TIME", help="The moment the question is asked, if not now.")
    ] = None
    reflection_boost: Annotated[
        float | None,
        typer.Option("--reflection-boost", min=0, help="A factor for reflections; --no-reflections leaves them out."),
    ] = None

    def resolved(self, settings: "Settings") -> "Recipe":
        """The recipe with its changes."""
        recipe = recipe_of(self.recipe, settings)
        return recipe.with_(**changes(self.set)) if self.set else recipe

    def given(self) -> dict[str, Any]:
        """The rest, as keyword arguments of `recall`."""
        return {
            "limit": self.limit,
            "max_tokens": self.max_tokens,
            "now": moment_of(self.now),
            "reflection_boost": self.reflection_boost,
        }


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
    explain: Annotated[bool, typer.Option("--explain", help="Show what each leg and signal added.")] = False,
    why_not: Annotated[
        str | None, typer.Option("--why-not", metavar="ID", help="Say why this memory is not found.")
    ] = None,
) -> None:
    """Search, best first; every score can be explained."""
    with reading(common, models) as memory:
        chosen = formula.resolved(settings_of(common))
        found = memory.recall(text_of(question), recipe=chosen, **formula.given(), **filters.given())
        reason = None if why_not is None else found.why_not(why_not)
        # Before the memory is closed: closing writes down what was recalled, and that may wait for another process.
        _show_found(memory, found, common, explain, reason)


@command(
    app, "search-keywords", panel=PANEL, example="thinkback search-keywords '\"grey cat\" OR essence:pet*' --limit 5"
)
def search_keywords(question: Question, filters: Filters, common: Common, limit: MostWords = 10) -> None:
    """The keyword leg alone, with its whole syntax: "a phrase", AND, OR, NOT, prefix*, content:, essence: and tags:."""
    with reading(common, Models(embedder="none")) as memory:
        found = memory.search_keywords(text_of(question), limit=limit, **filters.given())
        _show_found(memory, found, common)


@command(app, panel=PANEL, example='thinkback parse "what did we decide about #pricing last week?" --now 2026-05-08')
def parse(
    question: Question,
    common: Common,
    recipe: Annotated[str | None, typer.Option(metavar="NAME", help="The recipe that reads it.")] = None,
    now: Annotated[
        str | None, typer.Option(metavar="TIME", help="The moment the question is asked, if not now.")
    ] = None,
) -> None:
    """Show what is understood of a question: words, tags, time."""
    from thinkback.apps.cli.render_query import query_object, understand, understood

    settings = settings_of(common)
    tags: Mapping[str, int] = {}
    if has_store(settings.store_path):
        with reading(common, Models(embedder="none")) as memory:
            tags = memory.tags()
    parsing = recipe_of(recipe, settings).parsing
    query = understand(text_of(question), moment_of(now), parsing, tags, settings)
    if common.json:
        show_json(query_object(query))
    else:
        show(understood(query))


def moment_of(now: str | None) -> datetime:
    """The moment a question is asked, with the time zone its days are counted in: the user's own unless another is named."""
    if now is None:
        return datetime.now().astimezone()
    to_us(now)  # refuses what is no time, with the one message for that
    moment = datetime.fromisoformat(now.strip())
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _show_found(
    memory: "Memory", found: "Recall", common: Common, explain: bool = False, reason: "WhyNot | None" = None
) -> None:
    for message in found.warnings:
        warn(message)
    if common.json:
        from thinkback.apps import wire

        if reason is not None:
            show_json(wire.why_not(reason))
        else:
            show_lines({"id": hit.id, "text": hit.text, **wire.hit(hit)} for hit in found)
        return
    from thinkback.apps.cli.render_search import absence, first_members, hits

    show(hits(found, explain, memory.get_many(first_members(found))))
    if reason is not None:
        show(absence(reason))
