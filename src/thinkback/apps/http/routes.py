"""The table of routes and the scope each requires. The OpenAPI document is generated from it."""

import inspect
from typing import Any, get_type_hints

from starlette.responses import Response

from thinkback.apps.http import endpoints, handlers, requests, workbench
from thinkback.apps.http.route import Route
from thinkback.apps.http.tokens import Scope

_LINES = "application/x-ndjson"


def _run(scope: Scope, method: str, path: str, handler: Any, **more: Any) -> Route:
    """A route that works on a memory; its parameters and its response are the handler's annotations."""
    hints = get_type_hints(handler)
    described = {
        "name": handler.__name__,
        "about": inspect.getdoc(handler),
        "takes": hints["asked"],
        "gives": hints["return"],
    }
    return Route(scope=scope, method=method, path=path, run=handler, **described, **more)


def _serve(scope: Scope | None, method: str, path: str, endpoint: Any, **more: Any) -> Route:
    """A route that the server answers itself; one that returns a Response documents no shape."""
    gives = get_type_hints(endpoint)["return"]
    described = {"name": endpoint.__name__.rstrip("_"), "about": inspect.getdoc(endpoint)}
    shape = None if gives is Response else gives
    return Route(scope=scope, method=method, path=path, serve=endpoint, gives=shape, **described, **more)


ROUTES: tuple[Route, ...] = (
    _run("read", "POST", "/v1/recall", handlers.recall, searches=True),
    _run("read", "POST", "/v1/why-not", handlers.why_not, searches=True),
    _run("read", "POST", "/v1/keywords", handlers.search_keywords, searches=True),
    _run("read", "GET", "/v1/memories", handlers.list_memories),
    _run("read", "GET", "/v1/count", handlers.count),
    _run("read", "GET", "/v1/memories/{id}", handlers.get_memory),
    _run("read", "GET", "/v1/memories/{id}/history", handlers.history),
    _run("read", "GET", "/v1/memories/{id}/neighbours", handlers.neighbours),
    _run("read", "GET", "/v1/memories/{id}/graph", handlers.graph),
    _run("read", "GET", "/v1/thread", handlers.thread),
    _run("read", "GET", "/v1/tags", handlers.tags),
    _run("read", "GET", "/v1/reflections", handlers.reflections),
    _run("read", "POST", "/v1/reflections/search", handlers.search_reflections, searches=True),
    _run("read", "GET", "/v1/judgements", handlers.judgements),
    _run("read", "GET", "/v1/recipes", handlers.recipes),
    _run("read", "POST", "/v1/recipes/toml", workbench.recipe_toml),
    _run("read", "POST", "/v1/bench", workbench.bench),
    _run("read", "GET", "/v1/journal", workbench.journal),
    _run("read", "GET", "/v1/journal/entries", workbench.journal_entries),
    _serve("read", "GET", "/v1/stats", endpoints.stats),
    _serve("read", "GET", "/v1/export", endpoints.export, content=_LINES),
    _run("write", "POST", "/v1/memories", handlers.remember, status=201, creates=True),
    _run("write", "POST", "/v1/memories/batch", handlers.remember_many, status=201, creates=True),
    _run("write", "PATCH", "/v1/memories/{id}", handlers.update),
    _run("write", "POST", "/v1/links", handlers.link, status=201),
    _run("write", "POST", "/v1/judgements", handlers.judge, status=201),
    _serve("write", "POST", "/v1/import", endpoints.import_, takes=requests.Import, body=_LINES, creates=True),
    _run("write", "POST", "/v1/reflect", handlers.reflect),
    _run("write", "POST", "/v1/tidy", handlers.tidy),
    _run("write", "POST", "/v1/undo", handlers.undo),
    _run("write", "POST", "/v1/archive", handlers.archive),
    _run("write", "POST", "/v1/restore", handlers.restore),
    _run("write", "POST", "/v1/contest", handlers.contest, status=201),
    _run("delete", "DELETE", "/v1/memories/{id}", handlers.forget_memory),
    _run("delete", "POST", "/v1/forget", handlers.forget),
    _run("delete", "DELETE", "/v1/links", handlers.unlink),
    _run("delete", "POST", "/v1/forget-verified", handlers.forget_verified),
    _run("delete", "POST", "/v1/redact", handlers.redact),
    _run("admin", "POST", "/v1/audit", handlers.audit),
    _run("admin", "POST", "/v1/embed-missing", handlers.embed_missing),
    _run("admin", "POST", "/v1/reembed", handlers.reembed),
    _run("admin", "POST", "/v1/check", handlers.check),
    _run("admin", "POST", "/v1/repair", handlers.repair),
    _serve(None, "GET", "/v1/token", endpoints.who),
    _serve("read", "GET", "/v1/spaces", endpoints.spaces),
    _serve("admin", "DELETE", "/v1/spaces/{name}", endpoints.drop_space, takes=requests.Space),
    _serve("admin", "GET", "/v1/tokens", workbench.tokens, all_spaces=True),
    _serve("admin", "POST", "/v1/tokens", workbench.make_token, takes=requests.NewToken, status=201, all_spaces=True),
    _serve("admin", "DELETE", "/v1/tokens/{name}", workbench.revoke_token, takes=requests.TokenName, all_spaces=True),
    _serve(None, "GET", "/openapi.json", endpoints.openapi),
    _serve(None, "GET", "/health/live", endpoints.live, public=True),
    _serve(None, "GET", "/health/ready", endpoints.ready),
    _serve("admin", "GET", "/metrics", endpoints.metrics, content="text/plain", all_spaces=True),
    _serve(None, "GET", "/", endpoints.page, content="text/html", documented=False),
    _serve(None, "GET", "/static/{file}", endpoints.static, takes=requests.File, content="*/*", documented=False),
    _serve(None, "POST", "/v1/login-code", endpoints.login_code),
    _serve(None, "POST", "/logout", endpoints.logout, documented=False),
)
