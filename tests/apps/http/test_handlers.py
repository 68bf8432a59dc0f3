"""Everything the Python API does, over HTTP."""

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from thinkback.clock import DAY
from thinkback.stores.sqlite import SqliteStore
from thinkback.testing import ToyEmbedder

from serving import Site  # isort: skip


def remember(client: TestClient, text: str, **fields: Any) -> str:
    answer = client.post("/v1/memories", json={"text": text, **fields})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def test_remember_and_recall_with_the_exact_reason(client: TestClient) -> None:
    id = remember(client, "Caroline adopted a grey cat, Oscar", tags=["pets"], thread="chat-7")
    remember(client, "The rent is due on Friday")
    answer = client.post("/v1/recall", json={"query": "grey cat", "limit": 1}).json()
    (hit,) = answer["hits"]
    assert hit["memory"]["id"] == id
    assert sum(part["delta"] for part in hit["contributions"]) == pytest.approx(hit["score"], abs=1e-12)
    assert answer["trace"] is None


def test_a_secret_is_warned_of_in_the_answer(client: TestClient) -> None:
    text = "the token is ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    one = client.post("/v1/memories", json={"text": text}).json()
    many = client.post("/v1/memories/batch", json={"memories": [{"text": text}]}).json()
    changed = client.patch(f"/v1/memories/{one['id']}", json={"text": f"{text}x"}).json()
    assert [len(answer["warnings"]) for answer in (one, many, changed)] == [1, 1, 1]
    assert "POST /v1/audit" in one["warnings"][0]
    assert client.post("/v1/memories", json={"text": "Oscar is a cat"}).json()["warnings"] == []


def test_the_trace_says_what_happened(client: TestClient) -> None:
    first, second = remember(client, "Oscar is a grey cat"), remember(client, "oscar is a  GREY cat")
    trace = client.post("/v1/recall", json={"query": "grey cat", "trace": True}).json()["trace"]
    better, worse = trace["order"]
    assert {better, worse} == {first, second}
    assert [(drop["id"], drop["reason"]) for drop in trace["drops"]] == [(worse, f"duplicate of {better}")]
    assert {run["leg"] for run in trace["runs"]} == {
        "keyword",
        "instructions",
        "vector",
        "dates",
        "reflections",
        "members",
        "graph",
    }
    assert {"parse", "leg:keyword", "leg:vector", "retrieve", "rank", "select"} <= {
        timing["step"] for timing in trace["timings"]
    }


def test_why_not(client: TestClient) -> None:
    remember(client, "Oscar is a grey cat")
    second = remember(client, "Rex is a grey dog")
    answer = client.post("/v1/why-not", json={"query": "grey cat", "limit": 1, "id": second}).json()
    assert answer["verdict"].endswith("below the limit of 1")
    filtered = client.post("/v1/why-not", json={"query": "grey", "tags": ["x"], "id": second}).json()
    assert filtered["verdict"] == "filtered out: it lacks the tag x"


def test_two_recipes_rank_the_same_memories_each_in_its_way(client: TestClient) -> None:
    remember(client, "Oscar is a grey cat")
    for recipe in ("keyword", "memini"):
        assert client.post("/v1/recall", json={"query": "cat", "recipe": recipe}).json()["recipe"] == recipe
    names = [recipe["name"] for recipe in client.get("/v1/recipes").json()["recipes"]]
    assert {"default", "precise", "keyword", "memini"} <= set(names)


def test_a_recipe_is_a_name_and_never_a_file(client: TestClient, tmp_path: Any) -> None:
    secret = tmp_path / "recipe.toml"
    secret.write_text("password = 'hunter2'")
    answer = client.post("/v1/recall", json={"query": "x", "recipe": str(secret)})
    assert answer.status_code == 422
    assert "hunter2" not in answer.text
    assert "unknown recipe" in answer.json()["error"]["message"]


def test_keywords_alone(client: TestClient) -> None:
    first = remember(client, "Oscar is a grey cat")
    remember(client, "the cat is grey")
    hits = client.post("/v1/keywords", json={"query": '"grey cat"'}).json()["hits"]
    assert [hit["memory"]["id"] for hit in hits] == [first]


