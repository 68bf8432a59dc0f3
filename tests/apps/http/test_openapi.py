"""Requests drawn from the OpenAPI document, sensible and not: whatever comes, the server does not fail."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from thinkback.apps.http.openapi import document, documented
from thinkback.apps.http.routes import ROUTES

from schema_values import ANYTHING, values  # isort: skip

REQUESTS = 5000
DOCUMENT = document(ROUTES)
OPERATIONS = [(path, method) for path, methods in DOCUMENT["paths"].items() for method in methods]
CREATING = [(path, method) for path, method in OPERATIONS if "201" in DOCUMENT["paths"][path][method]["responses"]]


def resolved(schema: Any) -> Any:
    """A schema with the references to the document's definitions put in place."""
    if isinstance(schema, dict):
        if "$ref" in schema:
            return resolved(DOCUMENT["components"]["schemas"][schema["$ref"].rsplit("/", 1)[-1]])
        return {key: resolved(value) for key, value in schema.items()}
    return [resolved(item) for item in schema] if isinstance(schema, list) else schema


def drawn_from(schema: Any) -> st.SearchStrategy[Any]:
    return values(resolved(schema))


def parameters(operation: dict[str, Any], place: str) -> list[tuple[str, st.SearchStrategy[Any], bool]]:
    found = [parameter for parameter in operation["parameters"] if parameter["in"] == place]
    return [
        (
            p["name"],
            drawn_from(p["schema"] if "schema" in p else p["content"]["application/json"]["schema"]),
            p["required"],
        )
        for p in found
    ]


def in_url(value: Any) -> Any:
    if isinstance(value, list):
        return [in_url(item) for item in value]
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    return json.dumps(value)


@st.composite
def requests(draw: st.DrawFn, known: tuple[str, ...]) -> dict[str, Any]:
    """A request to any operation: mostly as documented, sometimes with a field that makes no sense."""
    path, method = draw(st.sampled_from(CREATING if draw(st.integers(0, 4)) == 0 else OPERATIONS))
    operation = DOCUMENT["paths"][path][method]
    ids = st.text(min_size=1, max_size=20) if draw(st.integers(0, 3)) == 0 else st.sampled_from(known)
    for name, strategy, _ in parameters(operation, "path"):
        from urllib.parse import quote

        value = draw(ids if name == "id" else strategy)
        path = path.replace(f"{{{name}}}", quote(in_url(value), safe="") or "-")
    query = {
        name: in_url(draw(strategy))
        for name, strategy, required in parameters(operation, "query")
        if name != "space" and (required or draw(st.integers(0, 3)) == 0)
    }
    query = {name: value for name, value in query.items() if value != "null"}
    request: dict[str, Any] = {"method": method.upper(), "url": path, "params": query}
    content = operation.get("requestBody", {}).get("content", {})
    if "application/json" in content:
        body = draw(drawn_from(content["application/json"]["schema"]))
        for name in ("id", "from_id", "to_id"):
            if name in body and draw(st.booleans()):
                body[name] = draw(st.sampled_from(known))
        if body and draw(st.integers(0, 4)) == 0:
            body[draw(st.sampled_from(sorted(body)))] = draw(ANYTHING)
        request |= {"content": json.dumps(body), "headers": {"content-type": "application/json"}}
    elif content:
        lines = draw(st.lists(ANYTHING.map(json.dumps) | st.text() | st.just('{"text": "imported"}'), max_size=4))
        body = "\n".join(lines).encode("utf-8", "replace")
        request |= {"content": body, "headers": {"content-type": "application/x-ndjson"}}
    return request


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TestClient, tuple[str, ...]]]:
    """One server for all requests, with memories for them to find."""
    from thinkback.apps.http.app import Limits, Served, build
    from thinkback.apps.http.tokens import Tokens
    from thinkback.opening import Opener
    from thinkback.settings import Settings
    from thinkback.testing import FixedClock, ToyEmbedder

    folder: Path = tmp_path_factory.mktemp("fuzz")
    tokens, clock = Tokens(folder / "tokens.toml"), FixedClock("2026-05-08")
    header = {"Authorization": f"Bearer {tokens.make_first()}"}
    opener = Opener(Settings(embedder="none", reranker="none"), embedder=ToyEmbedder(dimensions=16), clock=clock)
    limits = Limits(per_second=0, search_seconds=60)
    served = Served(folder=folder / "spaces", opener=opener, tokens=tokens, limits=limits, clock=clock)
    with TestClient(build(served).app, base_url="http://127.0.0.1:7077", headers=header) as client:
        texts = [{"text": f"Oscar the grey cat, day {n}", "thread": "t", "tags": ["pets"]} for n in range(20)]
        stored = client.post("/v1/memories/batch", json={"memories": texts}).json()["memories"]
        yield client, tuple(memory["id"] for memory in stored)


