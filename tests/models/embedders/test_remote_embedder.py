"""Embedders behind HTTP, against a real server on the loopback that also answers nonsense."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from codes import raises
from loopback_api import Answer, Api, Request, serving

from thinkback.errors import RemoteError
from thinkback.models.embedders import open_embedder
from thinkback.models.embedders.remote import OLLAMA_CONVENTION, OPENAI_CONVENTION, RemoteEmbedder, RemoteSettings
from thinkback.models.endpoint import Endpoint
from thinkback.models.weights import OpenOptions

KEY = "sk-very-secret"


def vector(text: str) -> list[float]:
    return [float(len(text)), 1.0, 0.0]


def openai(request: Request) -> Answer:
    rows = [{"index": place, "embedding": vector(text)} for place, text in enumerate(request.payload["input"])]
    return Answer({"data": rows[::-1]})  # any order is allowed


def ollama(request: Request) -> Answer:
    return Answer({"embeddings": [vector(text) for text in request.payload["input"]]})


class Waits(list[float]):
    """An injected sleep that only remembers."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def embedder(
    api: Api, convention: Any = OPENAI_CONVENTION, waits: Waits | None = None, **settings: Any
) -> RemoteEmbedder:
    endpoint = Endpoint(api.url, KEY, timeout=10, sleep=waits if waits is not None else Waits())
    return RemoteEmbedder(endpoint, convention, RemoteSettings("some-model", **settings))


@pytest.mark.parametrize(
    ("answer", "convention", "path"),
    [(openai, OPENAI_CONVENTION, "/embeddings"), (ollama, OLLAMA_CONVENTION, "/api/embed")],
    ids=["openai", "ollama"],
)
def test_texts_become_unit_vectors(answer: Callable[[Request], Answer], convention: Any, path: str) -> None:
    with serving(answer) as api:
        remote = embedder(api, convention)
        rows = remote.embed_passages(["abc", "abcd"])
        assert np.allclose(rows, [np.array([3, 1, 0]) / 10**0.5, np.array([4, 1, 0]) / 17**0.5])
        assert np.allclose(remote.embed_query("abc"), rows[0])
        assert remote.dimensions == 3
        assert remote.embed_passages([]).shape == (0, 3)
        assert {request.path for request in api.requests} == {path}
        assert {request.authorization for request in api.requests} == {f"Bearer {KEY}"}


def test_ollama_is_told_not_to_cut() -> None:
    with serving(ollama) as api:
        embedder(api, OLLAMA_CONVENTION).embed_query("abc")
        assert api.requests[-1].payload == {"model": "some-model", "input": ["abc"], "truncate": False}


def test_prefixes_are_sent_and_make_another_space() -> None:
    with serving(openai) as api:
        remote = embedder(api, query_prefix="q: ", passage_prefix="p: ")
        remote.embed_query("abc")
        remote.embed_passages(["abc"])
        assert [request.payload["input"] for request in api.requests[-2:]] == [["q: abc"], ["p: abc"]]
        assert remote.fingerprint != embedder(api).fingerprint


def test_the_address_is_no_part_of_the_space() -> None:
    with serving(openai) as one, serving(openai) as two:
        assert embedder(one).fingerprint == embedder(two).fingerprint


def test_many_texts_go_in_batches() -> None:
    with serving(openai) as api:
        rows = embedder(api, batch=4).embed_passages(["x" * (1 + index) for index in range(10)])
        assert rows.shape == (10, 3)
        assert np.allclose(rows[9], np.array([10, 1, 0]) / 101**0.5)
        assert [len(request.payload["input"]) for request in api.requests[1:]] == [4, 4, 2]


