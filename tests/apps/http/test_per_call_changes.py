"""Weights, the cycle and the query vector of one call, over HTTP: the same numbers as in Python."""

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import thinkback
from thinkback.testing import FixedClock, ToyEmbedder

from serving import Site  # isort: skip

CHANGES: dict[str, dict[str, Any]] = {
    "the cycle": {"cycle": 40},
    "weights": {"overrides": {"signals.priority.weight": 0.5, "legs.keyword.weight": 0.2}},
    "one leg alone": {"overrides": {"legs.vector.weight": 0.0}},
    "the boost of reflections": {"reflection_boost": 2.0},
    "the query vector": {"vector": ToyEmbedder().embed_query("dog").tolist()},
    "all at once": {
        "cycle": 7,
        "reflection_boost": 1.5,
        "overrides": {"signals.recency.weight": 0.4, "signals.recency.half_life_cycles": 3},
    },
}


@pytest.fixture
def filled(site: Site) -> Site:
    texts = ["a grey cat", "a black cat and a dog", "the dog sleeps", "rain on the roof"]
    for n, text in enumerate(texts):
        body = {"id": f"m{n}", "text": text, "priority": f"P{n + 1}", "cycle": n}
        assert site.client.post("/v1/memories", json=body).status_code == 201
    return site


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_one_call_ranks_as_in_python(filled: Site, tmp_path: Path, change: dict[str, Any]) -> None:
    asked = {"query": "cat dog", "recipe": "engrava", "counted": False, **change}
    answer = filled.client.post("/v1/recall", json=asked).json()
    opened = thinkback.open(tmp_path / "memory.db", embedder=ToyEmbedder(), clock=FixedClock("2026-05-08"))
    with opened as memory:
        given = {name: value for name, value in change.items() if name != "overrides"}
        expected = memory.recall("cat dog", recipe="engrava", counted=False, overrides=change.get("overrides"), **given)
        plain = memory.recall("cat dog", recipe="engrava", counted=False)
    scores = [(hit["memory"]["id"], hit["score"]) for hit in answer["hits"]]
    assert scores == [(hit.id, hit.score) for hit in expected]
    assert answer["backends_used"] == list(expected.trace.backends_used)
    assert scores != [(hit.id, hit.score) for hit in plain] or "boost" in str(change)


def test_reflections_take_a_cycle_and_a_vector(client: TestClient) -> None:
    body = {"query": "cats", "cycle": 3, "vector": ToyEmbedder().embed_query("cats").tolist()}
    answer = client.post("/v1/reflections/search", json=body)
    assert (answer.status_code, answer.json()["hits"]) == (200, [])
