"""The routes behind the tools of the inspector: the journal, the judged questions as a benchmark, a recipe as TOML, tokens."""

from typing import Any

from typing_extensions import TypedDict

from thinkback.apps import wire_upkeep
from thinkback.apps.http import requests
from thinkback.apps.http.endpoints import Call, Site
from thinkback.apps.http.errors import HttpError
from thinkback.apps.http.responses import AskedShape, BenchShape, EntriesShape, JournalShape, TomlShape
from thinkback.apps.http.tokens import SCOPES, Grant
from thinkback.apps.validation import check_overrides
from thinkback.errors import DatasetError, InvalidInput
from thinkback.memory import Memory
from thinkback.search.recipes.model import Recipe
from thinkback.search.recipes.named import named

MOST_BATCHES = 100
MOST_ENTRIES = 10_000
MOST_QUESTIONS = 200
DEPTH = 50
METRICS = ("any@1", "any@5", "any@10", "mrr", "ndcg@10")


class TokenShape(TypedDict):
    """A token without its secret."""

    name: str
    scopes: list[str]
    spaces: list[str]


class TokensShape(TypedDict):
    """Every token of the server."""

    tokens: list[TokenShape]


class NewTokenShape(TypedDict):
    """A new token; the secret is told once."""

    name: str
    token: str


def journal(memory: Memory, asked: requests.Nothing) -> JournalShape:
    """What was done to many memories at once, newest first, and whether it can be undone."""
    batches: dict[str, list[Any]] = {}
    for entry in memory.journal(limit=MOST_ENTRIES):
        batches.setdefault(entry.batch, []).append(entry)
    return {"batches": [wire_upkeep.batch(name, its) for name, its in list(batches.items())[:MOST_BATCHES]]}


def journal_entries(memory: Memory, asked: requests.Batched) -> EntriesShape:
    """The actions of one batch of the journal; an undo takes them back."""
    return {"entries": [wire_upkeep.entry(one) for one in memory.journal(asked.batch, limit=MOST_ENTRIES)]}


def bench(memory: Memory, asked: requests.Formula) -> BenchShape:
    """Ask the judged questions again with a recipe: the metrics, and where the first right answer is."""
    from thinkback.evaluate.datasets.own import read_own
    from thinkback.evaluate.metrics import first_rank, metric

    recipe = _recipe(memory, asked)
    try:
        dataset = read_own(memory).first(MOST_QUESTIONS)
    except DatasetError as error:  # nothing was judged, or all of it was forgotten
        raise InvalidInput(error.message, code=error.code, remedy=error.remedy) from None
    totals = dict.fromkeys(METRICS, 0.0)
    rows: list[AskedShape] = []
    for question in dataset.questions:
        found = memory.recall(question.text, recipe=recipe, limit=DEPTH, now=question.now_us, counted=False)
        ids = [hit.id for hit in found]
        for name in METRICS:
            totals[name] += metric(name)(question.gold, ids)
        rows.append({"query": question.text, "first": first_rank(question.gold, ids)})
    count = max(1, len(rows))
    return {
        "recipe": recipe.name,
        "metrics": {name: total / count for name, total in totals.items()},
        "questions": rows,
    }


def recipe_toml(memory: Memory, asked: requests.NamedFormula) -> TomlShape:
    """A recipe with its changes as a TOML file."""
    from dataclasses import replace

    from thinkback.search.recipes.toml import dumps

    recipe = _recipe(memory, asked)
    return {"toml": dumps(replace(recipe, name=asked.name) if asked.name else recipe)}


def _recipe(memory: Memory, asked: requests.Formula) -> Recipe:
    check_overrides(asked.overrides)
    recipe = memory.recipe if asked.recipe is None else named(asked.recipe)  # by name only, never a path
    return recipe.with_paths(asked.overrides) if asked.overrides else recipe


async def tokens(site: Site, call: Call) -> TokensShape:
    """Every token, without its secret."""
    return {"tokens": [_token(grant) for grant in site.tokens.all()]}


async def make_token(site: Site, call: Call) -> NewTokenShape:
    """Make a token with at most the scopes of the one that asks; the secret is told once."""
    beyond = sorted(set(call.asked.scopes) - call.grant.scopes)
    if beyond and set(beyond) <= set(SCOPES):
        raise HttpError(403, "scope", f"this token may not give the scopes {', '.join(beyond)}: it lacks them")
    secret = await site.workers.run(
        lambda: site.tokens.add(call.asked.name, call.asked.scopes, call.asked.spaces), clients=call.clients
    )
    return {"name": call.asked.name, "token": secret}


async def revoke_token(site: Site, call: Call) -> TokensShape:
    """Revoke a token; it is refused at once. The token that asks stays."""
    if call.asked.name == call.grant.name:
        raise HttpError(409, "own_token", "a token cannot revoke itself; use another, or thinkback token revoke")
    await site.workers.run(lambda: site.tokens.revoke(call.asked.name), clients=call.clients)
    return await tokens(site, call)


def _token(grant: Grant) -> TokenShape:
    return {
        "name": grant.name,
        "scopes": [scope for scope in SCOPES if scope in grant.scopes],
        "spaces": sorted(grant.spaces),
    }
