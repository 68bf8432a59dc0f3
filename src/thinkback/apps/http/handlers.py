"""The routes that work on a memory: each takes the memory and the checked parameters, and returns a shape of the wire.

A handler's docstring is its summary in the OpenAPI document; its annotations are the request and the response there.
"""

from typing import Any

import numpy as np

from thinkback.apps import wire, wire_upkeep
from thinkback.apps.http import requests, responses
from thinkback.apps.http.errors import WORDS
from thinkback.apps.validation import check_overrides
from thinkback.errors import InvalidInput, gathered_warnings
from thinkback.memory import Memory
from thinkback.model import REFLECTION, Edge, Record
from thinkback.reflections import members
from thinkback.search.recipes.named import RECIPES, named
from thinkback.search.trace import Recall

# -- reading


def recall(memory: Memory, asked: requests.Recall) -> wire.TracedRecallShape:
    """Search; every hit has the contributions of each leg and signal to its score."""
    return _recall(_searched(memory, asked), asked.trace)


def why_not(memory: Memory, asked: requests.WhyNot) -> wire.WhyNotShape:
    """Explain why a memory is not among the hits of a search."""
    return wire.why_not(_searched(memory, asked).why_not(asked.id))


def search_keywords(memory: Memory, asked: requests.Keywords) -> wire.TracedRecallShape:
    """Search by keywords only: "phrases", AND, OR, NOT, prefix*."""
    return _recall(
        memory.search_keywords(asked.query, limit=asked.limit, **asked.given("query", "limit", "trace")), asked.trace
    )


def list_memories(memory: Memory, asked: requests.List) -> responses.PageShape:
    """List memories, newest first."""
    records = memory.list(**{"limit": asked.limit, **asked.given()})
    return {"memories": [wire.memory(record) for record in records], "next": _next(records, asked.limit)}


def count(memory: Memory, asked: requests.Where) -> responses.CountShape:
    """Count the memories that pass a filter."""
    return {"count": memory.count(**asked.given())}


def get_memory(memory: Memory, asked: requests.One) -> wire.MemoryShape:
    """One memory, as it is now or as the store knew it at `known_at`."""
    return wire.memory(memory.get(asked.id, asked.known_at))


def history(memory: Memory, asked: requests.Id) -> responses.HistoryShape:
    """Every version of a memory, oldest first."""
    return {"versions": [wire.memory(record) for record in memory.history(asked.id)]}


def neighbours(memory: Memory, asked: requests.Neighbours) -> responses.EdgesShape:
    """The strongest links of a memory, including its neighbours in the thread."""
    return {"edges": [wire.edge(edge) for edge in memory.neighbours(asked.id, asked.limit)]}


def graph(memory: Memory, asked: requests.Graph) -> responses.GraphShape:
    """The memories around one, to a depth, and the links between them."""
    reached = {asked.id: memory.get(asked.id)}
    edges: dict[tuple[str, str, str], Edge] = {}
    ring, truncated = [asked.id], False
    for _ in range(asked.depth):
        around = memory.links(ring, asked.limit_each)
        found = [edge for id in ring for edge in around.get(id, ())]
        edges.update({(edge.from_id, edge.to_id, edge.kind): edge for edge in found})
        new = list(dict.fromkeys(end for edge in found for end in (edge.from_id, edge.to_id) if end not in reached))
        room = asked.limit - len(reached)
        truncated = truncated or len(new) > room
        records = memory.get_many(new[:room])
        ring = [id for id in new[:room] if id in records]
        reached.update({id: records[id] for id in ring})
    shown = [edge for edge in edges.values() if edge.from_id in reached and edge.to_id in reached]
    return {
        "center": asked.id,
        "nodes": [wire.memory(record) for record in reached.values()],
        "edges": [wire.edge(edge) for edge in shown],
        "truncated": truncated,
    }


