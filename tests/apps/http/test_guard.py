"""Who gets in: Host, Origin, token, scope, space, turn."""

import json
import logging
import stat
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from thinkback.apps.http.app import Limits
from thinkback.apps.http.body import IMPORT_LIMIT, JSON_LIMIT
from thinkback.apps.http.guard import AllowedHosts
from thinkback.apps.http.rates import RateLimiter
from thinkback.apps.http.route import Route
from thinkback.apps.http.routes import ROUTES
from thinkback.apps.http.tokens import SCOPES, Tokens
from thinkback.clock import HOUR, SECOND
from thinkback.errors import InvalidInput, NotFound

from codes import raises  # isort: skip
from serving import BASE, Seconds, Site, Starter  # isort: skip

EVERY = [(route.method, route.path) for route in ROUTES] + [
    *((method, "/mcp") for method in ("GET", "POST", "DELETE")),
    ("POST", "/login"),
    ("GET", "/nothing/here"),
    ("OPTIONS", "/v1/recall"),
    ("HEAD", "/v1/memories"),
    ("BREW", "/v1/memories"),
]
GUARDED = [(method, path) for method, path in EVERY if path != "/health/live"]
BAD_HOSTS = [
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost:evil",
    "",
    "127.0.0.1:99999",
    "[::2]:7077",
    "127.0.0.1@evil",
]
BAD_ORIGINS = [
    "http://evil.example",
    "null",
    "http://localhost:7077",
    "http://127.0.0.1:8080",
    "file://",
    f"{BASE}/",
    f"{BASE}.evil",
]


def filled(path: str) -> str:
    return path.replace("{id}", "some-id").replace("{name}", "default").replace("{file}", "page.js")


@pytest.mark.parametrize(("method", "path"), GUARDED)
def test_without_a_token_every_route_answers_401(client: TestClient, method: str, path: str) -> None:
    answer = client.request(method, filled(path), headers={"Authorization": ""})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "given", ["Bearer", "Bearer wrong", "Basic b3duZXI6", "bearer tbk_", "Bearer \xff", "Bearer a b"]
)
def test_what_is_no_token_answers_401(client: TestClient, given: str) -> None:
    answer = client.get("/v1/tags", headers={"Authorization": given.encode("latin-1")})  # type: ignore[dict-item]
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "token")


@pytest.mark.parametrize(("method", "path"), EVERY)
def test_a_foreign_host_answers_421_everywhere(client: TestClient, method: str, path: str) -> None:
    for host in BAD_HOSTS:
        answer = client.request(method, filled(path), headers={"Host": host})
        assert answer.status_code == 421, host


@pytest.mark.parametrize(("method", "path"), EVERY)
def test_a_foreign_origin_answers_403_everywhere(client: TestClient, method: str, path: str) -> None:
    for origin in BAD_ORIGINS:
        answer = client.request(method, filled(path), headers={"Origin": origin})
        assert answer.status_code == 403, origin


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:9000", "[::1]", "[::1]:7077", "LOCALHOST"])
def test_loopback_names_are_known_on_any_port(host: str) -> None:
    assert AllowedHosts.of().allow_host(host)


def test_a_named_host_and_origin_are_let_in(start: Starter) -> None:
    client = start(host_names=["memory.example"], origins=["https://app.example"]).client
    assert client.get("/v1/tags", headers={"Host": "memory.example"}).status_code == 200
    assert client.get("/v1/tags", headers={"Origin": "https://app.example"}).status_code == 200
    assert client.get("/v1/tags", headers={"Origin": BASE}).status_code == 200


@pytest.mark.parametrize(("method", "path"), EVERY)
def test_no_route_answers_with_cors_headers(client: TestClient, method: str, path: str) -> None:
    answer = client.request(method, filled(path), headers={"Origin": BASE})
    assert not [name for name in answer.headers if name.startswith("access-control-")]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


def scoped() -> list[tuple[str, Route]]:
    return [
        (missing, route) for route in ROUTES if route.scope is not None for missing in SCOPES if missing == route.scope
    ]


@pytest.mark.parametrize(("scope", "route"), scoped(), ids=lambda value: getattr(value, "name", value))
def test_a_token_without_the_scope_answers_403(site: Site, scope: str, route: Route) -> None:
    others = [other for other in SCOPES if other != scope]
    header = site.token("weak", others, ["*"])
    answer = site.client.request(route.method, filled(route.path), headers=header)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "scope")


def test_a_token_reaches_its_own_space_without_naming_it(site: Site) -> None:
    header = site.token("alice", ["read", "write"], ["alice"])
    assert site.client.post("/v1/memories", json={"text": "mine"}, headers=header).status_code == 201
    assert site.client.get("/v1/count", headers=header).json() == {"count": 1}
    assert site.client.get("/v1/count").json() == {"count": 0}
    assert site.client.get("/v1/count?space=alice").json() == {"count": 1}