def test_pages_and_counts(site: Site) -> None:
    client = site.client
    ids = []
    for number in range(5):
        site.clock.advance(DAY)
        ids.append(
            remember(client, f"note {number}", tags=["even" if number % 2 == 0 else "odd"], metadata={"n": number})
        )
    newest_first = ids[::-1]
    page = client.get("/v1/memories", params={"limit": 2}).json()
    assert [memory["id"] for memory in page["memories"]] == newest_first[:2]
    rest = client.get("/v1/memories", params={"limit": 10, "after": page["next"]}).json()
    assert [memory["id"] for memory in rest["memories"]] == newest_first[2:]
    assert rest["next"] is None
    assert client.get("/v1/count", params={"tags": "even"}).json() == {"count": 3}
    assert client.get("/v1/count", params={"tags": ["even", "odd"]}).json() == {"count": 0}
    assert client.get("/v1/count", params={"metadata": '{"n": 4}'}).json() == {"count": 1}
    assert client.get("/v1/count", params={"since": "2026-05-12"}).json() == {"count": 2}


def test_one_memory_its_history_and_its_past(site: Site) -> None:
    client = site.client
    id = remember(client, "The deadline is May")
    then = site.clock.now
    site.clock.advance(DAY)
    changed = client.patch(f"/v1/memories/{id}", json={"text": "The deadline is June", "importance": 0.5})
    assert (changed.status_code, changed.json()["text"]) == (200, "The deadline is June")
    assert [v["text"] for v in client.get(f"/v1/memories/{id}/history").json()["versions"]] == [
        "The deadline is May",
        "The deadline is June",
    ]
    past = client.get(f"/v1/memories/{id}", params={"known_at": "2026-05-08T12:00:00Z"})
    assert past.json()["text"] == "The deadline is May"
    assert then < site.clock.now
    cleared = client.patch(f"/v1/memories/{id}", json={"importance": None})
    assert cleared.json()["importance"] is None


@pytest.mark.parametrize("id", ["a/b", "ä ö", "100%", "a?b#c", "..%2f", "x/history"])
def test_an_id_may_hold_anything(client: TestClient, id: str) -> None:
    from urllib.parse import quote

    assert remember(client, "text", id=id) == id
    assert client.get(f"/v1/memories/{quote(id, safe='')}").json()["id"] == id
    assert client.delete(f"/v1/memories/{quote(id, safe='')}").json()["forgotten"] == [id]


def test_links_and_the_graph_around_a_memory(client: TestClient) -> None:
    a, b, c, d = (remember(client, f"memory {name}") for name in "abcd")
    for one, other in ((a, b), (b, c), (c, d)):
        assert client.post("/v1/links", json={"from_id": one, "to_id": other, "kind": "leads"}).status_code == 201
    edges = client.get(f"/v1/memories/{b}/neighbours").json()["edges"]
    assert {(edge["from_id"], edge["to_id"]) for edge in edges} == {(a, b), (b, c)}
    graph = client.get(f"/v1/memories/{a}/graph").json()
    assert [node["id"] for node in graph["nodes"]] == [a, b, c]  # depth 2 ends before d
    assert {(edge["from_id"], edge["to_id"]) for edge in graph["edges"]} == {(a, b), (b, c)}
    assert graph["truncated"] is False
    small = client.get(f"/v1/memories/{a}/graph", params={"limit": 2, "depth": 3}).json()
    assert ([node["id"] for node in small["nodes"]], small["truncated"]) == ([a, b], True)
    assert client.delete("/v1/links", params={"from_id": a, "to_id": b}).json() == {"removed": 1}
    assert client.get(f"/v1/memories/{a}/graph").json()["edges"] == []


def test_the_timeline_of_a_thread_is_in_order(client: TestClient) -> None:
    texts = ["one", "two", "three"]
    for text in texts:
        remember(client, text, thread="chat/7")
    remember(client, "elsewhere", thread="chat/8")
    timeline = client.get("/v1/thread", params={"thread": "chat/7"}).json()
    assert [memory["text"] for memory in timeline["memories"]] == texts


def test_tags_most_used_first(client: TestClient) -> None:
    remember(client, "a", tags=["pets", "cats"])
    remember(client, "b", tags=["pets"])
    assert client.get("/v1/tags").json() == {"tags": [{"tag": "pets", "count": 2}, {"tag": "cats", "count": 1}]}


def test_reflections_name_their_members(client: TestClient) -> None:
    member = remember(client, "Oscar is a cat")
    text = json.dumps({"members": [member], "keywords": ["cat"]})
    reflection = remember(client, text, kind="reflection")
    (found,) = client.get("/v1/reflections").json()["reflections"]
    assert (found["memory"]["id"], found["members"]) == (reflection, [member])


