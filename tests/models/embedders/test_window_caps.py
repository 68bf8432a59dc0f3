"""How much of one text is embedded: all of it up to a number of windows, a spread beyond. The model is a counter."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.models.embedders import onnx
from thinkback.models.embedders.base import combine_windows
from thinkback.models.embedders.onnx import PASSAGE_WINDOWS, QUERY_WINDOWS, OnnxEmbedder, OnnxSettings, spread
from thinkback.models.tokenizer import windows

OPEN, CLOSE = -1, -2
SIZE, OVERLAP = 10, 2  # 8 words a window beside two special tokens


class Tokenizer:
    """A word is the token of its number."""

    def encode(self, text: str) -> Any:
        ids = [OPEN, *map(int, text.split()), CLOSE]
        return SimpleNamespace(ids=ids, special_tokens_mask=[int(id < 0) for id in ids])


class Session:
    """Notes what it is run on."""

    def __init__(self, *_: object) -> None:
        self.ran: list[list[int]] = []

    def run(self, ids: Sequence[int]) -> np.ndarray[Any, Any]:
        self.ran.append(list(ids))
        return np.array([[1.0, sum(ids), len(ids)]], dtype=np.float32)

    def each(self, work: Any, items: Sequence[int]) -> list[Any]:
        return [work(item) for item in items]


@pytest.fixture
def embedder(monkeypatch: pytest.MonkeyPatch) -> OnnxEmbedder:
    monkeypatch.setattr(onnx, "open_tokenizer", lambda path: Tokenizer())
    monkeypatch.setattr(onnx, "Session", Session)
    return OnnxEmbedder(Path(), OnnxSettings("counter", "test", 3, max_tokens=SIZE, overlap=OVERLAP))


def words(count: int) -> str:
    return " ".join(map(str, range(count)))


def ran(embedder: OnnxEmbedder) -> list[list[int]]:
    return embedder._session.ran  # type: ignore[attr-defined]


def whole(count: int) -> list[list[int]]:
    """Every window of a text of so many words."""
    return [[OPEN, *range(start, end), CLOSE] for start, end in windows(count, SIZE - 2, OVERLAP)]


LONGEST = OVERLAP + PASSAGE_WINDOWS * (SIZE - 2 - OVERLAP)  # 2 + 32 * 6 = 194 words make 32 windows, 195 make 33


def test_up_to_the_cap_every_window_is_read_as_ever(embedder: OnnxEmbedder) -> None:
    for count in (1, 8, 9, 20, LONGEST):
        ran(embedder).clear()
        row = embedder.embed_passages([words(count)])[0]
        assert ran(embedder) == whole(count)
        outputs = [np.array([1.0, sum(ids), len(ids)], dtype=np.float32) for ids in whole(count)]
        if len(outputs) > 1:
            assert np.array_equal(row, combine_windows(outputs, [len(ids) for ids in whole(count)]))
    assert len(whole(LONGEST)) == PASSAGE_WINDOWS


@pytest.mark.parametrize("count", [LONGEST + 1, 1000, 100_000])
def test_beyond_the_cap_windows_are_spread_over_the_whole_text(embedder: OnnxEmbedder, count: int) -> None:
    embedder.embed_passages([words(count)])
    assert len(ran(embedder)) == PASSAGE_WINDOWS
    assert (ran(embedder)[0], ran(embedder)[-1]) == (whole(count)[0], whole(count)[-1])
    assert all(window in whole(count) for window in ran(embedder)[:3])


def test_a_text_beyond_the_cap_has_one_vector(embedder: OnnxEmbedder) -> None:
    alone = embedder.embed_passages([words(5000)])[0]
    among = embedder.embed_passages([words(3), words(5000), words(300)])[1]
    assert np.array_equal(alone, among)


def test_of_a_query_the_head_is_read(embedder: OnnxEmbedder) -> None:
    embedder.embed_query(words(2 + 6 * QUERY_WINDOWS))
    assert ran(embedder) == whole(2 + 6 * QUERY_WINDOWS)
    ran(embedder).clear()
    embedder.embed_query(words(100_000))
    assert ran(embedder) == whole(100_000)[:QUERY_WINDOWS]


def test_the_caps_leave_the_fingerprint_alone(embedder: OnnxEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stores made before there was a cap are opened as before."""
    monkeypatch.setattr(onnx, "PASSAGE_WINDOWS", 5)
    monkeypatch.setattr(onnx, "QUERY_WINDOWS", 1)
    again = OnnxEmbedder(Path(), OnnxSettings("counter", "test", 3, max_tokens=SIZE, overlap=OVERLAP))
    assert again.fingerprint == embedder.fingerprint == "counter@47123b3a87b0cc48"


@given(st.integers(0, 500), st.integers(2, 40))
def test_spread_keeps_order_and_both_ends(count: int, most: int) -> None:
    kept = list(spread(range(count), most))
    assert kept == sorted(set(kept))
    assert len(kept) == min(count, most)
    if count:
        assert (kept[0], kept[-1]) == (0, count - 1)
    if count > most:
        gaps = {after - before for before, after in pairwise(kept)}
        assert max(gaps) - min(gaps) <= 1
