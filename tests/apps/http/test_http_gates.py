"""The gate over HTTP: what is relevant enough, and whether there is an answer at all."""

from typing import Any

import pytest
from starlette.testclient import TestClient

JSON = {"content-type": "application/json"}
QUESTIONS = {"Which grey cat did Caroline adopt?": True, "zebra qwerty cat": False, "asdfgh qwerty": False}


@pytest.fixture
def filled(client: TestClient) -> TestClient:
    for text in ("Caroline adopted a grey cat, Oscar", "The rent is 940 a month", "Melanie feeds the dog"):
        assert client.post("/v1/memories", json={"text": text}).status_code == 201
    return client


@pytest.mark.parametrize(("question", "answered"), QUESTIONS.items())
def test_the_gate_leaves_out_what_does_not_answer(filled: TestClient, question: str, answered: bool) -> None:
    every = filled.post("/v1/recall", json={"query": question}).json()
    gated = filled.post("/v1/recall", json={"query": question, "min_relevance": 0.4}).json()
    assert every["answered"] is gated["answered"] is answered
    assert every["relevance"] == gated["relevance"]
    assert [hit["relevance"] for hit in gated["hits"]] == [
        hit["relevance"] for hit in every["hits"] if hit["relevance"] >= 0.4
    ]
    assert bool(gated["hits"]) is answered


@pytest.mark.parametrize("bad", ["-1", "2", '"abc"', '"0.4"', "NaN", "Infinity", "true", "[0.4]"])
def test_what_is_no_probability_is_refused(filled: TestClient, bad: str) -> None:
    answer = filled.post("/v1/recall", content=f'{{"query": "cat", "min_relevance": {bad}}}', headers=JSON)
    error: dict[str, Any] = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (422, "invalid_input")


def test_null_is_no_gate(filled: TestClient) -> None:
    answer = filled.post("/v1/recall", json={"query": "cat", "min_relevance": None})
    assert len(answer.json()["hits"]) == 3