def test_judgements(client: TestClient) -> None:
    id = remember(client, "Oscar is a cat")
    judged = client.post("/v1/judgements", json={"query": "cat", "id": id, "grade": 2})
    assert judged.status_code == 201
    assert client.get("/v1/judgements").json() == {"judgements": [judged.json()]}
    assert judged.json()["grade"] == 2


def test_a_batch_is_stored_together_or_not_at_all(client: TestClient) -> None:
    stored = client.post("/v1/memories/batch", json={"memories": [{"text": "a"}, {"text": "b", "tags": ["x"]}]})
    assert (stored.status_code, [m["text"] for m in stored.json()["memories"]]) == (201, ["a", "b"])
    refused = client.post("/v1/memories/batch", json={"memories": [{"text": "c"}, {"text": " "}]})
    assert refused.status_code == 422
    assert client.get("/v1/count").json() == {"count": 2}


def test_forgetting(client: TestClient) -> None:
    first, second = remember(client, "a"), remember(client, "b")
    no_more = {"reflections": [], "rebuilt": [], "dry_run": False, "tombstones": [], "warnings": []}
    assert client.post("/v1/forget", json={"ids": [first, "absent"]}).json() == {"forgotten": [first], **no_more}
    assert client.delete(f"/v1/memories/{second}").json() == {"forgotten": [second], **no_more}
    assert client.delete(f"/v1/memories/{second}").status_code == 404
    assert client.get("/v1/count").json() == {"count": 0}


def test_own_vectors(client: TestClient) -> None:
    vector = [0.0] * ToyEmbedder().dimensions
    vector[3] = 2.0
    id = remember(client, "words that share nothing", vector=vector)
    remember(client, "other words")
    found = client.post("/v1/recall", json={"query": "zzz", "vector": vector, "recipe": "vector", "limit": 1}).json()
    assert found["hits"][0]["memory"]["id"] == id
    assert found["hits"][0]["score"] == pytest.approx(1.0, abs=1e-6)
    assert client.post("/v1/recall", json={"query": "x", "vector": [1.0]}).status_code in (409, 422)


def test_export_and_import_carry_everything(client: TestClient) -> None:
    first, second = remember(client, "Oscar is a cat", tags=["pets"]), remember(client, "Rex – der Hund")
    client.post("/v1/links", json={"from_id": first, "to_id": second})
    exported = client.get("/v1/export")
    assert exported.headers["content-type"].startswith("application/x-ndjson")
    into = client.post(
        "/v1/import?space=copy", content=exported.content, headers={"content-type": "application/x-ndjson"}
    )
    assert into.status_code == 200, into.text
    assert into.json()["imported"]["memories"] == 2
    assert client.get("/v1/export?space=copy").content == exported.content


def test_a_bad_import_changes_nothing_unless_told_to_go_on(client: TestClient) -> None:
    lines = '{"text": "good"}\n{"txt": "bad"}\n'
    headers = {"content-type": "application/x-ndjson"}
    refused = client.post("/v1/import", content=lines, headers=headers)
    assert refused.status_code == 422
    assert client.get("/v1/count").json() == {"count": 0}
    partly = client.post("/v1/import?skip_bad=true", content=lines, headers=headers).json()["imported"]
    assert (partly["memories"], [bad["line"] for bad in partly["bad"]]) == (1, [2])


def test_upkeep(client: TestClient) -> None:
    client.post("/v1/import", content='{"text": "bare"}\n', headers={"content-type": "application/x-ndjson"})
    assert client.post("/v1/embed-missing").json() == {"embedded": 1}
    assert client.post("/v1/reembed").json() == {"embedded": 1}
    assert client.post("/v1/check").json() == {"problems": []}
    assert client.post("/v1/repair").json() == {"problems": []}


def test_reflecting_and_taking_it_back(client: TestClient) -> None:
    for number in range(4):
        remember(client, f"the grey cat Oscar sleeps on the warm sofa in room {number}")
    assert client.post("/v1/reflect", json={"dry_run": True}).json()["created"] != []
    assert client.get("/v1/reflections").json()["reflections"] == []
    done = client.post("/v1/reflect").json()
    (theme,) = done["themes"]
    (listed,) = client.get("/v1/reflections").json()["reflections"]
    assert sorted(listed["members"]) == sorted(theme["members"])
    found = client.post("/v1/reflections/search", json={"query": "a cat on a sofa"}).json()
    assert [hit["memory"]["id"] for hit in found["hits"]] == done["created"]
    assert set(done["created"]) <= set(client.post("/v1/undo", json={"batch": done["batch"]}).json()["undone"])
    assert client.get("/v1/reflections").json()["reflections"] == []


