"""Rerankers behind HTTP, against a real server on the loopback that also answers nonsense."""

from collections.abc import Callable
from typing import Any

import pytest
from codes import raises
from loopback_api import Answer, Request, serving

from thinkback.errors import RemoteError
from thinkback.models.endpoint import Endpoint
from thinkback.models.rerankers import TimedReranker, open_reranker
from thinkback.models.rerankers.base import sigmoid
from thinkback.models.rerankers.remote import DOCUMENTS, TEI, RemoteReranker
from thinkback.models.weights import OpenOptions

KEY = "very-secret"


def rated(texts: list[str]) -> list[tuple[int, float]]:
    """Best first, as servers answer; the score is a hundredth of the length."""
    rows = [(place, len(text) / 100) for place, text in enumerate(texts)]
    return sorted(rows, key=lambda row: -row[1])


def cohere(request: Request) -> Answer:
    rows = [{"index": place, "relevance_score": score} for place, score in rated(request.payload["documents"])]
    return Answer({"id": "x", "results": rows})


def tei(request: Request) -> Answer:
    return Answer([{"index": place, "score": score} for place, score in rated(request.payload["texts"])])


@pytest.mark.parametrize(
    ("spec", "answer"), [("rerank:some-model@{}", cohere), ("tei:{}", tei)], ids=["documents", "tei"]
)
@pytest.mark.parametrize("base", ["", "/v1", "/v2/rerank"])
def test_scores_come_back_in_the_order_given(spec: str, answer: Callable[[Request], Answer], base: str) -> None:
    with serving(answer) as api:
        reranker = open_reranker(spec.format(api.url + base), OpenOptions(api_key=KEY))
        assert isinstance(reranker, TimedReranker)
        assert reranker.scores("q", ["abc", "abcdefg", "a"]) == [0.03, 0.07, 0.01]
        assert api.requests[0].path == (base if base.endswith("rerank") else f"{base}/rerank")
        assert api.requests[0].authorization == f"Bearer {KEY}"


def test_what_is_sent() -> None:
    with serving(cohere) as api:
        open_reranker(f"rerank:some-model@{api.url}").scores("q", ["abc", "d"])
        assert api.requests[0].payload == {
            "model": "some-model",
            "query": "q",
            "documents": ["abc", "d"],
            "top_n": 2,
        }


def test_blank_texts_are_not_sent_and_score_0() -> None:
    with serving(cohere) as api:
        reranker = open_reranker(f"rerank:m@{api.url}")
        assert reranker.scores("q", ["", "abc", "  "]) == [0.0, 0.03, 0.0]
        assert api.requests[0].payload["documents"] == ["abc"]
        assert reranker.scores("q", ["", " "]) == [0.0, 0.0]
        assert len(api.requests) == 1


def test_batches_stop_at_the_deadline() -> None:
    with serving(cohere) as api:
        reranker = RemoteReranker(Endpoint(api.url), "m", DOCUMENTS, batch=2)
        begun = iter([False, False, True])
        scores = reranker.scores_until("q", ["a", "ab", "abc", "abcd", "abcde"], lambda: next(begun))
        assert scores == [0.01, 0.02, 0.03, 0.04, None]
        assert len(api.requests) == 2


def test_logits_are_recognised_and_from_then_on_expected() -> None:
    """3 cannot be a score from 0 to 1, so it is a logit; then 0.5 in the next answer is one too."""
    answers = iter([[{"index": 0, "score": 0.5}], [{"index": 0, "score": 3.0}], [{"index": 0, "score": 0.5}]])
    with serving(lambda request: Answer(next(answers))) as api:
        reranker = RemoteReranker(Endpoint(api.url), "", TEI)
        assert [reranker.scores("q", ["abc"])[0] for _ in range(3)] == [0.5, sigmoid(3.0), sigmoid(0.5)]


@pytest.mark.parametrize(("logits", "expected"), [(True, [sigmoid(2.0), 0.5]), (False, [1.0, 0.0])])
def test_the_kind_of_score_can_be_said(logits: bool, expected: list[float]) -> None:
    rows = [{"index": 0, "score": 2.0}, {"index": 1, "score": 0.0}]
    with serving(lambda request: Answer(rows)) as api:
        assert RemoteReranker(Endpoint(api.url), "", TEI, logits).scores("q", ["a", "b"]) == expected


@pytest.mark.parametrize(
    "body",
    [
        "busy",
        {"error": "x"},
        {"results": 5},
        [{"index": 0}],
        [{"index": "first", "score": 1}],
        [{"index": 0, "score": 0.5}],
        [{"index": 0, "score": 0.5}, {"index": 0, "score": 0.4}],
        [{"index": 0, "score": 0.5}, {"index": 7, "score": 0.4}],
        '[{"index": 0, "score": NaN}, {"index": 1, "score": 0.4}]',
        '{"results": [{"index": 0, "relevance_score": Infinity}, {"index": 1, "relevance_score": 0}]}',
    ],
)
def test_nonsense_is_refused(body: Any) -> None:
    with serving(lambda request: Answer(body)) as api, raises(RemoteError, "invalid_answer"):
        open_reranker(f"tei:{api.url}").scores("q", ["a", "b"])


def test_a_busy_server_is_asked_again_and_a_failing_one_given_up() -> None:
    waits: list[float] = []
    answers = iter([Answer({}, 429, {"Retry-After": "3"}), Answer([{"index": 0, "score": 0.5}])])
    with serving(lambda request: next(answers)) as api:
        assert RemoteReranker(Endpoint(api.url, sleep=waits.append), "", TEI).scores("q", ["a"]) == [0.5]
    assert waits == [3.0]
    with serving(lambda request: Answer("no", 500)) as api, raises(RemoteError, "http_status"):
        RemoteReranker(Endpoint(api.url, tries=2, sleep=waits.append), "", TEI).scores("q", ["a"])


def test_the_key_is_never_shown() -> None:
    refusing = serving(lambda request: Answer(f"who is {KEY}?", 403))
    with refusing as api, raises(RemoteError, "http_status") as caught:
        open_reranker(f"tei:{api.url}", OpenOptions(api_key=KEY)).scores("q", ["a"])
    assert "who is ***?" in str(caught.value)
