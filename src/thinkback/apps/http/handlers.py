"""The verbs: each takes a memory and what was asked, and answers in the shapes of the wire. They decide nothing."""

from typing import Any

import numpy as np

from thinkback.apps import wire, wire_upkeep
from thinkback.apps.http import requests, responses
from thinkback.apps.http.errors import said
from thinkback.memory import Memory
from thinkback.model import REFLECTION, Edge, Record
from thinkback.reflections import members
from thinkback.search.recipes.named import RECIPES, named
from thinkback.search.trace import Recall


def recall(memory: Memory, question: requests.Recall) -> wire.TracedRecallShape:
    return wire.traced_recall(_searched(memory, question), with_trace=question.trace)


def why_not(memory: Memory, question: requests.WhyNot) -> wire.WhyNotShape:
    return wire.why_not(_searched(memory, question).why_not(question.id))


def search_keywords(memory: Memory, question: requests.Keywords) -> wire.TracedRecallShape:
    found = memory.search_keywords(question.query, limit=question.limit, **question.given("query", "limit", "trace"))
    return wire.traced_recall(found, with_trace=question.trace)


def list_memories(memory: Memory, question: requests.List) -> responses.PageShape:
    records = memory.list(**{"limit": question.limit, **question.given()})
    return {"memories": [wire.memory(record) for record in records], "next": _next(records, question.limit)}


def count(memory: Memory, question: requests.Where) -> responses.CountShape:
    return {"count": memory.count(**question.given())}


def get_memory(memory: Memory, question: requests.One) -> wire.MemoryShape:
    return wire.memory(memory.get(question.id, question.known_at))


def history(memory: Memory, question: requests.History) -> responses.HistoryShape:
    return {"versions": [wire.memory(record) for record in memory.history(question.id)]}


def neighbours(memory: Memory, question: requests.Neighbours) -> responses.EdgesShape:
    return {"edges": [wire.edge(edge) for edge in memory.neighbours(question.id, question.limit)]}


def graph(memory: Memory, question: requests.Graph) -> responses.GraphShape:
    """Breadth first from one memory, every memory's strongest links, to a depth."""
    reached = {question.id: memory.get(question.id)}
    edges: dict[tuple[str, str, str], Edge] = {}
    ring, truncated = [question.id], False
    for _ in range(question.depth):
        around = memory.links(ring, question.limit_each)
        found = [edge for id in ring for edge in around.get(id, ())]
        edges.update({(edge.from_id, edge.to_id, edge.kind): edge for edge in found})
        new = list(dict.fromkeys(end for edge in found for end in (edge.from_id, edge.to_id) if end not in reached))
        room = question.limit - len(reached)
        truncated = truncated or len(new) > room
        records = memory.get_many(new[:room])
        ring = [id for id in new[:room] if id in records]
        reached.update({id: records[id] for id in ring})
    shown = [edge for edge in edges.values() if edge.from_id in reached and edge.to_id in reached]
    return {
        "center": question.id,
        "nodes": [wire.memory(record) for record in reached.values()],
        "edges": [wire.edge(edge) for edge in shown],
        "truncated": truncated,
    }


def thread(memory: Memory, question: requests.Thread) -> responses.TimelineShape:
    records = memory.list(limit=question.limit, threads=[question.thread], everything=question.everything)
    ordered = sorted(
        records, key=lambda record: (record.position is None, record.position or 0, record.created_at, record.id)
    )
    return {"thread": question.thread, "memories": [wire.memory(record) for record in ordered]}


def tags(memory: Memory, question: requests.Nothing) -> responses.TagsShape:
    counted = sorted(memory.tags().items(), key=lambda item: (-item[1], item[0]))
    return {"tags": [{"tag": tag, "count": number} for tag, number in counted]}


def reflections(memory: Memory, question: requests.Reflections) -> responses.ReflectionsShape:
    records = memory.list(limit=question.limit, after=question.after, kinds=[REFLECTION])
    return {
        "reflections": [{"memory": wire.memory(record), "members": list(members(record))} for record in records],
        "next": _next(records, question.limit),
    }


def recipes(memory: Memory, question: requests.Nothing) -> responses.RecipesShape:
    return {"usual": memory.recipe.name, "recipes": [wire.recipe(recipe) for recipe in RECIPES.values()]}


def remember(memory: Memory, question: requests.Fields) -> wire.MemoryShape:
    return wire.memory(memory.remember_many([_fields(question)])[0])


