"""The table of routes: what is served, to whom, and in which shapes. The OpenAPI document is this table, written out."""

from collections.abc import Callable
from typing import Any

from recollect.apps import wire, wire_upkeep
from recollect.apps.http import asked, shapes, verbs
from recollect.apps.http.route import Route
from recollect.apps.http.tokens import Scope
from recollect.memory import Memory


def _verb(
    method: str,
    path: str,
    run: Callable[[Memory, Any], Any],
    scope: Scope,
    asks: type[asked.Asked],
    gives: Any,
    **more: Any,
) -> Route:
    about = more.pop("about")
    return Route(
        name=run.__name__,
        method=method,
        path=path,
        run=run,
        scope=scope,
        asks=asks,
        gives=gives,
        about=about,
        **more,
    )


# fmt: off
ROUTES: tuple[Route, ...] = (
    # -- reading
    _verb("POST", "/v1/recall", verbs.recall, "read", asked.Recall, wire.TracedRecallShape, searches=True,
          about="Search; every hit says what each leg and signal added to its score."),
    _verb("POST", "/v1/why-not", verbs.why_not, "read", asked.WhyNot, wire.WhyNotShape, searches=True,
          about="Why a memory is not among the hits of a search."),
    _verb("POST", "/v1/keywords", verbs.search_keywords, "read", asked.Keywords, wire.TracedRecallShape, searches=True,
          about='Search by words alone: "phrases", AND, OR, NOT, prefix*.'),
    _verb("GET", "/v1/memories", verbs.list_memories, "read", asked.List, shapes.PageShape,
          about="List memories, newest first."),
    _verb("GET", "/v1/count", verbs.count, "read", asked.Where, shapes.CountShape,
          about="Count the memories that pass a filter."),
    _verb("GET", "/v1/memories/{id}", verbs.get_memory, "read", asked.One, wire.MemoryShape,
          about="One memory as it stands, or as the store knew it."),
    _verb("GET", "/v1/memories/{id}/history", verbs.history, "read", asked.History, shapes.HistoryShape,
          about="Every version of a memory, oldest first."),
    _verb("GET", "/v1/memories/{id}/neighbours", verbs.neighbours, "read", asked.Neighbours, shapes.EdgesShape,
          about="A memory's strongest links, its neighbours in the thread among them."),
    _verb("GET", "/v1/memories/{id}/graph", verbs.graph, "read", asked.Graph, shapes.GraphShape,
          about="The memories around one, to a depth, and the links among them."),
    _verb("GET", "/v1/thread", verbs.thread, "read", asked.Thread, shapes.TimelineShape,
          about="The memories of a thread in order."),
    _verb("GET", "/v1/tags", verbs.tags, "read", asked.Nothing, shapes.TagsShape,
          about="Every tag with its count, most used first."),
    _verb("GET", "/v1/reflections", verbs.reflections, "read", asked.Reflections, shapes.ReflectionsShape,
          about="List reflections with the memories they were made from, newest first."),
    _verb("POST", "/v1/reflections/search", verbs.search_reflections, "read", asked.Themes, wire.TracedRecallShape,
          searches=True,
          about="Search reflections alone, by meaning."),
    _verb("GET", "/v1/judgements", verbs.judgements, "read", asked.Nothing, shapes.JudgementsShape,
          about="Every judgement."),
    _verb("GET", "/v1/recipes", verbs.recipes, "read", asked.Nothing, shapes.RecipesShape,
          about="The recipes a search may name, with their formulas."),
    Route(name="stats", method="GET", path="/v1/stats", scope="read", gives=shapes.StatsShape,
          about="Counts and sizes of a space."),
    Route(name="export", method="GET", path="/v1/export", scope="read", content="application/x-ndjson",
          about="Everything in a space, as JSON, one object a line."),
    # -- writing
    _verb("POST", "/v1/memories", verbs.remember, "write", asked.Fields, wire.MemoryShape, status=201, creates=True,
          about="Remember one thing."),
    _verb("POST", "/v1/memories/batch", verbs.remember_many, "write", asked.Batch, shapes.MemoriesShape, status=201,
          creates=True,
          about="Remember many things, all or none."),
    _verb("PATCH", "/v1/memories/{id}", verbs.update, "write", asked.Changes, wire.MemoryShape,
          about="Change a memory; the older version stays for known_at."),
    _verb("POST", "/v1/links", verbs.link, "write", asked.Link, wire.EdgeShape, status=201,
          about="Link two memories; linking again replaces the weight."),
    _verb("POST", "/v1/judgements", verbs.judge, "write", asked.Judgement, wire.JudgementShape, status=201,
          about="Say that a memory was, or was not, an answer to a query."),
    Route(name="import", method="POST", path="/v1/import", scope="write", asks=asked.Import,
          gives=shapes.ImportedShape, takes="application/x-ndjson", creates=True,
          about="Import what an export wrote; up to 100 MB, streamed."),
    _verb("POST", "/v1/reflect", verbs.reflect, "write", asked.Reflect, wire_upkeep.ReflectedShape,
          about="Consolidate: promote what has proved itself, link what is alike, write a reflection on every theme."),
    _verb("POST", "/v1/tidy", verbs.tidy, "write", asked.Tidy, wire_upkeep.TidiedShape,
          about="Archive what expired, let confidence decay, move tiers; a dry run unless told otherwise."),
    _verb("POST", "/v1/undo", verbs.undo, "write", asked.Undo, wire_upkeep.UndoneShape,
          about="Take back what reflecting or tidying did."),
    _verb("POST", "/v1/archive", verbs.archive, "write", asked.Ids, shapes.IdsShape,
          about="Hide memories from every search but those for everything."),
    _verb("POST", "/v1/restore", verbs.restore, "write", asked.Ids, shapes.IdsShape,
          about="Bring archived and expired memories back."),
    _verb("POST", "/v1/contest", verbs.contest, "write", asked.Contest, wire.EdgeShape, status=201,
          about="Mark that a newer memory contradicts an older one."),
    # -- deleting
    _verb("DELETE", "/v1/memories/{id}", verbs.forget_memory, "delete", asked.History, wire_upkeep.ForgottenShape,
          about="Forget a memory for good, with everything derived from it."),
    _verb("POST", "/v1/forget", verbs.forget, "delete", asked.Ids, wire_upkeep.ForgottenShape,
          about="Forget several memories for good; answers with the ids that existed."),
    _verb("DELETE", "/v1/links", verbs.unlink, "delete", asked.Unlink, shapes.RemovedShape,
          about="Remove the links from one memory to another."),
    _verb("POST", "/v1/forget-verified", verbs.forget_verified, "delete", asked.Ids, wire_upkeep.ReceiptShape,
          about="Forget, then prove it: every leg, index and file is searched for what was forgotten."),
    _verb("POST", "/v1/redact", verbs.redact, "delete", asked.Redact, wire_upkeep.RedactedShape,
          about="Take likely secrets out of memories, in every version and index."),
    # -- upkeep
    _verb("POST", "/v1/audit", verbs.audit, "admin", asked.Nothing, wire_upkeep.AuditShape,
          about="Look for duplicates, stale facts, memories never recalled, likely secrets and orphans."),
    _verb("POST", "/v1/embed-missing", verbs.embed_missing, "admin", asked.Nothing, shapes.EmbeddedShape,
          about="Embed memories that were stored without a vector."),
    _verb("POST", "/v1/reembed", verbs.reembed, "admin", asked.Nothing, shapes.EmbeddedShape,
          about="Embed everything anew with the embedder in use, then switch to it."),
    _verb("POST", "/v1/check", verbs.check, "admin", asked.Nothing, shapes.ProblemsShape,
          about="Compare every index with the text."),
    _verb("POST", "/v1/repair", verbs.repair, "admin", asked.Nothing, shapes.ProblemsShape,
          about="Rebuild what can be rebuilt; answers with what is left."),
    # -- the server itself
    Route(name="who", method="GET", path="/v1/token", scope=None, gives=shapes.WhoShape,
          about="What the bearer of this token may do."),
    Route(name="spaces", method="GET", path="/v1/spaces", scope="read", gives=shapes.SpacesShape,
          about="The spaces this token reaches."),
    Route(name="drop_space", method="DELETE", path="/v1/spaces/{name}", scope="admin", asks=asked.Space,
          gives=shapes.SpacesShape,
          about="Forget a whole space: its file is removed."),
    Route(name="openapi", method="GET", path="/openapi.json", scope=None, about="This document."),
    Route(name="live", method="GET", path="/health/live", scope=None, gives=shapes.HealthShape, public=True,
          about="Whether the process answers; the one route that needs no token."),
    Route(name="ready", method="GET", path="/health/ready", scope=None, gives=shapes.HealthShape,
          about="Whether the usual space can be searched."),
    Route(name="metrics", method="GET", path="/metrics", scope="admin", content="text/plain", everywhere=True,
          about="Numbers for Prometheus."),
    # -- the page
    Route(name="page", method="GET", path="/", scope=None, content="text/html", documented=False,
          about="The inspector."),
    Route(name="static", method="GET", path="/static/{file}", scope=None, asks=asked.File, content="*/*",
          documented=False,
          about="What the inspector is made of."),
    Route(name="login_code", method="POST", path="/v1/login-code", scope=None, gives=shapes.LoginCodeShape,
          about="A code that opens the inspector in a browser once, as /?login=CODE."),
    Route(name="logout", method="POST", path="/logout", scope=None, gives=shapes.HealthShape, documented=False,
          about="End a browser session."),
)
# fmt: on