def test_a_token_of_several_spaces_must_say_which(site: Site) -> None:
    header = site.token("both", ["read", "write"], ["one", "two"])
    answer = site.client.get("/v1/count", headers=header)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "space")
    assert site.client.post("/v1/memories?space=two", json={"text": "x"}, headers=header).status_code == 201


@pytest.mark.parametrize("name", ["../etc", "A", "a/b", "-a", "_a", "a.db", "", "a" * 64, "ä", "con\x00"])
def test_a_space_has_a_plain_name(client: TestClient, name: str) -> None:
    answer = client.get("/v1/count", params={"space": name})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "space_name")


def test_reading_makes_no_space(client: TestClient, tmp_path: Path) -> None:
    assert client.get("/v1/count?space=nobody").status_code == 404
    assert not (tmp_path / "spaces").exists()


def test_dropping_a_space_removes_its_file(client: TestClient, tmp_path: Path) -> None:
    client.post("/v1/memories?space=alice", json={"text": "x"})
    assert client.get("/v1/spaces").json() == {"spaces": ["alice", "default"]} or client.get("/v1/count").json()
    assert (tmp_path / "spaces" / "alice.db").exists()
    assert client.delete("/v1/spaces/alice").status_code == 200
    assert list((tmp_path / "spaces").iterdir()) == []
    assert client.delete("/v1/spaces/alice").status_code == 404


def test_the_rate_limit_says_when_to_come_back(start: Starter) -> None:
    site = start(Limits(per_second=0.5, burst=2))
    statuses = [site.client.get("/v1/token").status_code for _ in range(3)]
    assert statuses == [200, 200, 429]
    refused = site.client.get("/v1/token")
    assert refused.headers["retry-after"] == "2"  # one request takes 1 / 0.5 seconds to grow
    other = site.token("other", ["read"], ["default"])
    assert site.client.get("/v1/token", headers=other).status_code == 200
    site.seconds.now += 2
    assert site.client.get("/v1/token").status_code == 200
    assert site.client.get("/health/live").status_code == 200


def test_a_bucket_holds_no_more_than_its_burst() -> None:
    seconds = Seconds()
    rates = RateLimiter(10, 3, seconds)
    seconds.now += 1000
    assert [rates.wait("a") for _ in range(4)] == [0.0, 0.0, 0.0, 0.1]


def test_a_body_is_at_most_a_megabyte(client: TestClient) -> None:
    text = "x" * JSON_LIMIT
    declared = client.post("/v1/memories", json={"text": text})
    assert (declared.status_code, declared.json()["error"]["code"]) == (413, "too_large")
    chunks = (b'{"text": "' if n == 0 else b"x" * 100_000 for n in range(12))
    streamed = client.post("/v1/memories", content=chunks, headers={"content-type": "application/json"})
    assert streamed.status_code == 413


def test_an_import_is_streamed_and_bounded(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    headers = {"content-type": "application/x-ndjson"}
    lines = b"".join(json.dumps({"text": f"memory {n} " + "x" * 1000}).encode() + b"\n" for n in range(3000))
    assert len(lines) > 3 * JSON_LIMIT
    assert client.post("/v1/import", content=lines, headers=headers).json()["imported"]["memories"] == 3000
    declared = client.post("/v1/import", content=b"", headers={**headers, "content-length": str(IMPORT_LIMIT + 1)})
    assert declared.status_code == 413
    monkeypatch.setattr("thinkback.apps.http.body.IMPORT_LIMIT", 1000)
    streamed = client.post("/v1/import", content=iter([b"x" * 600, b"y" * 600]), headers=headers)
    assert streamed.status_code == 413
    assert client.get("/v1/count").json() == {"count": 3000}


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        b"1",
        b'"x"',
        b'{"query": NaN}',
        b'{"query": "\\ud800"}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"query": ' + b"[" * 100_000,
        b'{"query": "x", "limit": ' + b"9" * 5000 + b"}",
        b'{"query": "x", "limit": true}',
        b'{"query": "x", "limit": "3"}',
        b'{"query": "x", "min_trust": 1e999}',
        b'{"query": 1}',
        b'{"query": null}',
        b'{"query": "x", "unknown": 1}',
    ],
)
def test_a_body_that_makes_no_sense_is_explained(client: TestClient, body: bytes) -> None:
    answer = client.post("/v1/recall", content=body, headers={"content-type": "application/json"})
    expected = "not_a_time" if b"soon" in body else "invalid_input"
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, expected), answer.text
    assert answer.json()["error"]["message"]


