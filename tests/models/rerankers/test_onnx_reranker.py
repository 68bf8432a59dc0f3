"""The ONNX cross-encoder: it reads pairs, the whole of long texts, in any company, and stops in time."""

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from thinkback.models.rerankers import TimedReranker, open_reranker
from thinkback.models.rerankers.onnx import CrossEncoderSettings, OnnxCrossEncoder
from thinkback.models.tokenizer import windows
from thinkback.models.weights import FetchOptions, OpenOptions

pytestmark = pytest.mark.models

NAME = "ms-marco-MiniLM-L-12-v2"
QUERY = "what is Caroline's pet called?"
TEXTS = [
    "The stock market fell by three percent on Monday.",
    "Caroline adopted a grey cat and named him Oscar.",
    "Caroline works in a hospital.",
    "Oscar Wilde wrote plays.",
]
Weights = Callable[[str], Path]


@pytest.fixture(scope="module")
def reranker(weights: Weights, fetch: FetchOptions) -> TimedReranker:
    weights(NAME)
    return open_reranker("default", fetch)


def with_settings(weights: Weights, **settings: int) -> OnnxCrossEncoder:
    return OnnxCrossEncoder(weights(NAME), CrossEncoderSettings(NAME, "test", **settings))


def test_the_answer_scores_above_the_rest(reranker: TimedReranker) -> None:
    scores = reranker.scores(QUERY, TEXTS)
    assert scores[1] > 0.9
    assert max(scores[0], scores[2], scores[3]) < 0.1
    assert all(0.0 <= score <= 1.0 for score in scores)
    assert reranker.fingerprint.startswith(f"{NAME}@")


def test_a_pair_has_one_score_whatever_its_company(reranker: TimedReranker) -> None:
    """To the last bit, though the model is dynamically quantised."""
    texts = [*TEXTS, "word " * 200, "x"]
    together = reranker.scores(QUERY, texts)
    assert [reranker.scores(QUERY, [text])[0] for text in texts] == together
    assert reranker.scores(QUERY, texts[::-1])[::-1] == together


def test_it_agrees_with_onnxruntime_called_by_hand(weights: Weights, reranker: TimedReranker) -> None:
    """[CLS] query [SEP] text [SEP], types 0 and 1, sigmoid of the one logit."""
    import onnxruntime
    from tokenizers import Tokenizer

    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.x64quantprecision", "1")
    session = onnxruntime.InferenceSession(str(weights(NAME) / "model.onnx"), options)
    tokenizer = Tokenizer.from_file(str(weights(NAME) / "tokenizer.json"))
    tokenizer.no_padding()
    for text, score in zip(TEXTS, reranker.scores(QUERY, TEXTS), strict=True):
        pair = tokenizer.encode(QUERY, text)
        feeds = {
            "input_ids": np.array([pair.ids]),
            "attention_mask": np.array([pair.attention_mask]),
            "token_type_ids": np.array([pair.type_ids]),
        }
        logit = float(session.run(None, feeds)[0][0][0])
        assert score == pytest.approx(1 / (1 + np.exp(-logit)), abs=1e-6)


@pytest.mark.parametrize("blank", ["", "   ", "\n\t"])
def test_a_blank_text_scores_0(reranker: TimedReranker, blank: str) -> None:
    assert reranker.scores(QUERY, [blank]) == [0.0]
    assert reranker.scores_until(QUERY, [blank], lambda: True) == [0.0]


def test_nothing_to_score(reranker: TimedReranker) -> None:
    assert reranker.scores(QUERY, []) == []


def test_a_long_text_scores_like_its_best_window(weights: Weights) -> None:
    """60 tokens in all, 3 special, 8 of the query: 49 words a window, at least 10 shared; 100 words make 3."""
    reranker = with_settings(weights, max_tokens=60, overlap=10)
    words = ["water"] * 100
    words[80:86] = ["caroline", "named", "the", "cat", "oscar", "yesterday"]
    cut = windows(100, 49, 10)
    assert cut == [(0, 49), (25, 74), (51, 100)]
    pieces = reranker.scores(QUERY, [" ".join(words[start:end]) for start, end in cut])
    assert reranker.scores(QUERY, [" ".join(words)]) == [max(pieces)]
    assert max(pieces) == pieces[2] > pieces[0]


def test_only_so_many_windows_are_read(weights: Weights) -> None:
    reranker = with_settings(weights, max_tokens=60, overlap=10, max_windows=2)
    words = ["water"] * 100
    words[80:86] = ["caroline", "named", "the", "cat", "oscar", "yesterday"]
    assert reranker.scores(QUERY, [" ".join(words)])[0] == reranker.scores(QUERY, ["water " * 49])[0]


def test_a_long_query_is_capped_and_leaves_the_text_its_room(weights: Weights) -> None:
    reranker = with_settings(weights, max_query_tokens=8)
    assert reranker.scores(QUERY + " and so on" * 300, TEXTS) == reranker.scores(QUERY, TEXTS)


def test_what_cannot_be_begun_in_time_is_none(weights: Weights, fetch: FetchOptions) -> None:
    """The deadline is asked before each text, from the front of the list."""
    weights(NAME)
    single = open_reranker(NAME, OpenOptions(fetch, threads=1))
    calls = itertools.count()
    scores = single.scores_until(QUERY, TEXTS, lambda: next(calls) >= 2)
    assert scores == [*single.scores(QUERY, TEXTS[:2]), None, None]
    assert single.scores_until(QUERY, TEXTS, lambda: False) == single.scores(QUERY, TEXTS)


def test_lone_surrogates_do_no_harm(reranker: TimedReranker) -> None:
    assert len(reranker.scores("a \ud800 query", ["a \udfff text"])) == 1


def test_a_folder_of_ones_own_is_opened(weights: Weights, reranker: TimedReranker) -> None:
    own = open_reranker(str(weights(NAME)))
    assert own.scores(QUERY, TEXTS) == reranker.scores(QUERY, TEXTS)
