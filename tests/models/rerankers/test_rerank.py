"""Reranking a list of mappings, and the table of rerankers."""

import copy
from collections.abc import Sequence

import pytest
from codes import raises
from hypothesis import given
from hypothesis import strategies as st

from thinkback.errors import Action, InvalidInput, MissingExtra, ModelUnavailable, Remedy
from thinkback.models.rerankers import Reranker, open_reranker, rerank
from thinkback.models.rerankers.base import sigmoid
from thinkback.models.weights import FetchOptions, OpenOptions


class ByLength:
    """Scores a text by its length, up to ten."""

    fingerprint = "by-length"

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        return [min(1.0, len(text) / 10) for text in texts]


CANDIDATES = [{"id": 1, "text": "ab"}, {"id": 2, "text": "abcde"}, {"id": 3, "text": ""}, {"id": 4, "text": "vwxyz"}]


def test_candidates_come_back_sorted_with_their_score_and_unchanged() -> None:
    given = copy.deepcopy(CANDIDATES)
    ranked = rerank(ByLength(), "q", given)
    assert [(row["id"], row["rerank_score"]) for row in ranked] == [(2, 0.5), (4, 0.5), (1, 0.2), (3, 0.0)]
    assert given == CANDIDATES
    assert isinstance(ByLength(), Reranker)


@pytest.mark.parametrize(("top_k", "kept"), [(None, 4), (0, 4), (-1, 4), (1, 1), (3, 3), (9, 4)])
def test_top_k_cuts_after_sorting(top_k: int | None, kept: int) -> None:
    ranked = rerank(ByLength(), "q", CANDIDATES, top_k=top_k)
    assert [row["id"] for row in ranked] == [2, 4, 1, 3][:kept]


def test_another_field_can_be_read_and_a_missing_one_scores_0() -> None:
    ranked = rerank(ByLength(), "q", [{"body": None}, {"text": "long enough"}, {"body": "abc"}], field="body")
    assert [row["rerank_score"] for row in ranked] == [0.3, 0.0, 0.0]
    assert ranked[0] == {"body": "abc", "rerank_score": 0.3}


def test_a_field_that_is_no_text_is_turned_into_text() -> None:
    assert rerank(ByLength(), "q", [{"text": 333}])[0]["rerank_score"] == 0.3


@given(st.floats(-1e6, 1e6))
def test_the_sigmoid_stays_between_0_and_1_and_is_symmetric(logit: float) -> None:
    assert 0.0 <= sigmoid(logit) <= 1.0
    assert sigmoid(logit) + sigmoid(-logit) == pytest.approx(1.0)


def test_the_sigmoid_of_known_logits() -> None:
    assert sigmoid(0.0) == 0.5
    assert sigmoid(1.0986122886681098) == pytest.approx(0.75)  # ln 3: 3 / (1 + 3)


class TestTable:
    def test_a_near_miss_is_named(self) -> None:
        with pytest.raises(
            InvalidInput, match=r"no reranker 'ms-marco-MiniLM'.*Did you mean 'ms-marco-MiniLM-L-12-v2'\?"
        ):
            open_reranker("ms-marco-MiniLM")

    def test_an_embedder_is_no_reranker(self) -> None:
        with raises(InvalidInput, "unknown_reranker"):
            open_reranker("e5-small-v2")

    @pytest.mark.parametrize("spec", ["rerank:", "rerank:model", "rerank:@http://localhost"])
    def test_a_server_needs_model_and_address(self, spec: str) -> None:
        with raises(InvalidInput, "no_model"):
            open_reranker(spec)

    def test_a_folder_without_a_model_is_refused(self, tmp_path) -> None:  # type: ignore[no-untyped-def]
        with raises(ModelUnavailable, "empty_folder"):
            open_reranker(str(tmp_path), FetchOptions())

    @pytest.mark.parametrize("name", ["default", "Qwen3-Reranker-0.6B"])
    def test_offline_fetches_nothing(self, name: str, tmp_path) -> None:  # type: ignore[no-untyped-def]
        with raises(ModelUnavailable, "offline") as error:
            open_reranker(name, OpenOptions(fetch=FetchOptions(tmp_path, offline=True)))
        assert isinstance(error.value.remedy, Remedy)
        assert error.value.remedy.action is Action.PULL_MODEL

    def test_a_missing_extra_names_the_install_line(self, tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
        monkeypatch.setitem(__import__("sys").modules, "torch", None)
        (tmp_path / "model.safetensors").write_bytes(b"weights")
        with raises(MissingExtra) as missing:
            open_reranker(str(tmp_path))
        assert missing.value.remedy == Remedy(Action.INSTALL_EXTRA, "qwen")