@pytest.mark.parametrize("method", ["POST", "DELETE"])
@pytest.mark.parametrize("wrong", ["from_id", "kind"])
def test_half_a_character_in_a_link_is_explained(client: TestClient, method: str, wrong: str) -> None:
    for id in ("a", "b"):
        client.post("/v1/memories", json={"text": f"memory {id}", "id": id})
    given = {"from_id": "a", "to_id": "b", "kind": "about", wrong: "\ud800"}
    answer = client.request(
        method, "/v1/links", content=json.dumps(given).encode(), headers={"content-type": "application/json"}
    )
    assert answer.status_code == 422, answer.text


def test_a_refusal_of_the_engine_keeps_its_code(client: TestClient) -> None:
    answer = client.post("/v1/recall", json={"query": "x", "since": "soon"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "not_a_time")


def test_half_a_character_in_a_tool_call_is_explained(client: TestClient) -> None:
    """JSON can spell it, so a model can send it."""
    body = rb'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recall","arguments":{"query":"\ud800"}}}'
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    answer = client.post("/mcp", content=body, headers={**headers, "MCP-Protocol-Version": "2025-06-18"})
    assert answer.status_code in (200, 400)
    assert "internal" not in answer.text.lower()


def test_a_form_is_no_json(client: TestClient) -> None:
    answer = client.post("/v1/memories", content=b'{"text": "x"}', headers={"content-type": "text/plain"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (415, "content_type")


def test_a_path_that_takes_another_method_says_which(client: TestClient) -> None:
    answer = client.put("/v1/memories")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, POST")
    assert client.get("/v1/nothing").json()["error"]["code"] == "no_route"


def test_unknown_parameters_are_mistakes(client: TestClient) -> None:
    assert client.get("/v1/count?tgas=x").status_code == 422
    assert client.get("/v1/memories?limit=2&limit=3").status_code == 422
    assert client.post("/v1/recall?limit=3", json={"query": "x"}).status_code == 422
    assert client.patch("/v1/memories/a", json={"id": "b"}).status_code == 422


def test_a_search_past_its_deadline_is_given_up(start: Starter) -> None:
    """One thread, held up by a search that waits: the request behind it is never begun."""
    from threading import Event

    site = start(Limits(per_second=0, threads=1, search_seconds=0.05))
    release = Event()
    with site.server.spaces.lease("default") as memory:
        original = memory.recall
        memory.recall = lambda *args, **kwargs: (release.wait(30), original(*args, **kwargs))[1]  # type: ignore[method-assign]
        answer = site.client.post("/v1/recall", json={"query": "x"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (504, "deadline")
        release.set()
        memory.recall = original  # type: ignore[method-assign]


def test_too_many_in_line_are_told_to_come_back(start: Starter) -> None:
    site = start(Limits(per_second=0, threads=1, max_queued=0, search_seconds=0.05))
    from threading import Event

    release, held = Event(), site.server.spaces
    with held.lease("default") as memory:
        memory.recall = lambda *args, **kwargs: release.wait(30)  # type: ignore[method-assign, assignment, misc]
        assert site.client.post("/v1/recall", json={"query": "x"}).status_code == 504
        busy = site.client.get("/v1/tags")
        assert (busy.status_code, busy.headers["retry-after"]) == (503, "1")
        assert site.client.get("/health/live").status_code == 200
        release.set()


def test_no_secret_reaches_the_log(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    code = site.client.post("/v1/login-code").json()["code"]
    site.client.get(f"/?login={code}", headers={"Authorization": ""})
    site.client.post("/v1/recall", json={"query": "my password is hunter2"})
    site.client.get("/v1/tags?space=default", headers={"Authorization": "Bearer tbk_wrong"})
    text = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("thinkback"))
    assert "POST recall 200" in text
    secrets = [code, "hunter2", "tbk_", site.client.headers["authorization"].split()[1]]
    assert not [secret for secret in secrets if secret in text]


# -- tokens ------------------------------------------------------------------------------------------------------------------------


def test_the_first_token_is_private(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "new" / "tokens.toml")
    secret = tokens.make_first()
    for path in (tokens.path, tokens.first_file):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert secret not in tokens.path.read_text()
    assert tokens.first_file.read_text() == secret + "\n"
    assert len(secret) == len("tbk_") + 43  # 32 bytes in base 64
    grant = tokens.grant(secret)
    assert grant is not None
    assert (grant.scopes, grant.spaces) == (frozenset(SCOPES), frozenset({"*"}))


def test_a_file_others_can_read_is_refused(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "tokens.toml")
    tokens.make_first()
    tokens.path.chmod(0o644)
    with raises(InvalidInput, "tokens_readable"):
        tokens.grant("x")


def test_without_its_tokens_the_server_lets_nobody_in(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    site.tokens.path.chmod(0o644)
    answer = site.client.get("/v1/tags")
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "tokens")
    assert "chmod 600" in caplog.text
    site.tokens.path.unlink()
    assert site.client.get("/v1/tags").status_code == 503
    assert site.client.get("/health/live").status_code == 200


def test_a_space_in_use_is_not_dropped(site: Site) -> None:
    site.client.post("/v1/memories?space=busy", json={"text": "x"})
    with site.server.spaces.lease("busy"):
        answer = site.client.delete("/v1/spaces/busy")
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "in_use")
    assert site.client.delete("/v1/spaces/busy").status_code == 200


def test_a_revoked_token_stops_at_once(site: Site) -> None:
    header = site.token("guest", ["read"], ["default"])
    assert site.client.get("/v1/tags", headers=header).status_code == 200
    site.tokens.revoke("guest")
    assert site.client.get("/v1/tags", headers=header).status_code == 401
    with raises(NotFound, "unknown_token"):
        site.tokens.revoke("guest")


@pytest.mark.parametrize(
    ("name", "scopes", "spaces"),
    [
        ("", ["read"], ["*"]),
        ("a", [], ["*"]),
        ("a", ["raed"], ["*"]),
        ("a", ["read"], []),
        ("a", ["read"], ["../x"]),
        ("owner", ["read"], ["*"]),
    ],
)
def test_a_senseless_token_is_not_made(site: Site, name: str, scopes: list[str], spaces: list[str]) -> None:
    with pytest.raises(InvalidInput):
        site.tokens.add(name, scopes, spaces)


# -- browsers ----------------------------------------------------------------------------------------------------------------------


def browser(site: Site) -> TestClient:
    return TestClient(site.server.app, base_url=BASE, follow_redirects=False)


def test_a_login_code_works_once(site: Site) -> None:
    code = site.client.post("/v1/login-code").json()["code"]
    first, second = browser(site), browser(site)
    entered = first.get(f"/?login={code}")
    assert (entered.status_code, entered.headers["location"]) == (303, "/")
    cookie = entered.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert cookie.startswith("thinkback-7077=")
    assert first.get("/v1/tags").status_code == 200
    assert second.get(f"/?login={code}").status_code == 401


def test_a_login_code_ends_after_ten_minutes(site: Site) -> None:
    code = site.client.post("/v1/login-code").json()["code"]
    site.clock.advance(600 * SECOND)
    assert browser(site).get(f"/?login={code}").status_code == 401


def entered(site: Site) -> TestClient:
    visitor = browser(site)
    visitor.get(f"/?login={site.client.post('/v1/login-code').json()['code']}")
    return visitor


def test_a_session_lasts_while_it_is_used(site: Site) -> None:
    visitor = entered(site)
    for _ in range(3):
        site.clock.advance(11 * HOUR)
        assert visitor.get("/v1/tags").status_code == 200
    site.clock.advance(12 * HOUR)
    assert visitor.get("/v1/tags").status_code == 401


def test_a_session_changes_things_only_from_its_own_page(site: Site) -> None:
    visitor = entered(site)
    assert visitor.post("/v1/memories", json={"text": "x"}).status_code == 403
    assert visitor.post("/v1/memories", json={"text": "x"}, headers={"Origin": BASE}).status_code == 201


def test_logging_out_and_revoking_end_a_session(site: Site) -> None:
    visitor = entered(site)
    assert visitor.post("/logout", headers={"Origin": BASE}).status_code == 200
    assert visitor.get("/v1/tags").status_code == 401
    other = entered(site)
    site.tokens.revoke("owner")
    assert other.get("/v1/tags").status_code == 401


def test_a_browser_without_a_session_is_asked_for_a_token(site: Site) -> None:
    visitor = browser(site)
    form = visitor.get("/", headers={"Accept": "text/html"})
    assert (form.status_code, "<form" in form.text) == (401, True)
    secret = site.tokens.add("person", ["read"], ["default"])
    wrong = visitor.post("/login", data={"token": "<script>"}, headers={"Origin": BASE})
    assert (wrong.status_code, "<script>" in wrong.text) == (401, False)
    assert visitor.post("/login", data={"token": secret}).status_code == 401  # no Origin: not from our page
    right = visitor.post("/login", data={"token": secret}, headers={"Origin": BASE})
    assert right.status_code == 303
    assert secret not in right.headers["set-cookie"]
    assert visitor.get("/v1/token").json()["name"] == "person"


@pytest.mark.parametrize("file", ["..%2f..%2fapi.py", "%2e%2e", ".hidden", "a%00b", "missing.js"])
def test_only_files_of_the_page_are_served(client: TestClient, file: str) -> None:
    assert client.get(f"/static/{file}").status_code == 404