def test_a_blank_search_of_reflections_finds_nothing_and_says_why(client: TestClient) -> None:
    remember(client, "the grey cat Oscar sleeps on the warm sofa")
    for query in ("", "  "):
        found = client.post("/v1/reflections/search", json={"query": query}).json()
        assert found["hits"] == []
        (warning,) = found["warnings"]
        assert "the query has no words" in warning


def test_a_dry_run_of_reflecting_names_no_batch(client: TestClient) -> None:
    for number in range(4):
        remember(client, f"the grey cat Oscar sleeps on the warm sofa in room {number}")
    assert client.post("/v1/reflect", json={"dry_run": True}).json()["batch"] is None
    batch = client.post("/v1/reflect").json()["batch"]
    assert client.post("/v1/undo").json()["batch"] == batch


def test_tidying_is_a_dry_run_unless_told_otherwise(site: Site) -> None:
    client = site.client
    id = remember(client, "a parking ticket", expires_at="2026-05-09")
    site.clock.advance(2 * DAY)
    planned = client.post("/v1/tidy").json()
    assert [(action["action"], action["id"]) for action in planned["actions"]] == [("expire", id)]
    assert planned["actions"][0]["after"]["archived_at"].startswith("2026-05-10")
    assert client.get(f"/v1/memories/{id}").json()["archived_at"] is None
    assert client.post("/v1/tidy", json={"dry_run": False}).json()["batch"]
    assert client.get(f"/v1/memories/{id}").json()["archived_at"] is not None
    assert client.post("/v1/restore", json={"ids": [id]}).json() == {"ids": [id]}


def test_forgetting_warns_while_somebody_reads_what_was_forgotten(client: TestClient, tmp_path: Path) -> None:
    id = remember(client, "the combination of the safe is 4-8-15-16-23-42")
    remember(client, "something else")
    with SqliteStore(tmp_path / "memory.db") as other:
        reading = other.export_records()
        next(reading)
        (warning,) = client.delete(f"/v1/memories/{id}").json()["warnings"]
        reading.close()
    assert warning.endswith("POST /v1/repair")
    assert client.post("/v1/repair").json() == {"problems": []}


def test_forgetting_with_a_receipt(client: TestClient, tmp_path: Any) -> None:
    id = remember(client, "the combination of the safe is 4-8-15-16-23-42")
    answer = client.post("/v1/forget-verified", json={"ids": [id, "absent"]})
    receipt = answer.json()
    assert (receipt["forgotten"], receipt["unknown"]) == ([id], ["absent"])
    assert all(search["found"] == 0 for search in receipt["searches"])
    assert "memory.db" in {scanned["file"] for scanned in receipt["files"]}
    assert str(tmp_path) not in answer.text


def test_audit_archive_contest_and_redact(client: TestClient) -> None:
    old, new = remember(client, "the office is in Bonn"), remember(client, "the office is in Berlin")
    edge = client.post("/v1/contest", json={"new_id": new, "old_id": old}).json()
    assert (edge["from_id"], edge["to_id"]) == (old, new)
    assert client.post("/v1/archive", json={"ids": [old]}).json() == {"ids": [old]}
    assert client.get("/v1/count").json() == {"count": 1}
    secret = remember(client, "the key is AKIAIOSFODNN7EXAMPLE")
    findings = client.post("/v1/audit").json()
    assert [finding["id"] for finding in findings["secrets"]] == [secret]
    assert client.post("/v1/redact", json={"ids": [secret]}).json()["redacted"] == [secret]
    assert "AKIA" not in client.get(f"/v1/memories/{secret}").json()["text"]


def test_stats_do_not_say_where_files_lie(client: TestClient, tmp_path: Any) -> None:
    remember(client, "a")
    answer = client.get("/v1/stats")
    assert (answer.json()["space"], answer.json()["stats"]["memories"]) == ("default", 1)
    assert str(tmp_path) not in answer.text


def test_health(client: TestClient) -> None:
    assert client.get("/health/live").json() == {"status": "live"}
    assert client.get("/health/ready").json() == {"status": "ready"}


def test_metrics_count_requests_and_time_the_steps_of_searches(client: TestClient) -> None:
    remember(client, "a secret text")
    client.post("/v1/recall", json={"query": "a secret question"})
    text = client.get("/metrics").text
    assert 'thinkback_requests_total{method="POST",route="recall",status="200"} 1.0' in text
    assert 'thinkback_search_step_seconds_count{step="retrieve"} 1.0' in text
    assert "secret" not in text