def thread(memory: Memory, asked: requests.Thread) -> responses.TimelineShape:
    """The memories of a thread in order."""
    records = memory.list(limit=asked.limit, threads=[asked.thread], everything=asked.everything)
    ordered = sorted(records, key=lambda one: (one.position is None, one.position or 0, one.created_at, one.id))
    return {"thread": asked.thread, "memories": [wire.memory(record) for record in ordered]}


def tags(memory: Memory, asked: requests.Nothing) -> responses.TagsShape:
    """Every tag with its count, most used first."""
    counted = sorted(memory.tags().items(), key=lambda item: (-item[1], item[0]))
    return {"tags": [{"tag": tag, "count": number} for tag, number in counted]}


def reflections(memory: Memory, asked: requests.Page) -> responses.ReflectionsShape:
    """List reflections with the memories they were made from, newest first."""
    records = memory.list(limit=asked.limit, after=asked.after, kinds=[REFLECTION])
    return {
        "reflections": [{"memory": wire.memory(record), "members": list(members(record))} for record in records],
        "next": _next(records, asked.limit),
        "total": memory.count(kinds=[REFLECTION]),
    }


def search_reflections(memory: Memory, asked: requests.Themes) -> wire.TracedRecallShape:
    """Search reflections only, by meaning."""
    given = _with_vector(asked.given("query", "trace"))
    return _recall(memory.search_reflections_only(asked.query, **given), asked.trace)


def judgements(memory: Memory, asked: requests.Nothing) -> responses.JudgementsShape:
    """Every judgement."""
    return {"judgements": [wire.judgement(judged) for judged in memory.judgements()]}


def recipes(memory: Memory, asked: requests.Nothing) -> responses.RecipesShape:
    """The named recipes with their formulas."""
    return {"usual": memory.recipe.name, "recipes": [wire.recipe(recipe) for recipe in RECIPES.values()]}


# -- writing


def remember(memory: Memory, asked: requests.Fields) -> wire.WrittenShape:
    """Store one memory."""
    with gathered_warnings() as heard:
        (record,) = memory.remember_many([_fields(asked)])
    return wire.written(record, heard, WORDS)


def remember_many(memory: Memory, asked: requests.Batch) -> responses.WrittenManyShape:
    """Store many memories, all or none."""
    with gathered_warnings() as heard:
        records = memory.remember_many(map(_fields, asked.memories))
    return {"memories": [wire.memory(record) for record in records], "warnings": wire.warnings(heard, WORDS)}


def update(memory: Memory, asked: requests.Changes) -> wire.WrittenShape:
    """Change a memory; the previous version stays visible with `known_at`."""
    with gathered_warnings() as heard:
        record = memory.update(asked.id, **asked.given("id"))
    return wire.written(record, heard, WORDS)


def link(memory: Memory, asked: requests.Link) -> wire.EdgeShape:
    """Link two memories; linking again with the same kind replaces the weight."""
    return wire.edge(memory.link(**asked.given()))


def judge(memory: Memory, asked: requests.Judgement) -> wire.JudgementShape:
    """Record whether a memory was an answer to a query."""
    return wire.judgement(memory.judge(asked.query, asked.id, asked.grade))


def reflect(memory: Memory, asked: requests.Reflect) -> wire_upkeep.ReflectedShape:
    """Consolidate: promote proven memories, link similar ones, write a reflection on every theme."""
    return wire_upkeep.reflected(memory.reflect(asked.dry_run), WORDS)


def tidy(memory: Memory, asked: requests.Tidy) -> wire_upkeep.TidiedShape:
    """Archive expired memories, decay confidence, move tiers; a dry run by default."""
    return wire_upkeep.tidied(memory.tidy(asked.dry_run))


def undo(memory: Memory, asked: requests.Undo) -> wire_upkeep.UndoneShape:
    """Undo a batch of reflect or tidy."""
    return wire_upkeep.undone(memory.undo(asked.batch))


