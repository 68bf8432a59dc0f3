"""Vectors from outside are checked before they are believed; the callback and the query cache."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from codes import raises
from hypothesis import given
from hypothesis import strategies as st

from thinkback.errors import Action, InvalidInput, MissingExtra, Remedy, RemoteError
from thinkback.models.embedders import CachedQueries, CallbackEmbedder, open_embedder, validate_vectors
from thinkback.models.embedders.base import Embedder, combine_windows
from thinkback.models.tokenizer import well_formed, windows


@pytest.mark.parametrize(
    ("vectors", "code"),
    [
        ([[1.0, 2.0]], "wrong_count"),
        ([[1.0, 2.0], [3.0]], "different_sizes"),
        ([[1.0], [3.0]], "wrong_dimensions"),
        ([[1.0, 2.0], [float("nan"), 1.0]], "not_finite"),
        ([[float("-inf"), 2.0], [3.0, 1.0]], "not_finite"),
        ([[1.0, 2.0], [0.0, 0.0]], "zero_vector"),
        ([[1.0, 2.0], [1e300, 1.0]], "invalid_vectors"),
        ([["1", "2"], ["3", "4"]], "not_numbers"),
        ([None, None], "not_numbers"),
        ([1.0, 2.0], "not_numbers"),
        ({"a": 1}, "not_numbers"),
        ([], "not_numbers"),
    ],
)
def test_what_cannot_be_vectors_is_refused(vectors: object, code: str) -> None:
    with raises(RemoteError, code):
        validate_vectors(vectors, 2, 2, "the server", RemoteError)


def test_rows_are_scaled_to_length_one_even_at_the_ends_of_the_number_line() -> None:
    rows = validate_vectors([[3, 4], [3e37, 4e37], [3e-300, 4e-300]], 3, 2, "it")
    assert rows.dtype == np.float32
    assert np.allclose(rows, [[0.6, 0.8]] * 3)


def test_no_texts_give_no_rows() -> None:
    assert validate_vectors([], 0, 7, "it").shape == (0, 7)


def test_windows_combine_by_length() -> None:
    """(3·(1,0) + 1·(0,1)) scaled: (3, 1) / √10, whatever the lengths of the vectors themselves."""
    combined = combine_windows([np.array([5.0, 0.0]), np.array([0.0, 0.1])], [3, 1])
    assert np.allclose(combined, np.array([3, 1]) / 10**0.5)


@given(st.integers(0, 5000), st.integers(2, 600), st.data())
def test_windows_cover_everything_and_share_enough(length: int, size: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, size - 1))
    cut = windows(length, size, overlap)
    assert cut[0][0] == 0
    assert cut[-1][1] == length
    assert all(end - start == min(size, length) for start, end in cut)
    assert all(before[1] - after[0] >= overlap for before, after in pairwise(cut))


@pytest.mark.parametrize(("text", "expected"), [("plain", "plain"), ("a\ud800b", "a?b"), ("𝄞", "𝄞")])
def test_lone_surrogates_are_replaced(text: str, expected: str) -> None:
    assert well_formed(text) == expected


def _lengths(texts: Sequence[str]) -> list[list[float]]:
    return [[float(len(text)), 1.0] for text in texts]


class TestCallback:
    def test_a_function_serves_as_embedder(self) -> None:
        embedder = CallbackEmbedder("lengths", 2, _lengths)
        assert isinstance(embedder, Embedder)
        assert np.allclose(embedder.embed_passages(["abc"])[0], np.array([3, 1]) / 10**0.5)
        assert np.allclose(embedder.embed_query("abc"), np.array([3, 1]) / 10**0.5)
        assert embedder.embed_passages([]).shape == (0, 2)
        assert embedder.fingerprint == "callback:lengths/2"

    def test_queries_may_have_a_function_of_their_own(self) -> None:
        embedder = CallbackEmbedder("two", 2, _lengths, lambda texts: [[0.0, 1.0] for _ in texts])
        assert embedder.embed_query("abc").tolist() == [0, 1]

    def test_what_it_returns_is_checked(self) -> None:
        with raises(InvalidInput, "wrong_dimensions"):
            CallbackEmbedder("three", 3, _lengths).embed_passages(["a"])

    @pytest.mark.parametrize(("name", "dimensions"), [("", 2), ("a", 0)])
    def test_it_needs_a_name_and_a_size(self, name: str, dimensions: int) -> None:
        with pytest.raises(InvalidInput):
            CallbackEmbedder(name, dimensions, _lengths)


class TestCachedQueries:
    @staticmethod
    def counting() -> tuple[list[str], CallbackEmbedder]:
        asked: list[str] = []

        def query(texts: Sequence[str]) -> list[list[float]]:
            asked.extend(texts)
            return _lengths(texts)

        return asked, CallbackEmbedder("counted", 2, _lengths, query)

    def test_a_query_asked_again_is_not_embedded_again(self) -> None:
        asked, inner = self.counting()
        embedder = CachedQueries(inner, 10)
        first = embedder.embed_query("abc")
        assert np.array_equal(embedder.embed_query("abc"), first)
        assert asked == ["abc"]
        assert (embedder.fingerprint, embedder.dimensions) == (inner.fingerprint, 2)
        assert np.array_equal(embedder.embed_passages(["abc"]), inner.embed_passages(["abc"]))

    def test_the_least_recently_asked_is_forgotten_first(self) -> None:
        asked, inner = self.counting()
        embedder = CachedQueries(inner, 2)
        for text in ("a", "b", "a", "c", "a", "b"):
            embedder.embed_query(text)
        assert asked == ["a", "b", "c", "b"]

    def test_a_kept_vector_cannot_be_spoilt(self) -> None:
        _, inner = self.counting()
        vector = CachedQueries(inner, 2).embed_query("a")
        with pytest.raises(ValueError, match="read-only"):
            vector[0] = 7

    def test_many_threads_get_the_right_vectors(self) -> None:
        _, inner = self.counting()
        embedder = CachedQueries(inner, 3)
        texts = ["x" * (1 + index % 7) for index in range(400)]
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(embedder.embed_query, texts))
        assert all(np.array_equal(vector, inner.embed_query(text)) for vector, text in zip(found, texts, strict=True))


class TestTable:
    def test_a_near_miss_is_named(self) -> None:
        with pytest.raises(InvalidInput, match=r"no embedder 'e5-smal-v2'\. Did you mean 'e5-small-v2'\?"):
            open_embedder("e5-smal-v2")

    def test_a_reranker_is_no_embedder(self) -> None:
        with raises(InvalidInput, "unknown_embedder"):
            open_embedder("ms-marco-MiniLM-L-12-v2")

    @pytest.mark.parametrize("spec", ["openai:", "ollama:@http://localhost:1"])
    def test_a_server_needs_a_model(self, spec: str) -> None:
        with raises(InvalidInput, "no_model"):
            open_embedder(spec)

    def test_an_address_needs_its_scheme(self) -> None:
        with raises(InvalidInput, "not_an_address"):
            open_embedder("openai:m@localhost:8080")

    def test_a_missing_extra_names_the_install_line(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(__import__("sys").modules, "sentence_transformers", None)
        with raises(MissingExtra) as missing:
            open_embedder("st:some/model")
        assert missing.value.remedy == Remedy(Action.INSTALL_EXTRA, "sentence-transformers")