@pytest.mark.parametrize(
    ("method", "path", "body", "says"),
    [
        ("POST", "/v1/recall", {"query": "x", "limt": 3}, "unknown field 'limt'; known: tags, kinds,"),
        ("POST", "/v1/recall", {"query": "x", "limt": 3}, "Did you mean 'limit'?"),
        ("POST", "/v1/memories", {"text": "x", "tag": "y"}, "Did you mean 'tags'?"),
        ("POST", "/v1/memories/batch", {"memories": [{"text": "x"}, {"txt": "y"}]}, "memories.1: unknown field 'txt'"),
        ("POST", "/v1/memories/batch", {"memories": [{"text": "x"}, {"txt": "y"}]}, "Did you mean 'text'?"),
        ("PATCH", "/v1/memories/a", {"txt": "y"}, "unknown field 'txt'; known: text, essence,"),
        ("GET", "/v1/count?tgas=x", None, "Did you mean 'tags'?"),
        ("GET", "/v1/tags?limit=3", None, "unknown field 'limit'; known: none."),
    ],
)
def test_a_misspelt_field_is_named_with_the_ones_there_are(
    client: TestClient, method: str, path: str, body: Any, says: str
) -> None:
    answer = client.request(method, path, json=body)
    assert answer.status_code == 422
    message = answer.json()["error"]["message"]
    assert says in message
    assert "Extra inputs" not in message


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/memories/absent", None),
        ("GET", "/v1/memories/absent/history", None),
        ("DELETE", "/v1/memories/absent", None),
        ("PATCH", "/v1/memories/absent", {"text": "x"}),
        ("POST", "/v1/links", {"from_id": "absent", "to_id": "b"}),
        ("POST", "/v1/archive", {"ids": ["absent"]}),
        ("POST", "/v1/contest", {"new_id": "absent", "old_id": "b"}),
        ("POST", "/v1/judgements", {"query": "x", "id": "absent"}),
        ("POST", "/v1/undo", {"batch": "absent"}),
    ],
)
def test_what_is_not_there_is_told_without_a_command_line(
    client: TestClient, method: str, path: str, body: Any
) -> None:
    answer = client.request(method, path, json=body)
    assert answer.status_code == 404
    assert "thinkback " not in answer.json()["error"]["message"]
    assert "--" not in answer.json()["error"]["message"]


def test_a_bad_line_is_told_with_the_way_around_it(client: TestClient) -> None:
    headers = {"content-type": "application/x-ndjson"}
    answer = client.post("/v1/import", content=b'{"text": ""}\n', headers=headers)
    assert answer.status_code == 422
    assert "line 1: " in answer.json()["error"]["message"]
    assert "?skip_bad=true" in answer.json()["error"]["message"]
    assert client.post("/v1/import?skip_bad=true", content=b'{"text": ""}\n', headers=headers).status_code == 200


def test_a_link_weighs_what_the_engine_takes(client: TestClient) -> None:
    first, second = remember(client, "Oscar is a cat"), remember(client, "Rex is a dog")
    heavy = client.post("/v1/links", json={"from_id": first, "to_id": second, "weight": 7.5})
    assert (heavy.status_code, heavy.json()["weight"]) == (201, 7.5)
    assert client.post("/v1/links", json={"from_id": first, "to_id": second, "weight": 0}).status_code == 201
    for weight in (b"-0.1", b"1e999"):
        body = b'{"from_id": "a", "to_id": "b", "weight": ' + weight + b"}"
        refused = client.post("/v1/links", content=body, headers={"content-type": "application/json"})
        assert refused.status_code == 422


def test_filters_take_operators_and_singular_spellings(client: TestClient) -> None:
    for n in (5, 6, 7):
        remember(client, f"cat {n}", id=str(n), metadata={"n": n}, thread=f"chat-{n}", tags=[f"t{n}"])
    above = {"metadata.n": {"gt": 5}}
    answer = client.post("/v1/recall", json={"query": "cat", "where": above, "thread": "chat-7"}).json()
    assert [hit["memory"]["id"] for hit in answer["hits"]] == ["7"]
    listed = client.get("/v1/memories", params={"where": json.dumps(above), "tag": "t6"}).json()
    assert [memory["id"] for memory in listed["memories"]] == ["6"]
    wrong = client.post("/v1/recall", json={"query": "cat", "metadata": {"n": {"gtt": 6}}})
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (422, "unknown_operator")