def remember_many(memory: Memory, question: requests.Batch) -> responses.MemoriesShape:
    return {"memories": [wire.memory(record) for record in memory.remember_many(map(_fields, question.memories))]}


def update(memory: Memory, question: requests.Changes) -> wire.MemoryShape:
    return wire.memory(memory.update(question.id, **question.given("id")))


def forget_memory(memory: Memory, question: requests.History) -> wire_upkeep.ForgottenShape:
    memory.get(question.id)
    return _forgotten(memory, [question.id])


def forget(memory: Memory, question: requests.Ids) -> wire_upkeep.ForgottenShape:
    return _forgotten(memory, question.ids)


def link(memory: Memory, question: requests.Link) -> wire.EdgeShape:
    return wire.edge(memory.link(**question.given()))


def unlink(memory: Memory, question: requests.Unlink) -> responses.RemovedShape:
    return {"removed": memory.unlink(question.from_id, question.to_id, question.kind)}


def judge(memory: Memory, question: requests.Judgement) -> wire.JudgementShape:
    return wire.judgement(memory.judge(question.query, question.id, question.grade))


def judgements(memory: Memory, question: requests.Nothing) -> responses.JudgementsShape:
    return {"judgements": [wire.judgement(judged) for judged in memory.judgements()]}


def embed_missing(memory: Memory, question: requests.Nothing) -> responses.EmbeddedShape:
    return {"embedded": memory.embed_missing()}


def reembed(memory: Memory, question: requests.Nothing) -> responses.EmbeddedShape:
    return {"embedded": memory.reembed()}


def search_reflections(memory: Memory, question: requests.Themes) -> wire.TracedRecallShape:
    found = memory.search_reflections_only(question.query, limit=question.limit, recency=question.recency)
    return wire.traced_recall(found, with_trace=question.trace)


def reflect(memory: Memory, question: requests.Reflect) -> wire_upkeep.ReflectedShape:
    done = wire_upkeep.reflected(memory.reflect(question.dry_run))
    return {**done, "warnings": [said(warning) for warning in done["warnings"]]}


def tidy(memory: Memory, question: requests.Tidy) -> wire_upkeep.TidiedShape:
    return wire_upkeep.tidied(memory.tidy(question.dry_run))


def undo(memory: Memory, question: requests.Undo) -> wire_upkeep.UndoneShape:
    return wire_upkeep.undone(memory.undo(question.batch))


def archive(memory: Memory, question: requests.Ids) -> responses.IdsShape:
    return {"ids": list(memory.archive(*question.ids))}


def restore(memory: Memory, question: requests.Ids) -> responses.IdsShape:
    return {"ids": list(memory.restore(*question.ids))}


def contest(memory: Memory, question: requests.Contest) -> wire.EdgeShape:
    return wire.edge(memory.contest(question.new_id, question.old_id, question.close))


def forget_verified(memory: Memory, question: requests.Ids) -> wire_upkeep.ReceiptShape:
    return wire_upkeep.receipt(memory.forget_verified(*question.ids))


def redact(memory: Memory, question: requests.Redact) -> wire_upkeep.RedactedShape:
    return wire_upkeep.redacted(memory.redact(*question.ids))


def audit(memory: Memory, question: requests.Nothing) -> wire_upkeep.AuditShape:
    return wire_upkeep.audited(memory.audit())


def check(memory: Memory, question: requests.Nothing) -> responses.ProblemsShape:
    return {"problems": [wire.problem(problem) for problem in memory.check()]}


def repair(memory: Memory, question: requests.Nothing) -> responses.ProblemsShape:
    return {"problems": [wire.problem(problem) for problem in memory.repair()]}


def _searched(memory: Memory, question: requests.Recall) -> Recall:
    given = question.given("query", "trace", "id")
    if question.recipe is not None:
        given["recipe"] = named(question.recipe)  # by name only: a path would let callers read files
    if question.vector is not None:
        given["vector"] = np.asarray(question.vector, dtype=np.float64)
    return memory.recall(question.query, **given)


def _forgotten(memory: Memory, ids: list[str]) -> wire_upkeep.ForgottenShape:
    done = wire_upkeep.forgotten(memory.forget(*ids))
    return {**done, "warnings": [said(warning) for warning in done["warnings"]]}


def _fields(question: requests.Fields) -> dict[str, Any]:
    given = question.given()
    if question.vector is not None:
        given["vector"] = np.asarray(question.vector, dtype=np.float64)
    return given


def _next(records: list[Record], limit: int) -> str | None:
    return records[-1].id if len(records) == limit else None