def archive(memory: Memory, asked: requests.Ids) -> responses.IdsShape:
    """Hide memories from every search without `everything`."""
    return {"ids": list(memory.archive(*asked.ids))}


def restore(memory: Memory, asked: requests.Ids) -> responses.IdsShape:
    """Bring archived and expired memories back."""
    return {"ids": list(memory.restore(*asked.ids))}


def contest(memory: Memory, asked: requests.Contest) -> wire.EdgeShape:
    """Record that a newer memory contradicts an older one."""
    return wire.edge(memory.contest(asked.new_id, asked.old_id, asked.close))


# -- deleting


def forget_memory(memory: Memory, asked: requests.Id) -> wire_upkeep.ForgottenShape:
    """Remove a memory for good, with everything derived from it."""
    memory.get(asked.id)
    return wire_upkeep.forgotten(memory.forget(asked.id), WORDS)


def forget(memory: Memory, asked: requests.Forget) -> wire_upkeep.ForgottenShape:
    """Remove several memories for good; returns the ids that existed."""
    if not asked.ids and asked.where is None:
        raise InvalidInput("name the ids of memories, or a condition with where", code="no_condition")
    return wire_upkeep.forgotten(memory.forget(*asked.ids, where=asked.where, dry_run=asked.dry_run), WORDS)


def unlink(memory: Memory, asked: requests.Unlink) -> responses.RemovedShape:
    """Remove the links from one memory to another."""
    return {"removed": memory.unlink(asked.from_id, asked.to_id, asked.kind)}


def forget_verified(memory: Memory, asked: requests.Ids) -> wire_upkeep.ReceiptShape:
    """Forget, then prove it: search every leg, index and file for the forgotten memories."""
    return wire_upkeep.receipt(memory.forget_verified(*asked.ids))


def redact(memory: Memory, asked: requests.Redact) -> wire_upkeep.RedactedShape:
    """Remove likely secrets from memories, in every version and index."""
    return wire_upkeep.redacted(memory.redact(*asked.ids), WORDS)


# -- maintenance


def audit(memory: Memory, asked: requests.Nothing) -> wire_upkeep.AuditShape:
    """Look for duplicates, stale facts, memories never recalled, likely secrets and orphans."""
    return wire_upkeep.audited(memory.audit())


def embed_missing(memory: Memory, asked: requests.Nothing) -> responses.EmbeddedShape:
    """Embed memories that were stored without a vector."""
    return {"embedded": memory.embed_missing()}


def reembed(memory: Memory, asked: requests.Nothing) -> responses.EmbeddedShape:
    """Embed everything again with the embedder in use, then switch to it."""
    return {"embedded": memory.reembed()}


def check(memory: Memory, asked: requests.Nothing) -> responses.ProblemsShape:
    """Compare every index with the text."""
    return {"problems": [wire.problem(problem) for problem in memory.check()]}


def repair(memory: Memory, asked: requests.Nothing) -> responses.ProblemsShape:
    """Repair what `check` found; returns the problems that remain."""
    return {"problems": [wire.problem(problem) for problem in memory.repair()]}


def _searched(memory: Memory, asked: requests.Recall) -> Recall:
    given = asked.given("query", "trace", "id")
    if asked.recipe is not None:
        given["recipe"] = named(asked.recipe)  # by name only: a path would let callers read files
    check_overrides(asked.overrides)
    return memory.recall(asked.query, **_with_vector(given))


def _recall(found: Recall, with_trace: bool) -> wire.TracedRecallShape:
    return wire.traced_recall(found, WORDS, with_trace=with_trace)


def _fields(asked: requests.Fields) -> dict[str, Any]:
    return _with_vector(asked.given())


def _with_vector(given: dict[str, Any]) -> dict[str, Any]:
    if given.get("vector") is not None:
        given["vector"] = np.asarray(given["vector"], dtype=np.float64)
    return given


def _next(records: list[Record], limit: int) -> str | None:
    return records[-1].id if len(records) == limit else None
