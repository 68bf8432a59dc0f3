"""The table of routes: what is served, to whom, and in which shapes. The OpenAPI document is this table, written out."""

from collections.abc import Callable
from typing import Any

from thinkback.apps import wire, wire_upkeep
from thinkback.apps.http import handlers, requests, responses
from thinkback.apps.http.route import Route
from thinkback.apps.http.tokens import Scope
from thinkback.memory import Memory


def _verb(
    method: str,
    path: str,
    run: Callable[[Memory, Any], Any],
    scope: Scope,
    asks: type[requests.Asked],
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
    _verb("POST", "/v1/recall", handlers.recall, "read", requests.Recall, wire.TracedRecallShape, searches=True,
          about="Search; every hit says what each leg and signal added to its score."),
    _verb("POST", "/v1/why-not", handlers.why_not, "read", requests.WhyNot, wire.WhyNotShape, searches=True,
          about="Why a memory is not among the hits of a search."),
    _verb("POST", "/v1/keywords", handlers.search_keywords, "read", requests.Keywords, wire.TracedRecallShape, searches=True,
          about='Search by words alone: "phrases", AND, OR, NOT, prefix*.'),
    _verb("GET", "/v1/memories", handlers.list_memories, "read", requests.List, responses.PageShape,
          about="List memories, newest first."),
    _verb("GET", "/v1/count", handlers.count, "read", requests.Where, responses.CountShape,
          about="Count the memories that pass a filter."),
    _verb("GET", "/v1/memories/{id}", handlers.get_memory, "read", requests.One, wire.MemoryShape,
          about="One memory as it stands, or as the store knew it."),
    _verb("GET", "/v1/memories/{id}/history", handlers.history, "read", requests.History, responses.HistoryShape,
          about="Every version of a memory, oldest first."),
    _verb("GET", "/v1/memories/{id}/neighbours", handlers.neighbours, "read", requests.Neighbours, responses.EdgesShape,
          about="A memory's strongest links, its neighbours in the thread among them."),
    _verb("GET", "/v1/memories/{id}/graph", handlers.graph, "read", requests.Graph, responses.GraphShape,
          about="The memories around one, to a depth, and the links among them."),
    _verb("GET", "/v1/thread", handlers.thread, "read", requests.Thread, responses.TimelineShape,
          about="The memories of a thread in order."),
    _verb("GET", "/v1/tags", handlers.tags, "read", requests.Nothing, responses.TagsShape,
          about="Every tag with its count, most used first."),
    _verb("GET", "/v1/reflections", handlers.reflections, "read", requests.Reflections, responses.ReflectionsShape,
          about="List reflections with the memories they were made from, newest first."),
    _verb("POST", "/v1/reflections/search", handlers.search_reflections, "read", requests.Themes, wire.TracedRecallShape,
          searches=True,
          about="Search reflections alone, by meaning."),
    _verb("GET", "/v1/judgements", handlers.judgements, "read", requests.Nothing, responses.JudgementsShape,
          about="Every judgement."),
    _verb("GET", "/v1/recipes", handlers.recipes, "read", requests.Nothing, responses.RecipesShape,
          about="The recipes a search may name, with their formulas."),
    Route(name="stats", method="GET", path="/v1/stats", scope="read", gives=responses.StatsShape,
          about="Counts and sizes of a space."),
    Route(name="export", method="GET", path="/v1/export", scope="read", content="application/x-ndjson",
          about="Everything in a space, as JSON, one object a line."),
    # -- writing
    _verb("POST", "/v1/memories", handlers.remember, "write", requests.Fields, wire.MemoryShape, status=201, creates=True,
          about="Remember one thing."),
    _verb("POST", "/v1/memories/batch", handlers.remember_many, "write", requests.Batch, responses.MemoriesShape, status=201,
          creates=True,
          about="Remember many things, all or none."),
    _verb("PATCH", "/v1/memories/{id}", handlers.update, "write", requests.Changes, wire.MemoryShape,
          about="Change a memory; the older version stays for known_at."),
    _verb("POST", "/v1/links", handlers.link, "write", requests.Link, wire.EdgeShape, status=201,
          about="Link two memories; linking again replaces the weight."),
    _verb("POST", "/v1/judgements", handlers.judge, "write", requests.Judgement, wire.JudgementShape, status=201,
          about="Say that a memory was, or was not, an answer to a query."),
    Route(name="import", method="POST", path="/v1/import", scope="write", asks=requests.Import,
          gives=responses.ImportedShape, takes="application/x-ndjson", creates=True,
          about="Import what an export wrote; up to 100 MB, streamed."),
    _verb("POST", "/v1/reflect", handlers.reflect, "write", requests.Reflect, wire_upkeep.ReflectedShape,
          about="Consolidate: promote what has proved itself, link what is alike, write a reflection on every theme."),
    _verb("POST", "/v1/tidy", handlers.tidy, "write", requests.Tidy, wire_upkeep.TidiedShape,
          about="Archive what expired, let confidence decay, move tiers; a dry run unless told otherwise."),
    _verb("POST", "/v1/undo", handlers.undo, "write", requests.Undo, wire_upkeep.UndoneShape,
          about="Take back what reflecting or tidying did."),
    _verb("POST", "/v1/archive", handlers.archive, "write", requests.Ids, responses.IdsShape,
          about="Hide memories from every search but those for everything."),
    _verb("POST", "/v1/restore", handlers.restore, "write", requests.Ids, responses.IdsShape,
          about="Bring archived and expired memories back."),
    _verb("POST", "/v1/contest", handlers.contest, "write", requests.Contest, wire.EdgeShape, status=201,
          about="Mark that a newer memory contradicts an older one."),
    # -- deleting
    _verb("DELETE", "/v1/memories/{id}", handlers.forget_memory, "delete", requests.History, wire_upkeep.ForgottenShape,
          about="Forget a memory for good, with everything derived from it."),
    _verb("POST", "/v1/forget", handlers.forget, "delete", requests.Ids, wire_upkeep.ForgottenShape,
          about="Forget several memories for good; answers with the ids that existed."),
    _verb("DELETE", "/v1/links", handlers.unlink, "delete", requests.Unlink, responses.RemovedShape,
          about="Remove the links from one memory to another."),
    _verb("POST", "/v1/forget-verified", handlers.forget_verified, "delete", requests.Ids, wire_upkeep.ReceiptShape,
          about="Forget, then prove it: every leg, index and file is searched for what was forgotten."),
    _verb("POST", "/v1/redact", handlers.redact, "delete", requests.Redact, wire_upkeep.RedactedShape,
          about="Take likely secrets out of memories, in every version and index."),
    # -- upkeep
    _verb("POST", "/v1/audit", handlers.audit, "admin", requests.Nothing, wire_upkeep.AuditShape,
          about="Look for duplicates, stale facts, memories never recalled, likely secrets and orphans."),
    _verb("POST", "/v1/embed-missing", handlers.embed_missing, "admin", requests.Nothing, responses.EmbeddedShape,
          about="Embed memories that were stored without a vector."),
    _verb("POST", "/v1/reembed", handlers.reembed, "admin", requests.Nothing, responses.EmbeddedShape,
          about="Embed everything anew with the embedder in use, then switch to it."),
    _verb("POST", "/v1/check", handlers.check, "admin", requests.Nothing, responses.ProblemsShape,
          about="Compare every index with the text."),
    _verb("POST", "/v1/repair", handlers.repair, "admin", requests.Nothing, responses.ProblemsShape,
          about="Rebuild what can be rebuilt; answers with what is left."),
    # -- the server itself
    Route(name="who", method="GET", path="/v1/token", scope=None, gives=responses.WhoShape,
          about="What the bearer of this token may do."),
    Route(name="spaces", method="GET", path="/v1/spaces", scope="read", gives=responses.SpacesShape,
          about="The spaces this token reaches."),
    Route(name="drop_space", method="DELETE", path="/v1/spaces/{name}", scope="admin", asks=requests.Space,
          gives=responses.SpacesShape,
          about="Forget a whole space: its file is removed."),
    Route(name="openapi", method="GET", path="/openapi.json", scope=None, about="This document."),
    Route(name="live", method="GET", path="/health/live", scope=None, gives=responses.HealthShape, public=True,
          about="Whether the process answers; the one route that needs no token."),
    Route(name="ready", method="GET", path="/health/ready", scope=None, gives=responses.HealthShape,
          about="Whether the usual space can be searched."),
    Route(name="metrics", method="GET", path="/metrics", scope="admin", content="text/plain", everywhere=True,
          about="Numbers for Prometheus."),
    # -- the page
    Route(name="page", method="GET", path="/", scope=None, content="text/html", documented=False,
          about="The inspector."),
    Route(name="static", method="GET", path="/static/{file}", scope=None, asks=requests.File, content="*/*",
          documented=False,
          about="What the inspector is made of."),
    Route(name="login_code", method="POST", path="/v1/login-code", scope=None, gives=responses.LoginCodeShape,
          about="A code that opens the inspector in a browser once, as /?login=CODE."),
    Route(name="logout", method="POST", path="/logout", scope=None, gives=responses.HealthShape, documented=False,
          about="End a browser session."),
)
# fmt: on