@pytest.mark.slow
def test_no_request_makes_the_server_fail(running: tuple[TestClient, tuple[str, ...]]) -> None:
    client, known = running
    statuses: dict[int, int] = {}

    # Examples are requests, so none may be thrown away for being slow or large.
    @settings(
        max_examples=REQUESTS,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(requests(known))
    def send(request: dict[str, Any]) -> None:
        answer = client.request(**request)
        statuses[answer.status_code] = statuses.get(answer.status_code, 0) + 1
        assert answer.status_code < 500, (request, answer.text)
        if answer.status_code >= 400:
            assert set(answer.json()["error"]) == {"code", "message"}

    send()
    assert sum(statuses.values()) >= REQUESTS
    assert statuses[200] > REQUESTS / 10  # the requests made sense often enough to reach the engine
    assert statuses[201] > REQUESTS / 50


def test_the_document_is_sound() -> None:
    """Every reference leads somewhere, every schema is a schema, every parameter in a path is described."""
    whole = DOCUMENT
    assert whole["openapi"] == "3.1.0"
    for name, schema in whole["components"]["schemas"].items():
        jsonschema.Draft202012Validator.check_schema(schema)
        assert resolved(schema), name
    for path, method in OPERATIONS:
        operation = whole["paths"][path][method]
        described = {p["name"] for p in operation["parameters"] if p["in"] == "path"}
        assert described == {part[1:-1] for part in path.split("/") if part.startswith("{")}
        assert operation["summary"].endswith(".")
        for reference in (r["$ref"] for r in operation["responses"].values() if "$ref" in r):
            assert reference.rsplit("/", 1)[-1] in whole["components"]["responses"]


def test_every_route_has_one_name() -> None:
    names = [route.name for route in ROUTES]
    assert len(names) == len(set(names))
    assert len({(route.method, route.path) for route in ROUTES}) == len(ROUTES)


def test_answers_have_the_documented_shapes(running: tuple[TestClient, tuple[str, ...]]) -> None:
    client, _ = running
    batch = {"memories": [{"text": f"Oscar the grey cat {n}", "thread": "shapes"} for n in range(3)]}
    known = [memory["id"] for memory in client.post("/v1/memories/batch", json=batch).json()["memories"]]
    client.post(
        "/v1/memories", json={"text": "something for tidy to do and undo to take back", "expires_at": "2026-05-01"}
    )
    client.post("/v1/judgements", json={"query": "grey cat", "id": known[0]})
    asked = {
        "recall": {"query": "grey cat", "trace": True},
        "why_not": {"query": "grey cat", "id": known[0]},
        "search_keywords": {"query": "cat"},
        "remember": {"text": "shape"},
        "remember_many": {"memories": [{"text": "shapes"}]},
        "update": {"essence": "short"},
        "link": {"from_id": known[0], "to_id": known[1]},
        "judge": {"query": "cat", "id": known[0]},
        "forget": {"ids": ["absent"]},
        "forget_verified": {"ids": ["absent"]},
        "archive": {"ids": [known[0]]},
        "restore": {"ids": [known[0]]},
        "contest": {"new_id": known[0], "old_id": known[1]},
        "search_reflections": {"query": "cat", "trace": True},
        "tidy": {"dry_run": False},
        "make_token": {"name": "shape", "scopes": ["read"], "spaces": ["default"]},
    }
    queries = {
        "journal_entries": {"batch": "none"},
        "thread": {"thread": "t"},
        "unlink": {"from_id": known[0], "to_id": known[1]},
    }
    checked = 0
    for route in documented(ROUTES):
        if route.gives is None or route.name in ("import", "forget_memory", "drop_space", "revoke_token"):
            continue
        path = route.path.replace("{id}", known[2])
        body = asked.get(route.name, {}) if route.has_json_body else None
        answer = client.request(route.method, path, params=queries.get(route.name), json=body)
        assert answer.status_code == route.status, (route.name, answer.text)
        schema = DOCUMENT["paths"][route.path][route.method.lower()]["responses"][str(route.status)]
        jsonschema.validate(answer.json(), resolved(schema["content"]["application/json"]["schema"]))
        checked += 1
    assert checked >= 35