def test_long_texts_go_in_windows() -> None:
    """25 characters in windows of 10 that share at least 1: 0–10, 7–17, 15–25; all of equal length and weight."""
    with serving(openai) as api:
        row = embedder(api, window_chars=10).embed_passages(["abcdefghijklmnopqrstuvwxy"])[0]
        assert api.requests[-1].payload["input"] == ["abcdefghij", "hijklmnopq", "pqrstuvwxy"]
        assert np.allclose(row, np.array([10, 1, 0]) / 101**0.5)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("<html>busy</html>", "invalid_answer"),
        ("", "invalid_answer"),
        ({"error": "no such model"}, "invalid_answer"),
        ([], "invalid_answer"),
        ({"data": 3}, "invalid_answer"),
        ({"data": [{"index": 0, "embedding": [1.0, 0.0]}]}, "wrong_count"),
        ({"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}]}, "invalid_answer"),
        ({"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}]}, "different_sizes"),
        ('{"data": [{"embedding": [NaN]}, {"embedding": [1.0]}]}', "not_finite"),
        ({"data": [{"embedding": [0.0]}, {"embedding": [1.0]}]}, "zero_vector"),
        ({"data": [{"embedding": ["x"]}, {"embedding": ["y"]}]}, "not_numbers"),
        ({"data": [{"embedding": None}, {"embedding": None}]}, "not_numbers"),
    ],
)
def test_nonsense_is_refused(body: Any, code: str) -> None:
    with serving(lambda request: Answer(body)) as api:
        remote = embedder(api)
        remote.__dict__["dimensions"] = None  # do not ask for it first
        with raises(RemoteError, code):
            remote.embed_passages(["abc", "abcd"])


def test_vectors_of_another_size_than_before_are_refused() -> None:
    answers = iter([Answer({"data": [{"embedding": [1.0, 2.0]}]}), Answer({"data": [{"embedding": [1.0]}]})])
    with serving(lambda request: next(answers)) as api, raises(RemoteError, "wrong_dimensions"):
        embedder(api).embed_query("abc")


def failing_first(*failures: Answer) -> Callable[[Request], Answer]:
    left = list(failures)
    return lambda request: left.pop(0) if left else openai(request)


def test_a_busy_server_is_asked_again_when_it_says() -> None:
    waits = Waits()
    with serving(failing_first(Answer({}, 429, {"Retry-After": "7"}), Answer({}, 503))) as api:
        assert embedder(api, waits=waits).dimensions == 3
    assert waits == [7.0, 1.0]  # what the server asked for, then 0.5 · 2¹


def test_waiting_has_a_limit_and_a_date_is_understood() -> None:
    waits = Waits()
    past, future = "Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 21 Oct 2315 07:28:00 GMT"
    answers = [Answer({}, 429, {"Retry-After": after}) for after in (past, future, "soon")]
    with serving(failing_first(*answers)) as api:
        embedder(api, waits=waits).embed_query("abc")
    assert waits == [0.0, 30.0, 2.0]


def test_a_connection_that_breaks_is_tried_again() -> None:
    waits = Waits()
    with serving(failing_first(Answer(None, hang_up=True))) as api:
        assert embedder(api, waits=waits).dimensions == 3
    assert waits == [0.5]


def test_patience_ends() -> None:
    waits = Waits()
    with serving(lambda request: Answer({"error": "down"}, 500)) as api:
        with raises(RemoteError, "http_status"):
            embedder(api, waits=waits).embed_query("abc")
        assert len(api.requests) == 4
    assert waits == [0.5, 1.0, 2.0]


def test_a_wrong_request_is_not_repeated_and_the_key_never_shown() -> None:
    with serving(lambda request: Answer({"error": f"bad key {KEY}"}, 401)) as api:
        with raises(RemoteError, "http_status") as caught:
            embedder(api).embed_query("abc")
        assert len(api.requests) == 1
    assert KEY not in str(caught.value)
    assert KEY not in repr(Endpoint("http://localhost", KEY))
    assert KEY not in repr(OpenOptions(api_key=KEY))


def test_no_server_at_all_is_told() -> None:
    endpoint = Endpoint("http://127.0.0.1:9", tries=2, sleep=Waits())
    with raises(RemoteError, "unreachable"):
        RemoteEmbedder(endpoint, OPENAI_CONVENTION, RemoteSettings("m")).embed_query("abc")


@pytest.mark.parametrize(("scheme", "answer"), [("openai", openai), ("ollama", ollama)])
def test_a_specification_opens_it(scheme: str, answer: Callable[[Request], Answer]) -> None:
    with serving(answer) as api:
        remote = open_embedder(f"{scheme}:some-model@{api.url}", replace(OpenOptions(), api_key=KEY))
        assert np.allclose(remote.embed_query("abc"), np.array([3, 1, 0]) / 10**0.5)
        remote.embed_query("abc")
        asked = [request for request in api.requests if request.payload["input"] == ["abc"]]
        assert len(asked) == 1  # the second time from the cache
        assert asked[0].authorization == f"Bearer {KEY}"
